"""The dataclasses of themes in, the tables of the README's guide for their authors out.

`python -m muralkit.guide` prints them; a test holds the README against them, so a field
without a meaning here, or with another one there, does not get in.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from muralkit.manifest import SECTIONS, FaceEntry, Manifest
from muralkit.model import Canvas, Dropped, Escaped, Ink, Layout, Line, Placed, Reason, Role, Run
from muralkit.svg import Style, TemplateData, Text

ROOTS = {
    "canvas": "the picture's size and columns",
    "placed": "every line at its place, column by column from the top",
    "styles": "the same text by face, size, ink and direction: what a template draws it from",
    "inks": "the colours of `[inks]`, by name",
    "layout": "the whole page, with what is not on it",
    "theme": "every setting that the picture depends on, by section and key",
}

MEANINGS: Mapping[type, Mapping[str, str]] = {
    Canvas: {
        "width": "pixels, in whole tiles",
        "height": "pixels, in whole tiles",
        "columns": "how many",
        "column_width": "pixels of each",
        "tokens": "image tokens: tiles of 28 x 28 px",
    },
    Placed: {
        "line": "what stands there",
        "x": "its left edge in pixels",
        "y": "its top in pixels",
        "width": "its column's width in pixels",
        "baseline": "the y that its text stands on",
    },
    Line: {
        "role": "what it is for",
        "runs": "its text, as it is read: from right to left where its script is",
        "height": "pixels, whole ones",
        "ascent": "pixels from its top to its baseline",
        "memory_ids": "whose cues have text on it, in order",
        "starts": "where each of them begins, in pixels from the line's left edge",
        "width": "pixels to the end of its rightmost run",
        "spans()": "each cue on it: memory id, left and right edge from the line's left edge",
    },
    Run: {
        "text": "characters of one face, size and ink; never parted, never changed",
        "x": "its left edge in pixels, from the line's left edge",
        "width": "pixels",
        "family": "what `font-family` says",
        "weight": "what `font-weight` says",
        "size": "the em in pixels",
        "tracking": "pixels added to every advance: what `letter-spacing` says",
        "ink": "what it is drawn for",
        "rtl": "whether it runs from right to left; its x is the left edge all the same",
    },
    Style: {
        "family": "what `font-family` says",
        "weight": "what `font-weight` says",
        "size": "the em in pixels",
        "tracking": "what `letter-spacing` says",
        "colour": "its ink's colour, `#rrggbb`",
        "texts": "its runs at their places on the canvas",
        "rtl": "whether they run from right to left: see the example of a template",
    },
    Text: {
        "x": "its left edge in pixels",
        "y": "its baseline in pixels",
        "text": "a run's text",
    },
    Layout: {
        "canvas": "as above",
        "placed": "as above",
        "shown": "the memories whose cues are drawn whole, in drawing order",
        "dropped": "those that are not drawn, and why",
        "escaped": "characters that no face has",
        "stripped": "how many invisible characters were left out",
    },
    Dropped: {
        "memory_id": "whose cue it is",
        "importance": "1 to 100",
        "reason": "why",
    },
    Escaped: {
        "codepoint": "the character's number in Unicode",
        "count": "how often it was drawn as `[U+13000]`",
    },
}

CHOICES: Mapping[type[StrEnum], Mapping[StrEnum, str]] = {
    Role: {
        Role.TEXT: "cues",
        Role.BANNER: "a category's banner",
        Role.REPEAT: "the slim banner of a band that goes on",
        Role.NOTE: "the last line: how many cues are left out",
    },
    Ink: {
        Ink.TEXT: "cues",
        Ink.PROHIBITION: "cues that forbid something",
        Ink.MARK: "bullets, break marks, escapes, the note",
        Ink.BANNER: "what stands on a bar",
    },
    Reason: {
        Reason.FULL: "more important cues took the room",
        Reason.TOO_LARGE: "no canvas of the theme holds it",
        Reason.EMPTY: "it is blank",
    },
}


def settings() -> str:
    """The table of a manifest's keys."""
    rows = [("`inherits`", "text", "", "a bundled theme's name, or the path of a manifest")]
    top = (item for item in fields(Manifest) if item.name not in SECTIONS)
    rows += [_setting(item.name, item, Manifest) for item in top]
    for section, kind in SECTIONS.items():
        rows += [_setting(f"{section}.{item.name}", item, kind) for item in fields(kind)]
    rows += [_setting(f"[[face]] {item.name}", item, FaceEntry) for item in fields(FaceEntry)]
    return _table(("key", "type", "default", "meaning"), rows)


def _setting(key: str, item: Any, kind: type) -> tuple[str, str, str, str]:
    kinds = get_type_hints(kind)
    return f"`{key}`", _type(kinds[item.name]), _value(item.default), item.metadata["description"]


def _value(value: Any) -> str:
    if value is MISSING:
        return "must be there"
    if value is None or value in ("", ()):
        return ""
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def template_data() -> str:
    """What a template gets: its names, then a table for each type, then the words of each enum."""
    hints = get_type_hints(TemplateData)
    rows = [(f"`{name}`", _type(hints[name]), meaning) for name, meaning in ROOTS.items()]
    if set(ROOTS) != set(hints):
        raise LookupError(f"ROOTS lacks a meaning, or has one too many: {set(ROOTS) ^ set(hints)}")
    parts = [_table(("name", "type", "meaning"), rows)]
    for kind, meanings in MEANINGS.items():
        rows = [(f"`{name}`", shown, meanings[name]) for name, shown in _members(kind)]
        if len(rows) != len(meanings):
            raise LookupError(f"{kind.__name__} has no such members: {sorted(meanings)}")
        parts.append(f"**{kind.__name__}**\n\n{_table(('field', 'type', 'meaning'), rows)}")
    for words, chosen in CHOICES.items():
        listed = [f"`{word.value}` ({chosen[word]})" for word in words]
        parts.append(f"**{words.__name__}**: {', '.join(listed)}.")
    return "\n\n".join(parts)


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """Fields, properties and methods of a dataclass, each with its type."""
    hints = get_type_hints(kind)
    for item in fields(kind):
        yield item.name, _type(hints[item.name])
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, _type(get_type_hints(member.fget)["return"])
        elif inspect.isfunction(member):
            yield f"{name}()", _type(get_type_hints(member)["return"])


_NAMES = {int: "whole number", float: "number", str: "text", bool: "true or false"}


def _type(kind: Any) -> str:
    """A type in words: `tuple[Placed, ...]` is "list of Placed"."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(f'"{part}"' for part in parts)
    if origin in (Union, UnionType):
        return " or ".join(_type(part) for part in parts if part is not type(None))
    if origin is tuple and parts[-1] is not Ellipsis:
        return f"({', '.join(map(_type, parts))})"
    if isinstance(origin, type) and parts and origin is not dict:
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return "mapping"
    return _NAMES.get(kind) or str(kind.__name__)


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


if __name__ == "__main__":
    sys.stdout.write(f"{settings()}\n\n{template_data()}\n")
