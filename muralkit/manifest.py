"""A theme's settings: what a manifest may say, the limits of it, and what it says by itself.

Plain dataclasses: a bundled theme is right (the tests hold it against checking.py),
so drawing with it need not wait a fifth of a second for pydantic to be imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Any, Literal

from muralkit.model import TILE

LEAST_PITCH = 1.0
"""Of the size: from an ascender's top to a descender's foot most faces take 0.95 em."""

MOST_PITCH = 4
"""Of the size: lines of so unlike heights can't be balanced, and waste the canvas."""

MOST_EXTRA = 2
"""Corners of the colour cube that plates.py has left."""

MOST_TILES = 160
"""Tiles of a side: 4,480 px, more than any provider takes."""

LEAST_SIZE = 3
"""Pixels of an em, and no face may be scaled to less: below it nothing is a letter."""

MOST_CONFUSABLE = 20
"""Glyphs that a theme may declare to be taken for one another, in one set."""


def _limited(default: Any, **limits: Any) -> Any:
    """A setting with its default and pydantic's names for its limits."""
    return field(default=default, metadata=limits)


def _pixels(default: int, least: int = 0, most: int = 500) -> Any:
    return _limited(default, ge=least, le=most)


def _size(default: float) -> Any:
    return _limited(default, ge=LEAST_SIZE, le=200, allow_inf_nan=False)


def _tracking() -> Any:
    return _limited(0.0, ge=0, le=50, allow_inf_nan=False)


def _name(default: str) -> Any:
    return _limited(default, min_length=1, max_length=100)


def _sign(default: str) -> Any:
    return _limited(default, min_length=1, max_length=4)


def rgb(colour: str) -> tuple[int, int, int]:
    """`#rrggbb` as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _check_colour(key: str, value: str) -> None:
    if not re.fullmatch("#[0-9a-fA-F]{6}", value):
        raise ValueError(f"{key}: a colour is written #rrggbb")


@dataclass(frozen=True, slots=True)
class CanvasSection:
    """Size and columns, in pixels.

    `width = "fit"` takes the cheapest width and column count that drop nothing.
    `max_side` and `max_tiles` are what the strictest provider takes unscaled.
    """

    width: int | Literal["fit"] = 1092
    columns: int = _limited(3, ge=1, le=24)
    margin: int = _pixels(2)
    gutter: int = _pixels(10)
    max_side: int = 1568
    max_tiles: int = _limited(1568, ge=1, le=10_000)

    def __post_init__(self) -> None:
        for key, value in (("width", self.width), ("max_side", self.max_side)):
            if value == "fit":
                continue
            if value > MOST_TILES * TILE:
                raise ValueError(f"{key} must be at most {MOST_TILES * TILE} px")
            near = max(1, (value + TILE // 2) // TILE) * TILE
            if value != near:
                raise ValueError(f"{key} must be whole tiles of {TILE} px, such as {near}")
        if self.width == "fit":
            return
        if self.width > self.max_side or self.width // TILE > self.max_tiles:
            raise ValueError("width must be within max_side and max_tiles")


@dataclass(frozen=True, slots=True)
class TextSection:
    """How cues are set, in pixels.

    `pitch` is the distance of two baselines of the theme's face; a line with a
    taller fallback face grows by what that face needs more.
    """

    face: str = _name("Roboto Condensed")
    size: float = _size(11.0)
    pitch: int = _pixels(12, least=1, most=400)
    tracking: float = _tracking()
    snap: bool = False
    arrangement: Literal["flow", "lines"] = "flow"
    indent: int = _pixels(5)
    gap: int = _pixels(5)
    bullet: str = _sign("▪")
    break_mark: str = _sign("↵")


@dataclass(frozen=True, slots=True)
class BannerSection:
    """A category's banner, in pixels: its text, the bar's height, the space above."""

    face: str = _name("Roboto Condensed Bold")
    size: float = _size(9.0)
    height: int = _pixels(12, least=1, most=400)
    tracking: float = _tracking()
    above: int = _pixels(1)


@dataclass(frozen=True, slots=True)
class RepeatSection:
    """The slim banner of a band that goes on in another column."""

    size: float = _size(7.0)
    height: int = _pixels(9, least=1, most=400)


@dataclass(frozen=True, slots=True)
class InksSection:
    """The colours, `#rrggbb`: two grounds, and four inks on them."""

    page: str = "#ffffff"
    text: str = "#000000"
    prohibition: str = "#a80000"
    mark: str = "#1f5fbf"
    banner_ground: str = "#10306e"
    banner: str = "#ffffff"
    extra: tuple[str, ...] = ()
    """Further colours that the template paints; plates.py has room for two."""

    def __post_init__(self) -> None:
        for key in INKS:
            _check_colour(key, getattr(self, key))
        if len(self.extra) > MOST_EXTRA:
            raise ValueError(f"extra takes at most {MOST_EXTRA} colours")
        for colour in self.extra:
            _check_colour("extra", colour)
        # A cue must not be able to draw what looks like a bullet or an escape.
        if rgb(self.mark) in (rgb(self.text), rgb(self.prohibition)):
            raise ValueError("mark must differ from text and prohibition")
        for key in ("text", "prohibition", "mark"):
            if rgb(getattr(self, key)) == rgb(self.page):
                raise ValueError(f"{key} must differ from page")
        if rgb(self.banner) == rgb(self.banner_ground):
            raise ValueError("banner must differ from banner_ground")


INKS = ("page", "text", "prohibition", "mark", "banner_ground", "banner")


@dataclass(frozen=True, slots=True)
class RasterSection:
    """Anti-aliasing: steps from ground to ink, both counted; fewer make a smaller file.

    Up to 4 the file has four bits a pixel. Six is the most: 6 x 6 x 6 < 256.
    """

    levels: int = _limited(4, ge=2, le=6)


def confusions(entries: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The sets of glyphs, `HK`, and the runs that are read as another one, `rn=m`.

    Raises ValueError for what is neither.
    """
    sets: list[str] = []
    joined: dict[str, str] = {}
    for entry in entries:
        run, sign, one = entry.partition("=")
        if sign and run and one:
            if run == one or len(run) <= len(one):
                raise ValueError(f"{entry!r}: a run is read as a shorter one, such as rn=m")
            joined[run] = one
        elif len(set(entry)) > 1:
            sets.append(entry)
        else:
            raise ValueError(f"{entry!r}: two or more glyphs, such as HK, or a run, such as rn=m")
    return sets, joined


