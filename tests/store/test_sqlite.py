"""The store keeps what it holds, whoever else writes, is killed, or fills the disk."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.errors import InputError, StoreError
from muralkit.model import Status, StoredCue
from muralkit.store import Changes, Draft, Kept, content_hash, content_key
from muralkit.store.migrations import MIGRATIONS
from muralkit.store.salvage import salvage
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
    assert store.add(drafts) == [Kept(n, True, False) for n in (1, 2, 77)]
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
    assert store.add([Draft("A", "Über  das\nDing")]) == [Kept(1, True, False)]
    again = store.add([Draft("A", "u\u0308ber das ding "), Draft("B", "über das ding")])
    assert again == [Kept(1, False, False), Kept(2, True, False)]
    assert contents(store) == ["Über  das\nDing", "über das ding"]


def test_a_known_memory_takes_a_cue_that_comes_later(store: SqliteStore) -> None:
    store.add([Draft("A", "x"), Draft("A", "y", cue="own y")])
    later = [Draft("A", "x", cue="of x"), Draft("A", "X", cue="of X"), Draft("A", "y", cue="z")]
    assert [kept.cue for kept in store.add(later)] == [True, False, False]
    assert {n: cue.text for n, cue in store.cues().items()} == {1: "of x", 2: "own y"}
    store.edit(1, Changes(content="xx"))
    assert store.add([Draft("A", "xx", cue="of xx")])[0].cue  # the old one was stale


def test_a_dry_addition_only_tells(store: SqliteStore) -> None:
    store.add([Draft("A", "x")])
    drafts = [Draft("A", "x", cue="c"), Draft("A", "y"), Draft("A", "Y")]
    told = store.add(drafts, dry=True)
    assert [(kept.new, kept.cue) for kept in told] == [(False, True), (True, False), (False, False)]
    assert contents(store) == ["x"] and store.cues() == {}
    assert store.add(drafts) == told


def test_restoring_gives_back_the_status_of_before(path: Path) -> None:
    moment = [NOW]
    with SqliteStore(path, "p", clock=lambda: moment[0]) as store:
        store.add(
            [
                Draft("A", "permanent", status=Status.PERMANENT),
                Draft("A", "active"),
                Draft("A", "came archived", status=Status.ARCHIVED),
                Draft("A", "expires", expires_at=NOW + 5),
                Draft("A", "later", expires_at=NOW + 500),
            ]
        )
        for number in (1, 2, 1):  # archiving twice forgets nothing
            store.edit(number, Changes(status=Status.ARCHIVED))
        moment[0] += 10
        assert [m.id for m in store.memories()] == [5]
        found = [store.restore(number) for number in (1, 2, 3, 4, 5)]
        assert [m.status.value for m in found] == ["permanent", *["active"] * 4]
        assert [m.expires_at for m in found] == [None] * 4 + [NOW + 500]
        assert store.memories() == found
        with pytest.raises(InputError, match="no memory 9"):
            store.restore(9)


def test_projects_do_not_see_one_another(path: Path, store: SqliteStore) -> None:
    store.add([Draft("A", "x")])
    with SqliteStore(path, "git:b") as other:
        assert contents(other) == [] and other.memory(1) is None
        assert other.add([Draft("A", "x", id=1)])[0].memory_id == 2  # 1 is another project's
        with pytest.raises(InputError, match="no memory 1"):
            other.edit(1, Changes(content="y"))
    assert contents(store) == ["x"] and store.projects() == ["git:a", "git:b"]


def test_editing_changes_only_what_is_given(store: SqliteStore) -> None:
    store.add([Draft("A", "x", 10)])
    edited = store.edit(1, Changes(content="y", status=Status.PERMANENT))
    assert (edited.content, edited.category, edited.importance) == ("y", "A", 10)
    assert edited.status is Status.PERMANENT
    assert store.add([Draft("A", "x")]) == [Kept(2, True, False)]


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


DRAFTS = st.builds(
    Draft,
    st.sampled_from("AB"),
    st.sampled_from(["x", "X", "y z", "y  Z", "w"]),
    id=st.none() | st.integers(1, 6),
    cue=st.none() | st.sampled_from(["c", "d"]),
)


@given(st.lists(DRAFTS, max_size=8), st.lists(DRAFTS, max_size=8))
def test_many_at_once_are_added_as_one_by_one(before: list[Draft], drafts: list[Draft]) -> None:
    """They are written in statements of many, with numbers that are not SQLite's doing."""
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteStore(Path(folder) / "one", "p", clock=lambda: 1) as one,
        SqliteStore(Path(folder) / "many", "p", clock=lambda: 1) as many,
    ):
        for store in (one, many):
            store.add(before)
        assert [one.add([draft])[0] for draft in drafts] == many.add(drafts)
        assert one.memories() == many.memories() and one.cues() == many.cues()
        assert one.words() == many.words()
        again = [Draft("C", "new")]
        assert one.add(again) == many.add(again)


def test_all_is_added_or_nothing(store: SqliteStore) -> None:
    with pytest.raises(StoreError):
        store.add([Draft("A", "good"), Draft("A", "bad", importance=500)])
    assert contents(store) == []
    assert store.add([Draft("A", "next")])[0].new


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
        db.execute("ALTER TABLE memories DROP COLUMN status_before")
        db.execute("DROP TABLE leases")
        db.execute("DROP TABLE sessions")
        db.execute("DROP TABLE memories_terms")
        for table in ("memories_text", "memories_words"):
            db.execute(f"DROP TABLE {table}")
            for name in ("insert", "delete", "update"):
                db.execute(f"DROP TRIGGER {table}_{name}")
        db.execute("DELETE FROM migrations WHERE name != '001_memories'")
        db.commit()
    with SqliteStore(path, "p") as store:
        assert contents(store) == ["x"] and store.cues() == {}
        assert store.words() == {"x": 1}
        store.edit(1, Changes(status=Status.ARCHIVED))
        assert store.restore(1).status is Status.ACTIVE


