"""A run keeps what is finished, stops where it must, and never runs twice at once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from muralkit import dreamer
from muralkit.completers import Cause, CompletionError, Ladder
from muralkit.completers.fake import FakeCompleter
from muralkit.cues.rules import RULES
from muralkit.dreamer import Busy, Settings, run
from muralkit.errors import StoreError
from muralkit.store import Changes, Draft
from muralkit.store.sqlite import SqliteStore
from tests.conftest import ROOT

FENCED = re.compile(r"^=+\n(.*?)\n=+$", re.MULTILINE | re.DOTALL)


def echo(prompt: str) -> str:
    """A valid reply: each note's own words."""
    notes = FENCED.findall(prompt)
    return "".join(f"{n}: cue of {note}\n" for n, note in enumerate(notes, 1)) + "END"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path, "p") as opened:
        yield opened


def fill(store: SqliteStore, count: int) -> None:
    store.add([Draft("A", f"note {n}", importance=n % 100 + 1) for n in range(count)])


def texts(store: SqliteStore) -> set[str]:
    return {cue.text for cue in store.cues().values() if cue.text}


def test_every_memory_gets_its_cue_once(store: SqliteStore) -> None:
    fill(store, 23)
    fake = FakeCompleter(echo)
    report = run(store, fake, Settings())
    assert (report.pending, report.made, report.left, report.stopped) == (23, 23, 0, "")
    assert len(fake.prompts) == 23 and all(prompt.count("Note ") == 1 for prompt in fake.prompts)
    assert texts(store) == {f"cue of note {n}" for n in range(23)}
    again = FakeCompleter(echo)
    assert run(store, again, Settings()).pending == 0 and again.prompts == []
    store.edit(5, Changes(content="changed"))
    once = FakeCompleter(echo)
    assert run(store, once, Settings()).made == 1 and len(once.prompts) == 1


def test_batches_and_limits(store: SqliteStore) -> None:
    fill(store, 23)
    fake = FakeCompleter(echo)
    report = run(store, fake, Settings(batch_size=5, limit=12))
    assert (report.pending, report.made, len(fake.prompts)) == (12, 12, 3)
    kept = [store.memory(number) for number in store.cues()]
    assert min(memory.weight for memory in kept if memory) == 12  # the most important first


def test_rules_need_no_model_and_give_way_to_one(store: SqliteStore) -> None:
    fill(store, 5)
    assert run(store, None, Settings()).made == 5
    assert {cue.model for cue in store.cues().values()} == {RULES}
    assert run(store, None, Settings()).pending == 0
    assert run(store, FakeCompleter(echo), Settings()).made == 5
    assert {cue.model for cue in store.cues().values()} == {"fake/model"}
    assert run(store, None, Settings()).pending == 0


def test_refused_cues_fall_back_and_are_not_asked_for_again(store: SqliteStore) -> None:
    fill(store, 4)
    stubborn = FakeCompleter(lambda prompt: "1: it has 99\nEND")
    report = run(store, stubborn, Settings())
    assert (report.made, report.fallback, report.refused, report.left) == (0, 4, 12, 0)
    assert run(store, FakeCompleter(echo), Settings()).pending == 0


def test_prompts_are_answered_at_once(store: SqliteStore) -> None:
    fill(store, 40)
    running = most = 0
    lock = threading.Lock()

    def slow(prompt: str) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return echo(prompt)

    run(store, FakeCompleter(slow), Settings(concurrency=8))
    assert most == 8


def failing(cause: Cause, after: int) -> Callable[[str], str]:
    count = iter(range(10**6))

    def reply(prompt: str) -> str:
        if next(count) >= after:
            raise CompletionError(cause, "down")
        return echo(prompt)

    return reply


def test_an_outage_stops_the_run_and_keeps_what_is_finished(store: SqliteStore) -> None:
    fill(store, 30)
    fake = FakeCompleter(failing(Cause.OUTAGE, 10))
    report = run(store, fake, Settings(concurrency=1))
    assert (report.made, report.failed, report.left) == (10, 1, 20)
    assert report.stopped == "the provider failed: down" and len(texts(store)) == 10


