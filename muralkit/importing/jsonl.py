"""JSON Lines of memories in, Drafts out; and the other way, which gives back the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from muralkit.glyphs.clean import clean
from muralkit.importing import Found, Problem
from muralkit.model import Memory, Status, StoredCue
from muralkit.selection import is_current
from muralkit.store import Draft

EXAMPLE = '{"category": "NAMING", "importance": 60, "content": "Topic names are team.event.v1."}'


def read(data: bytes, where: str) -> Found:
    """The memories of a text in UTF-8, one JSON object a line.

    `category` and `content` are needed; `importance`, `status`, `id`, the times and a
    `cue` of that very content may come along. Further fields are left alone.
    """
    drafts: list[Draft] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        entry = _entry(line, first=number == 1)
        if isinstance(entry, Draft):
            drafts.append(entry)
        else:
            problems.append(Problem(f"{where}, line {number}", entry))
    return Found(tuple(drafts), tuple(problems))


def write(memories: list[Memory], cues: Mapping[int, StoredCue]) -> Iterator[str]:
    """A line a memory, with its cue where that is current."""
    for memory in memories:
        entry = as_dict(memory)
        cue = cues.get(memory.id)
        if cue is not None and is_current(memory, cue):
            entry["cue"] = cue.text
        yield json.dumps(entry, ensure_ascii=False)


def as_dict(memory: Memory) -> dict[str, Any]:
    """A memory's fields as JSON has them."""
    return {
        "id": memory.id,
        "category": memory.category,
        "importance": memory.importance,
        "status": memory.status.value,
        "content": memory.content,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
    }


def _entry(line: bytes, first: bool) -> Draft | str:
    """The memory of a line, or what is wrong with it."""
    try:
        entry = json.loads(line.decode("utf-8-sig" if first else "utf-8"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 text (byte {error.start} of the line)"
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg} (column {error.colno})"
    except (RecursionError, ValueError) as error:
        return f"this JSON can't be read: {error}"
    if not isinstance(entry, Mapping):
        return f"a memory is an object such as {EXAMPLE}"
    for field, (needed, rule, valid) in _FIELDS.items():
        if entry.get(field) is None:
            if needed:
                return f"the field {field!r} is missing"
        elif not valid(entry[field]):
            return f"the field {field!r} {rule}"
    return Draft(
        category=entry["category"],
        content=entry["content"],
        importance=entry.get("importance"),
        status=Status(entry.get("status") or Status.ACTIVE),
        id=entry.get("id"),
        created_at=entry.get("created_at"),
        updated_at=entry.get("updated_at"),
        expires_at=entry.get("expires_at"),
        cue=entry.get("cue"),
    )


def _is_text(value: object) -> bool:
    """A text that can be stored (no lone surrogate) and has something to see."""
    return isinstance(value, str) and clean(value)[0] != "" and _encodes(value)


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _is_number(low: int, high: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and low <= value <= high


_TIME = (False, "must be seconds since 1970, a whole number", _is_number(0, 2**53))
_FIELDS: dict[str, tuple[bool, str, Callable[[object], bool]]] = {
    "category": (True, "must be a text that is not blank", _is_text),
    "content": (True, "must be a text that is not blank", _is_text),
    "importance": (False, "must be a whole number from 1 to 100, or null", _is_number(1, 100)),
    "status": (
        False,
        "must be active, permanent or archived",
        lambda value: value in [status.value for status in Status],
    ),
    "id": (False, "must be a whole number over 0", _is_number(1, 2**53)),
    "created_at": _TIME,
    "updated_at": _TIME,
    "expires_at": _TIME,
    "cue": (False, "must be a text that is not blank", _is_text),
}
