"""A folder in, the project, configuration and store that belong to it out.

`open_place` is for one command; `Places` keeps what is open for a server, and opens it
anew where a configuration, the store's file or the checkout is no longer what it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from muralkit import config, configfile
from muralkit import project as projects
from muralkit.config import Loaded
from muralkit.errors import EnvironmentProblem, StoreError
from muralkit.model import Memory, StoredCue
from muralkit.paths import store_file
from muralkit.store import OWN, Store
from muralkit.store.magic import SOURCE, MagicStore, default_path
from muralkit.store.salvage import salvage
from muralkit.store.sqlite import SqliteStore

MOST = 16
"""Places that stay open: a server seldom works for more projects than that."""

RECHECK = 30.0
"""Seconds after which git is asked again which project a folder is: it costs 10 ms."""


@dataclass(frozen=True, slots=True)
class Place:
    """A project's folder, what is configured for it, and its memories.

    `own` is the store of ours: `store` itself, or what stands beside a live source.
    """

    root: Path
    loaded: Loaded
    store: Store
    own: SqliteStore


@contextmanager
def open_place(
    folder: Path, store_path: Path | None = None, patience: float | None = None
) -> Iterator[Place]:
    """Open what belongs to a folder; `patience` as SqliteStore has it.

    Raises ConfigError or StoreError, or EnvironmentProblem where git can't read a checkout.
    """
    root = projects.root(folder)
    loaded = config.load(root)
    identity = projects.identity(folder)
    with ExitStack() as stack:
        yield _open(stack, root, loaded, identity, store_path, patience)


def _open(
    stack: ExitStack,
    root: Path,
    loaded: Loaded,
    identity: str,
    store_path: Path | None,
    patience: float | None,
) -> Place:
    own = stack.enter_context(open_own(identity, store_path, loaded, patience))
    source = stack.enter_context(open_source(own, loaded, patience))
    return Place(root, loaded, source or own, own)


def open_own(
    identity: str, store_path: Path | None, loaded: Loaded, patience: float | None = None
) -> SqliteStore:
    """The store of ours for a project. Raises StoreError."""
    kind = SOURCE if loaded.config.store.source == SOURCE else OWN
    return SqliteStore(_file(store_path, loaded), identity, source=kind, patience=patience)


@contextmanager
def open_source(
    own: SqliteStore, loaded: Loaded, patience: float | None = None
) -> Iterator[MagicStore | None]:
    """The live source beside it, or None where our own store is it. Raises StoreError."""
    if loaded.config.store.source != SOURCE:
        yield None
        return
    with MagicStore(_source(loaded), own, patience=patience) as store:
        yield store


def rescued(
    folder: Path, store_path: Path | None
) -> tuple[list[Memory], dict[int, StoredCue], int]:
    """What can still be read of a damaged store. Raises StoreError."""
    loaded = config.load(projects.root(folder))
    return salvage(_file(store_path, loaded), projects.identity(folder))


def _file(chosen: Path | None, loaded: Loaded) -> Path:
    """The store's file: as chosen, as configured, or the user's own."""
    configured = loaded.config.store.path
    file = chosen or (Path(configured) if configured else store_file())
    if file is None:
        raise StoreError(
            "There is no home folder to keep the store in.",
            hint="Set MURALKIT_HOME to a folder, or give --store FILE.",
        )
    return file


def _source(loaded: Loaded) -> Path:
    configured = loaded.config.store.magic_context
    return Path(configured) if configured else default_path()


@dataclass(slots=True)
class _Kept:
    """An open place, and by what it is known to be still the right one."""

    place: Place
    stack: ExitStack
    identity: str
    commit: str
    watched: tuple[str, ...]
    stamp: object
    checked_at: float


class Places:
    """Places that stay open between requests. For one thread."""

    def __init__(
        self,
        store_path: Path | None = None,
        patience: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store_path, self._patience, self._clock = store_path, patience, clock
        self._kept: dict[Path, _Kept] = {}

    def at(self, folder: Path) -> Place:
        """The place of a folder, as it is now. Raises what `open_place` raises."""
        kept = self._kept.pop(folder, None)
        now = self._clock()
        if kept is not None:
            if self._still(kept, folder, now):
                self._kept[folder] = kept  # the last one used stands last
                return kept.place
            kept.stack.close()
        root = projects.root(folder)
        loaded = config.load(root)
        identity = projects.identity(folder)
        while len(self._kept) >= MOST:
            self._kept.pop(next(iter(self._kept))).stack.close()
        with ExitStack() as stack:
            place = _open(stack, root, loaded, identity, self._store_path, self._patience)
            watched = (*map(str, configfile.candidates(root)), *self._databases(loaded))
            head, stamp = projects.commit(folder), _stamp(watched)
            kept = _Kept(place, stack.pop_all(), identity, head, watched, stamp, now)
            self._kept[folder] = kept
        return place

    def close(self) -> None:
        """Close all of them."""
        for kept in self._kept.values():
            kept.stack.close()
        self._kept.clear()

    def _still(self, kept: _Kept, folder: Path, now: float) -> bool:
        if kept.stamp != _stamp(kept.watched):
            return False
        if now - kept.checked_at > RECHECK:
            kept.checked_at = now
            try:
                return self._same_project(kept, folder)
            except EnvironmentProblem:
                return False  # opening it anew says so
        return True

    @staticmethod
    def _same_project(kept: _Kept, folder: Path) -> bool:
        head = projects.commit(folder)
        if head == kept.commit and head:
            return True
        before, kept.commit = kept.commit, head
        if head and before and not projects.leads_elsewhere(folder, before, head):
            return True
        return kept.identity == projects.identity(folder)

    def _databases(self, loaded: Loaded) -> list[str]:
        live = [_source(loaded)] if loaded.config.store.source == SOURCE else []
        return [str(path) for path in (_file(self._store_path, loaded), *live)]


def _stamp(paths: Sequence[str]) -> object:
    """What changes when a configuration is written, or a database is moved away: a write to
    a database changes nothing of it.
    """
    found: list[object] = []
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116  # Path.stat takes three times as long
        except OSError:
            found.append(None)
            continue
        identity = status.st_dev, status.st_ino
        written = (status.st_size, status.st_mtime_ns) if path.endswith(_CONFIGURATION) else ()
        found.append(identity + written)
    return found


_CONFIGURATION = (".json", ".jsonc")
