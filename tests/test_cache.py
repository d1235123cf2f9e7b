"""The replay cache: plain bytes, private, and anything wrong with it is a miss."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import diskcache
import pytest

from muralkit import cache as cache_module
from muralkit import pipeline
from muralkit.cache import ReplayCache
from muralkit.model import SIGNATURE, Dropped, Escaped, Mural, Reason
from muralkit.pipeline import render
from tests.conftest import cue, cues_of

KEY = "k" * 64


def mural(body: bytes = b"png" * 20_000, key: str = KEY) -> Mural:
    return Mural(
        png=SIGNATURE + body,
        width=56,
        height=28,
        tokens=2,
        key=key,
        shown=(1, "b"),
        dropped=(Dropped(3, 9, Reason.FULL), Dropped("d", 1, Reason.EMPTY)),
        escaped=(Escaped(0x13000, 2),),
        stripped=4,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "murals"


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "cache.db", isolation_level=None)) as connection:
        yield connection


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every cache that a test opens, or its connections outlive it."""
    opened: list[ReplayCache] = []
    start = ReplayCache.__init__

    def tracked(self: ReplayCache, *arguments: Any) -> None:
        start(self, *arguments)
        opened.append(self)

    monkeypatch.setattr(ReplayCache, "__init__", tracked)
    yield
    for cache in opened:
        cache.close()


@pytest.mark.parametrize("size", [10, 200_000])  # in the database, and in a file of its own
def test_what_is_put_is_got_by_another_process(folder: Path, size: int) -> None:
    kept = mural(os.urandom(size))
    ReplayCache(folder).put(kept)
    found = ReplayCache(folder).get(KEY)
    assert found is not None and found.cached
    for field in (
        "png",
        "width",
        "height",
        "tokens",
        "key",
        "shown",
        "dropped",
        "escaped",
        "stripped",
    ):
        assert getattr(found, field) == getattr(kept, field), field


def test_an_absent_key_is_a_miss(folder: Path) -> None:
    assert ReplayCache(folder).get(KEY) is None


def test_a_hit_returns_before_layout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ReplayCache(folder)
    first = render(cues_of("50"), "dense", cache=cache)

    def never(*_: object) -> None:
        raise AssertionError("a replay must not get here")

    for stage in ("_checked", "_layout", "_draw", "_paint"):
        monkeypatch.setattr(pipeline, stage, never)
    second = render(cues_of("50"), "dense", cache=cache)
    assert second.cached and not first.cached
    assert (second.png, second.shown, second.tokens) == (first.png, first.shown, first.tokens)


def test_everything_is_private_to_the_user(folder: Path) -> None:
    before = os.umask(0)
    try:
        ReplayCache(folder).put(mural())
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".val" for path in files)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_an_open_folder_is_closed(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    ReplayCache(folder).put(mural())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (os.environ["BOMB"],))


@pytest.mark.parametrize("large", [False, True])
def test_a_pickled_entry_is_never_loaded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """CVE-2025-69872: an entry that diskcache itself would unpickle."""
    crater = tmp_path / "crater"
    monkeypatch.setenv("BOMB", str(crater))
    ReplayCache(folder).put(mural())
    with diskcache.Cache(str(folder)) as plain:
        plain.set(KEY, (Bomb(), b"x" * 100_000) if large else Bomb())
    assert ReplayCache(folder).get(KEY) is None
    assert not crater.exists()
    with diskcache.Cache(str(folder)) as plain:
        plain.get(KEY)
    assert crater.exists(), "the entry was a real bomb"


def test_a_pickled_key_is_never_loaded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crater = tmp_path / "crater"
    monkeypatch.setenv("BOMB", str(crater))
    cache = ReplayCache(folder)
    cache.put(mural())
    cache.close()
    with database(folder) as db:
        db.execute("UPDATE Cache SET key = ?, raw = 0", (pickle.dumps(Bomb()),))
    cache = ReplayCache(folder)
    assert cache.get(KEY) is None
    for number in range(12):
        cache.put(mural(key=f"{number:064}"))
    assert not crater.exists()


