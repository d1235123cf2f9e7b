"""Cues from outside: JSON, JSON Lines or Python objects in, checked Cues out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from muralkit.errors import InputError
from muralkit.glyphs.clean import clean
from muralkit.model import DEFAULT_IMPORTANCE, Cue, MemoryId

EXAMPLE = '{"id": 7, "category": "NAMING", "importance": 60, "cue": "topic names = team.event.v1"}'
_HINT = f"An entry looks like this: {EXAMPLE}"


def read(data: bytes, where: str) -> list[Cue]:
    """The cues of a JSON array or of JSON Lines, in UTF-8.

    `where` names the source in messages. Raises InputError with the entry (from
    1) or the line, and the field.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"The file is not UTF-8 text (byte {error.start}).",
            where=where,
            hint="Save it as UTF-8.",
        ) from error
    if text.lstrip()[:1] == "[":
        entries = _parse(text, where)
        return _checked(entries, lambda index: f"{where}, entry {index + 1}")
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    objects = [_parse(line, f"{where}, line {number}") for number, line in lines]
    return _checked(objects, lambda index: f"{where}, line {lines[index][0]}")


def contents(data: bytes) -> dict[MemoryId, str]:
    """The whole memories that stand beside the cues (as `memory export` writes them), by id.

    `data` is what `read` took; nothing in it is an error any more.
    """
    text = data.decode("utf-8-sig")
    whole = text.lstrip()[:1] == "["
    entries = json.loads(text) if whole else [json.loads(e) for e in text.split("\n") if e.strip()]
    return {e["id"]: e["content"] for e in entries if isinstance(e.get("content"), str)}


def checked(entries: Iterable[Cue | Mapping[str, Any]], where: str = "") -> list[Cue]:
    """Cues and mappings of their fields as Cues. Raises InputError.

    `where` names the source in messages.
    """
    source = f"{where}, " if where else ""
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        kind = type(entries).__name__
        raise InputError(f"The cues are a list of entries, not {kind}.", where=where, hint=_HINT)
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
    return _checked(mixed, lambda index: f"{source}entry {index + 1}")


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
    """Checked by hand and not by pydantic: a replay must not wait for its import."""
    cues: list[Cue] = []
    seen: dict[MemoryId, int] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            kind = type(entry).__name__
            raise InputError(f"An entry is an object, not {kind}.", where=place(index), hint=_HINT)
        for field, (rule, valid) in _FIELDS.items():
            if field not in entry:
                raise _missing(field, entry, place(index))
            if not valid(entry[field]):
                raise InputError(
                    f"The field {field!r} {rule}; it is {_shown(entry[field])}.",
                    where=place(index),
                    hint=_HINT,
                )
        name, importance = entry["id"], entry["importance"]
        if name in seen:
            raise InputError(
                f"The id {_shown(name)} was given before ({place(seen[name])}).",
                where=place(index),
                hint="Each memory has one cue: remove one, or give it another id.",
            )
        seen[name] = index
        importance = DEFAULT_IMPORTANCE if importance is None else importance
        cues.append(Cue(name, entry["category"], importance, entry["cue"]))
    return cues


def _missing(field: str, entry: Mapping[str, Any], where: str) -> InputError:
    """A missing field; the likely cause where it is known."""
    near = get_close_matches(field, [str(key) for key in entry if key not in _FIELDS], n=1)
    hint = f"It may be null, which reads as 50. {_HINT}" if field == "importance" else _HINT
    if near:
        hint = f"There is a field {_shown(near[0])}: is it that one? {_HINT}"
    if field == "id" and any(isinstance(value, list) for value in entry.values()):
        hint = f"Give the list itself, without an object around it. {_HINT}"
    return InputError(f"The field {field!r} is missing.", where=where, hint=hint)


def _is_id(value: object) -> bool:
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return isinstance(value, str) and value != ""


def _is_importance(value: object) -> bool:
    return value is None or (type(value) is int and 1 <= value <= 100)


_FIELDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "id": ("must be a whole number (of 64 bits) or a text that is not empty", _is_id),
    "category": (
        "must be a text that is not blank",
        lambda value: isinstance(value, str) and clean(value)[0] != "",
    ),
    "importance": ("must be a whole number from 1 to 100, or null", _is_importance),
    "cue": ("must be a text", lambda value: isinstance(value, str)),
}


def _shown(value: object) -> str:
    """A value for a message: short, and nothing in it that a terminal can't print."""
    try:
        text = ascii(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, endless nesting
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= 60 else text[:57] + "..."
