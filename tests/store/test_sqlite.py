"""The store keeps what it holds, whoever else writes, is killed, or fills the disk."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.errors import InputError, StoreError
from muralkit.model import Status, StoredCue
from muralkit.store import Changes, Draft, content_hash, content_key
from muralkit.store.migrations import MIGRATIONS
from muralkit.store.sqlite import SqliteStore
from tests.conftest import ROOT

NOW = 1_800_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "muralkit.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path, "git:a", clock=lambda: NOW) as opened:
        yield opened


def contents(store: SqliteStore) -> list[str]:
    return [memory.content for memory in store.memories()]


def test_what_is_added_is_read_back_in_order(store: SqliteStore) -> None:
    drafts = [
        Draft("NAMING", "one", 70),
        Draft("own", "zwei\nlines", None, Status.PERMANENT, created_at=5, expires_at=NOW + 1),
        Draft("NAMING", "three", status=Status.ARCHIVED, id=77),
    ]
    added = store.add(drafts)
    assert (added.ids, added.known) == ((1, 2, 77), 0)
    one, two, three = store.memories(Status)
    assert (one.id, one.importance, one.weight, one.created_at) == (1, 70, 70, NOW)
    assert (two.importance, two.weight, two.created_at, two.updated_at) == (None, 50, 5, 5)
    assert (three.id, three.status, three.content) == (77, Status.ARCHIVED, "three")
    assert [m.id for m in store.memories()] == [1, 2]
    assert store.memory(77) == three and store.memory(78) is None


def test_the_pool_has_no_expired_memory(path: Path) -> None:
    moment = [NOW]
    with SqliteStore(path, "p", clock=lambda: moment[0]) as store:
        store.add([Draft("A", "short", expires_at=NOW + 10), Draft("A", "long")])
        assert contents(store) == ["short", "long"]
        moment[0] += 10
        assert contents(store) == ["long"]
        assert len(store.memories(Status)) == 2


def test_adding_twice_adds_nothing_twice(store: SqliteStore) -> None:
    assert store.add([Draft("A", "Über  das\nDing")]).ids == (1,)
    again = store.add([Draft("A", "u\u0308ber das ding "), Draft("B", "über das ding")])
    assert (again.ids, again.known) == ((2,), 1)
    assert contents(store) == ["Über  das\nDing", "über das ding"]


def test_projects_do_not_see_one_another(path: Path, store: SqliteStore) -> None:
    store.add([Draft("A", "x")])
    with SqliteStore(path, "git:b") as other:
        assert contents(other) == [] and other.memory(1) is None
        assert other.add([Draft("A", "x", id=1)]).ids == (2,)  # 1 is another project's
        with pytest.raises(InputError, match="no memory 1"):
            other.edit(1, Changes(content="y"))
    assert contents(store) == ["x"] and store.projects() == ["git:a", "git:b"]


def test_editing_changes_only_what_is_given(store: SqliteStore) -> None:
    store.add([Draft("A", "x", 10)])
    edited = store.edit(1, Changes(content="y", status=Status.PERMANENT))
    assert (edited.content, edited.category, edited.importance) == ("y", "A", 10)
    assert edited.status is Status.PERMANENT
    assert store.add([Draft("A", "x")]).ids == (2,)


def test_an_edit_cannot_repeat_another_memory(store: SqliteStore) -> None:
    store.add([Draft("A", "x"), Draft("A", "y")])
    with pytest.raises(InputError, match="would repeat another one"):
        store.edit(2, Changes(content="X"))
    assert contents(store) == ["x", "y"]


def test_other_content_makes_a_cue_stale(store: SqliteStore) -> None:
    store.add([Draft("A", "x", cue="cue of x")])
    cue = store.cues()[1]
    assert (cue.text, cue.content_hash) == ("cue of x", content_hash("x"))
    store.edit(1, Changes(importance=9))
    assert store.cues()[1].content_hash == content_hash("x")
    after = store.edit(1, Changes(content="y"))
    assert store.cues()[1].content_hash != content_hash(after.content)
    store.put_cues([StoredCue(1, "cue of y", content_hash("y"), "m", 2, 1)])
    assert store.cues() == {1: StoredCue(1, "cue of y", content_hash("y"), "m", 2, 1)}


def test_all_is_added_or_nothing(store: SqliteStore) -> None:
    with pytest.raises(StoreError):
        store.add([Draft("A", "good"), Draft("A", "bad", importance=500)])
    assert contents(store) == []
    assert store.add([Draft("A", "next")]).ids


@given(st.text(min_size=1), st.text(min_size=1))
def test_contents_are_the_same_memory_by_their_words(first: str, second: str) -> None:
    same = " ".join(first.casefold().split()) == " ".join(second.casefold().split())
    assert not same or content_key(first) == content_key(second)
    assert content_key(first) == content_key(f"  {first}\n")


def test_files_are_private(store: SqliteStore, path: Path) -> None:
    store.add([Draft("A", "x")])
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_the_file_is_a_write_ahead_database_with_named_migrations(
    store: SqliteStore, path: Path
) -> None:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        names = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY name")]
    assert names == [name for name, _ in MIGRATIONS] == sorted(names)
    assert store.damage() == []


def refused(path: Path) -> StoreError:
    """The error of opening a file that must be left as it is."""
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught, SqliteStore(path, "p") as store:
        store.memories()
    assert path.read_bytes() == before
    assert caught.value.hint and caught.value.where == str(path)
    return caught.value


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"# notes\n" * 100)
    assert "damaged, or is no SQLite database" in refused(path).what


def test_another_programs_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE memories (id INTEGER)")
        db.commit()
    assert "another program's database" in refused(path).what


def test_a_newer_schema_is_refused(path: Path) -> None:
    with SqliteStore(path, "p") as store:
        store.add([Draft("A", "x")])
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO migrations VALUES ('999_tomorrow', 0)")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert "newer muralkit" in refused(path).what


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_refused(path: Path, keep: float) -> None:
    with SqliteStore(path, "p") as store:
        store.add([Draft("A", f"memory number {n} " * 20) for n in range(300)])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep) // 4096 * 4096])
    assert "damaged" in refused(path).what


def test_an_old_schema_is_brought_up_to_date_once(path: Path) -> None:
    """As the first release left it, with a memory in it."""
    with SqliteStore(path, "p") as store:
        store.add([Draft("A", "x")])
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE cues")
        db.execute("DELETE FROM migrations WHERE name = '002_cues'")
        db.commit()
    with SqliteStore(path, "p") as store:
        assert contents(store) == ["x"] and store.cues() == {}


def test_a_folder_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be opened or written"):
        SqliteStore(tmp_path / "file" / "m.db", "p")


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="root writes anywhere"
)
def test_a_read_only_folder_is_an_error(path: Path) -> None:
    with SqliteStore(path, "p") as store:
        store.add([Draft("A", "x")])
    code = (
        "import sys; from pathlib import Path\n"
        "from muralkit.errors import StoreError\n"
        "from muralkit.store.sqlite import SqliteStore\n"
        "from muralkit.store import Draft\n"
        "try:\n"
        "    with SqliteStore(Path(sys.argv[1]), 'p') as s: s.add([Draft('A', 'y')])\n"
        "except StoreError as error: print(error.what)\n"
    )
    path.parent.chmod(0o555)
    before = path.read_bytes()
    command = [sys.executable, "-c", code, str(path)]
    if os.geteuid() == 0:
        # root without its capabilities has to keep to permissions like anybody
        command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    path.parent.chmod(0o755)
    assert "can't be opened or written" in done.stdout, done.stderr
    assert path.read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    try:
        with SqliteStore(disk / "m.db", "p") as store:
            store.add([Draft("A", "first")])
            with pytest.raises(StoreError, match="disk is full"):
                store.add([Draft("A", f"{n} " * 500) for n in range(2000)])
            assert contents(store) == ["first"]
        with SqliteStore(disk / "m.db", "p") as store:
            assert contents(store) == ["first"] and store.damage() == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_locked_store_is_an_error_in_time(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muralkit.store.sqlite.PATIENCE", 0.2)
    with SqliteStore(path, "p") as other, closing(sqlite3.connect(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="Another program has held the store"):
            other.add([Draft("A", "x")])
        assert contents(other) == []  # reading goes on


WORKER = """
import random, sys, time
from pathlib import Path
from muralkit.model import Status
from muralkit.store import Changes, Draft
from muralkit.store.sqlite import SqliteStore
path, seed, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rng, until, mine = random.Random(seed), time.monotonic() + seconds, {}
while time.monotonic() < until:
    with SqliteStore(path, "shared") as store:
        for _ in range(rng.randrange(1, 12)):
            pick = rng.random()
            if pick < 0.5 or not mine:
                text = f"worker {seed} memory {len(mine)}"
                [number] = store.add([Draft("A", text)]).ids
                mine[number] = text
            elif pick < 0.8:
                number = rng.choice(list(mine))
                mine[number] += "."
                store.edit(number, Changes(content=mine[number]))
            else:
                found = {m.id: m.content for m in store.memories()}
                assert all(found[number] == text for number, text in mine.items())
