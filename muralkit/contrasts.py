"""How an ink looks on its ground where it is read: a theme and a page in, contrasts out.

A template is its author's program: it may paint text in another ink, faintly, under a
shape, or not where it was placed. So the picture itself is looked at. Where its glyphs
ought to be is known from the same page drawn by the bundled template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

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
    said = {
        ink: contrast(rgb(getattr(inks, ink.value)), rgb(getattr(inks, ground)))
        for ink, ground in ON.items()
    }
    faintest = dict(said)
    own = theme.templates.get(theme.manifest.template)
    bundled = themes.load()
    plain = bundled.templates[bundled.manifest.template]
    if own is None or own.data != plain.data:
        for ink, ratio in _ratios(layout, theme, _with(theme, plain)):
            faintest[ink] = min(faintest[ink], ratio) if ratio < said[ink] else faintest[ink]
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


def _ratios(layout: Layout, theme: Theme, plain: Theme) -> Iterator[tuple[Ink, float]]:
    """The contrast of each run as it is drawn, where `plain` would have its ink."""
    indices, palette = pipeline.pixels(layout, theme)
    expected, _ = pipeline.pixels(layout, plain)
    of = _Contrasts(palette)
    inks, width = theme.manifest.inks, layout.canvas.width
    full = {ink: palette.index(rgb(getattr(inks, ink.value))) for ink in ON}
    bare = {ink: palette.index(rgb(getattr(inks, ground))) for ink, ground in ON.items()}
    for item in layout.placed:
        for run in item.line.runs:
            left = max(0, int(item.x + run.x))
            right = min(width, int(item.x + run.x + run.width) + 1)
            ink: Counter[int] = Counter()
            ground: Counter[int] = Counter()
            for y in range(max(0, item.y), min(layout.canvas.height, item.y + item.line.height)):
                start, end = y * width + left, y * width + right
                for here, there in zip(expected[start:end], indices[start:end], strict=True):
                    if here == full[run.ink]:
                        ink[there] += 1
                    elif here == bare[run.ink]:
                        ground[there] += 1
            if ink and ground:  # a stop may have no pixel that is ink alone
                yield run.ink, of.faint(ink, ground.most_common(1)[0][0])


class _Contrasts:
    """Contrasts of a palette's colours, each pair reckoned once."""

    def __init__(self, palette: tuple[Colour, ...]) -> None:
        self._palette = palette
        self._known: dict[tuple[int, int], float] = {}

    def faint(self, ink: Mapping[int, int], ground: int) -> float:
        """The contrast that all but the faintest pixels have."""
        ratios = sorted((self._of(index, ground), count) for index, count in ink.items())
        left = sum(ink.values()) * FAINTEST / 100
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