@dataclass(frozen=True, slots=True)
class RecallSection:
    """What the face makes alike, for who looks up what was read; no part of the picture.

    `HK` are glyphs taken for one another, `rn=m` is a run that is read as something shorter.
    """

    confusable: tuple[str, ...] = _limited((), max_length=200)

    def __post_init__(self) -> None:
        for entry in self.confusable:
            if len(entry) > MOST_CONFUSABLE:
                raise ValueError(f"confusable: {entry[:20]!r}... is too long for a set of glyphs")
        try:
            confusions(self.confusable)
        except ValueError as error:
            raise ValueError(f"confusable: {error}") from error


@dataclass(frozen=True, slots=True)
class Manifest:
    """A theme's TOML file, whole."""

    description: str = ""
    template: str = _limited("mural.svg.j2", max_length=100)
    canvas: CanvasSection = CanvasSection()
    text: TextSection = TextSection()
    banner: BannerSection = BannerSection()
    repeat: RepeatSection = RepeatSection()
    inks: InksSection = InksSection()
    raster: RasterSection = RasterSection()
    recall: RecallSection = RecallSection()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^/\\\0]+\.j2", self.template):
            raise ValueError("template: must be NAME.j2, beside the manifest or a bundled one")
        if self.repeat.height > self.banner.height:
            raise ValueError("repeat.height must not be over banner.height: it is the slim one")
        for key, size in (("banner.size", self.banner.size), ("repeat.size", self.repeat.size)):
            if size > MOST_PITCH * self.text.size:
                raise ValueError(f"{key} must be at most {MOST_PITCH} times text.size")
        for key, height, size in (
            ("text.pitch", self.text.pitch, self.text.size),
            ("banner.height", self.banner.height, self.banner.size),
            ("repeat.height", self.repeat.height, self.repeat.size),
        ):
            if height > MOST_PITCH * size:
                raise ValueError(f"{key} must be at most {MOST_PITCH} times its size")
            if height < LEAST_PITCH * size:
                raise ValueError(f"{key} must be at least its size, or lines collide")


_FAMILY = r"""^[^,"'\s]+( [^,"'\s]+)*$"""  # an SVG's list of families parts them at commas


@dataclass(frozen=True, slots=True)
class FaceEntry:
    """A face of the theme's own; `file` is looked for beside the manifest."""

    name: str = _limited(MISSING, pattern=_FAMILY, max_length=100)
    file: str = _limited(MISSING, min_length=1, max_length=1000)
    family: str | None = _limited(None, pattern=_FAMILY, max_length=100)
    weight: int = _limited(400, ge=1, le=1000)
    scale: float = _limited(1.0, ge=0.5, le=2, allow_inf_nan=False)


SECTIONS = {
    "canvas": CanvasSection,
    "text": TextSection,
    "banner": BannerSection,
    "repeat": RepeatSection,
    "inks": InksSection,
    "raster": RasterSection,
    "recall": RecallSection,
}


def _fixed(value: Any) -> Any:
    """A list of a bundled theme's TOML as the tuple that the checks make of another's."""
    return tuple(value) if isinstance(value, list) else value


def build(data: Mapping[str, Any]) -> Manifest:
    """The Manifest of a manifest's data whose keys, types and limits are right.

    Raises ValueError where settings contradict one another.
    """
    values = dict(data)
    for name, section in SECTIONS.items():
        if name not in values:
            continue
        try:
            values[name] = section(**{key: _fixed(item) for key, item in values[name].items()})
        except ValueError as error:
            raise ValueError(f"{name}.{error}") from error
    return Manifest(**values)
