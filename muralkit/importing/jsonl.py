"""JSON Lines of memories in, Drafts out; and the other way, which gives back the same."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from muralkit.errors import InputError
from muralkit.importing import Found, Problem
from muralkit.model import Memory, Status, StoredCue
from muralkit.selection import is_current
from muralkit.store import Draft, text_fault

EXAMPLE = '{"category": "NAMING", "importance": 60, "content": "Topic names are team.event.v1."}'


def read(data: bytes, where: str) -> Found:
    """The memories of a text in UTF-8, one JSON object a line.

    `category` and `content` are needed; `importance`, `status`, `id`, the times and a
    `cue` of that very content may come along. Further fields are left alone.
    """
    drafts: list[Draft] = []
    problems: list[Problem] = []
    if data.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"[":
        return _array(data, where)
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        entry = _entry(line, first=number == 1)
        if isinstance(entry, Draft):
            drafts.append(entry)
        else:
            problems.append(Problem(f"{where}, line {number}", entry))
    return Found(tuple(drafts), tuple(problems))


def _array(data: bytes, where: str) -> Found:
    """The memories of one JSON array."""
    entries = _parsed(data, first=True)
    if isinstance(entries, str):
        return Found((), (Problem(where, entries),))
    made = [_draft(entry) for entry in entries]
    return Found(
        tuple(entry for entry in made if isinstance(entry, Draft)),
        tuple(
            Problem(f"{where}, entry {number}", entry)
            for number, entry in enumerate(made, 1)
            if isinstance(entry, str)
        ),
    )


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
        **({"status_before": memory.status_before.value} if memory.status_before else {}),
    }


def _entry(line: bytes, first: bool) -> Draft | str:
    """The memory of a line, or what is wrong with it."""
    entry = _parsed(line, first)
    return entry if isinstance(entry, str) else _draft(entry)


def _parsed(data: bytes, first: bool) -> Any:
    """What the JSON says, or, as a text, what is wrong with it."""
    try:
        entry = json.loads(data.decode("utf-8-sig" if first else "utf-8"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 text (byte {error.start})"
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"not JSON: {error.msg} ({line}column {error.colno})"
    except RecursionError:
        return "this JSON is nested too deeply"
    except ValueError:
        return "this JSON has a number of too many digits"
    return f"a memory is an object such as {EXAMPLE}" if isinstance(entry, str) else entry


def fault(entry: Mapping[str, Any]) -> str:
    """What is wrong with a memory's fields, whatever it comes from; empty: nothing."""
    for field, (needed, rule) in _FIELDS.items():
        value = entry.get(field)
        if value is None:
            if needed:
                return f"the field {field!r} is missing"
            continue
        problem = rule(value)
        if problem:
            return f"the field {field!r} {problem}"
    return ""


def check(category: str, content: str) -> None:
    """Hold a memory that is added by hand against the rules of an import. Raises InputError."""
    problem = fault({"category": category, "content": content})
    if problem:
        raise InputError(f"{problem}.".capitalize())


def _draft(entry: Any) -> Draft | str:
    """An entry as a memory, or what is wrong with it."""
    if not isinstance(entry, Mapping):
        return f"a memory is an object such as {EXAMPLE}"
    problem = fault(entry)
    if problem:
        return problem
    return Draft(
        category=entry["category"],
        content=entry["content"],
        importance=entry.get("importance"),
        status=Status(entry.get("status") or Status.ACTIVE),
        id=entry.get("id"),
        created_at=entry.get("created_at"),
        updated_at=entry.get("updated_at"),
        expires_at=entry.get("expires_at"),
        status_before=Status(entry["status_before"]) if entry.get("status_before") else None,
        cue=entry.get("cue"),
    )


MOST_ID = 10**12
"""Far enough from where numbers end (2^63, and 2^53 in JavaScript) to go on counting."""

Rule = Callable[[Any], str]
"""What is wrong with a value, or nothing."""


def _whole(low: int, high: int, rule: str) -> Rule:
    return lambda value: "" if type(value) is int and low <= value <= high else rule


def _status(value: object) -> str:
    known = value in [status.value for status in Status]
    return "" if known else "must be active, permanent or archived"


def _status_before(value: object) -> str:
    return "" if value in ("active", "permanent") else "must be active or permanent"


_TIME = (False, _whole(0, 2**53, "must be seconds since 1970, a whole number"))
_FIELDS: dict[str, tuple[bool, Rule]] = {
    "category": (True, text_fault),
    "content": (True, text_fault),
    "importance": (False, _whole(1, 100, "must be a whole number from 1 to 100, or null")),
    "status": (False, _status),
    "id": (False, _whole(1, MOST_ID, f"must be a whole number from 1 to {MOST_ID:,}")),
    "created_at": _TIME,
    "updated_at": _TIME,
    "expires_at": _TIME,
    "status_before": (False, _status_before),
    "cue": (False, text_fault),
}
