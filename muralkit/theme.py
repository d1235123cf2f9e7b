"""Themes: a theme's files in, a checked and frozen Theme out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from muralkit import files, themefile
from muralkit.errors import ThemeError
from muralkit.glyphs.faces import FaceFile, FaceSet, bundled
from muralkit.manifest import INKS, InksSection, Manifest, build, rgb
from muralkit.model import Ink
from muralkit.themefile import TemplateFile, ThemeFile


@dataclass(frozen=True, slots=True)
class Theme:
    """A manifest that was checked, and where it, its template and its faces come from.

    `templates` are those of its files, as they were read, by name; `fingerprint`
    is a hash over everything that can change the picture.
    """

    name: str
    path: Path
    manifest: Manifest
    templates: Mapping[str, TemplateFile]
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
    manifest = _manifest(file)
    manifest = replace(manifest, inks=_distinct(manifest.inks))
    own = tuple(_own_face(entry, folder, file.path) for entry, folder in file.faces)
    names = {face.name for face in own}
    extra = (_extra_face(number, path) for number, path in enumerate(file.extra, 1))
    faces = (*own, *(face for face in bundled() if face.name not in names), *extra)
    _check_distinct(faces, file.path)
    known = [face.name for face in faces]
    for key, wanted in (("text.face", manifest.text.face), ("banner.face", manifest.banner.face)):
        if wanted not in known:
            near = get_close_matches(wanted, known, n=1)
            raise ThemeError(
                f"{key}: no face is called {wanted!r}.",
                where=str(file.path),
                hint=(f"Did you mean {near[0]!r}? " if near else "")
                + f"Known faces: {', '.join(known)}. A theme adds its own with [[face]].",
            )
    return Theme(file.name, file.path, manifest, file.templates, faces, file.fingerprint)


def _check_distinct(faces: Sequence[FaceFile], manifest: Path) -> None:
    """No two faces of one name, or of one family and weight: the SVG tells them by those."""
    named: dict[str, FaceFile] = {}
    styled: dict[tuple[str, int], FaceFile] = {}
    for face in faces:
        other = named.setdefault(face.name, face)
        if other is not face:
            raise ThemeError(f"Two faces are called {face.name!r}.", where=str(manifest))
        other = styled.setdefault((face.family, face.weight), face)
        if other is not face:
            raise ThemeError(
                f"The faces {other.name!r} and {face.name!r} are both of the family "
                f"{face.family!r} with the weight {face.weight}.",
                where=str(manifest),
                hint="Give the [[face]] a family of its own.",
            )


def _manifest(file: ThemeFile) -> Manifest:
    if file.bundled:
        with suppress(TypeError, ValueError):  # somebody spoiled it: the checks say how
            return build(file.data)
    from muralkit import checking

    return checking.manifest(file.data, str(file.path))


def _distinct(inks: InksSection) -> InksSection:
    """The inks with no two of one colour: a repeated one is a shade of blue off.

    The rasterizer tells an ink by its colour, and an ink on a banner's ground is
    another one than the page, though both be white.
    """
    seen: set[str] = set()
    colours: dict[str, Any] = {"extra": tuple(colour.lower() for colour in inks.extra)}
    for name in INKS:
        colour = getattr(inks, name).lower()
        while colour in seen:
            red, green, blue = rgb(colour)
            colour = f"#{red:02x}{green:02x}{blue - 1 if blue else 1:02x}"
        seen.add(colour)
        colours[name] = colour
    return replace(inks, **colours)


def _own_face(data: Any, folder: Path, manifest: Path) -> FaceFile:
    from muralkit import checking

    entry = checking.face(data, str(manifest))
    path = folder / entry.file
    digest = _digest(entry.name, path, "A theme's faces are looked for beside its manifest.")
    family = entry.family or entry.name
    return FaceFile(entry.name, family, entry.weight, path, digest, entry.scale, fallback=True)


def _extra_face(number: int, path: Path) -> FaceFile:
    """A face of the user's configuration, by a name that no file's name has a part in."""
    name = f"Extra {number}"
    digest = _digest(name, path, "fonts.extra in the configuration names it.")
    return FaceFile(name, name, 400, path, digest, 1.0, fallback=True)


def _digest(name: str, path: Path, hint: str) -> str:
    try:
        return hashlib.sha256(files.read(path)).hexdigest()
    except OSError as error:
        raise ThemeError(
            f"The file of the face {name!r} can't be read: {error.strerror}.",
            where=str(path),
            hint=hint,
        ) from error
