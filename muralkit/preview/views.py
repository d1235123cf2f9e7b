"""What a page gets of the panes that it shows: JSON, and nothing that is not text or a number."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muralkit import files, pricing, themefile
from muralkit.errors import MuralkitError
from muralkit.model import Cue, Layout, MemoryId, Mural
from muralkit.preview.sources import Material

MOST_LISTED = 2000
"""Memories that are told to the page: it lists them, and no canvas shows more."""

AROUND = 2
"""Lines of a template that are shown on either side of the wrong one."""


@dataclass(frozen=True, slots=True)
class View:
    """A theme's last good picture, if there was one, and what is wrong with it now.

    `material` is what the picture shows.
    """

    theme: str
    problem: dict[str, Any] | None
    digest: str
    mural: Mural | None
    layout: Layout | None
    material: Material


Entry = tuple[Cue, str | None]
"""A cue, and its memory in full where that is known."""


class _Told:
    """The memories that are told to the page, each with its number there.

    Those of now come first: drawn ones in the order of the first picture, then the most
    important ones. Behind them stand those that only an older picture shows.
    """

    def __init__(self, material: Material, panes: Sequence[View]) -> None:
        self._entries: dict[int, dict[MemoryId, Entry]] = {}
        now = self._of(material)
        drawn = (name for pane in panes if pane.mural for name in pane.mural.shown)
        ranked = sorted(material.cues, key=lambda cue: -cue.importance)
        names = dict.fromkeys([*drawn, *(cue.memory_id for cue in ranked)])
        listed = [now[name] for name in names if name in now][:MOST_LISTED]
        self.now = len(listed)
        older = [
            entry
            for pane in panes
            if pane.mural and pane.material is not material
            for name in pane.mural.shown
            if (entry := self._of(pane.material).get(name))
        ]
        self._numbers = {entry: n for n, entry in enumerate(dict.fromkeys([*listed, *older]))}

    def _of(self, material: Material) -> dict[MemoryId, Entry]:
        found = self._entries.get(id(material))
        if found is None:
            contents = material.contents
            found = {cue.memory_id: (cue, contents.get(cue.memory_id)) for cue in material.cues}
            self._entries[id(material)] = found
        return found

    def numbers(self, material: Material) -> dict[MemoryId, int]:
        """Those of one material by their ids."""
        return {
            name: self._numbers[entry]
            for name, entry in self._of(material).items()
            if entry in self._numbers
        }

    def memories(self) -> Iterable[dict[str, Any]]:
        """As the page gets them."""
        for (cue, content), number in self._numbers.items():
            yield {
                "id": cue.memory_id,
                "category": cue.category,
                "importance": cue.importance,
                "cue": cue.text,
                "content": content,
                "old": number >= self.now,
            }


def of(material: Material, panes: Sequence[View]) -> dict[str, Any]:
    """The memories, each once, and what each pane shows of them."""
    told = _Told(material, panes)
    return {
        "source": material.name,
        "cues": len(material.cues),
        "memories": list(told.memories()),
        "listed": told.now,
        "as_text": _as_text(panes[0]),
        "panes": [_shown(pane, told.numbers(pane.material)) for pane in panes],
    }


def _as_text(pane: View) -> dict[str, int | None]:
    """What a picture's cues would cost as text, and their memories in full."""
    material = pane.material
    shown = set(pane.mural.shown if pane.mural else ())
    cues = [cue for cue in material.cues if cue.memory_id in shown]
    whole = [material.contents.get(cue.memory_id) for cue in cues]
    texts = [text for text in whole if text is not None]
    full = "".join(f"- {text}\n" for text in texts)
    return {
        "cues": pricing.text_tokens(pricing.as_text(cues)),
        "memories": pricing.text_tokens(full) if cues and len(texts) == len(cues) else None,
    }


def _shown(pane: View, numbers: dict[MemoryId, int]) -> dict[str, Any]:
    """A pane as the page gets it."""
    made: dict[str, Any] = {"theme": pane.theme, "problem": pane.problem, "picture": None}
    mural, layout = pane.mural, pane.layout
    if mural is None or layout is None:
        return made
    families = {
        family.name: family.tokens(mural.width, mural.height) for family in pricing.FAMILIES
    }
    made["picture"] = {
        "name": f"{pane.digest}.png",
        "width": mural.width,
        "height": mural.height,
        "bytes": len(mural.png),
        "tokens": mural.tokens,
        "shown": [numbers[name] for name in mural.shown if name in numbers],
        "dropped": [
            [numbers[item.memory_id], item.reason.value]
            for item in mural.dropped
            if item.memory_id in numbers
        ],
        "counts": [len(mural.shown), len(mural.dropped)],
        "prices": families,
        "boxes": list(_boxes(layout, numbers)),
    }
    return made


def _boxes(layout: Layout, numbers: dict[MemoryId, int]) -> Iterable[list[Any]]:
    """Left, top, width, height, and whose text it is; or -1 and the text of a line of ours."""
    for item in layout.placed:
        line = item.line
        if not line.memory_ids:
            text = "".join(run.text for run in line.runs)
            yield [item.x, item.y, item.width, line.height, -1, text]
        for name, left, right in line.spans():
            if name in numbers:
                x, width = round(item.x + left, 1), round(right - left, 1)
                yield [x, item.y, width, line.height, numbers[name]]


def told(error: MuralkitError, sources: Sequence[Path]) -> dict[str, Any]:
    """An error as the page gets it, with the lines around its place.

    Only the theme's own `sources` are read for that.
    """
    name, _, line = error.where.rpartition(":")
    if not line.isdigit():
        found = _LINE_OF_TOML.search(error.what)
        name, line = error.where, found[1] if found else ""
    excerpt: list[list[Any]] = []
    if os.path.realpath(name) in map(os.path.realpath, sources):
        number = int(line) if line else _line_of_key(Path(name), error.what)
        excerpt = _excerpt(Path(name), number) if number else []
    return {"what": error.what, "where": error.where, "hint": error.hint, "excerpt": excerpt}


_LINE_OF_TOML = re.compile(r"\(at line (\d+)")
_KEY = re.compile(r"(?:Unknown key ')?([a-z_]+)(?:[.]([a-z_]+))?(?:: |')")


def _line_of_key(path: Path, what: str) -> int:
    """The line of a manifest that sets the key which a message begins with; 0: none does."""
    found = _KEY.match(what)
    if found is None or path.suffix != ".toml":
        return 0
    wanted = found[2] or found[1]
    section, inside = found[1] if found[2] else "", ""
    with suppress(OSError):
        text = files.read(path, themefile.MOST).decode(errors="replace")
        for number, line in enumerate(text.split("\n"), 1):
            head = re.match(r"\s*\[+\s*([a-z_]+)", line)
            inside = head[1] if head else inside
            if inside == section and re.match(rf"\s*{wanted}\s*=", line):
                return number
    return 0


def _excerpt(path: Path, number: int) -> list[list[Any]]:
    """Lines around a line: each with its number, and whether it is the one."""
    with suppress(OSError):
        lines = files.read(path, themefile.MOST).decode(errors="replace").split("\n")
        first = max(0, number - 1 - AROUND)
        return [
            [first + index + 1, line[:400], first + index + 1 == number]
            for index, line in enumerate(lines[first : number + AROUND])
        ]
    return []
