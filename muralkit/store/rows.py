"""The columns of memories and cues, and a row of them as a Memory."""

from __future__ import annotations

from muralkit.model import Memory, Status

CUES = (
    "SELECT memory_id, text, content_hash, model, rules_version, rejections FROM cues"
    " WHERE source = ? AND project = ?"
)
FIELDS = (
    "id, category, importance, status, content, created_at, updated_at, expires_at, status_before"
)


def memory(row: tuple[object, ...]) -> Memory:
    """A row of FIELDS. Raises ValueError where it is none."""
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
