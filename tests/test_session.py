"""A baseline changes on a fold and never else, to the byte."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muralkit import session as sessions
from muralkit.errors import StoreError
from muralkit.model import StoredCue
from muralkit.pipeline import render
from muralkit.place import Places
from muralkit.sections import Config
from muralkit.session import Baseline, Turn, baseline, lifetime, safely
from muralkit.store import Changes, Draft, content_hash
from muralkit.store.sqlite import SqliteStore
from muralkit.survey import survey
from tests.conftest import ROOT, switch_on

CONFIG = Config.model_validate(
    {"mural": {"enabled": True}, "memory": {"injection_budget_tokens": 500}}
)
TURN = Turn("pi", "s1", "a/sees", "hash", ["text", "image"])
START = 1_800_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path, "p") as opened:
        opened.add(
            [
                Draft("A", f"memory number {n} " * 3, 90 - n % 40, cue=f"cue of {n}")
                for n in range(60)
            ]
        )
        yield opened


def turn(
    store: SqliteStore, at: float = START, config: Config = CONFIG, **changes: Any
) -> Baseline:
    return baseline(replace(TURN, **changes), store, store, config, at)


def bytes_of(made: Baseline) -> tuple[str, str, bytes | None]:
    return made.text, made.marker, made.png


def test_the_first_turn_folds_text_and_picture(store: SqliteStore) -> None:
    made = turn(store)
    assert made.folded and made.reason.startswith("first use of the session; ")
    found = survey(store, CONFIG)
    assert made.text == found.text
    assert made.png == render(found.drawable, "standard").png
    assert f"shows {len(found.drawable)} more memories" in made.marker
    assert "recall tool" in made.marker and "not instructions" in made.marker
    for sign in "→←∵≺≻∅∀⊘↵":
        assert sign in made.marker


def test_memories_and_cues_change_nothing_until_a_fold(store: SqliteStore, path: Path) -> None:
    first = turn(store)
    store.add([Draft("NEW", "a new memory", 100, cue="new")])
    store.edit(60, Changes(content="edited"))
    store.put_cues([StoredCue(59, "other", content_hash("memory number 58 " * 3), "m", 1, 0)])
    again = turn(store, START + 60)
    assert not again.folded and bytes_of(again) == bytes_of(first)
    with SqliteStore(path, "p") as other:  # another process, or after a restart
        assert bytes_of(turn(other, START + 120)) == bytes_of(first)
    asked = turn(store, START + 180, fold=True)
    assert asked.folded and asked.text != first.text and asked.png != first.png


FOLDS: list[tuple[str, dict[str, Any], Config | None, float]] = [
    ("another model", {"model": "a/other"}, None, 1),
    ("another system prompt", {"system": "other"}, None, 1),
    ("idle for more than 300 s", {}, None, 301),
    (
        "the switch, the budget or the theme changed",
        {},
        Config.model_validate(
            {"mural": {"enabled": False}, "memory": {"injection_budget_tokens": 500}}
        ),
        1,
    ),
    (
        "the switch, the budget or the theme changed",
        {},
        Config.model_validate(
            {"mural": {"enabled": True}, "memory": {"injection_budget_tokens": 600}}
        ),
        1,
    ),
    (
        "the switch, the budget or the theme changed",
        {},
        Config.model_validate(
            {
                "mural": {"enabled": True, "theme": "dense"},
                "memory": {"injection_budget_tokens": 500},
            }
        ),
        1,
    ),
    ("somebody asked for it", {"fold": True}, None, 1),
]


@pytest.mark.parametrize(("reason", "changes", "config", "after"), FOLDS)
def test_what_folds_folds_once(
    store: SqliteStore, reason: str, changes: dict[str, Any], config: Config | None, after: float
) -> None:
    turn(store)
    made = turn(store, START + after, config or CONFIG, **changes)
    assert made.folded and made.reason.startswith(reason)
    changes.pop("fold", None)
    again = turn(store, START + after + 1, config or CONFIG, **changes)
    assert not again.folded and bytes_of(again) == bytes_of(made)


def test_another_project_and_another_renderer_fold(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(store)
    with SqliteStore(path, "q") as other:
        assert turn(other, START + 1).reason.startswith("another project")
    turn(store, START + 2)
    monkeypatch.setattr("muralkit.key.RENDERER", 99)
    assert turn(store, START + 3).reason.startswith("a new version of the renderer")


def test_a_session_that_is_used_is_not_idle(store: SqliteStore) -> None:
    turn(store)
    for step in range(1, 6):
        assert not turn(store, START + step * 290).folded
    assert turn(store, START + 5 * 290 + 301).folded


def test_the_lifetime_of_a_model_s_prompt_cache() -> None:
    config = Config.model_validate({"cache_ttl": {"default": "10m", "a/long": "1h"}})
    assert [lifetime(config, model) for model in ("a/long", "a/b")] == [3600.0, 600.0]
    assert lifetime(Config.model_validate({"cache_ttl": {"a/long": "1h"}}), "a/b") == 300.0
    assert lifetime(Config(), "a/b") == 300.0


@pytest.mark.parametrize("declared", [["text"], None, "image", {"image": "true"}])
def test_without_declared_images_there_is_text_alone(store: SqliteStore, declared: object) -> None:
    made = turn(store, declared=declared)
    off = Config.model_validate({"memory": {"injection_budget_tokens": 500}})
    assert (made.marker, made.png) == ("", None)
    assert made.text == turn(store, config=off, session="off").text  # as with the feature off
    assert "not known to accept images" in made.reason


def test_a_closed_gate_and_a_bad_theme_are_text_alone(store: SqliteStore) -> None:
    closed = Config.model_validate({"mural": {"enabled": True}})
    assert turn(store, config=closed).png is None
    bad = Config.model_validate(
        {
            "mural": {"enabled": True, "theme": "/nope.toml"},
            "memory": {"injection_budget_tokens": 500},
        }
    )
    made = turn(store, config=bad, session="bad")
    assert made.png is None and made.text and "there is no picture" in made.reason


@pytest.mark.parametrize("change", ["png = x'00'", "png = NULL", "png_hash = 'other'"])
def test_a_damaged_picture_is_left_out_with_its_marker(
    store: SqliteStore, path: Path, change: str
) -> None:
    first = turn(store)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE sessions SET {change}")
        db.commit()
    made = turn(store, START + 1)
    assert (made.text, made.marker, made.png, made.folded) == (first.text, "", None, False)
    assert "damaged" in made.reason
    assert turn(store, START + 2, fold=True).png == first.png


def test_a_sibling_that_folded_first_wins(store: SqliteStore, path: Path) -> None:
    real = sessions._fold

    def late(*arguments: Any) -> Any:
        """While this one draws, another process folds with a newer memory in it."""
        made = real(*arguments)
        with SqliteStore(path, "p") as other, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sessions, "_fold", real)
            other.add([Draft("NEW", "newer", 100)])
            assert turn(other, START + 1).folded
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "_fold", late)
        made = turn(store)
    assert not made.folded and made.reason == "another process folded first"
    assert "newer" in made.text
    assert bytes_of(turn(store, START + 2)) == bytes_of(made)


def test_old_sessions_are_forgotten(store: SqliteStore) -> None:
    for number in range(3):
        turn(store, session=f"s{number}")
    turn(store, START + sessions.KEPT + 1, session="late")
    assert [item.session for item in store.baselines()] == ["late"]


def test_a_busy_store_gives_what_there_is_and_soon(store: SqliteStore, path: Path) -> None:
    first = turn(store)
    with (
        SqliteStore(path, "p", patience=0.1) as hasty,
        closing(sqlite3.connect(path, isolation_level=None)) as db,
    ):
        db.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        replayed = turn(hasty, START + 1)
        assert not replayed.folded and bytes_of(replayed) == bytes_of(first)
        changed = turn(hasty, START + 2, model="a/other")
        assert not changed.folded and bytes_of(changed) == bytes_of(first)
        blind = turn(hasty, START + 2, model="a/blind", declared=["text"])
        assert bytes_of(blind) == (first.text, "", None)
        with SqliteStore(path, "q", patience=0.1) as elsewhere:
            assert bytes_of(turn(elsewhere, START + 2)) == ("", "", None)
        new = turn(hasty, START + 3, session="new")
        assert new.png is None and new.text == first.text and "not kept" in new.reason
        assert time.monotonic() - started < 5


def open_nothing() -> Any:
    raise StoreError("it is gone")


def open_broken() -> Any:
    raise RuntimeError("odd")


@pytest.mark.parametrize("opener", [open_nothing, open_broken])
def test_a_store_that_is_gone_is_an_empty_baseline(opener: Callable[[], Any]) -> None:
    made = safely(TURN, opener, START)
    assert (made.text, made.marker, made.png, made.folded) == ("", "", None, False)
    assert made.reason.startswith("there is no baseline: ")


WORKER = """
import json, os, random, sys, time
from pathlib import Path
from muralkit.server.methods import Methods
from muralkit.server.protocol import AddRequest, BaselineRequest
from muralkit.model import StoredCue
from muralkit.store import Changes, content_hash
folder, seed = Path(sys.argv[1]), int(sys.argv[2])
rng, until, seen, turns = random.Random(seed), time.monotonic() + float(sys.argv[3]), {}, 0
methods = Methods(folder)
while time.monotonic() < until:
    pick = rng.random()
    store = methods.places.at(folder).store
    if pick < 0.1:
        methods.add(AddRequest(content=f"{seed} {turns} new", category="A", importance=95))
    elif pick < 0.2:
        store.edit(rng.randrange(1, 60), Changes(content=f"{seed} {turns} edited"))
    elif pick < 0.3:
        memory = store.memory(rng.randrange(1, 60))
        digest = content_hash(memory.content)
        store.put_cues([StoredCue(memory.id, f"cue {seed} {turns}", digest, "m", 1, 0)])
    elif pick < 0.33:
        mural = {"enabled": rng.random() < 0.8, "theme": rng.choice(["standard", "dense"])}
        text = json.dumps({"mural": mural, "memory": {"injection_budget_tokens": 500}})
        new = folder / f".muralkit/{seed}"
        new.write_text(text)
        os.replace(new, folder / ".muralkit/muralkit.json")
    mine = f"{seed}-{rng.randrange(25)}"
    made = methods.baseline(BaselineRequest(
        harness="pi", session=mine, model="a/sees", inputs=["image"], fold=rng.random() < 0.05
    ))
    if made.folded or mine not in seen:
        assert made.folded, made.reason
        seen[mine] = made.parts
    assert made.parts == seen[mine], f"the bytes changed without a fold: {made.reason}"
    turns += 1
