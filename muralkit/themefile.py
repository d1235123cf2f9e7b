"""A theme's files in, their merged data and fingerprint out; nothing is validated yet.

A manifest may inherit from another one; what it says itself wins, key by key.
A replay needs only the fingerprint, so the checks wait in theme.py until a picture
has to be drawn.
"""

from __future__ import annotations

import errno
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from muralkit import assets, files
from muralkit.errors import ThemeError

DEFAULT = "standard"
MOST = 2**20
"""Bytes of a template."""

UNDRAWN = {"description": str, "recall": dict}
"""The keys that no picture depends on, and what they are: a template doesn't get them."""


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """A file *.j2 that a theme may use; `problem` says why it can't be read."""

    path: Path
    data: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """A manifest with what it inherits, as it is written.

    `templates` are those beside the manifests and the bundled ones, by name;
    `manifests` the files that say it; `faces` the [[face]] entries, each with the
    folder that its file lies in; `fingerprint` is a hash over everything that can
    change the picture; `bundled`: nothing is the user's.
    """

    name: str
    path: Path
    data: Mapping[str, Any]
    manifests: tuple[Path, ...]
    templates: Mapping[str, TemplateFile]
    faces: tuple[tuple[Any, Path], ...]
    fingerprint: str
    bundled: bool
    extra: tuple[Path, ...] = ()
    """Font files of the user's, whose faces end the chain of fallback."""

    def sources(self) -> list[Path]:
        """Every file that the theme is made of."""
        faces = [folder / _face_file(entry) for entry, folder in self.faces]
        templates = (file.path for file in self.templates.values())
        return [*self.manifests, *templates, *faces, *self.extra]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The bundled themes, the default one first."""
    found = sorted(path.stem for path in assets.folder("templates").glob("*.toml"))
    return tuple(sorted(found, key=lambda name: name != DEFAULT))


def find(name_or_path: str | Path = DEFAULT, extra: Sequence[str | Path] = ()) -> ThemeFile:
    """A bundled theme by name, or one's own by its file or folder.

    `extra` are font files whose faces end the chain of fallback. Raises ThemeError
    where there is no such theme, or a manifest is not TOML.
    """
    if str(name_or_path) in names():
        found = _bundled(str(name_or_path))
    else:
        found = _build(_locate(name_or_path))
    if not extra:
        return found
    paths = tuple(map(Path, extra))
    picture = "\n".join([found.fingerprint, *map(_digest, paths)])
    fingerprint = hashlib.sha256(picture.encode()).hexdigest()
    return replace(found, extra=paths, fingerprint=fingerprint)


@lru_cache(maxsize=16)
def _bundled(name: str) -> ThemeFile:
    return _build(assets.folder("templates") / f"{name}.toml")


def _locate(name_or_path: str | Path, called: str = "") -> Path:
    """The manifest of a path; `called` is what a person wrote for it."""
    called = called or str(name_or_path)
    path, folder = Path(name_or_path), False
    try:
        folder = bool(called) and path.is_dir()
        path = path / "theme.toml" if folder else path
        if called and path.exists():
            files.check_regular(path, path.stat())
            return path.resolve()
        if path.is_symlink():
            path.resolve(strict=True)  # raises what is wrong with it
    except (OSError, RuntimeError) as error:
        if getattr(error, "errno", None) != errno.ENAMETOOLONG:
            reason = getattr(error, "strerror", None) or "it is a link to itself"
            raise ThemeError(f"The manifest can't be read: {reason}.", where=str(path)) from error
    except ValueError:  # a NUL in the name
        pass
    if folder:
        raise ThemeError(
            "The folder has no theme.toml.",
            where=str(path.parent),
            hint='A theme.toml may be as short as: inherits = "standard"',
        )
    if called == "auto":
        raise ThemeError(
            "'auto' is no theme: it takes one by the model that reads.",
            hint='Set mural.theme to "auto" in the configuration; here, name a theme: '
            f"{', '.join(names())}.",
        )
    near = get_close_matches(called.lower(), names(), n=1)
    raise ThemeError(
        f"There is no theme {called!r}.",
        hint=(f"Did you mean {near[0]!r}? " if near else "")
        + f"Bundled themes: {', '.join(names())}. Or give the path of a manifest (.toml) "
        "or of a folder with a theme.toml.",
    )


def _build(path: Path) -> ThemeFile:
    chain = list(_chain(path))
    data: dict[str, Any] = {}
    for _, manifest in reversed(chain):
        data = _merged(data, manifest)
    data.pop("inherits", None)
    data.pop("face", None)
    folders = [file.parent for file, _ in chain]
    folders = list(dict.fromkeys([*folders, assets.folder("templates")]))
    templates = _templates(folders)
    faces = tuple((entry, file.parent) for file, own in chain for entry in _entries(own, file))
    return ThemeFile(
        name=path.parent.name if path.name == "theme.toml" else path.stem,
        path=path,
        data=data,
        manifests=tuple(file for file, _ in chain),
        templates=templates,
        faces=faces,
        fingerprint=_fingerprint(data, templates, faces),
        bundled=folders == [assets.folder("templates")],
    )


def _chain(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A manifest, what it inherits from, and so on."""
    seen: set[Path] = set()
    while True:
        data = _read(path)
        yield path, data
        seen.add(path)
        parent = data.get("inherits")
        if parent is None:
            return
        if not isinstance(parent, str):
            raise ThemeError("inherits must be the name or path of a theme.", where=str(path))
        near = assets.folder("templates") / f"{parent}.toml"
        try:
            following = _locate(near if parent in names() else path.parent / parent, parent)
        except ThemeError as error:
            raise ThemeError(f"inherits: {error.what}", where=str(path), hint=error.hint) from error
        if following in seen:
            raise ThemeError(f"inherits leads back to {following.name}.", where=str(path))
        path = following


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(files.read(path).decode())
    except OSError as error:
        raise ThemeError(
            f"The manifest can't be read: {error.strerror}.", where=str(path)
        ) from error
    except (ValueError, RecursionError) as error:  # TOML's own errors, UTF-8, huge numbers
        raise ThemeError(
            f"The manifest is not valid TOML: {error}.",
            where=str(path),
            hint="See https://toml.io for the format, or start from a copy of a bundled theme.",
        ) from error


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = {**base, **own}
    for key in base.keys() & own.keys():
        if isinstance(base[key], dict) and isinstance(own[key], dict):
            merged[key] = {**base[key], **own[key]}
    return merged


