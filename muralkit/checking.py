"""A theme's data in, as its author wrote it; a Manifest and checked [[face]] entries out.

pydantic checks, with models made of the settings in manifest.py. Unknown keys are
refused with the nearest known name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from muralkit import wording
from muralkit.errors import ThemeError
from muralkit.manifest import FaceEntry, Manifest, build

_STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


def manifest(data: Mapping[str, Any], where: str) -> Manifest:
    """The settings of a theme. Raises ThemeError with the key, `where` being its file."""
    checked = _checked(Manifest, data, where)
    try:
        return build(checked)
    except ValueError as error:
        raise ThemeError(f"{error}.", where=where) from error


def face(data: Any, where: str) -> FaceEntry:
    """A [[face]] entry. Raises ThemeError with the key, `where` being its file."""
    try:
        return FaceEntry(**_checked(FaceEntry, data, where))
    except ThemeError as error:
        raise ThemeError(f"[[face]] {error.what}", where=where) from error


def _checked(kind: type, data: Any, where: str) -> dict[str, Any]:
    try:
        return _model(kind).model_validate(tuples(data)).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise ThemeError(_explain(error, kind), where=where) from error


@lru_cache(maxsize=16)
def _model(kind: type) -> type[BaseModel]:
    """A pydantic model with a dataclass's fields and their limits."""
    hints = get_type_hints(kind)
    columns: dict[str, Any] = {
        item.name: (
            _model(hints[item.name]) if is_dataclass(hints[item.name]) else hints[item.name],
            Field(default=... if item.default is MISSING else item.default, **item.metadata),
        )
        for item in fields(kind)
    }
    return create_model(kind.__name__, __config__=_STRICT, **columns)


def tuples(value: Any) -> Any:
    """Arrays of TOML or JSON as tuples, which strict frozen settings hold."""
    if isinstance(value, Mapping):
        return {key: tuples(item) for key, item in value.items()}
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def _explain(error: ValidationError, kind: type) -> str:
    """The first thing that is wrong, with its key and, for an unknown key, the nearest one."""
    place, what = wording.faults(error)[0]
    if error.errors(include_url=False)[0]["type"] == "extra_forbidden":
        known = _keys(kind, place[:-1])
        near = get_close_matches(place[-1], known, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
        return f"Unknown key {'.'.join(place)!r}; {advice}"
    return f"{'.'.join(place)}: {what}." if place else f"It {what}."


def _keys(kind: type, place: list[str]) -> list[str]:
    """The keys that a section may have; `place` is the section, or empty for the top."""
    top = ["inherits", "face"] if kind is Manifest and not place else []
    for part in place:
        kind = get_type_hints(kind)[part]
    return [*(item.name for item in fields(kind)), *top]
