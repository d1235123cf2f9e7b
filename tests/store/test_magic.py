"""A magic-context database is read as it is, old or new, and never written."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from muralkit.errors import StoreError
from muralkit.model import Status, StoredCue
from muralkit.store import Changes, Draft, content_hash
from muralkit.store.magic import SOURCE, MagicStore, default_path
from muralkit.store.sqlite import SqliteStore

NOW = 1_800_000_000
BASE = """CREATE TABLE memories (id INTEGER PRIMARY KEY, project_path TEXT NOT NULL,
 category TEXT NOT NULL, content TEXT NOT NULL, normalized_hash TEXT NOT NULL,
 {importance} status TEXT NOT NULL DEFAULT 'active', expires_at INTEGER, seen_count INTEGER,
 retrieval_count INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL {mural})"""
NEW = BASE.format(
    importance="importance INTEGER,",
    mural=", mural_cue TEXT, mural_cue_hash TEXT, mural_cue_at INTEGER,"
    " mural_cue_rejection_count INTEGER NOT NULL DEFAULT 0",
)
OLD = BASE.format(importance="", mural="")
COLUMNS = "id, project_path, category, content, normalized_hash, status, created_at, updated_at"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "context.db"


def make(path: Path, schema: str, *rows: dict[str, object]) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(schema)
        for row in rows:
            whole = {
                "project_path": "git:a", "category": "NAMING", "normalized_hash": "h",
                "status": "active", "created_at": 1_700_000_000_000,
                "updated_at": 1_700_000_000_000, **row,
            }  # fmt: skip
            names, marks = ", ".join(whole), ", ".join("?" * len(whole))
            db.execute(f"INSERT INTO memories ({names}) VALUES ({marks})", tuple(whole.values()))
        db.commit()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "own.db", "git:a", source=SOURCE) as store:
        yield store


def opened(path: Path, own: SqliteStore) -> MagicStore:
    return MagicStore(path, own, clock=lambda: NOW)


def test_the_pool_of_a_new_database(path: Path, own: SqliteStore) -> None:
    cue = {"mural_cue": "cue of x", "mural_cue_hash": content_hash("x")}
    make(
        path,
        NEW,
        {"id": 4, "content": "x", "importance": 80, **cue, "mural_cue_rejection_count": 2},
        {"id": 7, "content": "y", "importance": None, "status": "permanent", **cue},
        {"id": 8, "content": "gone", "status": "archived"},
        {"id": 9, "content": "late", "expires_at": (NOW - 1) * 1000},
        {"id": 10, "content": "soon", "expires_at": NOW + 1},
        {"id": 11, "content": "theirs", "project_path": "git:b"},
        {"id": 12, "content": "odd", "status": "quarantined"},
    )
    with opened(path, own) as store:
        assert [(m.id, m.importance, m.weight, m.status.value) for m in store.memories()] == [
            (4, 80, 80, "active"),
            (7, None, 50, "permanent"),
            (10, None, 50, "active"),
        ]
        assert store.memories()[0].created_at == 1_700_000_000
        assert [m.id for m in store.memories([Status.ARCHIVED])] == [8]
        assert store.memory(11) is None and store.memory(8) is not None
        assert store.cues()[4] == StoredCue(4, "cue of x", content_hash("x"), SOURCE, 0, 2)
        assert store.cues()[7].content_hash != content_hash("y")  # stale, and known to be


def test_an_old_database_without_importance_and_cues(path: Path, own: SqliteStore) -> None:
    make(path, OLD, {"id": 1, "content": "x"})
    with opened(path, own) as store:
        assert [(m.content, m.importance) for m in store.memories()] == [("x", None)]
        assert store.cues() == {}


def test_our_cues_stand_in_where_theirs_are_stale_or_missing(path: Path, own: SqliteStore) -> None:
    make(
        path,
        NEW,
        {"id": 1, "content": "x"},
        {"id": 2, "content": "y", "mural_cue": "old", "mural_cue_hash": content_hash("was y")},
        {"id": 3, "content": "z", "mural_cue": "their z", "mural_cue_hash": content_hash("z")},
    )
    with opened(path, own) as store:
        store.put_cues(
            [
                StoredCue(n, f"our {c}", content_hash(c), "m", 1, 0)
                for n, c in ((1, "x"), (2, "y"), (3, "z"))
            ]
        )
        assert {n: cue.text for n, cue in store.cues().items()} == {
            1: "our x",
            2: "our y",
            3: "their z",
        }


def test_nothing_is_ever_written_to_it(path: Path, own: SqliteStore) -> None:
    make(path, NEW, {"id": 1, "content": "x"})
    before = path.read_bytes()
    with opened(path, own) as store:
        for change in (
            lambda: store.add([Draft("A", "y")]),
            lambda: store.edit(1, Changes(content="y")),
        ):
            with pytest.raises(StoreError, match="muralkit only reads them"):
                change()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            store._db.execute("DELETE FROM memories")
    assert path.read_bytes() == before


def test_it_is_read_while_the_other_program_writes(path: Path, own: SqliteStore) -> None:
    make(path, NEW, {"id": 1, "content": "x"})
    stop = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(path, timeout=10)) as db:
            number = 1
            while not stop.is_set():
                number += 1
                marks = "?, 'git:a', 'A', ?, 'h', 'active', 1, 1"
                db.execute(
                    f"INSERT INTO memories ({COLUMNS}) VALUES ({marks})",
                    (number, f"memory {number}"),
                )
                db.commit()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts: list[int] = []
        until = time.monotonic() + 30  # a thread may be slow to start
        while len(counts) < 60 or (counts[-1] == counts[0] and time.monotonic() < until):
            with opened(path, own) as store:
                counts.append(len(store.memories()))
    finally:
        stop.set()
        writer.join()
    assert counts == sorted(counts) and counts[-1] > counts[0]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 4000])
def test_what_is_no_such_database_is_an_error(path: Path, own: SqliteStore, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        opened(path, own)
    assert caught.value.hint and path.read_bytes() == content


def test_a_missing_database_is_an_error(path: Path, own: SqliteStore) -> None:
    with pytest.raises(StoreError, match="has no database here"):
        opened(path, own)
    assert not path.exists()


def test_where_it_lies() -> None:
    assert str(default_path({"XDG_DATA_HOME": "/d"})) == "/d/cortexkit/magic-context/context.db"


def test_a_damaged_database_is_not_called_ours(path: Path, own: SqliteStore) -> None:
    make(path, NEW, *({"id": n, "content": "x" * 500} for n in range(1, 200)))
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xff" * (len(data) - 8192 - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError) as caught, opened(path, own) as store:
        store.memories()
    text = str(caught.value)
    assert "the program that it is of" in text and "salvage" not in text and "MURALKIT" not in text


def test_a_database_in_a_folder_that_cannot_be_written_is_read(
    path: Path, tmp_path: Path, own: SqliteStore
) -> None:
    make(path, NEW, {"id": 1, "content": "x"})
    folder = tmp_path / "mounted"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    try:
        shutil.copy(path, folder / "context.db")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with opened(folder / "context.db", own) as store:
            assert [memory.content for memory in store.memories()] == ["x"]
    finally:
        subprocess.run(["umount", str(folder)], check=True)
