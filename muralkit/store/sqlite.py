"""The user's own store: one SQLite file for all projects and harnesses."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from muralkit import files
from muralkit.errors import InputError, StoreError
from muralkit.model import Frozen, Memory, Status, StoredCue
from muralkit.store import Changes, Draft, Kept, content_hash, content_key, index, sessions
from muralkit.store.adding import Batch
from muralkit.store.migrations import APPLICATION_ID, MIGRATIONS

PATIENCE = 30.0
"""Seconds to wait for another process's change; one takes milliseconds, a large import seconds."""

OWN = "own"
"""The source of memories that this store itself holds."""

POOL = (Status.ACTIVE, Status.PERMANENT)

LEAST_SIZE = 512
"""Bytes of the smallest page, and so of the smallest database."""

_CUES = (
    "SELECT memory_id, text, content_hash, model, rules_version, rejections FROM cues"
    " WHERE source = ? AND project = ?"
)
_FIELDS = (
    "id, category, importance, status, content, created_at, updated_at, expires_at, status_before"
)


class SqliteStore:
    """One project's part of the file. Opened at once; `close` it, or use it in a `with`.

    `source` names whose memories the cues belong to: this store's own, or those of
    another database that is read beside it. `patience` is how many seconds another
    process's change is waited for, PATIENCE by default.
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
        self._patience = PATIENCE if patience is None else patience
        self._words: tuple[object, Mapping[str, int]] | None = None
        with self._explained():
            self._db = _connect(path, self._patience)
            try:
                _migrate(self._db, path)
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
        query = f"SELECT {_FIELDS} FROM memories WHERE project = ? AND status IN ({marks})"  # noqa: S608  # question marks
        values: list[str | int] = [self.project, *(status.value for status in wanted)]
        if statuses is None:
            query += " AND (expires_at IS NULL OR expires_at > ?)"
            values.append(self._now())
        with self._explained():
            return [_memory(row) for row in self._db.execute(query + " ORDER BY id", values)]

    def memory(self, memory_id: int) -> Memory | None:
        """See Store."""
        query = f"SELECT {_FIELDS} FROM memories WHERE project = ? AND id = ?"  # noqa: S608  # our own names
        with self._explained():
            row = self._db.execute(query, (self.project, memory_id)).fetchone()
        return _memory(row) if row else None

    def projects(self) -> list[str]:
        """Every project that has a memory here."""
        with self._explained():
            rows = self._db.execute("SELECT DISTINCT project FROM memories ORDER BY project")
            return [str(row[0]) for row in rows]

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
        query = f"SELECT {_FIELDS} FROM memories WHERE id = ?"  # noqa: S608  # our own names
        rows = (self._db.execute(query, (number,)).fetchone() for number in numbers)
        return [_memory(row) for row in rows if row]

    def cues(self) -> dict[int, StoredCue]:
        """See Store."""
        with self._explained():
            rows = self._db.execute(_CUES, (self.source, self.project))
            return {row[0]: StoredCue(*row) for row in rows}

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
            rows = [str(row[0]) for row in self._db.execute("PRAGMA integrity_check(20)")]
        return [] if rows == ["ok"] else rows

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
            raise explain(error, self.path, self._patience) from error


def explain(error: sqlite3.Error | OSError, path: Path, patience: float = PATIENCE) -> StoreError:
    """An error of the database or of its folder, for a person."""
    text = str(error)
    place = str(path)
    if "locked" in text or "busy" in text:
        what = f"Another program has held the store for over {patience:g} s."
        hint = "Wait for it to end (another `muralkit` or a backup), then try again."
    elif "full" in text or ("I/O" in text and _is_full(path)):
        what, hint = "The disk is full.", "Free some space; nothing in the store was changed."
    elif "not a database" in text or "malformed" in text or "encrypted" in text:
        what = "The file is damaged, or is no SQLite database."
        hint = (
            "`muralkit memory export --salvage -o FILE` writes what can still be read; then move "
            "the store away, and import that or a backup."
        )
    elif "readonly" in text or "unable to open" in text or isinstance(error, OSError):
        reason = (error.strerror if isinstance(error, OSError) else None) or text
        what = f"The store can't be opened or written: {reason}."
        hint = "Check the permissions of its folder, or put the store elsewhere: MURALKIT_HOME."
    else:
        what, hint = f"SQLite says: {text}.", "`muralkit doctor` looks for the cause."
    return StoreError(what, where=place, hint=hint)


def _is_full(path: Path) -> bool:
    """Whether the disk has no room for SQLite's own few pages."""
    try:
        room = os.statvfs(path.parent)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < 64 * 1024


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    """The file, made where it is not there. One that can't be written is opened to be read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        # By its name only: closing a handle of the file would drop SQLite's locks on it.
        status = path.stat()
        files.check_regular(path, status)
        if 0 < status.st_size < LEAST_SIZE:  # SQLite would take it for an empty database
            raise sqlite3.DatabaseError("file is not a database")
    else:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    address = f"file:{quote(str(path.absolute()))}"
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        # In a folder that can't be written, SQLite can't share a write-ahead database. That
        # it is immutable is true of what was committed, unless somebody else may write it.
        shared = path.with_name(f"{path.name}-wal").exists()
        address += "?mode=ro" if shared else "?immutable=1"
    db = sqlite3.connect(address, timeout=patience, isolation_level=None, uri=True)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA synchronous = NORMAL")  # in WAL, loses no consistency on a power cut
        return db
    except BaseException:
        db.close()
        raise


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the file to today's schema, once, whoever comes first."""
    if _applied(db, path) == [name for name, _ in MIGRATIONS]:
        return
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN IMMEDIATE")
    try:
        done = _applied(db, path)
        if not done:
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(
                "CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)"
            )
        for name, script in MIGRATIONS[len(done) :]:
            for statement in _statements(script):
                db.execute(statement)
            db.execute("INSERT INTO migrations VALUES (?, unixepoch())", (name,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """A script parted at the ends of its statements, not at those within a trigger."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _applied(db: sqlite3.Connection, path: Path) -> list[str]:
    """The names of the steps that the file has. Raises StoreError where it isn't ours."""
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return []
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(
            "This is another program's database, not a muralkit store.",
            where=str(path),
            hint="Give another path, or MURALKIT_HOME; the file was left as it is.",
        )
    names = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY name")]
    known = [name for name, _ in MIGRATIONS]
    if names != known[: len(names)]:
        raise StoreError(
            "A newer muralkit made this store.",
            where=str(path),
            hint="Upgrade muralkit: pip install --upgrade muralkit. The file was left as it is.",
        )
    return names


def salvage(path: Path, project: str) -> tuple[list[Memory], dict[int, StoredCue], int]:
    """What of a damaged file's memories and cues of a project can still be read, and how
    many gaps there are. Opens what SqliteStore refuses, and writes nothing.

    Raises StoreError where nothing can be read.
    """
    try:
        files.check_regular(path, path.stat())
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            db.execute("PRAGMA writable_schema = ON")  # a size that is wrong is no reason to stop
            return _salvaged(db, project, OWN)
    except (sqlite3.Error, OSError) as error:
        problem = explain(error, path)
        hint = "Restore a backup: nothing can be read of this file."
        raise StoreError(problem.what, where=problem.where, hint=hint) from error


def _salvaged(
    db: sqlite3.Connection, project: str, source: str
) -> tuple[list[Memory], dict[int, StoredCue], int]:
    """Row by row from the lowest number up; over a gap, by steps that double until one
    is readable again.
    """
    query = f"SELECT {_FIELDS}, project FROM memories NOT INDEXED WHERE id >= ? ORDER BY id"  # noqa: S608  # our own names
    memories: dict[int, Memory] = {}
    gaps, at, step = 0, 0, 1
    failed: sqlite3.Error | None = None
    while at < 2**62:
        try:
            for *fields, owner in db.execute(query, (at,)):
                at, step = int(fields[0]) + 1, 1
                if owner == project:
                    with contextlib.suppress(ValueError):
                        memory = _memory(tuple(fields))
                        memories[memory.id] = memory
            break
        except sqlite3.DatabaseError as error:
            failed = error
            gaps += step == 1
            at, step = at + step, step * 2
    if failed is not None and not memories:
        raise failed
    cues: dict[int, StoredCue] = {}
    with contextlib.suppress(sqlite3.Error):
        for row in db.execute(_CUES, (source, project)):
            cues[row[0]] = StoredCue(*row)
    return [memories[number] for number in sorted(memories)], cues, gaps


def _memory(row: tuple[object, ...]) -> Memory:
    memory_id, category, importance, status, content, created, updated, expires, before = row
    return Memory(
        id=int(str(memory_id)),
        category=str(category),
        importance=None if importance is None else int(str(importance)),
        status=Status(str(status)),
        content=str(content),
        created_at=int(str(created)),
        updated_at=int(str(updated)),
        expires_at=None if expires is None else int(str(expires)),
        status_before=None if before is None else Status(str(before)),
    )
