"""JSON with comments in, the same text with one member set or removed out.

What a person wrote stays as it is: comments, order, indentation, line ends. Quotes may
be single and keys bare, as JSON5 has them. Each edit is read back before it is given out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from muralkit.errors import InputError

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_BARE = re.compile(r"[^\s,:\[\]{}\"'/]+")


@dataclass(slots=True)
class _Member:
    """`"key": value` from `start` to the value's end; `comma` is where the one behind it stands."""

    key: str
    start: int
    value: _Value
    comma: int | None = None


@dataclass(slots=True)
class _Value:
    """A value's span, `text[start:end]`; `members` where it is an object."""

    start: int
    end: int = 0
    members: list[_Member] | None = field(default=None)


def loads(text: str) -> Any:
    """What the text says; an empty one is an empty object. Raises ValueError."""
    with suppress(
        ValueError, RecursionError
    ):  # most is plain JSON, and read a hundred times faster
        return json.loads(text)
    import json5

    try:
        return _joined(json5.loads(text)) if _SPACE.sub("", text) else {}
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read(text: str) -> Any:
    """The same. Raises InputError."""
    try:
        return loads(text)
    except ValueError as error:
        raise InputError(f"Not JSON with comments: {error}.") from error


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at a path of keys; objects on the way are made.

    Raises InputError where the text is no JSON, or something else is in the way.
    """
    expected = read(text)
    before = json.dumps(expected)
    _set(expected, path, value)
    if json.dumps(expected) == before and text.strip():
        return text
    if not _SPACE.sub("", text):
        note = f"{text.rstrip()}\n" if text.strip() else ""
        made = f"{note}{_written(_nested(path, value))}\n"
    else:
        made = _insert(text, path, value)
    return _checked(made, expected)


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without what is at a path of keys; the text itself where nothing is.

    Raises InputError where the text is no JSON.
    """
    expected = read(text)
    section = expected
    for key in path[:-1]:
        section = section.get(key) if isinstance(section, dict) else None
    if not isinstance(section, dict) or path[-1] not in section:
        return text
    del section[path[-1]]
    *way, key = path
    parent = _at(_parse(text), way)
    while parent.members and (found := _last(parent.members, key)) is not None:
        text = _cut(text, parent.members, found)
        parent = _at(_parse(text), way)
    return _checked(text, expected)


def _set(data: Any, path: Sequence[str], value: Any) -> None:
    for depth, key in enumerate(path):
        if not isinstance(data, dict):
            place = ".".join(path[:depth]) or "the whole"
            raise InputError(f"There is something else than an object at {place}.")
        if depth == len(path) - 1:
            data[key] = value
        else:
            data = data.setdefault(key, {})


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _checked(text: str, expected: Any) -> str:
    if read(text) != expected:
        raise InputError("This file is written in a way that muralkit can't edit safely.")
    return text


def _insert(text: str, path: Sequence[str], value: Any) -> str:
    found, depth = _parse(text), 0
    while found.members is not None and depth < len(path):
        member = _last(found.members, path[depth])
        if member is None:
            break
        found, depth = member.value, depth + 1
    if depth == len(path):
        new = _written(value, _indent(text, found.start), _unit(text), _newline(text))
        return text[: found.start] + new + text[found.end :]
    return _add(text, found, path[depth], _nested(path[depth + 1 :], value))


def _add(text: str, parent: _Value, key: str, value: Any) -> str:
    """A member behind the last one of an object."""
    members = parent.members or []
    newline, unit = _newline(text), _unit(text)
    one_line = "\n" not in text[parent.start : parent.end] and bool(members)
    base = _indent(text, parent.start)
    inner = _indent(text, members[-1].start) if members and not one_line else base + unit
    written = json.dumps(value) if one_line else _written(value, inner, unit, newline)
    entry = f"{json.dumps(key)}: {written}"
    close = parent.end - 1
    before = text[:close].rstrip()
    if one_line:
        comma = "" if members[-1].comma is not None else ","
        return f"{before}{comma} {entry}{text[len(before) :]}"
    if members and members[-1].comma is None:
        end = members[-1].value.end
        before = f"{before[:end]},{before[end:]}"
    return f"{before}{newline}{inner}{entry}{newline}{base}{text[close:]}"


def _cut(text: str, members: list[_Member], gone: _Member) -> str:
    """The text without a member: with its line, where it has one of its own."""
    start, end = gone.start, gone.value.end
    place = members.index(gone)
    if gone.comma is not None:
        end = gone.comma + 1
    elif place > 0:
        comma = members[place - 1].comma or 0  # there is one, or no member would follow
        text = f"{text[:comma]}{text[comma + 1 :]}"
        start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip() == "":
        rest = re.compile(r"[ \t]*\r?\n").match(text, end)
        if rest:
            return text[:line] + text[rest.end() :]
    elif place == len(members) - 1:
        start = len(text[:start].rstrip(" \t"))
    return text[:start] + text[end:].lstrip(" ")


def _written(value: Any, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return newline.join([lines[0], *(indent + line for line in lines[1:])])


def _indent(text: str, at: int) -> str:
    """The white space that the line of a place starts with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    """One step of indentation: that of the first member, two spaces where it has none."""
    root = _parse(text)
    first = _indent(text, root.members[0].start) if root.members else ""
    return first or "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _last(members: list[_Member], key: str) -> _Member | None:
    """The member of a key; the last of several counts."""
    return next((member for member in reversed(members) if member.key == key), None)


def _at(root: _Value, path: Sequence[str]) -> _Value:
    for key in path:
        member = _last(root.members or [], key)
        root = root if member is None else member.value
    return root


def _joined(value: Any) -> Any:
    """The value with each surrogate pair as the character that it makes: json5 leaves two."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, list):
        return [_joined(entry) for entry in value]
    if isinstance(value, dict):
        return {_joined(key): _joined(entry) for key, entry in value.items()}
    return value


def _parse(text: str) -> _Value:
    """The spans of a text that `read` has taken."""
    return _value(text, _skip(text, 0))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> _Value:
    if text[at] == "{":
        return _object(text, at)
    if text[at] == "[":
        made = _Value(at)
        at = _skip(text, at + 1)
        while text[at] != "]":
            at = _skip(text, _value(text, at).end)
            at = _skip(text, at + 1) if text[at] == "," else at
        made.end = at + 1
        return made
    found = (_STRING if text[at] in "\"'" else _BARE).match(text, at)
    if found is None:
        raise InputError("This file is written in a way that muralkit can't edit safely.")
    return _Value(at, found.end())


def _object(text: str, at: int) -> _Value:
    members: list[_Member] = []
    start, at = at, _skip(text, at + 1)
    while text[at] != "}":
        key = _value(text, at)
        colon = _skip(text, key.end)
        value = _value(text, _skip(text, colon + 1))
        member = _Member(_key(text[key.start : key.end]), key.start, value)
        members.append(member)
        at = _skip(text, value.end)
        if text[at] == ",":
            member.comma = at
            at = _skip(text, at + 1)
    return _Value(start, at + 1, members)


def _key(written: str) -> str:
    parsed = read(f"{{{written}: 0}}")
    return next(iter(parsed)) if isinstance(parsed, Mapping) else written