with SqliteStore(path, "shared") as store:
    found = {m.id: m.content for m in store.memories()}
    assert all(found[number] == text for number, text in mine.items())
print(len(mine))
"""


def test_eight_processes_lose_nothing(path: Path) -> None:
    """Each adds, edits and reads for a while, and knows at the end all that it wrote."""
    seconds = os.environ.get("MURALKIT_STRESS_SECONDS", "20")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(seed), seconds],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for seed in range(8)
    ]
    total = 0
    for worker in workers:
        out, err = worker.communicate(timeout=180)
        assert worker.returncode == 0, err
        total += int(out)
    with SqliteStore(path, "shared") as store:
        assert len(store.memories()) == total > 0
        assert store.damage() == []


IMPORTER = """
import sys
from pathlib import Path
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
with SqliteStore(Path(sys.argv[1]), "p") as store:
    print("ready", flush=True)
    store.add([Draft("A", f"memory {sys.argv[2]} {n} " * 5) for n in range(3000)])
    print("done", flush=True)
"""


def test_an_import_killed_at_any_moment_is_there_whole_or_not_at_all(path: Path) -> None:
    rng = random.Random(11)
    expected = 0
    for attempt in range(50):
        child = subprocess.Popen(
            [sys.executable, "-c", IMPORTER, str(path), str(attempt)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(rng.random() * 0.25)
        child.send_signal(signal.SIGKILL)
        out, _ = child.communicate()
        with SqliteStore(path, "p") as store:
            found = len(store.memories())
        assert found in (expected, expected + 3000)
        assert out != "done\n" or found == expected + 3000
        expected = found
    with SqliteStore(path, "p") as store:
        assert store.damage() == []
