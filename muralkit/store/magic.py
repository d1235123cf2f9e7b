"""A magic-context database, read where it lies and never written.

Old databases lack some columns: what a row has is asked of the table itself.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from muralkit import files
from muralkit.errors import StoreError
from muralkit.model import Memory, Status, StoredCue
from muralkit.store import Changes, Draft, Kept, content_hash, index, text_fault
from muralkit.store.opening import explain
from muralkit.store.sqlite import POOL, SqliteStore

SOURCE = "magic-context"

_NEEDED = {"id", "project_path", "category", "content", "status"}
TIMEOUT = 10.0
"""Seconds to wait for the other program; it keeps its database for moments only."""

_MILLISECONDS = 10**11  # a time beyond this is not in seconds: that would be the year 5138


def default_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the other program keeps its database, on every system."""
    data = environment.get("XDG_DATA_HOME") or str(files.home(environment) / ".local/share")
    return Path(data) / "cortexkit" / "magic-context" / "context.db"


@dataclass(frozen=True, slots=True)
class _Texts:
    """A version of the database's memories of a project, the most important first, and
    the places in that list that each word stands in: it has no index of ours.
    """

    version: int
    memories: Sequence[Memory]
    words: Mapping[str, Sequence[int]]


class MagicStore:
    """A project's memories in a magic-context database; our own cues beside them.

    Implements Store, but for what would change a memory: that is the other
    program's to do.
    """

    def __init__(
        self,
        path: Path,
        own: SqliteStore,
        *,
        clock: Callable[[], float] = time.time,
        patience: float | None = None,
    ) -> None:
        self.path, self.project = path, own.project
        self._own, self._clock = own, clock
        self._patience = TIMEOUT if patience is None else patience
        self._texts: _Texts | None = None
        with self._explained():
            try:
                self._db = _connect(path, self._patience)
            except OSError as error:
                missing = isinstance(error, FileNotFoundError)
                raise StoreError(
                    "magic-context has no database here."
                    if missing
                    else f"magic-context's database can't be read: {error.strerror}.",
                    where=str(path),
                    hint='Set "store.magic_context" to its path, or "store.source" to "own".',
                ) from error
            try:
                self._columns = {row[1] for row in self._db.execute("PRAGMA table_info(memories)")}
            except BaseException:
                self._db.close()
                raise
        if not self._columns >= _NEEDED:
            self._db.close()
            raise StoreError(
                "This database has no memories of magic-context.",
                where=str(path),
                hint="Check the path; the file was left as it is.",
            )

    def close(self) -> None:
        """Close the database; our own store is its opener's to close."""
        self._db.close()

    def __enter__(self) -> MagicStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def memories(self, statuses: Iterable[Status] | None = None) -> list[Memory]:
        """See Store."""
        wanted = POOL if statuses is None else tuple(statuses)
        found = [memory for memory, _ in self._rows() if memory.status in wanted]
        if statuses is None:
            now = self._clock()
            return [m for m in found if m.expires_at is None or m.expires_at > now]
        return found

    def memory(self, memory_id: int) -> Memory | None:
        """See Store."""
        return next((memory for memory, _ in self._rows() if memory.id == memory_id), None)

    def holding(self, text: str, fits: Callable[[str], bool], limit: int) -> list[Memory]:
        """See Store."""
        words = text.split()
        found = (
            memory
            for memory in self._read_texts().memories
            if all(word in memory.content for word in words) and fits(memory.content)
        )
        return list(islice(found, limit))

    def words(self) -> Mapping[str, int]:
        """See Store."""
        return {word: len(where) for word, where in self._read_texts().words.items()}

    def search(self, asked: Sequence[Mapping[str, float]], limit: int) -> list[Memory]:
        """See Store."""
        texts = self._read_texts()
        worth: dict[int, float] = defaultdict(float)
        for near in asked:
            best: dict[int, float] = {}
            for word in sorted(near, key=near.__getitem__):
                best |= dict.fromkeys(texts.words.get(word, ()), near[word])
            for place, value in best.items():
                worth[place] += value
        order = sorted(worth, key=lambda place: -worth[place])
        return [texts.memories[place] for place in order[:limit]]

    def _read_texts(self) -> _Texts:
        """The project's texts, kept until the other program changes its database."""
        with self._explained():
            version = self._db.execute("PRAGMA data_version").fetchone()[0]
        if self._texts is None or self._texts.version != version:
            memories = sorted((memory for memory, _ in self._rows()), key=lambda m: -m.weight)
            words: dict[str, list[int]] = defaultdict(list)
            for place, memory in enumerate(memories):
                for word in set(index.WORD.findall(memory.content.casefold())):
                    words[word].append(place)
            self._texts = _Texts(version, memories, words)
        return self._texts

    def cues(self) -> dict[int, StoredCue]:
        """The other program's cue where it is current, else the last one of ours."""
        found = self._own.cues()
        for memory, cue in self._rows():
            if cue is not None and cue.content_hash == content_hash(memory.content):
                found[memory.id] = cue
            elif cue is not None:
                found.setdefault(memory.id, cue)
        return found

    def put_cues(self, cues: Iterable[StoredCue]) -> int:
        """Keep cues in our own store."""
        hashes = {memory.id: content_hash(memory.content) for memory, _ in self._rows()}
        return self._own.put_cues(
            cue for cue in cues if hashes.get(cue.memory_id) == cue.content_hash
        )

    def take_lease(self, task: str, holder: str, seconds: float) -> bool:
        """Kept in our own store."""
        return self._own.take_lease(task, holder, seconds)

    def drop_lease(self, task: str, holder: str) -> None:
        """Kept in our own store."""
        self._own.drop_lease(task, holder)

    def add(self, drafts: Iterable[Draft], *, dry: bool = False) -> list[Kept]:
        """Refused: the memories are the other program's."""
        self._refuse()

    def edit(self, memory_id: int, changes: Changes) -> Memory:
        """Refused: the memories are the other program's."""
        self._refuse()

    def restore(self, memory_id: int) -> Memory:
        """Refused: the memories are the other program's."""
        self._refuse()

    def projects(self) -> list[str]:
        """Every project that has a memory there."""
        with self._explained():
            rows = self._db.execute("SELECT DISTINCT project_path FROM memories ORDER BY 1")
            return [str(row[0]) for row in rows]

    def unusable(self) -> dict[int, str]:
        """The project's rows that are no memory, by their number, and why."""
        return {number: row for number, row in self._read() if isinstance(row, str)}

    def _refuse(self) -> NoReturn:
        raise StoreError(
            "These memories are magic-context's: muralkit only reads them.",
            where=str(self.path),
            hint='Change them there, or import them and set "store.source" to "own".',
        )

    def _rows(self) -> list[tuple[Memory, StoredCue | None]]:
        return [row for _, row in self._read() if not isinstance(row, str)]

    def _read(self) -> list[tuple[int, tuple[Memory, StoredCue | None] | str]]:
        """Each row of the project with its number: a memory and its cue, or what is wrong."""
        wanted = (
            "id", "category", "importance", "status", "content", "created_at", "updated_at",
            "expires_at", "mural_cue", "mural_cue_hash", "mural_cue_rejection_count",
        )  # fmt: skip
        columns = ", ".join(name if name in self._columns else f"NULL AS {name}" for name in wanted)
        query = f"SELECT {columns} FROM memories WHERE project_path = ? ORDER BY id"  # noqa: S608  # our own names
        with self._explained():
            rows = self._db.execute(query, (self.project,)).fetchall()
        return [(row[0], _row(row)) for row in rows]

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            what = explain(error, self.path, self._patience).what
            what = what.replace("the store", "magic-context's database")
            hint = "It is left as it is: look at it with the program that it is of."
            raise StoreError(what, where=str(self.path), hint=hint) from error


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    files.check_regular(path, path.stat())
    whole = path.resolve()
    address = f"file:{quote(str(whole))}?mode=ro"
    if not os.access(whole.parent, os.W_OK) and not whole.with_name(f"{whole.name}-wal").exists():
        address += "&immutable=1"  # SQLite can't share it there, and nobody can write it
    db = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
    db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")  # `_row` looks
    return db