@pytest.mark.parametrize("content", [b"x", b"SQLite format 3\0"])
def test_a_short_file_is_not_taken_for_an_empty_database(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert "damaged, or is no SQLite database" in refused(path).what


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_an_error(path: Path, kind: str) -> None:
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(StoreError, match="can't be opened or written: it is"):
        SqliteStore(path, "p")


def test_what_can_be_read_of_a_damaged_store_is_saved(path: Path) -> None:
    drafts = [Draft("A", f"memory {n} " * 40, cue=f"cue {n}") for n in range(400)]
    with SqliteStore(path, "p") as store:
        store.add(drafts)
    data = bytearray(path.read_bytes())
    assert len(data) % 4096 == 0
    for number in (150, 200, 250):
        page = data.index(b"memory %d memory %d " % (number, number)) // 4096 * 4096
        data[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    with SqliteStore(path, "p") as store, pytest.raises(StoreError):
        store.memories()
    before = path.read_bytes()
    memories, _, gaps = salvage(path, "p")
    assert 300 < len(memories) < 400 and gaps >= 1
    assert all(m.content == f"memory {m.id - 1} " * 40 for m in memories)
    assert path.read_bytes() == before


@pytest.mark.parametrize("keep", [0.5, 0.8, 0.99])
def test_what_can_be_read_of_a_truncated_store_is_saved(path: Path, keep: float) -> None:
    with SqliteStore(path, "p") as store:
        store.add([Draft("A", f"memory {n} " * 40) for n in range(400)])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep) // 4096 * 4096])
    memories, _, _ = salvage(path, "p")
    assert len(memories) > 400 * (keep - 0.4)
    assert all(m.content == f"memory {m.id - 1} " * 40 for m in memories)


def test_a_large_number_is_no_reason_to_search_long(store: SqliteStore) -> None:
    store.add([Draft("A", "x", id=10**12), Draft("A", "y")])
    memories, _, gaps = salvage(store.path, "git:a")
    assert [m.id for m in memories] == [10**12, 10**12 + 1] and gaps == 0


@pytest.mark.parametrize("content", [b"", b"x", b"no database " * 99, os.urandom(9000)])
def test_what_is_no_store_can_not_be_saved(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        salvage(path, "p")
    assert "Restore a backup" in caught.value.hint and path.read_bytes() == content


def test_a_whole_store_is_salvaged_whole(store: SqliteStore) -> None:
    store.add([Draft("A", "x", cue="c"), Draft("A", "y")])
    with SqliteStore(store.path, "git:b") as other:
        other.add([Draft("A", "another project's")])
    assert salvage(store.path, "git:a") == (store.memories(), store.cues(), 0)


def test_a_folder_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be opened or written"):
        SqliteStore(tmp_path / "file" / "m.db", "p")


@pytest.mark.parametrize("open_beside", [False, True])
def test_a_read_only_folder_is_read_and_an_error_to_write(path: Path, open_beside: bool) -> None:
    with SqliteStore(path, "p") as store:
        store.add([Draft("A", "x")])
    holder = SqliteStore(path, "p") if open_beside else None  # its -wal and -shm stay
    if holder:
        holder.add([Draft("A", "z")])
    code = (
        "import sys; from pathlib import Path\n"
        "from muralkit.errors import StoreError\n"
        "from muralkit.store.salvage import salvage\n"
        "from muralkit.store.sqlite import SqliteStore\n"
        "from muralkit.store import Draft\n"
        "with SqliteStore(Path(sys.argv[1]), 'p') as s:\n"
        "    print([m.content for m in s.memories()])\n"
        "    try: s.add([Draft('A', 'y')])\n"
        "    except StoreError as error: print(error.what)\n"
    )
    path.parent.chmod(0o555)
    before = path.read_bytes()
    command = [sys.executable, "-c", code, str(path)]
    if os.geteuid() == 0:
        # root without its capabilities has to keep to permissions like anybody
        command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    path.parent.chmod(0o755)
    if holder:
        holder.close()
    assert "can't be opened or written" in done.stdout, done.stderr
    assert str(["x", "z"] if open_beside else ["x"]) in done.stdout
    assert open_beside or path.read_bytes() == before


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


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_on_a_disk_without_any_room_that_is_what_is_said(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    try:
        with SqliteStore(disk / "m.db", "p") as store:
            store.add([Draft("A", "first")])
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        with pytest.raises(StoreError, match="disk is full"), SqliteStore(disk / "m.db", "p") as s:
            s.add([Draft("A", "second")])
        (disk / "filler").unlink()
        with SqliteStore(disk / "m.db", "p") as store:
            assert contents(store) == ["first"] and store.damage() == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_locked_store_is_an_error_in_time(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muralkit.store.opening.PATIENCE", 0.2)
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
from muralkit.store.salvage import salvage
from muralkit.store.sqlite import SqliteStore
path, seed, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rng, until, mine = random.Random(seed), time.monotonic() + seconds, {}
while time.monotonic() < until:
    with SqliteStore(path, "shared") as store:
        for _ in range(rng.randrange(1, 12)):
            pick = rng.random()
            if pick < 0.5 or not mine:
                text = f"worker {seed} memory {len(mine)}"
                number = store.add([Draft("A", text)])[0].memory_id
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
from muralkit.store.salvage import salvage
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
