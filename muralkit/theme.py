"""Themes: a theme's files in, a checked and frozen Theme out.

Unknown keys are refused with the nearest known name.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from muralkit import themefile
from muralkit.errors import ThemeError
from muralkit.glyphs.faces import FaceFile, FaceSet, bundled
from muralkit.model import TILE, Ink
from muralkit.themefile import ThemeFile

LEAST_PITCH = 0.75
"""Of the size: capitals and their accents take this much of an em in most faces."""


def _colour(value: str) -> str:
    if not re.fullmatch("#[0-9a-fA-F]{6}", value):
        raise ValueError("a colour is written #rrggbb")
    return value.lower()


def _whole_tiles(value: int) -> int:
    if value % TILE:
        raise ValueError(
            f"must be whole tiles of {TILE} px, such as {max(1, round(value / TILE)) * TILE}"
        )
    return value


Colour = Annotated[str, AfterValidator(_colour)]
Tiles = Annotated[int, Field(ge=TILE, le=4480), AfterValidator(_whole_tiles)]
Pixels = Annotated[int, Field(ge=0, le=500)]
Size = Annotated[float, Field(ge=3, le=200, allow_inf_nan=False)]
Tracking = Annotated[float, Field(ge=0, le=50, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Sign = Annotated[str, Field(min_length=1, max_length=4)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CanvasSection(_Section):
    """Size and columns, in pixels.

    `width = "fit"` takes the cheapest width and column count that drop nothing.
    `max_side` and `max_tiles` are what the strictest provider takes unscaled.
    """

    width: Tiles | Literal["fit"] = 1092
    columns: Annotated[int, Field(ge=1, le=24)] = 3
    margin: Pixels = 2
    gutter: Pixels = 10
    max_side: Tiles = 1568
    max_tiles: Annotated[int, Field(ge=1, le=10_000)] = 1568

    @model_validator(mode="after")
    def _check(self) -> CanvasSection:
        if self.width == "fit":
            return self
        if self.width > self.max_side or self.width // TILE > self.max_tiles:
            raise ValueError("width must be within max_side and max_tiles")
        return self


class TextSection(_Section):
    """How cues are set, in pixels.

    `pitch` is the distance of two baselines of the theme's face; a line with a
    taller fallback face grows by what that face needs more.
    """

    face: Name = "Roboto Condensed"
    size: Size = 11.0
    pitch: Annotated[int, Field(ge=1, le=400)] = 12
    tracking: Tracking = 0.0
    snap: bool = False
    arrangement: Literal["flow", "lines"] = "flow"
    indent: Pixels = 5
    gap: Pixels = 5
    bullet: Sign = "▪"
    break_mark: Sign = "↵"


class BannerSection(_Section):
    """A category's banner, in pixels: its text, the bar's height, the space above."""

    face: Name = "Roboto Condensed Bold"
    size: Size = 9.0
    height: Annotated[int, Field(ge=1, le=400)] = 12
    tracking: Tracking = 0.0
    above: Pixels = 1


class RepeatSection(_Section):
    """The slim banner of a band that goes on in another column."""

    size: Size = 7.0
    height: Annotated[int, Field(ge=1, le=400)] = 9


class InksSection(_Section):
    """The colours, `#rrggbb`: two grounds, and four inks on them."""

    page: Colour = "#ffffff"
    text: Colour = "#000000"
    prohibition: Colour = "#a80000"
    mark: Colour = "#1f5fbf"
    banner_ground: Colour = "#10306e"
    banner: Colour = "#ffffff"
    extra: Annotated[tuple[Colour, ...], Field(max_length=2)] = ()
    """Further colours that the template paints; plates.py has room for two."""

    @model_validator(mode="after")
    def _check(self) -> InksSection:
        # A cue must not be able to draw what looks like a bullet or an escape.
        if self.mark in (self.text, self.prohibition):
            raise ValueError("mark must differ from text and prohibition")
        for ink in ("text", "prohibition", "mark"):
            if getattr(self, ink) == self.page:
                raise ValueError(f"{ink} must differ from page")
        if self.banner == self.banner_ground:
            raise ValueError("banner must differ from banner_ground")
        return self


class RasterSection(_Section):
    """Anti-aliasing: steps from ground to ink, both counted; fewer make a smaller file.

    Up to 4 the file has four bits a pixel. Six is the most: 6 x 6 x 6 < 256.
    """

    levels: Annotated[int, Field(ge=2, le=6)] = 4


class FaceEntry(_Section):
    """A face of the theme's own; `file` is looked for beside the manifest."""

    name: Name
    file: Name
    family: Name | None = None
    weight: Annotated[int, Field(ge=1, le=1000)] = 400
    scale: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] = 1.0


