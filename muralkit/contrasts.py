"""How an ink looks on its ground where it is read: a theme and a page in, contrasts out.

A template is its author's program: it may paint text in another ink, faintly, under a
shape, or not where it was placed. So the picture itself is looked at. Where its glyphs
ought to be is known from the same page drawn by the bundled template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from muralkit import pipeline
from muralkit import theme as themes
from muralkit.manifest import rgb
from muralkit.model import Ink, Layout
from muralkit.theme import Theme
from muralkit.themefile import TemplateFile

ON = {
    Ink.TEXT: "page",
    Ink.PROHIBITION: "page",
    Ink.MARK: "page",
    Ink.BANNER: "banner_ground",
}
"""The ground that each ink stands on."""

FAINTEST = 10
"""Per cent of a run's pixels that may be fainter: a shape beside it may touch an edge."""

LIKEST = 20
"""Per cent of the ground around it that may be like its ink: a rule under it, or a bar that
it touches. Struck through, it has a quarter.
"""

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Contrast:
    """An ink on its ground, and the ratio of their luminances as WCAG has it: 1 to 21.

    `ratio` is that of the run that is drawn the faintest.
    """

    ink: str
    ground: str
    ratio: float


def drawn(layout: Layout, theme: Theme) -> Iterator[Contrast]:
    """Each ink on its ground, as the theme's template draws a page.

    Raises TemplateError where it can't.
    """
    inks = theme.manifest.inks
    faintest = {
        ink: contrast(rgb(getattr(inks, ink.value)), rgb(getattr(inks, ground)))
        for ink, ground in ON.items()
    }
    own = theme.templates.get(theme.manifest.template)
    bundled = themes.load()
    plain = bundled.templates[bundled.manifest.template]
    if own is None or own.data != plain.data:
        faintest |= _faintest(layout, theme, _with(theme, plain))
    for ink, ground in ON.items():
        yield Contrast(ink.value, ground, round(faintest[ink], 2))


def contrast(one: Colour, other: Colour) -> float:
    """The contrast ratio of two colours (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Relative luminance: sRGB's channels made linear, weighed by how bright they look."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _with(theme: Theme, template: TemplateFile) -> Theme:
    name = template.path.name
    manifest = replace(theme.manifest, template=name)
    return replace(theme, manifest=manifest, templates={**theme.templates, name: template})


def _faintest(layout: Layout, theme: Theme, plain: Theme) -> dict[Ink, float]:
    """The contrast of the faintest run of each ink, where `plain` would have its glyphs;
    or a pixel beside that, if the template moves the text by one.
    """
    indices, palette = pipeline.pixels(layout, theme)
    expected, _ = pipeline.pixels(layout, plain)
    found = [
        _at(layout, theme, indices, expected, palette, right, down)
        for right, down in sorted(product((0, 1, -1), repeat=2), key=lambda by: by != (0, 0))
    ]
    return max(found, key=lambda ratios: ratios.get(Ink.TEXT, 0.0))


def _at(
    layout: Layout,
    theme: Theme,
    indices: bytes,
    expected: bytes,
    palette: tuple[Colour, ...],
    right: int,
    down: int,
) -> dict[Ink, float]:
    """The same where the text is moved by so many pixels."""
    of = _Contrasts(palette)
    inks, width, height = theme.manifest.inks, layout.canvas.width, layout.canvas.height
    full = {ink: palette.index(rgb(getattr(inks, ink.value))) for ink in ON}
    bare = {ink: palette.index(rgb(getattr(inks, ground))) for ink, ground in ON.items()}
    faintest: dict[Ink, float] = {}
    for item in layout.placed:
        for run in item.line.runs:
            start = max(0, -right, int(item.x + run.x))
            end = min(width, width - right, int(item.x + run.x + run.width) + 1)
            ink: Counter[int] = Counter()
            ground: Counter[int] = Counter()
            top, bottom = (
                max(0, -down, item.y),
                min(height, height - down, item.y + item.line.height),
            )
            for y in range(top, bottom):
                there = (y + down) * width + right
                drawn = indices[there + start : there + end]
                for wanted, seen in zip(
                    expected[y * width + start : y * width + end], drawn, strict=True
                ):
                    if wanted == full[run.ink]:
                        ink[seen] += 1
                    elif wanted == bare[run.ink]:
                        ground[seen] += 1
            if ink and ground:  # a stop may have no pixel that is ink alone
                ratio = of.faint(ink, ground)
                faintest[run.ink] = min(ratio, faintest.get(run.ink, ratio))
    return faintest


class _Contrasts:
    """Contrasts of a palette's colours, each pair reckoned once."""

    def __init__(self, palette: tuple[Colour, ...]) -> None:
        self._palette = palette
        self._known: dict[tuple[int, int], float] = {}

    def faint(self, ink: Counter[int], ground: Counter[int]) -> float:
        """The contrast that all but the faintest pixels of ink have on the ground, and all
        but those of the ground that are the most like it with the ink.
        """
        return min(
            self._all_but(FAINTEST, ink, ground.most_common(1)[0][0]),
            self._all_but(LIKEST, ground, ink.most_common(1)[0][0]),
        )

    def _all_but(self, share: int, pixels: Counter[int], other: int) -> float:
        left = pixels.total() * share / 100
        ratios = sorted((self._of(one, other), count) for one, count in pixels.items())
        for ratio, count in ratios:
            left -= count
            if left < 0:
                return ratio
        return ratios[-1][0]

    def _of(self, one: int, other: int) -> float:
        if (one, other) not in self._known:
            ratio = contrast(self._palette[one], self._palette[other])
            self._known[one, other] = ratio
        return self._known[one, other]
