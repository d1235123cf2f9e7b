"""Cues from outside: JSON, JSON Lines or Python objects in, checked Cues out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from muralkit.errors import InputError
from muralkit.model import DEFAULT_IMPORTANCE, Cue, MemoryId

EXAMPLE = '{"id": 7, "category": "NAMING", "importance": 60, "cue": "topic names = team.event.v1"}'
_HINT = f"An entry looks like this: {EXAMPLE}"


class _Entry(BaseModel):
    """One entry as it may be written; further fields are left alone."""

    model_config = ConfigDict(strict=True)

    id: int | Annotated[str, Field(min_length=1)]
    category: Annotated[str, Field(pattern=r"\S")]
    importance: Annotated[int, Field(ge=1, le=100)] | None
    cue: str


_ENTRIES = TypeAdapter(list[_Entry])


def read(data: bytes, where: str) -> list[Cue]:
    """The cues of a JSON array or of JSON Lines, in UTF-8.

    `where` names the source in messages. Raises InputError with the entry (from
    1) or the line, and the field.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"The file is not UTF-8 text (byte {error.start}).", where=where, hint=_HINT
        ) from error
    if text.lstrip()[:1] == "[":
        entries = _parse(text, where)
        return _checked(entries, lambda index: f"{where}, entry {index + 1}")
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    objects = [_parse(line, f"{where}, line {number}") for number, line in lines]
    return _checked(objects, lambda index: f"{where}, line {lines[index][0]}")


def checked(entries: Iterable[Cue | Mapping[str, Any]]) -> list[Cue]:
    """Cues and mappings of their fields as Cues. Raises InputError."""
    mixed = [
        entry
        if not isinstance(entry, Cue)
        else {
            "id": entry.memory_id,
            "category": entry.category,
            "importance": entry.importance,
            "cue": entry.text,
        }
        for entry in entries
    ]
    return _checked(mixed, lambda index: f"entry {index + 1}")


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if "\n" in text else ""
        raise InputError(
            f"Not JSON: {error.msg} (column {error.colno}).",
            where=where + line,
            hint=f"Cues are a JSON array, or one object a line. {_HINT}",
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"This JSON can't be read: {error}.", where=where, hint=_HINT) from error


def _checked(entries: Any, place: Callable[[int], str]) -> list[Cue]:
    try:
        parsed = _ENTRIES.validate_python(entries)
    except ValidationError as error:
        raise _explained(error, entries, place) from error
    seen: dict[MemoryId, int] = {}
    for index, entry in enumerate(parsed):
        if entry.id in seen:
            first = place(seen[entry.id])
            raise InputError(
                f"The id {entry.id!r} was given before ({first}).",
                where=place(index),
                hint="Each memory has one cue: remove one, or give it another id.",
            )
        seen[entry.id] = index
    return [
        Cue(
            entry.id,
            entry.category,
            DEFAULT_IMPORTANCE if entry.importance is None else entry.importance,
            entry.cue,
        )
        for entry in parsed
    ]


def _explained(error: ValidationError, entries: Any, place: Callable[[int], str]) -> InputError:
    first = error.errors(include_url=False)[0]
    if not first["loc"]:
        return InputError("Cues must be a list of entries.", hint=_HINT)
    index, *fields = first["loc"]
    where = place(int(index))
    if not fields:
        kind = type(entries[int(index)]).__name__
        return InputError(f"An entry must be an object, not {kind}.", where=where, hint=_HINT)
    field = str(fields[0])
    if first["type"] == "missing":
        return InputError(f"The field {field!r} is missing.", where=where, hint=_HINT)
    rules: Mapping[str, str] = {
        "id": "must be a whole number or a text that is not empty",
        "category": "must be a text that is not blank",
        "importance": "must be a whole number from 1 to 100, or null",
        "cue": "must be a text",
    }
    shown = re.sub(r"[\ud800-\udfff]", "�", repr(first["input"]))
    if first["type"] == "string_unicode":
        rule = "has a lone surrogate, which is no character"
    else:
        rule = rules[field]
    value = shown if len(shown) <= 60 else shown[:57] + "..."
    return InputError(f"The field {field!r} {rule}; it is {value}.", where=where, hint=_HINT)
