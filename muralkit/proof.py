"""A theme in, a Proof out: whether it draws, how well it can be read, and what it costs.

The theme draws the bundled demo, so its manifest and template are known to work. Then
contrast, glyph distances and sizes are held against the floors of the reader profiles
(readers.toml has them, with how they were found).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from muralkit import assets, cuefile, glyphpairs, pipeline, readers, themefile
from muralkit import theme as themes
from muralkit.glyphpairs import Distance
from muralkit.glyphs.clean import clean
from muralkit.manifest import rgb
from muralkit.model import Cue
from muralkit.readers import Profile
from muralkit.theme import Theme

LEAST_APART = 96
"""Of 441, how far the inks of text and prohibitions are apart at least; 124 in `dark`."""

LEAST_CONTRAST = 4.5
"""Of what is not read for its words, bullets and banners: WCAG 2.2, 1.4.3."""

ON = {"text": "page", "prohibition": "page", "mark": "page", "banner": "banner_ground"}
"""The ground that each ink stands on."""

READ = ("text", "prohibition")
"""The inks of cues."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """An ink on its ground, and the ratio of their luminances as WCAG has it: 1 to 21."""

    ink: str
    ground: str
    ratio: float


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
    demo = _demo(theme)
    contrasts = tuple(contrasts_of(theme))
    distances = tuple(glyphpairs.distances(theme))
    profiles = readers.profiles()
    missed = {
        name: tuple(_missed(profile, theme, contrasts, distances))
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


def contrasts_of(theme: Theme) -> Iterator[Contrast]:
    """Each ink on its ground."""
    inks = theme.manifest.inks
    for ink, ground in ON.items():
        yield Contrast(ink, ground, contrast(getattr(inks, ink), getattr(inks, ground)))


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours `#rrggbb`, to two decimals (WCAG 2.2)."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return round((light + 0.05) / (dark + 0.05), 2)


def _luminance(colour: str) -> float:
    """Relative luminance: sRGB's channels made linear, weighed by how bright they look."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in rgb(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def digits(distances: tuple[Distance, ...]) -> Distance | None:
    """The smallest distance of two hexadecimal digits; None: the theme has no digits."""
    found = [item for item in distances if glyphpairs.HEXADECIMAL.issuperset(item.pair)]
    return min(found, key=lambda item: item.pixels, default=None)


def _missed(
    profile: Profile,
    theme: Theme,
    contrasts: tuple[Contrast, ...],
    distances: tuple[Distance, ...],
) -> Iterator[str]:
    """Whole sentences on what the theme falls short of for the profile's readers."""
    text = theme.manifest.text
    size = text.size * theme.faces().file(text.face).scale
    if size < profile.size:
        yield f"The text is {size:g} px large; {profile.name} readers need {profile.size:g}."
    if text.pitch - text.size < profile.leading:
        least = text.size + profile.leading
        yield f"The pitch is {text.pitch} px; at {text.size:g} px lines need {least:g}."
    for item in contrasts:
        least = profile.contrast if item.ink in READ else LEAST_CONTRAST
        if item.ratio < least:
            ground = item.ground.replace("_", " ")
            yield f"The contrast of {item.ink} on {ground} is {item.ratio:g}; {least:g} is needed."
    inks = theme.manifest.inks
    for name, colour in (("prohibition", inks.prohibition), ("mark", inks.mark)):
        if _apart(colour, inks.text) < LEAST_APART:
            yield f"The {name} ink can hardly be told from text: nothing else marks what it says."
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


def demo_cues() -> list[Cue]:
    """The cues of the bundled demo."""
    path = assets.demo_file()
    return cuefile.read(path.read_bytes(), str(path))


def _demo(theme: Theme) -> Demo:
    cues = demo_cues()
    mural = pipeline.render(cues, theme)
    shown = set(mural.shown)
    characters = sum(len(clean(cue.text)[0]) for cue in cues if cue.memory_id in shown)
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