def corrupt(data: bytes, how: str) -> bytes:
    if how == "empty":
        return b""
    if how == "cut":
        return data[: len(data) // 2]
    if how == "foreign":
        return b"\x89PNG" + data
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("how", ["empty", "cut", "flipped", "foreign"])
@pytest.mark.parametrize("size", [10, 200_000])
def test_a_damaged_entry_is_a_miss_and_is_replaced(folder: Path, how: str, size: int) -> None:
    cache = ReplayCache(folder)
    cache.put(mural(os.urandom(size)))
    cache.close()
    for path in folder.rglob("*.val"):
        path.write_bytes(corrupt(path.read_bytes(), how))
    with database(folder) as db:
        for rowid, value in db.execute("SELECT rowid, value FROM Cache WHERE value NOT NULL"):
            db.execute("UPDATE Cache SET value = ? WHERE rowid = ?", (corrupt(value, how), rowid))
    cache = ReplayCache(folder)
    assert cache.get(KEY) is None
    cache.put(mural(b"new"))
    found = cache.get(KEY)
    assert found is not None and found.png == SIGNATURE + b"new"


def test_an_entry_under_anothers_key_is_a_miss(folder: Path) -> None:
    cache = ReplayCache(folder)
    cache.put(mural())
    with database(folder) as db:
        db.execute("UPDATE Cache SET key = ?", ("other",))
    assert cache.get("other") is None


def test_a_missing_file_is_a_miss(folder: Path) -> None:
    cache = ReplayCache(folder)
    cache.put(mural())
    for path in folder.rglob("*.val"):
        path.unlink()
    assert cache.get(KEY) is None


def test_a_foreign_row_can_neither_read_nor_remove_what_is_outside(
    folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"precious")
    cache = ReplayCache(folder)
    cache.put(mural())
    with database(folder) as db:
        db.execute("UPDATE Cache SET filename = ?", ("../../secret",))
    assert cache.get(KEY) is None
    cache.put(mural())  # replaces the row, and so removes its old file
    assert secret.read_bytes() == b"precious"


@pytest.mark.parametrize(
    "content", [b"", b"no database " * 500, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_database_that_is_none_is_replaced(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "cache.db").write_bytes(content)
    cache = ReplayCache(folder)
    assert cache.get(KEY) is None
    cache.put(mural())
    assert ReplayCache(folder).get(KEY) is not None


def test_a_truncated_database_is_a_miss(folder: Path) -> None:
    cache = ReplayCache(folder)
    for number in range(20):
        cache.put(mural(os.urandom(9_000), f"{number:064}"))
    cache.close()
    path = folder / "cache.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for name in ("cache.db-wal", "cache.db-shm"):
        (folder / name).unlink(missing_ok=True)
    cache = ReplayCache(folder)
    for number in range(20):
        found = cache.get(f"{number:064}")
        assert found is None or len(found.png) == 9_008
    render([cue(1, "x")], cache=cache)


@pytest.mark.parametrize("settings", [{"disk_bogus": 1}, {"eviction_policy": "nonsense"}])
def test_foreign_settings_are_a_miss(folder: Path, settings: dict[str, object]) -> None:
    cache = ReplayCache(folder)
    cache.put(mural())
    cache.close()
    with database(folder) as db:
        for name, value in settings.items():
            db.execute("INSERT OR REPLACE INTO Settings VALUES (?, ?)", (name, value))
    assert render([cue(1, "x")], cache=ReplayCache(folder)).png


def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ReplayCache(tmp_path / "file" / "cache")
    assert render([cue(1, "x")], cache=cache) == render([cue(1, "x")])


def test_a_locked_database_is_a_miss_and_soon(folder: Path) -> None:
    cache = ReplayCache(folder)
    cache.put(mural())
    with database(folder) as db:
        db.execute("BEGIN EXCLUSIVE")
        start = time.monotonic()
        cache.put(mural(b"other"))
        assert ReplayCache(folder).get("x") is None
        assert time.monotonic() - start < 3
        db.execute("ROLLBACK")
    assert cache.get(KEY) is not None


def test_the_cache_stays_within_its_limit(folder: Path) -> None:
    cache = ReplayCache(folder, 2_000_000)
    for number in range(60):
        cache.put(mural(os.urandom(100_000), f"{number:064}"))
    assert sum(path.stat().st_size for path in folder.rglob("*.val")) < 3_000_000
    assert cache.get(f"{59:064}") is not None and cache.get(f"{0:064}") is None


WORKER = """
import os, random, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from muralkit.cache import ReplayCache
from tests.test_cache import mural
seed, until = int(sys.argv[2]), time.monotonic() + float(sys.argv[4])
rng, cache, hits = random.Random(seed), ReplayCache(Path(sys.argv[1])), 0
while time.monotonic() < until:
    number = rng.randrange(12)
    png = bytes([number]) * (20 if number % 2 else 90_000)
    key = f"{number:064}"
    if rng.random() < 0.4:
        cache.put(mural(png, key))
    else:
        found = cache.get(key)
        if found is not None:
            hits += 1
            assert found.png[8:] == png and found.key == key
print(hits)
"""


def start_worker(folder: Path, seed: int, seconds: float) -> subprocess.Popen[str]:
    root = str(Path(__file__).parent.parent)
    arguments = [sys.executable, "-c", WORKER, str(folder), str(seed), root, str(seconds)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_many_processes_at_once(folder: Path) -> None:
    workers = [start_worker(folder, seed, 3) for seed in range(6)]
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert worker.returncode == 0, err
        assert int(out) > 0


def test_processes_killed_at_random(folder: Path) -> None:
    rng = random.Random(7)
    for seed in range(10):
        worker = start_worker(folder, seed, 60)
        time.sleep(0.3 + rng.random() * 0.7)
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        cache = ReplayCache(folder)
        for number in range(12):
            found = cache.get(f"{number:064}")
            assert found is None or set(found.png[8:]) == {number}
        cache.put(mural())
        assert cache.get(KEY) is not None
        cache.close()


def test_a_folder_may_be_a_text(folder: Path) -> None:
    cache = ReplayCache(str(folder))
    assert [render([cue(1, "x")], cache=cache).cached for _ in range(2)] == [False, True]


@pytest.mark.parametrize("home", ["relative", "~nosuchuser/x"])
def test_a_relative_or_strange_home_is_where_the_cache_goes(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from muralkit.paths import cache_folder

    monkeypatch.setenv("MURALKIT_HOME", home)
    monkeypatch.chdir(tmp_path)
    assert cache_folder() == tmp_path / home / "cache" / "murals"


def entry(about: object, png: bytes = SIGNATURE) -> bytes:
    """An entry that a forger wrote: its digest is right."""
    head = about if isinstance(about, bytes) else json.dumps(about).encode()
    payload = struct.pack(">I", len(head)) + head + png
    return cache_module._MAGIC + hashlib.sha256(payload).digest() + payload


ABOUT: dict[str, object] = {
    "key": KEY, "size": [1, 2, 3], "shown": [], "dropped": [], "escaped": [], "stripped": 0,
}  # fmt: skip

FORGED = {
    "no payload": cache_module._MAGIC + hashlib.sha256(b"").digest(),
    "nested without end": entry(b"[" * 200_000),
    "a list": entry([]),
    "no key": entry({}),
    "not a PNG": entry(ABOUT, b"GIF89a"),
    "texts for a size": entry({**ABOUT, "size": ["1", "2", "3"]}),
    "two sizes": entry({**ABOUT, "size": [1, 2]}),
    "a text for a number": entry({**ABOUT, "stripped": "x"}),
    "truth for a number": entry({**ABOUT, "stripped": True}),
    "a text for an importance": entry({**ABOUT, "dropped": [[1, "x", "FULL"]]}),
    "an unknown reason": entry({**ABOUT, "dropped": [[1, 2, "WHIM"]]}),
    "a list for an id": entry({**ABOUT, "shown": [[1]]}),
    "a text for a code point": entry({**ABOUT, "escaped": [{"codepoint": "x", "count": 1}]}),
    "a number too large": entry(b'{"key": ' + b"9" * 9999 + b"}"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_entry_is_a_miss(folder: Path, how: str) -> None:
    cache = ReplayCache(folder)
    cache.put(mural(b"x"))
    with database(folder) as db:
        db.execute("UPDATE Cache SET value = ?", (FORGED[how],))
    assert cache.get(KEY) is None
    cache.put(mural(b"x"))
    assert cache.get(KEY) is not None


def test_a_true_entry_is_no_miss(folder: Path) -> None:
    """The forger's tools work: it is the one thing changed that is refused above."""
    cache = ReplayCache(folder)
    cache.put(mural(b"x"))
    with database(folder) as db:
        db.execute("UPDATE Cache SET value = ?", (entry(ABOUT),))
    assert cache.get(KEY) is not None


@pytest.mark.parametrize("kind", ["pipe", "loop", "folder", "device"])
def test_an_entry_that_is_no_file_is_a_miss(folder: Path, kind: str) -> None:
    cache = ReplayCache(folder)
    cache.put(mural(os.urandom(200_000)))
    [path] = folder.rglob("*.val")
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path if kind == "loop" else "/dev/zero")
    assert cache.get(KEY) is None
    assert render([cue(1, "x")], cache=cache).png
