"""Which configuration files there are, and what stands in one; nothing is checked yet.

Apart from sections.py, whose models cost a command 0.2 s to import: without a
file, nobody has to wait for them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muralkit import files
from muralkit.errors import ConfigError

MOST = 2**18
"""Bytes of a configuration; a real one has a hundredth of that."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A file that is read where it is there. `foreign`: it is another program's too."""

    path: Path
    project: bool
    foreign: bool


def layers(root: Path, environment: Mapping[str, str] = os.environ) -> list[Layer]:
    """The files of a project in the order that they are read, whether there or not."""
    configured = environment.get("XDG_CONFIG_HOME")
    user = Path(configured) if configured else files.home(environment) / ".config"
    return [
        Layer(_jsonc(user / "cortexkit" / "magic-context"), False, True),
        Layer(_jsonc(root / ".cortexkit" / "magic-context"), True, True),
        Layer(_jsonc(user / "muralkit" / "muralkit"), False, False),
        Layer(_jsonc(root / ".muralkit" / "muralkit"), True, False),
    ]


def own(root: Path, user: bool, environment: Mapping[str, str] = os.environ) -> Layer:
    """Our own file of the user's, or of a project."""
    found = [layer for layer in layers(root, environment) if not layer.foreign]
    return next(layer for layer in found if layer.project != user)


def candidates(root: Path, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Every file that may be one of them, whether there or not."""
    return [
        layer.path.with_suffix(suffix)
        for layer in layers(root, environment)
        for suffix in (".jsonc", ".json")
    ]


def _jsonc(stem: Path) -> Path:
    """The .jsonc file, or the .json one where only that is there."""
    plain = stem.with_name(f"{stem.name}.json")
    chosen = stem.with_name(f"{stem.name}.jsonc")
    return plain if plain.is_file() and not chosen.is_file() else chosen


def read(path: Path) -> dict[str, Any] | None:
    """A file's object; None where there is no file."""
    from muralkit import jsonc

    try:
        text = files.read(path, MOST).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"The file can't be read: {reason}.", where=str(path)) from error
    try:
        data = jsonc.loads(text)
    except ValueError as error:
        what = str(error).replace("<string>:", "line ")
        raise ConfigError(
            f"Not JSON with comments: {what}.",
            where=str(path),
            hint="Comments and a comma after the last entry are fine; keys stand in quotes.",
        ) from error
    if not isinstance(data, dict):
        raise ConfigError("The file must hold one object: { ... }.", where=str(path))
    return data
