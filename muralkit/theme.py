"""Themes: a TOML manifest and a Jinja SVG template in, a frozen Theme out.

A manifest may inherit from another one; what it says itself wins, key by key.
Unknown keys are refused with the nearest known name.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from muralkit import assets
from muralkit.errors import ThemeError
from muralkit.glyphs.faces import FaceFile, FaceSet, bundled
from muralkit.model import TILE, Ink

DEFAULT = "standard"


def _colour(value: str) -> str:
    if not re.fullmatch("#[0-9a-fA-F]{6}", value):
        raise ValueError("a colour is written #rrggbb")
    return value.lower()


def _whole_tiles(value: int) -> int:
    if value % TILE:
        raise ValueError(f"must be whole tiles of {TILE} px, such as {max(1, round(value / TILE)) * TILE}")
    return value


Colour = Annotated[str, AfterValidator(_colour)]
Tiles = Annotated[int, Field(ge=TILE, le=8192), AfterValidator(_whole_tiles)]
Pixels = Annotated[int, Field(ge=0, le=500)]
Size = Annotated[float, Field(gt=0, le=200, allow_inf_nan=False)]
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
    max_tiles: Annotated[int, Field(ge=1, le=40_000)] = 1568

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
    template: Name = "mural.svg.j2"
    canvas: CanvasSection = CanvasSection()
    text: TextSection = TextSection()
    banner: BannerSection = BannerSection()
    repeat: RepeatSection = RepeatSection()
    inks: InksSection = InksSection()
    raster: RasterSection = RasterSection()
    face: tuple[FaceEntry, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Manifest:
        if self.repeat.height > self.banner.height:
            raise ValueError("repeat.height must not be over banner.height: it is the slim one")
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


def names() -> tuple[str, ...]:
    """The bundled themes, the default one first."""
    found = sorted(path.stem for path in assets.folder("templates").glob("*.toml"))
    return tuple(sorted(found, key=lambda name: name != DEFAULT))


def load(name_or_path: str | Path = DEFAULT) -> Theme:
    """A bundled theme by name, or one's own by its file or folder.

    Raises ThemeError, with the nearest known name where something is unknown.
    """
    if str(name_or_path) in names():
        return _bundled_theme(str(name_or_path))
    return _build(_locate(name_or_path))


@lru_cache(maxsize=16)
def _bundled_theme(name: str) -> Theme:
    return _build(assets.folder("templates") / f"{name}.toml")


def _locate(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    try:
        if path.is_dir():
            path = path / "theme.toml"
        if path.is_file():
            return path.resolve()
    except (OSError, ValueError):
        pass
    near = get_close_matches(str(name_or_path), names(), n=1)
    raise ThemeError(
        f"There is no theme {str(name_or_path)!r}.",
        hint=(f"Did you mean {near[0]!r}? " if near else "")
        + "Bundled themes: "
        + ", ".join(names())
        + ". Or give the path of a manifest (.toml) or of a folder with a theme.toml.",
    )


def _build(path: Path) -> Theme:
    manifest_data, folders = _inherited(path, ())
    manifest = _validated(manifest_data, path)
    faces = tuple(_own_face(entry, folder) for entry, folder in _face_entries(path, ()))
    known = {file.name for file in faces}
    files = (*faces, *(file for file in bundled() if file.name not in known))
    return Theme(
        name=path.parent.name if path.name == "theme.toml" else path.stem,
        manifest=manifest,
        folders=folders,
        face_files=files,
        fingerprint=_fingerprint(manifest, folders, files),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ThemeError(f"The manifest can't be read: {error.strerror}.", where=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ThemeError(
            f"The manifest is not valid TOML: {error}.",
            where=str(path),
            hint="See https://toml.io for the format, or start from a copy of a bundled theme.",
        ) from error


def _parent(path: Path, data: Mapping[str, Any], seen: tuple[Path, ...]) -> Path | None:
    name = data.get("inherits")
    if name is None:
        return None
    if not isinstance(name, str):
        raise ThemeError("inherits must be the name or path of a theme.", where=str(path))
    near = assets.folder("templates") / f"{name}.toml" if name in names() else path.parent / name
    parent = _locate(near)
    if parent in (*seen, path):
        raise ThemeError(f"inherits leads back to {parent.name}.", where=str(path))
    return parent


def _inherited(path: Path, seen: tuple[Path, ...]) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """The merged manifest, and the folders of it and its parents, nearest first."""
    own = _read(path)
    parent = _parent(path, own, seen)
    own.pop("inherits", None)
    if parent is None:
        bundled_folder = assets.folder("templates")
        return own, tuple(dict.fromkeys((path.parent, bundled_folder)))
    base, folders = _inherited(parent, (*seen, path))
    merged = {**base, **own}
    for key in base.keys() & own.keys():
        if isinstance(base[key], dict) and isinstance(own[key], dict):
            merged[key] = {**base[key], **own[key]}
    return merged, tuple(dict.fromkeys((path.parent, *folders)))


def _face_entries(path: Path, seen: tuple[Path, ...]) -> Iterator[tuple[FaceEntry, Path]]:
    """The own faces of a theme and its parents, each with the folder of its manifest."""
    own = _read(path)
    for entry in own.get("face", ()):
        yield _validated_face(entry, path), path.parent
    parent = _parent(path, own, seen)
    if parent is not None:
        yield from _face_entries(parent, (*seen, path))


def _validated(data: dict[str, Any], path: Path) -> Manifest:
    try:
        return Manifest.model_validate(_tuples(data))
    except ValidationError as error:
        raise ThemeError(_explain(error, Manifest), where=str(path)) from error


def _validated_face(data: object, path: Path) -> FaceEntry:
    try:
        return FaceEntry.model_validate(data)
    except ValidationError as error:
        raise ThemeError(f"[[face]] {_explain(error, FaceEntry)}", where=str(path)) from error


def _tuples(value: Any) -> Any:
    """TOML arrays as tuples, which strict frozen models hold."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return value


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing that is wrong, with its key and, for an unknown key, the nearest one."""
    first = error.errors(include_url=False)[0]
    place = [str(part) for part in first["loc"] if not str(part).startswith(("constrained-", "literal["))]
    if first["type"] == "extra_forbidden":
        known = _keys(model, place[:-1])
        near = get_close_matches(place[-1], known, n=1)
        advice = f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(sorted(known))
        return f"Unknown key {'.'.join(place)!r}; {advice}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{'.'.join(place)}: {message}." if place else f"{message}."


def _keys(model: type[BaseModel], place: list[str]) -> list[str]:
    for part in place:
        field = model.model_fields.get(part)
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return list(FaceEntry.model_fields) if part == "face" else []
        model = inner
    extra = ["inherits"] if model is Manifest else []
    return [*model.model_fields, *extra]


def _own_face(entry: FaceEntry, folder: Path) -> FaceFile:
    path = folder / entry.file
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ThemeError(
            f"The file of the face {entry.name!r} can't be read: {error.strerror}.",
            where=str(path),
            hint="A theme's faces are looked for beside its manifest.",
        ) from error
    family = entry.family or entry.name
    return FaceFile(entry.name, family, entry.weight, path, digest, entry.scale, fallback=True)


def _fingerprint(manifest: Manifest, folders: tuple[Path, ...], files: tuple[FaceFile, ...]) -> str:
    """Over the settings, every template that could be included, and every face."""
    templates = [
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest())
        for folder in folders
        for path in sorted(folder.glob("*.j2"))
    ]
    faces = [
        (file.name, file.family, file.weight, file.sha256, file.scale, file.fallback) for file in files
    ]
    picture = [manifest.model_dump(mode="json", exclude={"description"}), templates, faces]
    return hashlib.sha256(json.dumps(picture, sort_keys=True).encode()).hexdigest()
