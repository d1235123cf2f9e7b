"""A path in, an open database with today's schema out; and SQLite's errors for a person."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from muralkit import files
from muralkit.errors import StoreError
from muralkit.store.migrations import APPLICATION_ID, MIGRATIONS

PATIENCE = 30.0
"""Seconds to wait for another process's change; one takes milliseconds, a large import seconds."""

LEAST_SIZE = 512
"""Bytes of the smallest page, and so of the smallest database."""


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


def connect(path: Path, patience: float) -> sqlite3.Connection:
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


def migrate(db: sqlite3.Connection, path: Path) -> None:
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
