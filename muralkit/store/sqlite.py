"""The user's own store: one SQLite file for all projects and harnesses."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from muralkit.errors import InputError
from muralkit.model import Frozen, Memory, Status, StoredCue
from muralkit.store import (
    OWN,
    Changes,
    Draft,
    Kept,
    content_hash,
    content_key,
    index,
    opening,
    rows,
    sessions,
)
from muralkit.store.adding import Batch

POOL = (Status.ACTIVE, Status.PERMANENT)


class SqliteStore:
    """One project's part of the file. Opened at once; `close` it, or use it in a `with`.

    `source` names whose memories the cues belong to: this store's own, or those of
    another database that is read beside it. `patience` is how many seconds another
    process's change is waited for, opening.PATIENCE by default.
    """

    def __init__(
        self,
        path: Path,
        project: str,
        *,
        source: str = OWN,
        clock: Callable[[], float] = time.time,
        patience: float | None = None,
    ) -> None:
        self.path, self.project, self.source = path, project, source
        self._clock = clock
        self._patience = opening.PATIENCE if patience is None else patience
        self._words: tuple[object, Mapping[str, int]] | None = None
        with self._explained():
            self._db = opening.connect(path, self._patience)
            try:
                opening.migrate(self._db, path)
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def patient(self, seconds: float) -> Iterator[None]:
        """Wait so long for another process's change, within a block."""
        before = self._patience
        self._patience = seconds
        self._db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        try:
            yield
        finally:
            self._patience = before
            self._db.execute(f"PRAGMA busy_timeout = {int(before * 1000)}")

    def memories(self, statuses: Iterable[Status] | None = None) -> list[Memory]:
        """See Store."""
        wanted = POOL if statuses is None else tuple(statuses)
        marks = ", ".join("?" * len(wanted))
        query = f"SELECT {rows.FIELDS} FROM memories WHERE project = ? AND status IN ({marks})"  # noqa: S608  # question marks
        values: list[str | int] = [self.project, *(status.value for status in wanted)]
        if statuses is None:
            query += " AND (expires_at IS NULL OR expires_at > ?)"
            values.append(self._now())
        with self._explained():
            return [rows.memory(row) for row in self._db.execute(query + " ORDER BY id", values)]

    def memory(self, memory_id: int) -> Memory | None:
        """See Store."""
        query = f"SELECT {rows.FIELDS} FROM memories WHERE project = ? AND id = ?"  # noqa: S608  # our own names
        with self._explained():
            row = self._db.execute(query, (self.project, memory_id)).fetchone()
        return rows.memory(row) if row else None

    def projects(self) -> list[str]:
        """Every project that has a memory here."""
        with self._explained():
            found = self._db.execute("SELECT DISTINCT project FROM memories ORDER BY project")
            return [str(row[0]) for row in found]

    def add(self, drafts: Iterable[Draft], *, dry: bool = False) -> list[Kept]:
        """See Store."""
        with self._change(keep=not dry):
            batch = Batch(self._db, self.project, self._now())
            kept = [self._keep(draft, batch) for draft in drafts]
            batch.write()
            return kept

    def _keep(self, draft: Draft, batch: Batch) -> Kept:
        memory_id, content, new = batch.place(draft)
        return Kept(memory_id, new, content == draft.content and self._keep_cue(memory_id, draft))

    def _keep_cue(self, memory_id: int, draft: Draft) -> bool:
        """The draft's cue, where the memory has no current one."""
        if draft.cue is None:
            return False
        digest = content_hash(draft.content)
        current = self._db.execute(
            "SELECT 1 FROM cues WHERE source = ? AND project = ? AND memory_id = ?"
            " AND content_hash = ? AND text != ''",
            (self.source, self.project, memory_id, digest),
        ).fetchone()
        if current is None:
            self._put_cue(StoredCue(memory_id, draft.cue, digest, "imported", 0, 0))
        return current is None

    def edit(self, memory_id: int, changes: Changes) -> Memory:
        """See Store. Raises InputError for an unknown id, or where it would repeat another."""
        with self._change():
            before = self._existing(memory_id)
            content = before.content if changes.content is None else changes.content
            given = {
                "category": changes.category,
                "content": changes.content,
                "content_key": None if changes.content is None else content_key(content),
                "importance": changes.importance,
                "status": None if changes.status is None else changes.status.value,
                "expires_at": changes.expires_at,
            }
            if changes.status is Status.ARCHIVED and before.status is not Status.ARCHIVED:
                given["status_before"] = before.status.value
            wanted = {name: value for name, value in given.items() if value is not None}
            wanted["updated_at"] = self._now()
            names = ", ".join(f"{name} = ?" for name in wanted)
            try:
                self._db.execute(
                    f"UPDATE memories SET {names} WHERE project = ? AND id = ?",  # noqa: S608  # our own names
                    (*wanted.values(), self.project, memory_id),
                )
            except sqlite3.IntegrityError as error:
                raise InputError(
                    f"Memory {memory_id} would repeat another one of the same category.",
                    hint="Archive one of the two, or word them differently.",
                ) from error
            return self._existing(memory_id)

    def restore(self, memory_id: int) -> Memory:
        """See Store. Raises InputError for an unknown id."""
        with self._change():
            before = self._existing(memory_id)
            self._db.execute(
                "UPDATE memories SET updated_at = :now,"
                " status = CASE status WHEN 'archived' THEN coalesce(status_before, 'active')"
                " ELSE status END,"
                " expires_at = CASE WHEN expires_at <= :now THEN NULL ELSE expires_at END"
                " WHERE id = :id",
                {"now": self._now(), "id": before.id},
            )
            return self._existing(memory_id)

    def _existing(self, memory_id: int) -> Memory:
        found = self.memory(memory_id)
        if found is None:
            raise InputError(
                f"There is no memory {memory_id} in this project.",
                hint="`muralkit memory list --all` lists their numbers.",
            )
        return found

    def holding(self, text: str, fits: Callable[[str], bool], limit: int) -> list[Memory]:
        """See Store."""
        with self._explained():
            return self._those(index.holding(self._db, self.project, text, fits, limit))

    def words(self) -> Mapping[str, int]:
        """See Store. Kept until the file is changed: to read those of 10,000 memories
        takes 20 ms.
        """
        with self._explained():
            theirs = self._db.execute("PRAGMA data_version").fetchone()[0]
            state = (theirs, self._db.total_changes)
            if self._words is None or self._words[0] != state:
                self._words = state, index.words(self._db)
        return self._words[1]

    def search(self, asked: Sequence[Mapping[str, float]], limit: int) -> list[Memory]:
        """See Store."""
        with self._explained():
            return self._those(index.search(self._db, self.project, asked, limit))

    def _those(self, numbers: Sequence[int]) -> list[Memory]:
        """The memories of these numbers, in that order."""
        query = f"SELECT {rows.FIELDS} FROM memories WHERE id = ?"  # noqa: S608  # our own names
        found = (self._db.execute(query, (number,)).fetchone() for number in numbers)
        return [rows.memory(row) for row in found if row]

    def cues(self) -> dict[int, StoredCue]:
        """See Store."""
        with self._explained():
            found = self._db.execute(rows.CUES, (self.source, self.project))
            return {row[0]: StoredCue(*row) for row in found}

    def put_cues(self, cues: Iterable[StoredCue]) -> int:
        """See Store. Of another source's memories, that source knows the content."""
        kept = 0
        with self._change():
            for cue in cues:
                if self.source == OWN:
                    memory = self.memory(cue.memory_id)
                    if memory is None or content_hash(memory.content) != cue.content_hash:
                        continue
                self._put_cue(cue)
                kept += 1
        return kept

    def take_lease(self, task: str, holder: str, seconds: float) -> bool:
        """See Store."""
        now = self._clock()
        with self._change():
            self._db.execute(
                "INSERT INTO leases (project, task, holder, until) VALUES (:p, :t, :h, :u)"
                " ON CONFLICT (project, task) DO UPDATE SET holder = :h, until = :u"
                " WHERE holder = :h OR until <= :n",
                {"p": self.project, "t": task, "h": holder, "u": now + seconds, "n": now},
            )
            [owner] = self._db.execute(
                "SELECT holder FROM leases WHERE project = ? AND task = ?", (self.project, task)
            ).fetchone()
        return bool(owner == holder)

    def drop_lease(self, task: str, holder: str) -> None:
        """See Store."""
        with self._change():
            self._db.execute(
                "DELETE FROM leases WHERE project = ? AND task = ? AND holder = ?",
                (self.project, task, holder),
            )

    def _put_cue(self, cue: StoredCue) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO cues (source, project, memory_id, text, content_hash, model,"
            " rules_version, rejections, made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self.source,
                self.project,
                cue.memory_id,
                cue.text,
                cue.content_hash,
                cue.model,
                cue.rules_version,
                cue.rejections,
                self._now(),
            ),
        )

    def baseline(self, harness: str, session: str) -> Frozen | None:
        """The frozen baseline of a session, or None."""
        with self._explained():
            return sessions.read(self._db, harness, session)

    def baselines(self) -> list[Frozen]:
        """Those of every session, the one used last first."""
        with self._explained():
            return sessions.every(self._db)

    def freeze(self, new: Frozen, replaces: int) -> Frozen:
        """Keep a baseline, unless another process folded since the one with `replaces`
        folds was read; the one that stands afterwards.
        """
        with self._change():
            sessions.freeze(self._db, new, replaces)
            return sessions.read(self._db, new.harness, new.session) or new

    def touch(self, harness: str, session: str, at: float) -> None:
        """Note when a session was used."""
        with self._change():
            sessions.touch(self._db, harness, session, at)

    def ask_fold(self, harness: str | None = None, session: str | None = None) -> int:
        """Let sessions fold at their next turn; how many."""
        with self._change():
            return sessions.ask_fold(self._db, harness, session)

    def prune(self, before: float) -> int:
        """Remove the sessions that were not used since; how many."""
        with self._change():
            return sessions.prune(self._db, before)

    def damage(self) -> list[str]:
        """What SQLite's own check finds wrong with the file; nothing is good."""
        with self._explained():
            found = [str(row[0]) for row in self._db.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else found

    def _now(self) -> int:
        return int(self._clock())

    @contextlib.contextmanager
    def _change(self, keep: bool = True) -> Iterator[None]:
        """All of a block or nothing of it, and no other process's change in between.

        Without `keep`, nothing of it.
        """
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                # On a full disk SQLite has taken it back by itself, and reports that once more
                # at the next statement: let it be this one.
                with contextlib.suppress(sqlite3.OperationalError):
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT" if keep else "ROLLBACK")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """SQLite's errors as ours, which say what to do."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise opening.explain(error, self.path, self._patience) from error
