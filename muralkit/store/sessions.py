"""Frozen context baselines in the user's own store: who folds first wins, whoever reads.

A part of SqliteStore that has nothing to do with memories.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3

from muralkit.model import Frozen

_FIELDS = (
    "harness, session, project, facts, text, marker, png, png_hash, reason, folded_at, used_at,"
    " folds"
)


def read(db: sqlite3.Connection, harness: str, session: str) -> Frozen | None:
    """The baseline of a session, or None."""
    query = f"SELECT {_FIELDS} FROM sessions WHERE harness = ? AND session = ?"  # noqa: S608  # our own names
    row = db.execute(query, (harness, session)).fetchone()
    return _frozen(row) if row else None


def every(db: sqlite3.Connection) -> list[Frozen]:
    """All of them, the one used last first."""
    query = f"SELECT {_FIELDS} FROM sessions ORDER BY used_at DESC"  # noqa: S608  # our own names
    return [_frozen(row) for row in db.execute(query)]


def freeze(db: sqlite3.Connection, new: Frozen, replaces: int) -> None:
    """Keep a baseline in the place of the one with `replaces` folds (0: none). Nothing is
    kept where another process folded meanwhile. Inside a transaction of the caller's.
    """
    row = db.execute(
        "SELECT folds FROM sessions WHERE harness = ? AND session = ?", (new.harness, new.session)
    ).fetchone()
    if (row[0] if row else 0) != replaces:
        return
    digest = None if new.png is None else hashlib.sha256(new.png).hexdigest()
    db.execute(
        f"INSERT OR REPLACE INTO sessions ({_FIELDS}) VALUES ({', '.join('?' * 12)})",  # noqa: S608  # our own names
        (
            new.harness,
            new.session,
            new.project,
            json.dumps(dict(new.facts)),
            new.text,
            new.marker,
            new.png,
            digest,
            new.reason,
            new.folded_at,
            new.used_at,
            replaces + 1,
        ),
    )


def touch(db: sqlite3.Connection, harness: str, session: str, at: float) -> None:
    """Note when a session was used."""
    db.execute(
        "UPDATE sessions SET used_at = max(used_at, ?) WHERE harness = ? AND session = ?",
        (at, harness, session),
    )


def ask_fold(db: sqlite3.Connection, harness: str | None, session: str | None) -> int:
    """Let these sessions (None: all) fold at their next turn; how many."""
    cursor = db.execute(
        "UPDATE sessions SET facts = '{}' WHERE (?1 IS NULL OR harness = ?1)"
        " AND (?2 IS NULL OR session = ?2)",
        (harness, session),
    )
    return cursor.rowcount


def prune(db: sqlite3.Connection, before: float) -> int:
    """Remove the sessions that were not used since; how many."""
    return db.execute("DELETE FROM sessions WHERE used_at < ?", (before,)).rowcount


def _frozen(row: tuple[object, ...]) -> Frozen:
    harness, session, project, facts, text, marker, png, digest, reason, folded, used, folds = row
    data = bytes(png) if isinstance(png, bytes) else None
    damaged = digest is not None and (
        data is None or hashlib.sha256(data).hexdigest() != str(digest)
    )
    try:
        known = json.loads(str(facts))
    except ValueError:
        known = {}
    return Frozen(
        harness=str(harness),
        session=str(session),
        project=str(project),
        facts=known if isinstance(known, dict) else {},
        text=str(text),
        marker="" if damaged else str(marker),
        png=None if damaged else data,
        reason=str(reason),
        folded_at=float(str(folded)),
        used_at=float(str(used)),
        folds=int(str(folds)),
        damaged=damaged,
    )