class Manifest(_Section):
    """A theme's TOML file, whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, title="muralkit theme")

    description: str = ""
    template: Annotated[str, Field(pattern=r"^[^/\\]+\.j2$", max_length=100)] = "mural.svg.j2"
    canvas: CanvasSection = CanvasSection()
    text: TextSection = TextSection()
    banner: BannerSection = BannerSection()
    repeat: RepeatSection = RepeatSection()
    inks: InksSection = InksSection()
    raster: RasterSection = RasterSection()

    @model_validator(mode="after")
    def _check(self) -> Manifest:
        if self.repeat.height > self.banner.height:
            raise ValueError("repeat.height must not be over banner.height: it is the slim one")
        for key, height, size in (
            ("text.pitch", self.text.pitch, self.text.size),
            ("banner.height", self.banner.height, self.banner.size),
            ("repeat.height", self.repeat.height, self.repeat.size),
        ):
            if height < LEAST_PITCH * size:
                raise ValueError(
                    f"{key} must be at least {LEAST_PITCH} of its size, or lines collide"
                )
        return self


def rgb(colour: str) -> tuple[int, int, int]:
    """`#rrggbb` as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@dataclass(frozen=True, slots=True)
class Theme:
    """A manifest that was checked, and where its template and faces come from.

    `folders` are searched for templates in their order; `fingerprint` is a hash
    over everything that can change the picture.
    """

    name: str
    manifest: Manifest
    folders: tuple[Path, ...]
    face_files: tuple[FaceFile, ...]
    fingerprint: str

    def faces(self) -> FaceSet:
        """The theme's own faces and the bundled ones."""
        return FaceSet(self.face_files)

    def colour(self, ink: Ink) -> str:
        """The colour of an ink, `#rrggbb`."""
        return str(getattr(self.manifest.inks, ink.value))


def load(name_or_path: str | Path = themefile.DEFAULT) -> Theme:
    """A bundled theme by name, or one's own by its file or folder, checked.

    Raises ThemeError, with the nearest known name where something is unknown.
    """
    return check(themefile.find(name_or_path))


def check(file: ThemeFile) -> Theme:
    """A theme's files as a Theme. Raises ThemeError."""
    try:
        manifest = Manifest.model_validate(_tuples(file.data))
    except ValidationError as error:
        raise ThemeError(_explain(error, Manifest), where=str(file.path)) from error
    own = tuple(_own_face(entry, folder, file.path) for entry, folder in file.faces)
    manifest = manifest.model_copy(update={"inks": _distinct(manifest.inks)})
    names = {face.name for face in own}
    faces = (*own, *(face for face in bundled() if face.name not in names))
    return Theme(file.name, manifest, file.folders, faces, file.fingerprint)


def _distinct(inks: InksSection) -> InksSection:
    """The inks with no two of one colour: a repeated one is a shade of blue off.

    The rasterizer tells an ink by its colour, and an ink on a banner's ground is
    another one than the page, though both be white.
    """
    seen: set[str] = set()
    colours = {}
    for name in ("page", "text", "prohibition", "mark", "banner_ground", "banner"):
        colour = getattr(inks, name)
        while colour in seen:
            red, green, blue = rgb(colour)
            colour = f"#{red:02x}{green:02x}{blue - 1 if blue else 1:02x}"
        seen.add(colour)
        colours[name] = colour
    return inks.model_copy(update=colours)


def _tuples(value: Any) -> Any:
    """TOML arrays as tuples, which strict frozen models hold."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing that is wrong, with its key and, for an unknown key, the nearest one."""
    first = error.errors(include_url=False)[0]
    place = [
        str(part)
        for part in first["loc"]
        if not str(part).startswith(("constrained-", "function-", "literal["))
    ]
    if first["type"] == "extra_forbidden":
        known = _keys(model, place[:-1])
        near = get_close_matches(place[-1], known, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
        return f"Unknown key {'.'.join(place)!r}; {advice}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{'.'.join(place)}: {message}." if place else f"{message}."


def _keys(model: type[BaseModel], place: list[str]) -> list[str]:
    """The keys that a section may have; `place` is the section, or empty for the top."""
    top = ["inherits", "face"] if model is Manifest and not place else []
    for part in place:
        field = model.model_fields.get(part)
        section = field.annotation if field else None
        if not (isinstance(section, type) and issubclass(section, BaseModel)):
            return []
        model = section
    return [*model.model_fields, *top]


def _own_face(data: Any, folder: Path, manifest: Path) -> FaceFile:
    try:
        entry = FaceEntry.model_validate(data)
    except ValidationError as error:
        what = f"[[face]] {_explain(error, FaceEntry)}"
        raise ThemeError(what, where=str(manifest)) from error
    path = folder / entry.file
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ThemeError(
            f"The file of the face {entry.name!r} can't be read: {reason}.",
            where=str(path),
            hint="A theme's faces are looked for beside its manifest.",
        ) from error
    family = entry.family or entry.name
    return FaceFile(entry.name, family, entry.weight, path, digest, entry.scale, fallback=True)