def _entries(manifest: dict[str, Any], path: Path) -> list[Any]:
    entries = manifest.get("face", [])
    if not isinstance(entries, list):
        raise ThemeError("A face is written [[face]], in double brackets.", where=str(path))
    return entries


def _templates(folders: list[Path]) -> dict[str, TemplateFile]:
    """Every template of the folders, by name; the first folder that has one wins."""
    found: dict[str, TemplateFile] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.j2")):
            if path.name not in found:
                found[path.name] = _template(path, folder)
    return found


def _template(path: Path, folder: Path) -> TemplateFile:
    """A template's bytes. A link that leads out of its folder is refused: a theme from
    a stranger could else draw any text file of its user's.
    """
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return TemplateFile(path, b"", "it is a link out of its folder")
        return TemplateFile(path, files.read(path, MOST))
    except OSError as error:
        return TemplateFile(path, b"", f"it can't be read: {error.strerror}")
    except RuntimeError:
        return TemplateFile(path, b"", "it is a link to itself")


def _fingerprint(
    data: Mapping[str, Any],
    templates: Mapping[str, TemplateFile],
    faces: tuple[tuple[Any, Path], ...],
) -> str:
    """Over the settings, every template that could be included, and every face."""
    texts = [
        (name, hashlib.sha256(file.data).hexdigest(), file.problem)
        for name, file in sorted(templates.items())
    ]
    own = [(entry, _digest(folder / _face_file(entry))) for entry, folder in faces]
    settings = {
        key: value
        for key, value in data.items()
        if not (key in UNDRAWN and isinstance(value, UNDRAWN[key]))
    }
    bundled = _digest(assets.folder("fonts") / "fonts.toml")  # has every face's sha256
    try:
        picture = json.dumps([settings, texts, own, bundled], sort_keys=True, default=str)
    except (ValueError, RecursionError) as error:
        raise ThemeError(f"The manifest can't be used: {error}.") from error
    return hashlib.sha256(picture.encode()).hexdigest()


def _face_file(entry: Any) -> str:
    """The file that a [[face]] names; nothing where it names none, which the checks report."""
    file = entry.get("file") if isinstance(entry, dict) else None
    return file if isinstance(file, str) else ""


def _digest(path: Path) -> str:
    """The file's sha256; empty where it can't be read, which the checks report."""
    try:
        return hashlib.sha256(files.read(path)).hexdigest()
    except OSError:
        return ""
