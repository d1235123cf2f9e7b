"""Draws what is looked at, and draws it again when a file of it changes.

One thread looks at the files and draws; those who look wait for it. What is wrong with
a theme or with the cues is kept beside the last good picture, never instead of it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from muralkit import pipeline, themefile
from muralkit import theme as themes
from muralkit.errors import MuralkitError
from muralkit.key import key
from muralkit.model import Layout, Mural
from muralkit.preview import views
from muralkit.preview.sources import NOTHING, Material, Source
from muralkit.preview.views import View
from muralkit.theme import Theme

POLL = 0.05
"""Seconds between two looks at the files."""

SETTLED = 0.03
"""Seconds in which a file must not change to be taken as written."""

UNSETTLED = 0.3
"""Seconds after which it is drawn from files that go on changing."""

LOOKED_AT = 10.0
"""Seconds that a pane is kept up to date after somebody asked for it: a page asks anew
each 5 s.
"""


@dataclass(slots=True)
class Pane:
    """A theme that may be looked at: its last good picture, and what is wrong with it now.

    `material` and `drawn_by` are what the picture was made of.
    """

    theme: str
    asked_at: float = float("-inf")
    key: str = ""
    mural: Mural | None = None
    layout: Layout | None = None
    material: Material = NOTHING
    drawn_by: Theme | None = None
    digest: str = ""
    problem: dict[str, Any] | None = None
    sources: list[Path] = field(default_factory=list)
    drawn: bool = False
    """Whether it was tried, with whatever came of it."""

    def view(self) -> View:
        """What is seen of it now."""
        return View(self.theme, self.problem, self.digest, self.mural, self.layout, self.material)

    def page(self, material: Material, theme: Theme) -> Layout:
        """The page of that material: the one that is shown, where nothing changed it."""
        before = self.drawn_by
        if (
            self.layout is not None
            and before is not None
            and self.material.cues == material.cues
            and before.face_files == theme.face_files
            and before.manifest == replace(theme.manifest, template=before.manifest.template)
        ):
            return self.layout
        return pipeline.page(material.cues, theme)


class Studio:
    """Panes over one source of cues. `start` it, and `close` it."""

    def __init__(self, source: Source, given: Sequence[str], extra: Sequence[str] = ()) -> None:
        self._source, self._extra = source, extra
        self.given = len(given)
        names = dict.fromkeys([*given, *themefile.names()])
        self.panes = [Pane(name) for name in names]
        self.version = 0
        self._material = NOTHING
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
            end = time.monotonic() + UNSETTLED
            while changed and not self._closed and time.monotonic() < end:
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
            problem = views.told(error, ())
        except Exception as error:  # the preview goes on, whatever the cues are
            problem = views.told(MuralkitError(f"{type(error).__name__}: {error}"), ())
        with self._changed:
            if (material, problem) != (self._material, self._problem):
                self._material, self._problem = material, problem
                self._advance()

    def _look(self, changed: bool) -> None:
        """Draw the panes that are looked at and out of date, those on a page first."""
        now = time.monotonic()
        for pane in sorted(self.panes, key=lambda pane: -pane.asked_at):
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
        made: tuple[Mural, Layout, Theme] | None = None
        name, material = pane.key, self._material
        try:
            file = themefile.find(pane.theme, self._extra)
            pane.sources = file.sources()
            name = key(list(material.cues), file.fingerprint)
            if name != pane.key or pane.problem is not None:
                checked = themes.check(file)
                layout = pane.page(material, checked)
                made = pipeline.draw(material.cues, layout, checked), layout, checked
        except MuralkitError as error:
            theme = Path(pane.theme)
            problem = views.told(error, [*pane.sources, theme, theme / "theme.toml"])
        except Exception as error:  # a fault of ours: say so, and go on
            problem = views.told(MuralkitError(f"{type(error).__name__}: {error}"), ())
        with self._changed:
            if problem is None:
                pane.material = material
            if made is not None:
                pane.mural, pane.layout, pane.drawn_by = made
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
        busy = self._busy_since
        return {
            "version": self.version,
            "themes": [pane.theme for pane in self.panes],
            "chosen": list(chosen),
            "problem": self._problem,
            "busy": 0 if busy is None else round(time.monotonic() - busy, 1),
            **views.of(self._material, [self.panes[index].view() for index in chosen]),
        }


def _beside(folder: Path) -> Iterable[str]:
    """A theme's files in a folder, those too that nothing names yet."""
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.name.endswith((".toml", ".j2"))]
    return []


def _written(path: str) -> object:
    """What changes when a file is written, or may be read again."""
    try:
        status = os.stat(path)  # noqa: PTH116  # Path.stat takes three times as long
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