def _row(row: tuple[object, ...]) -> tuple[Memory, StoredCue | None] | str:
    """A row as ours, or what is wrong with it."""
    (
        number,
        category,
        importance,
        status,
        content,
        created,
        updated,
        expires,
        cue,
        digest,
        refused,
    ) = row
    if status not in list(Status):
        return f"its status {status!r} is none that muralkit knows"
    for name, text in (("category", category), ("content", content)):
        problem = text_fault(text)
        if problem:
            return f"its {name} {problem}"
    if not isinstance(number, int) or number < 1:
        return "its number is not over 0"
    weight = importance if isinstance(importance, int) and 1 <= importance <= 100 else None
    memory = Memory(
        id=number,
        category=str(category),
        importance=weight,
        status=Status(str(status)),
        content=str(content),
        created_at=_seconds(created) or 0,
        updated_at=_seconds(updated) or 0,
        expires_at=_seconds(expires),
    )
    if not digest or text_fault(cue):
        return memory, None
    rejections = refused if isinstance(refused, int) else 0
    return memory, StoredCue(number, str(cue), str(digest), SOURCE, 0, rejections)


def _seconds(value: object) -> int | None:
    if not isinstance(value, int | float):
        return None
    return int(value / 1000 if value > _MILLISECONDS else value)
