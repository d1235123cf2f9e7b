"""Draws what is looked at, and draws it again when a file of it changes.

One thread looks at the files and draws; those who look wait for it. What is wrong with
a theme or with the cues is kept beside the last good picture, never instead of it.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muralkit import assets, files, pipeline, pricing, themefile
from muralkit import theme as themes
from muralkit.errors import MuralkitError
from muralkit.key import key
from muralkit.model import Layout, MemoryId, Mural
from muralkit.preview.sources import Material, Source

POLL = 0.05
"""Seconds between two looks at the files."""

SETTLED = 0.03
"""Seconds in which a file must not change to be taken as written."""

LOOKED_AT = 60.0
"""Seconds that a pane is kept up to date after somebody asked for it."""

MOST_LISTED = 2000
"""Memories that are told to the page: it lists them, and no canvas shows more."""

AROUND = 2
"""Lines of a template that are shown on either side of the wrong one."""


@dataclass(slots=True)
class Pane:
    """A theme that may be looked at: its last good picture, and what is wrong with it now."""

    theme: str
    asked_at: float = float("-inf")
    key: str = ""
    mural: Mural | None = None
    layout: Layout | None = None
    digest: str = ""
    problem: dict[str, Any] | None = None
    sources: list[Path] = field(default_factory=list)
    drawn: bool = False
    """Whether it was tried, with whatever came of it."""


class Studio:
    """Panes over one source of cues. `start` it, and `close` it."""

    def __init__(self, source: Source, given: Sequence[str]) -> None:
        self._source = source
        self.given = len(given)
        names = dict.fromkeys([*given, *themefile.names()])
        self.panes = [Pane(name) for name in names]
        self.version = 0
        self._material = Material((), {}, "")
        self._problem: dict[str, Any] | None = None
        self._changed = threading.Condition()
        self._wake = threading.Event()
        self._closed = False
        self._busy_since: float | None = None

    def start(self) -> None:
        """Begin to draw, in a thread of its own; the first pane before anybody asks."""
        self.panes[0].asked_at = time.monotonic()
        threading.Thread(target=self._work, name="studio", daemon=True).start()

    def close(self) -> None:
        """Let go of everybody who waits."""
        self._closed = True
        self._wake.set()
        with self._changed:
            self._changed.notify_all()

    def state(self, chosen: Sequence[int], after: int, patience: float) -> dict[str, Any]:
        """What the page shows of these panes, once it is newer than version `after`.

        Waits for that as long as `patience` seconds.
        """
        now = time.monotonic()
        panes = [self.panes[index] for index in chosen]
        for pane in panes:
            pane.asked_at = now
        self._wake.set()
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._closed or (self.version > after and all(pane.drawn for pane in panes))
                ),
                patience,
            )
            return self._state(chosen)

    def picture(self, digest: str) -> bytes | None:
        """The picture of that sum, if it is one of the panes'."""
        with self._changed:
            for pane in self.panes:
                if pane.mural is not None and pane.digest == digest:
                    return pane.mural.png
        return None

    def _work(self) -> None:
        stamp: object = None
        while not self._closed:
            self._wake.wait(POLL)
            self._wake.clear()
            fresh = self._stamp()
            changed = fresh != stamp
            while changed and not self._closed:
                time.sleep(SETTLED)
                again = self._stamp()
                if again == fresh:
                    break
                fresh = again
            if changed:
                self._reload()
            self._look(changed)
            stamp = fresh  # a file that was first heard of while drawing is looked at once more

    def _reload(self) -> None:
        problem: dict[str, Any] | None = None
        material = self._material
        try:
            material = self._source.load()
        except MuralkitError as error:
            problem = _told(error, ())
        except Exception as error:  # the preview goes on, whatever the cues are
            problem = _told(MuralkitError(f"{type(error).__name__}: {error}"), ())
        with self._changed:
            if (material, problem) != (self._material, self._problem):
                self._material, self._problem = material, problem
                self._advance()

    def _look(self, changed: bool) -> None:
        """Draw the panes that are looked at and out of date."""
        now = time.monotonic()
        for pane in self.panes:
            stale = now - pane.asked_at > LOOKED_AT
            if stale:
                pane.drawn = pane.drawn and not changed
            elif changed or not pane.drawn:
                self._busy_since = time.monotonic()
                self._draw(pane)
                self._busy_since = None

    def _draw(self, pane: Pane) -> None:
        """Bring a pane up to date; a new version where anything changed."""
        problem: dict[str, Any] | None = None
        made: tuple[Mural, Layout] | None = None
        name = pane.key
        try:
            file = themefile.find(pane.theme)
            pane.sources = file.sources()
            name = key(list(self._material.cues), file.fingerprint)
            if name != pane.key or pane.problem is not None:
                made = pipeline.render_placed(self._material.cues, themes.check(file))
        except MuralkitError as error:
            theme = Path(pane.theme)
            problem = _told(error, [*pane.sources, theme, theme / "theme.toml"])
        except Exception as error:  # a fault of ours: say so, and go on
            problem = _told(MuralkitError(f"{type(error).__name__}: {error}"), ())
        with self._changed:
            if made is not None:
                pane.mural, pane.layout = made
                pane.digest = hashlib.sha256(made[0].png).hexdigest()
                pane.key = name
            if made is not None or problem != pane.problem or not pane.drawn:
                pane.problem, pane.drawn = problem, True
                self._advance()

    def _advance(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def _watched(self) -> set[str]:
        """The files that somebody looks at, and those beside a theme of the user's."""
        found = set(map(str, self._source.watched()))
        for pane in self.panes:
            if pane.asked_at == float("-inf"):
                continue
            found.update(map(str, pane.sources))
            path = Path(pane.theme)
            for folder in {path, path.parent, *(source.parent for source in pane.sources)}:
                found.update(_beside(folder))
        return found

    def _stamp(self) -> object:
        return [(path, _written(path)) for path in sorted(self._watched())]

    def _state(self, chosen: Sequence[int]) -> dict[str, Any]:
        panes = [self.panes[index] for index in chosen]
        numbers = _numbers(self._material, panes)
        listed = {cue.memory_id: cue for cue in self._material.cues}
        busy = self._busy_since
        return {
            "version": self.version,
            "themes": [pane.theme for pane in self.panes],
            "chosen": list(chosen),
            "source": self._material.name,
            "problem": self._problem,
            "busy": 0 if busy is None else round(time.monotonic() - busy, 1),
            "cues": len(self._material.cues),
            "memories": [
                {
                    "id": name,
                    "category": listed[name].category,
                    "importance": listed[name].importance,
                    "cue": listed[name].text,
                    "content": self._material.contents.get(name),
                }
                for name in numbers
            ],
            "as_text": self._as_text(panes),
            "panes": [_shown(pane, numbers) for pane in panes],
        }

    def _as_text(self, panes: Sequence[Pane]) -> dict[str, int | None]:
        """What the cues of the first picture would cost as text, and their memories in full."""
        mural = panes[0].mural
        shown = set(mural.shown if mural else ())
        cues = [cue for cue in self._material.cues if cue.memory_id in shown]
        whole = [self._material.contents.get(cue.memory_id) for cue in cues]
        texts = [text for text in whole if text is not None]
        full = "".join(f"- {text}\n" for text in texts)
        return {
            "cues": pricing.text_tokens(pricing.as_text(cues)),
            "memories": pricing.text_tokens(full) if cues and len(texts) == len(cues) else None,
        }


def _numbers(material: Material, panes: Iterable[Pane]) -> dict[MemoryId, int]:
    """The memories that are told to the page, each with its place in the list.

    Drawn ones first, in the order of the first picture; then the most important ones.
    """
    known = {cue.memory_id for cue in material.cues}
    drawn = (name for pane in panes if pane.mural for name in pane.mural.shown)
    ranked = sorted(material.cues, key=lambda cue: -cue.importance)
    names = dict.fromkeys([*drawn, *(cue.memory_id for cue in ranked)])
    listed = [name for name in names if name in known][:MOST_LISTED]
    return {name: number for number, name in enumerate(listed)}


def _shown(pane: Pane, numbers: dict[MemoryId, int]) -> dict[str, Any]:
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


def _told(error: MuralkitError, sources: Sequence[Path]) -> dict[str, Any]:
    """An error as the page gets it, with the lines around its place.

    Only the theme's own `sources` are read for that.
    """
    name, _, line = error.where.rpartition(":")
    if not line.isdigit():
        found = _LINE_OF_TOML.search(error.what)
        name, line = error.where, found[1] if found else ""
    excerpt: list[list[Any]] = []
    if line and os.path.realpath(name) in map(os.path.realpath, sources):
        excerpt = _excerpt(Path(name), int(line))
    return {"what": error.what, "where": error.where, "hint": error.hint, "excerpt": excerpt}


_LINE_OF_TOML = re.compile(r"\(at line (\d+)")


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


def _beside(folder: Path) -> Iterable[str]:
    """A theme's files in a folder, those too that nothing names yet."""
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.name.endswith((".toml", ".j2"))]
    return []


def _written(path: str) -> object:
    """What changes when a file is written."""
    try:
        status = os.stat(path)  # noqa: PTH116  # Path.stat takes three times as long
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def data(name: str) -> bytes:
    """A file of the page."""
    return (assets.PACKAGE / "preview" / name).read_bytes()