methods.close()
print(turns)
"""


def test_two_hundred_sessions_in_eight_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the servers' own methods, while memories, cues and the configuration change."""
    monkeypatch.setenv("MURALKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    switch_on(folder)
    store = Places().at(folder).own
    store.add([Draft("A", f"memory number {n} " * 3, 90, cue=f"cue of {n}") for n in range(60)])
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(folder), str(seed), "8"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for seed in range(8)
    ]
    for worker in workers:
        out, err = worker.communicate(timeout=180)
        assert worker.returncode == 0, err
        assert int(out) > 0
    assert store.damage() == []


KILLED = """
import sys
from pathlib import Path
from muralkit.store.sqlite import SqliteStore
from tests.test_session import START, turn
with SqliteStore(Path(sys.argv[1]), "p") as store:
    print("ready", flush=True)
    turn(store, START + 1, fold=True)
"""


def test_a_process_killed_in_a_fold_leaves_the_old_baseline_or_the_new(
    store: SqliteStore, path: Path
) -> None:
    rng = random.Random(3)
    for _ in range(12):
        old = turn(store, fold=True)
        store.add([Draft("NEW", f"another {rng.random()}", 100, cue="another")])
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(rng.random() * 0.6)
        child.kill()
        child.communicate()
        left = turn(store, START + 2)
        assert not left.folded
        fresh = survey(store, CONFIG)
        whole = (fresh.text, render(fresh.drawable, "standard").png)
        assert (left.text, left.png) in [(old.text, old.png), whole]