def test_two_time_outs_in_a_row_stop_the_run(store: SqliteStore) -> None:
    fill(store, 30)
    report = run(store, FakeCompleter(failing(Cause.TIMEOUT, 3)), Settings(concurrency=1))
    assert (report.made, report.failed) == (3, 2) and "2 time-outs in a row" in report.stopped


def test_time_outs_with_replies_between_do_not(store: SqliteStore) -> None:
    fill(store, 10)
    count = iter(range(100))

    def every_other(prompt: str) -> str:
        if next(count) % 2:
            raise CompletionError(Cause.TIMEOUT, "late")
        return echo(prompt)

    report = run(store, FakeCompleter(every_other), Settings(concurrency=1))
    assert (report.made, report.failed, report.stopped) == (5, 5, "")


def test_a_broken_reply_is_a_failure_of_its_own(store: SqliteStore) -> None:
    fill(store, 6)
    report = run(store, FakeCompleter(failing(Cause.BROKEN, 2)), Settings(concurrency=1))
    assert (report.made, report.failed, report.stopped) == (2, 4, "")


def test_the_deadline_ends_a_run(store: SqliteStore) -> None:
    fill(store, 50)
    fake = FakeCompleter(echo, seconds=0.1)
    started = time.monotonic()
    report = run(store, fake, Settings(concurrency=2, seconds=0.5))
    assert time.monotonic() - started < 5
    assert 0 < report.made < 20 and report.stopped.startswith("the time was up")
    assert len(texts(store)) == report.made


def test_a_memory_that_changes_meanwhile_gets_no_stale_cue(path: Path, store: SqliteStore) -> None:
    fill(store, 3)

    def edit(prompt: str) -> str:
        if "note 1\n" in prompt:
            with SqliteStore(path, "p") as other:
                other.edit(2, Changes(content="other words"))
                other.edit(3, Changes(category="B"))
        return echo(prompt)

    report = run(store, FakeCompleter(edit), Settings())
    assert (report.made, report.stale, report.left) == (2, 1, 1)
    assert 2 not in store.cues()


def test_fallback_models_are_tried_in_order(store: SqliteStore) -> None:
    fill(store, 4)
    down = FakeCompleter(failing(Cause.OUTAGE, 0), name="a/first")
    broken = FakeCompleter(failing(Cause.BROKEN, 0), name="a/second")
    good = FakeCompleter(echo, name="a/third")
    report = run(store, Ladder([down, broken, good]), Settings())
    assert report.made == 4
    assert {cue.model for cue in store.cues().values()} == {"a/third"}
    store.edit(1, Changes(content="new"))
    down, broken = (FakeCompleter(failing(c, 0)) for c in (Cause.OUTAGE, Cause.BROKEN))
    report = run(store, Ladder([down, broken]), Settings())
    assert (report.made, report.failed) == (0, 1)


def test_a_time_out_tries_the_fallback_and_a_dead_model_is_not_asked_again(
    store: SqliteStore,
) -> None:
    fill(store, 20)
    asked: list[str] = []

    def late(prompt: str) -> str:
        asked.append(prompt)
        raise CompletionError(Cause.TIMEOUT, "late")

    ladder = Ladder([FakeCompleter(late, name="a/late"), FakeCompleter(echo, name="a/good")])
    report = run(store, ladder, Settings(concurrency=1))
    assert (report.made, report.failed, report.stopped) == (20, 0, "")
    assert len(asked) == 2


def test_five_failures_of_any_kind_end_a_run(store: SqliteStore) -> None:
    fill(store, 60)
    report = run(store, FakeCompleter(failing(Cause.BROKEN, 3)), Settings(concurrency=1))
    assert (report.made, report.failed) == (3, 5)
    assert report.stopped == "5 failures in a row: down" and report.why == {"down": 5}


