"""A magic-context database in, this project's memories out as Drafts."""

from __future__ import annotations

from pathlib import Path

from muralkit.importing import Found, Problem
from muralkit.model import Status
from muralkit.selection import is_current
from muralkit.store import Draft
from muralkit.store.magic import MagicStore
from muralkit.store.sqlite import SqliteStore


def read(path: Path, own: SqliteStore) -> Found:
    """The memories of `own`'s project, archived ones too, each with its cue if current.

    Raises StoreError where the file is no such database.
    """
    with MagicStore(path, own) as source:
        cues = source.cues()
        return Found(
            tuple(
                Draft(
                    category=memory.category,
                    content=memory.content,
                    importance=memory.importance,
                    status=memory.status,
                    id=memory.id,
                    created_at=memory.created_at,
                    updated_at=memory.updated_at,
                    expires_at=memory.expires_at,
                    cue=cues[memory.id].text if is_current(memory, cues.get(memory.id)) else None,
                )
                for memory in source.memories(Status)
            ),
            tuple(
                Problem(f"{path}, memory {number}", what)
                for number, what in source.unusable().items()
            ),
        )
