"""`muralkit baseline`, `fold` and `sessions`, through the command line."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muralkit import assets
from tests.test_cli import run
from tests.test_cli_memory import memory


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    (folder / ".muralkit").mkdir(parents=True)
    (folder / ".muralkit/muralkit.jsonc").write_text(
        '{"mural": {"enabled": true}, "memory": {"injection_budget_tokens": 1000}}'
    )
    memory("import", assets.demo_file(), "--project", folder)
    return folder


def ask(project: Path, *more: object, session: str = "s") -> dict[str, Any]:
    done = run(
        "baseline", "--harness", "pi", "--session", session, "--model", "a/b",
        "--inputs", "text,image", "--project", project, *more,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_fold_a_replay_and_a_fold_that_was_asked_for(project: Path, tmp_path: Path) -> None:
    first = ask(project)
    assert first["folded"] and len(first["parts"]) == 2
    run("render", "--project", project, "-o", tmp_path / "m.png")
    assert base64.b64decode(first["parts"][1]["data"]) == (tmp_path / "m.png").read_bytes()
    memory("add", "Something new.", "--importance", 100, "--project", project)
    again = ask(project)
    assert not again["folded"] and again["parts"] == first["parts"]
    done = run("fold", "--session", "other", "--project", project)
    assert done.stdout == b"0 sessions will fold at the next turn.\n"
    assert b"1 session will fold" in run("fold", "--project", project).stdout
    third = ask(project)
    assert third["folded"] and "Something new." in third["parts"][0]["text"]
    assert third["reason"].startswith("somebody asked for it")


def test_the_sessions_are_listed_with_their_reasons(project: Path) -> None:
    ask(project, session="one")
    ask(project, session="two")
    found = json.loads(run("sessions", "--json", "--project", project).stdout)
    assert [(item["session"], item["folds"], item["damaged"]) for item in found] == [
        ("two", 1, False),
        ("one", 1, False),
    ]
    assert all(item["picture"] > 1000 and item["model"] == "a/b" for item in found)
    text = run("sessions", "--project", project).stdout.decode()
    assert "pi one" in text and "1 fold, picture: first use of the session" in text


def test_an_unreadable_store_is_an_empty_baseline_and_no_failure(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.db").write_bytes(b"no database" * 99)
    found = ask(project, "--store", tmp_path / "bad.db")
    assert found["parts"] == [] and not found["folded"]
    assert found["reason"].startswith("there is no baseline: The file is damaged")


def test_a_store_that_is_held_makes_nobody_wait(project: Path) -> None:
    first = ask(project)
    store = Path(os.environ["MURALKIT_HOME"]) / "muralkit.db"
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        again = ask(project)
        assert not again["folded"] and again["parts"] == first["parts"]
        assert time.monotonic() - started < 10  # by default it would be 30
