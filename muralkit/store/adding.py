"""Drafts in, rows of the store out, many in a statement.

FTS5 writes out what it has gathered before each statement that has a trigger: of 10,000
memories that are added one by one, the indexes take six times as long.
"""

from __future__ import annotations

import sqlite3

from muralkit.store import Draft, content_key

AT_ONCE = 500
"""Rows of a statement. It has a value for each of eleven columns, and may have 32,766."""

_COLUMNS = (
    "id, project, category, content, content_key, importance, status, created_at, updated_at,"
    " expires_at, status_before"
)
_ROW = f"({', '.join('?' * len(_COLUMNS.split(',')))})"


class Batch:
    """What is added to a project in one transaction: nothing is written before `write`."""

    def __init__(self, db: sqlite3.Connection, project: str, now: int) -> None:
        self._db, self._project, self._now = db, project, now
        self._new: dict[tuple[str, str], tuple[int, Draft]] = {}
        self._taken: set[int] = set()
        [(self._last,)] = db.execute(
            "SELECT max((SELECT coalesce(max(id), 0) FROM memories),"
            " (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'memories'))"
        )

    def place(self, draft: Draft) -> tuple[int, str, bool]:
        """The number and content of the memory that a draft is, and whether it is new."""
        key = draft.category, content_key(draft.content)
        if key in self._new:
            memory_id, earlier = self._new[key]
            return memory_id, earlier.content, False
        known = self._db.execute(
            "SELECT id, content FROM memories"
            " WHERE project = ? AND category = ? AND content_key = ?",
            (self._project, *key),
        ).fetchone()
        if known:
            return (*known, False)
        memory_id = self._last + 1 if draft.id is None or self._has(draft.id) else draft.id
        self._last = max(self._last, memory_id)
        self._taken.add(memory_id)
        self._new[key] = memory_id, draft
        return memory_id, draft.content, True

    def write(self) -> None:
        """Add the new ones."""
        rows = [self._row(number, draft, key) for (_, key), (number, draft) in self._new.items()]
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            self._db.execute(
                f"INSERT INTO memories ({_COLUMNS}) VALUES {', '.join([_ROW] * len(part))}",  # noqa: S608  # question marks
                [value for row in part for value in row],
            )

    def _has(self, memory_id: int) -> bool:
        """Whether a number is taken, in any project."""
        query = "SELECT 1 FROM memories WHERE id = ?"
        return memory_id in self._taken or bool(self._db.execute(query, (memory_id,)).fetchone())

    def _row(self, number: int, draft: Draft, key: str) -> tuple[str | int | None, ...]:
        created = self._now if draft.created_at is None else draft.created_at
        return (
            number,
            self._project,
            draft.category,
            draft.content,
            key,
            draft.importance,
            draft.status.value,
            created,
            created if draft.updated_at is None else draft.updated_at,
            draft.expires_at,
            None if draft.status_before is None else draft.status_before.value,
        )
