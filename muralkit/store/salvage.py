"""A damaged file in, what of it can still be read out."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

from muralkit import files
from muralkit.errors import StoreError
from muralkit.model import Memory, StoredCue
from muralkit.store import OWN, rows
from muralkit.store.opening import explain


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
            return _salvaged(db, project)
    except (sqlite3.Error, OSError) as error:
        problem = explain(error, path)
        hint = "Restore a backup: nothing can be read of this file."
        raise StoreError(problem.what, where=problem.where, hint=hint) from error


def _salvaged(
    db: sqlite3.Connection, project: str
) -> tuple[list[Memory], dict[int, StoredCue], int]:
    """Row by row from the lowest number up; over a gap, by steps that double until one
    is readable again.
    """
    query = f"SELECT {rows.FIELDS}, project FROM memories NOT INDEXED WHERE id >= ? ORDER BY id"  # noqa: S608  # our own names
    memories: dict[int, Memory] = {}
    gaps, at, step = 0, 0, 1
    failed: sqlite3.Error | None = None
    while at < 2**62:
        try:
            for *fields, owner in db.execute(query, (at,)):
                at, step = int(fields[0]) + 1, 1
                if owner == project:
                    with contextlib.suppress(ValueError):
                        memory = rows.memory(tuple(fields))
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
        for row in db.execute(rows.CUES, (OWN, project)):
            cues[row[0]] = StoredCue(*row)
    return [memories[number] for number in sorted(memories)], cues, gaps
