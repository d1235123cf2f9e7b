"""Who reads what: readers.toml in, reader profiles and the theme of a model out."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from muralkit import assets

AUTO = "auto"
"""What mural.theme says where the outgoing model chooses."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How small and faint print may be for a kind of reader; readers.toml says how we know.

    `size` and `leading` (the pitch without the size) in pixels, `contrast` as WCAG has
    it, `digits` as glyphpairs.py measures it.
    """

    name: str
    theme: str
    size: float
    leading: float
    contrast: float
    digits: float
    source: str


@dataclass(frozen=True, slots=True)
class Reader:
    """Models by a pattern of their ids, the theme for them, and how we know."""

    pattern: str
    theme: str
    source: str


def profiles() -> dict[str, Profile]:
    """The profiles by name, the one of the smallest print first."""
    found = _data()["profile"]
    made = [Profile(name=name, **entry) for name, entry in found.items()]
    return {profile.name: profile for profile in sorted(made, key=lambda profile: profile.size)}


def table() -> tuple[Reader, ...]:
    """The models that are known, a pattern each."""
    return tuple(
        Reader(pattern, entry["theme"], entry["source"])
        for entry in _data()["reader"]
        for pattern in entry["models"]
    )


def known(model: str) -> Reader | None:
    """The row of the longest pattern that fits a model's id; None: it is not known."""
    fitting = [reader for reader in table() if fnmatchcase(model.lower(), reader.pattern)]
    return max(fitting, key=lambda reader: len(reader.pattern), default=None)


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads((assets.PACKAGE / "readers.toml").read_text("utf-8"))