def test_the_rules_forget_no_refusal(store: SqliteStore) -> None:
    fill(store, 1)
    replies = iter(["no", "no"])

    def twice(prompt: str) -> str:
        for reply in replies:
            return reply
        raise CompletionError(Cause.OUTAGE, "down")

    report = run(store, FakeCompleter(twice), Settings())
    assert (report.refused, report.failed) == (2, 1)
    run(store, None, Settings())
    assert store.cues()[1].rejections == 2
    stubborn = FakeCompleter(lambda prompt: "no")
    report = run(store, stubborn, Settings())
    assert (report.fallback, len(stubborn.prompts)) == (1, 1)


def test_a_cue_that_is_over_a_lowered_budget_is_made_anew(store: SqliteStore) -> None:
    store.add([Draft("A", "word " * 30, 90)])
    run(store, FakeCompleter(lambda prompt: f"1: {'w' * 80}\nEND"), Settings())
    store.edit(1, Changes(importance=20))
    assert run(store, FakeCompleter(lambda prompt: "1: short\nEND"), Settings()).made == 1


def test_a_store_that_fails_in_mid_run_ends_it_with_a_report(store: SqliteStore) -> None:
    fill(store, 30)
    with pytest.MonkeyPatch.context() as patch:
        real, count = store.put_cues, iter(range(100))

        def full(cues: Any) -> int:
            if next(count) >= 4:
                raise StoreError("The disk is full.")
            return real(cues)

        patch.setattr(store, "put_cues", full)
        report = run(store, FakeCompleter(echo), Settings(concurrency=1))
    assert report.made == 4 and report.stopped == "the store: The disk is full."


def test_a_fault_of_ours_in_a_thread_does_not_hang_the_run(store: SqliteStore) -> None:
    fill(store, 3)

    def wrong(prompt: str) -> str:
        raise RuntimeError("odd")

    report = run(store, FakeCompleter(wrong), Settings())
    assert report.failed == 3


def test_only_one_run_a_project_at_a_time(path: Path, store: SqliteStore) -> None:
    fill(store, 2)

    def meanwhile(prompt: str) -> str:
        with SqliteStore(path, "p") as other, pytest.raises(Busy):
            run(other, None, Settings())
        with SqliteStore(path, "q") as another:
            run(another, None, Settings())
        return echo(prompt)

    assert run(store, FakeCompleter(meanwhile), Settings(concurrency=1)).made == 2
    assert run(store, None, Settings()).pending == 0


def test_the_lease_of_a_dead_holder_runs_out(path: Path) -> None:
    moment = [1000.0]
    with SqliteStore(path, "p", clock=lambda: moment[0]) as store:
        assert store.take_lease("t", "a", 60) and store.take_lease("t", "a", 60)
        assert not store.take_lease("t", "b", 60)
        assert store.take_lease("other", "b", 60)
        moment[0] += 61
        assert store.take_lease("t", "b", 60) and not store.take_lease("t", "a", 60)
        store.drop_lease("t", "a")
        assert not store.take_lease("t", "a", 60)
        store.drop_lease("t", "b")
        assert store.take_lease("t", "a", 60)


SCRIPT = """
import sys
from pathlib import Path
from typing import Any
from muralkit.completers.fake import FakeCompleter
from muralkit.dreamer import Settings, run
from muralkit.store.sqlite import SqliteStore
from tests.test_dreamer import echo
with SqliteStore(Path(sys.argv[1]), "p") as store:
    print("ready", flush=True)
    report = run(store, FakeCompleter(echo, seconds=0.05), Settings(concurrency=2))
    print(report.made, report.stopped, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_run_loses_nothing_that_was_finished(
    path: Path, store: SqliteStore, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, 200)
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    until = time.monotonic() + 20
    while len(texts(store)) < 10 and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(child.pid, how)
    out, _ = child.communicate(timeout=20)
    found = len(texts(store))
    assert 10 <= found < 200
    if how is signal.SIGINT:
        assert out.split() == [str(found), "interrupted"]
    else:
        with pytest.raises(Busy):
            run(store, None, Settings())  # its lease is not over yet
        monkeypatch.setattr(store, "_clock", lambda: time.time() + dreamer.LEASE + 1)
    assert run(store, FakeCompleter(echo), Settings()).made == 200 - found
