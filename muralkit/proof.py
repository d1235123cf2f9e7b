"""A theme in, a Proof out: whether it draws, how well it can be read, and what it costs.

The theme draws the bundled demo, so its manifest and template are known to work. Then
contrast, glyph distances and sizes are held against the floors of the reader profiles
(readers.toml has them, with how they were found).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from muralkit import assets, cuefile, glyphpairs, pipeline, readers, themefile
from muralkit import theme as themes
from muralkit.contrasts import Contrast, drawn
from muralkit.glyphpairs import Distance
from muralkit.glyphs.clean import clean
from muralkit.model import Cue, Mural
from muralkit.readers import Profile
from muralkit.theme import Theme

LEAST_APART = 96
"""Of 441, how far the inks of text and prohibitions are apart at least; 124 in `dark`."""

LEAST_CONTRAST = 4.5
"""Of what is not read for its words, bullets and banners: WCAG 2.2, 1.4.3."""

TIMES = 12
"""The demo, so often, has 1,440 cues: a canvas of 1,568 tiles holds 850 such in `dense`."""

READ = ("text", "prohibition")
"""The inks of cues."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What the bundled demo becomes: its size in pixels, its price, and how it fared."""

    width: int
    height: int
    tokens: int
    bytes: int
    shown: int
    dropped: int
    escaped: int
    characters_per_token: float


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known of a theme that draws.

    `reader` is the profile that it is for; `missed` has for each profile what it falls
    short of; `distances` are in order, the smallest first.
    """

    theme: Theme
    reader: str
    contrasts: tuple[Contrast, ...]
    distances: tuple[Distance, ...]
    demo: Demo
    missed: dict[str, tuple[str, ...]]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What it falls short of for its own readers."""
        return self.missed[self.reader]


def prove(name_or_path: str | Path, reader: str | None = None, extra: Sequence[str] = ()) -> Proof:
    """Look at a theme, for the readers of a profile; by default those that it inherits from.

    `extra` are font files whose faces end its chain.

    Raises ThemeError or FontError where it can't be used.
    """
    file = themefile.find(name_or_path, extra)
    theme = themes.check(file)
    page = pipeline.page(demo_cues(), theme)
    demo = _demo(pipeline.draw(demo_cues(), page, theme))
    pipeline.render(crowd(), theme)  # a template may fail on what the demo does not have
    contrasts = tuple(drawn(page, theme))
    distances = tuple(glyphpairs.distances(theme))
    alike = [item.pair for item in distances if item.pixels == 0]
    twins = list(dict.fromkeys([*alike, *glyphpairs.twins(theme)]))
    profiles = readers.profiles()
    missed = {
        name: tuple(_missed(profile, theme, contrasts, distances, twins))
        for name, profile in profiles.items()
    }
    return Proof(theme, reader or reader_of(file), contrasts, distances, demo, missed)


def reader_of(file: themefile.ThemeFile) -> str:
    """The profile that a theme is for: that of the nearest bundled theme it is made of."""
    bundled = assets.folder("templates").resolve()
    names = {profile.theme: name for name, profile in readers.profiles().items()}
    for path in file.manifests:
        if path.resolve().parent == bundled and path.stem in names:
            return names[path.stem]
    return themefile.DEFAULT


def digits(distances: tuple[Distance, ...]) -> Distance | None:
    """The smallest distance of two hexadecimal digits; None: the theme has no digits."""
    found = [item for item in distances if glyphpairs.HEXADECIMAL.issuperset(item.pair)]
    return min(found, key=lambda item: item.pixels, default=None)


def _missed(
    profile: Profile,
    theme: Theme,
    contrasts: tuple[Contrast, ...],
    distances: tuple[Distance, ...],
    twins: Sequence[str],
) -> Iterator[str]:
    """Whole sentences on what the theme falls short of for the profile's readers."""
    size, pitch = text_size(theme), theme.manifest.text.pitch
    if size < profile.size:
        yield f"The text is {size:g} px large; {profile.name} readers need {profile.size:g}."
    if pitch - size < profile.leading:
        least = size + profile.leading
        yield f"The pitch is {pitch} px; at {size:g} px lines need {least:g}."
    for item in contrasts:
        least = profile.contrast if item.ink in READ else LEAST_CONTRAST
        if item.ratio < least:
            ground = item.ground.replace("_", " ")
            yield (
                f"The contrast of {item.ink} on {ground}, as it is drawn, is {item.ratio:g}; "
                f"{least:g} is needed."
            )
    inks = theme.manifest.inks
    for name, colour in (("prohibition", inks.prohibition), ("mark", inks.mark)):
        if _apart(colour, inks.text) < LEAST_APART:
            yield f"The {name} ink can hardly be told from text: nothing else marks what it says."
    for pair in twins:
        yield f"{pair[0]} and {pair[1]} are drawn the same."
    nearest = digits(distances)
    if nearest is not None and nearest.pixels < profile.digits:
        pair = " and ".join(nearest.pair)
        yield (
            f"{pair} differ by {nearest.pixels:g} pixels of ink; {profile.name} "
            f"readers need {profile.digits:g} among digits."
        )


def _apart(one: str, other: str) -> float:
    """How far two colours `#rrggbb` are apart: the length of their difference, 441 at most."""
    return math.dist(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]))


def text_size(theme: Theme) -> float:
    """The em of the text in pixels, as its face has it."""
    text = theme.manifest.text
    return text.size * theme.faces().file(text.face).scale


def demo_cues() -> list[Cue]:
    """The cues of the bundled demo."""
    path = assets.demo_file()
    return cuefile.read(path.read_bytes(), str(path))


def crowd() -> list[Cue]:
    """More cues than any canvas holds, with an escape, a long word, and Hebrew."""
    odd = [
        Cue(f"odd {number}", category, 100, text)
        for number, (category, text) in enumerate(
            (("NAMING", "\U00013000 escaped"), ("CONSTRAINTS", "⊘" + "x" * 400), ("שמות", "שם → א"))
        )
    ]
    many = [
        replace(cue, memory_id=f"{number} {cue.memory_id}")
        for number in range(TIMES)
        for cue in demo_cues()
    ]
    return odd + many


def _demo(mural: Mural) -> Demo:
    shown = set(mural.shown)
    characters = sum(len(clean(cue.text)[0]) for cue in demo_cues() if cue.memory_id in shown)
    return Demo(
        width=mural.width,
        height=mural.height,
        tokens=mural.tokens,
        bytes=len(mural.png),
        shown=len(mural.shown),
        dropped=len(mural.dropped),
        escaped=sum(item.count for item in mural.escaped),
        characters_per_token=round(characters / mural.tokens, 2),
    )
