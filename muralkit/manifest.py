"""A theme's settings: what a manifest may say, the limits of it, and what it says by itself.

Plain dataclasses: a bundled theme is right (the tests hold it against checking.py),
so drawing with it need not wait a fifth of a second for pydantic to be imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
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


def _setting(default: Any, description: str, **limits: Any) -> Any:
    """A setting with its default, its meaning, and pydantic's names for its limits."""
    return field(default=default, metadata={"description": description, **limits})


def _pixels(default: int, description: str, least: int = 0, most: int = 500) -> Any:
    return _setting(default, description, ge=least, le=most)


def _size(default: float, description: str) -> Any:
    return _setting(default, description, ge=LEAST_SIZE, le=200, allow_inf_nan=False)


def _tracking() -> Any:
    return _setting(0.0, "pixels added to every advance", ge=0, le=50, allow_inf_nan=False)


def _name(default: str, description: str) -> Any:
    return _setting(default, description, min_length=1, max_length=100)


def _sign(default: str, description: str) -> Any:
    return _setting(default, description, min_length=1, max_length=4)


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

    width: int | Literal["fit"] = _setting(
        1092, 'pixels, in whole tiles of 28; "fit": the cheapest that drops nothing'
    )
    columns: int = _setting(3, "columns of a fixed width", ge=1, le=24)
    margin: int = _pixels(2, "pixels around the page")
    gutter: int = _pixels(10, "pixels between columns")
    max_side: int = _setting(1568, "the longest side in pixels: providers shrink larger pictures")
    max_tiles: int = _setting(1568, "the most tiles, for the same reason", ge=1, le=10_000)

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

    face: str = _name("Roboto Condensed", "the face by name: a bundled one, or a [[face]]")
    size: float = _size(11.0, "the em in pixels")
    pitch: int = _pixels(12, "pixels from one baseline to the next", least=1, most=400)
    tracking: float = _tracking()
    snap: bool = _setting(False, "keep everything on whole pixels; only for pixel faces")
    arrangement: Literal["flow", "lines"] = _setting(
        "flow", 'cues run on; "lines": each cue starts a line'
    )
    indent: int = _pixels(5, "pixels before a continuation line")
    gap: int = _pixels(5, "pixels between two cues")
    bullet: str = _sign("▪", "what starts a cue")
    break_mark: str = _sign("↵", "what ends the line of a broken word")


@dataclass(frozen=True, slots=True)
class BannerSection:
    """A category's banner, in pixels: its text, the bar's height, the space above."""

    face: str = _name("Roboto Condensed Bold", "the face by name")
    size: float = _size(9.0, "the em in pixels")
    height: int = _pixels(12, "the bar's height in pixels", least=1, most=400)
    tracking: float = _tracking()
    above: int = _pixels(1, "pixels of space above the bar")


@dataclass(frozen=True, slots=True)
class RepeatSection:
    """The slim banner of a band that goes on in another column."""

    size: float = _size(7.0, "the em in pixels; the face is the banner's")
    height: int = _pixels(9, "the bar's height in pixels", least=1, most=400)


@dataclass(frozen=True, slots=True)
class InksSection:
    """The colours, `#rrggbb`: two grounds, and four inks on them."""

    page: str = _setting("#ffffff", "the ground; of two equal colours the later is a shade off")
    text: str = _setting("#000000", "cues")
    prohibition: str = _setting("#a80000", "cues that forbid something")
    mark: str = _setting("#1f5fbf", "bullets, break marks, escapes, notes: no cue can take it")
    banner_ground: str = _setting("#10306e", "the bars")
    banner: str = _setting("#ffffff", "the text on them")
    extra: tuple[str, ...] = _setting((), "up to two more colours that the template paints")

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

    levels: int = _setting(
        4, "steps from ground to ink, 2 to 6; up to 4 the file has 4 bits a pixel", ge=2, le=6
    )


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

    confusable: tuple[str, ...] = _setting(
        (),
        'glyphs that the face makes alike (`"HK"`), or a run read as a shorter one (`"rn=m"`)',
        max_length=200,
    )

    def __post_init__(self) -> None:
        for entry in self.confusable:
            if len(entry) > MOST_CONFUSABLE:
                raise ValueError(f"confusable: {entry[:20]!r}... is too long for a set of glyphs")
        try:
            confusions(self.confusable)
        except ValueError as error:
            raise ValueError(f"confusable: {error}") from error


@dataclass(frozen=True, slots=True)
class ScriptsSection:
    """The least em, in pixels, that a script is drawn at; larger text draws it as it is.

    Its letters have more strokes than Latin ones, or smaller ones for the same em.
    """

    han: float = _size(13.0, "the least em of Chinese and Japanese; at most twice the text's")
    hangul: float = _size(12.0, "that of Korean")
    arabic: float = _size(14.0, "that of Arabic, Syriac, Thaana and N'Ko")
    hebrew: float = _size(12.0, "that of Hebrew")
    indic: float = _size(14.0, "that of Devanagari and the other scripts of India and Tibet")
    southeast: float = _size(14.0, "that of Thai, Lao, Khmer and Myanmar")
    ethiopic: float = _size(12.0, "that of Ethiopic")
    emoji: float = _size(13.0, "that of emoji")

    def least(self) -> dict[str, float]:
        """The sizes by the script's name in fonts.toml."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, slots=True)
class Manifest:
    """A theme's TOML file, whole."""

    description: str = _setting("", "one line for `muralkit theme list`")
    template: str = _setting(
        "mural.svg.j2",
        "a Jinja file `NAME.j2` beside the manifest, or a bundled one",
        max_length=100,
    )
    canvas: CanvasSection = CanvasSection()
    text: TextSection = TextSection()
    banner: BannerSection = BannerSection()
    repeat: RepeatSection = RepeatSection()
    inks: InksSection = InksSection()
    raster: RasterSection = RasterSection()
    recall: RecallSection = RecallSection()
    scripts: ScriptsSection = ScriptsSection()

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

    name: str = _setting(
        MISSING, "what `text.face` and `banner.face` call it", pattern=_FAMILY, max_length=100
    )
    file: str = _setting(
        MISSING, "a TrueType or OpenType file beside the manifest", min_length=1, max_length=1000
    )
    family: str | None = _setting(
        None, "what the SVG calls it; by default its name", pattern=_FAMILY, max_length=100
    )
    weight: int = _setting(400, "1 to 1000; 700 is bold", ge=1, le=1000)
    scale: float = _setting(
        1.0, "its size beside the text's, 0.5 to 2", ge=0.5, le=2, allow_inf_nan=False
    )


SECTIONS = {
    "canvas": CanvasSection,
    "text": TextSection,
    "banner": BannerSection,
    "repeat": RepeatSection,
    "inks": InksSection,
    "raster": RasterSection,
    "recall": RecallSection,
    "scripts": ScriptsSection,
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
