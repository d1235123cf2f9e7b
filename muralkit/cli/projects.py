"""The project, configuration and store that a command works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit.errors import StoreError

if TYPE_CHECKING:
    from muralkit.config import Loaded
    from muralkit.model import Memory, StoredCue
    from muralkit.store import Store
    from muralkit.store.magic import MagicStore
    from muralkit.store.sqlite import SqliteStore

PROJECT = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    metavar="FOLDER",
    help="A folder of the project; by default the current one.",
)
STORE = click.option(
    "--store",
    "store_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The store, if not the user's own.",
)


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
    project: Path, store_path: Path | None, patience: float | None = None
) -> Iterator[Place]:
    """Open what a command works on; `patience` as SqliteStore has it.

    Raises ConfigError or StoreError.
    """
    from muralkit import config
    from muralkit import project as projects

    root = projects.root(project)
    loaded = config.load(root)
    with open_own(project, store_path, loaded, patience) as own, open_source(own, loaded) as source:
        yield Place(root, loaded, source or own, own)


def open_own(
    project: Path, store_path: Path | None, loaded: Loaded, patience: float | None = None
) -> SqliteStore:
    """The store of ours. Raises StoreError."""
    from muralkit import project as projects
    from muralkit.store.magic import SOURCE
    from muralkit.store.sqlite import OWN, SqliteStore

    chosen = loaded.config.store
    kind = SOURCE if chosen.source == SOURCE else OWN
    return SqliteStore(
        store_path or _store_file(chosen.path),
        projects.identity(project),
        source=kind,
        patience=patience,
    )


@contextmanager
def open_source(own: SqliteStore, loaded: Loaded) -> Iterator[MagicStore | None]:
    """The live source beside it, or None where our own store is it. Raises StoreError."""
    from muralkit.store.magic import SOURCE, MagicStore, default_path

    chosen = loaded.config.store
    if chosen.source != SOURCE:
        yield None
        return
    path = Path(chosen.magic_context) if chosen.magic_context else default_path()
    with MagicStore(path, own) as store:
        yield store


def rescued(
    project: Path, store_path: Path | None
) -> tuple[list[Memory], dict[int, StoredCue], int]:
    """What can still be read of a damaged store. Raises StoreError."""
    from muralkit import config
    from muralkit import project as projects
    from muralkit.store.sqlite import salvage

    chosen = config.load(projects.root(project)).config.store
    return salvage(store_path or _store_file(chosen.path), projects.identity(project))


def with_place(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--project` and `--store`, handed on as an opened Place."""

    @PROJECT
    @STORE
    @wraps(command)
    def opened(*arguments: Any, project: Path, store_path: Path | None, **options: Any) -> Any:
        with open_place(project, store_path) as place:
            return command(*arguments, place=place, **options)

    return opened


def _store_file(configured: str | None) -> Path:
    from muralkit.paths import store_file

    file = Path(configured) if configured else store_file()
    if file is None:
        raise StoreError(
            "There is no home folder to keep the store in.",
            hint="Set MURALKIT_HOME to a folder, or give --store FILE.",
        )
    return file
