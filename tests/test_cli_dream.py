"""`muralkit dream`, as a person and a script use it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import pytest

from tests.conftest import DATA
from tests.harness.provider import Provider, serve
from tests.test_cli import run
from tests.test_cli_memory import memory
from tests.test_dreamer import echo


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "config/muralkit/muralkit.jsonc"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def provider(user: Path) -> Iterator[Provider]:
    with serve(echo) as running:
        configure(user, endpoint={"base_url": running.url, "model": "cue"})
        yield running


def configure(path: Path, enabled: bool = True, **dreamer: object) -> None:
    path.write_text(json.dumps({"mural": {"enabled": enabled}, "dreamer": dreamer}))


def cues() -> dict[int, dict[str, Any]]:
    found = json.loads(memory("list", "--json"))
    return {m["id"]: json.loads(memory("show", m["id"], "--json"))["cue"] for m in found}


def test_switched_off_it_does_nothing_and_says_so(user: Path) -> None:
    memory("add", "Ledger listens on 17774.")
    done = run("dream")
    assert done.returncode == 0 and b"mural.enabled is false" in done.stderr
    assert cues() == {1: None}
    done = run("dream", "--force")
    assert done.returncode == 0 and b"made           1" in done.stdout
    assert cues()[1] == {"text": "Ledger listens 17774", "current": True, "model": "rules"}


def test_an_endpoint_makes_the_cues(provider: Provider) -> None:
    for number in range(3):
        memory("add", f"note {number}")
    done = run("dream")
    assert done.returncode == 0 and b"Cues of 3 memories, by cue:" in done.stdout
    assert cues()[2] == {"text": "cue of note 1", "current": True, "model": "cue"}
    assert len(provider.requests) == 3
    assert b"Every memory has its cue." in run("dream").stdout and len(provider.requests) == 3


def test_no_text_of_a_memory_is_printed_unless_it_is_asked_for(provider: Provider) -> None:
    memory("add", "the secret note")
    provider.fault = "500"
    done = run("dream")
    assert done.returncode == 1 and b"the provider failed" in done.stdout
    provider.fault = ""
    done = run("dream", "--json")
    assert b"secret" not in done.stdout + done.stderr
    memory("edit", 1, "--content", "the other secret")
    assert b"1  cue of the other secret" in run("dream", "--verbose").stderr


def test_the_report_for_machines(provider: Provider) -> None:
    memory("add", "note 1")
    provider.reply = lambda prompt: "no"
    [report] = json.loads(run("dream", "--json").stdout)
    project = report.pop("project")
    assert project and report == {
        "pending": 1, "made": 0, "fallback": 1, "refused": 3, "failed": 0, "stale": 0,
        "stopped": "", "model": "cue", "why": {}, "left": 0,
    }  # fmt: skip


def test_a_dry_run_asks_nothing_and_tells_the_price(
    provider: Provider, user: Path, tmp_path: Path
) -> None:
    memory("import", DATA / "memories_600.jsonl")
    prices = tmp_path / "cache/opencode/models.json"
    prices.parent.mkdir(parents=True)
    cost = {"input": 1.0, "output": 5.0}
    prices.write_text(json.dumps({"fake": {"models": {"m": {"cost": cost}}}}))
    [plan] = json.loads(run("dream", "--dry-run", "--json").stdout)
    assert (plan["memories"], plan["prompts"], plan["dollars"]) == (556, 556, None)
    url = json.loads(user.read_text())["dreamer"]["endpoint"]["base_url"]
    configure(user, batch_size=10, endpoint={"base_url": url, "model": "fake/m"})
    [batched] = json.loads(run("dream", "--dry-run", "--json").stdout)
    assert batched["prompts"] == 56 and batched["tokens_in"] < plan["tokens_in"] / 3
    expected = (batched["tokens_in"] * 1.0 + batched["tokens_out"] * 5.0) / 1e6
    assert batched["dollars"] == pytest.approx(expected)
    assert f"cost     ${expected:.4f}".encode() in run("dream", "--dry-run").stdout
    [rules] = json.loads(run("dream", "--dry-run", "--json", "--model", "rules").stdout)
    assert (rules["memories"], rules["prompts"]) == (556, 0)
    assert provider.requests == []


def test_all_projects_of_the_store(provider: Provider, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        memory("add", f"note of {name}", "--project", tmp_path / name)
    reports = json.loads(run("dream", "--all-projects", "--json", cwd=tmp_path).stdout)
    assert [report["made"] for report in reports] == [1, 1]
    shown = json.loads(memory("show", 2, "--json", "--project", tmp_path / "b"))
    assert shown["cue"]["text"] == "cue of note of b"


def test_what_is_named_and_not_there_is_said(user: Path) -> None:
    configure(user)
    memory("add", "x")
    for arguments, what in (
        (("--harness", "pi"), b"No model is configured for pi"),
        (("--model", "a/b"), b"nothing to ask 'a/b' of"),
        (("--watch", "--json"), b"--watch goes with neither"),
        (("--harness", "nope"), b"is not one of"),
    ):
        done = run("dream", *arguments)
        assert done.returncode == 2 and what in done.stderr, done.stderr


def test_an_interrupt_keeps_the_finished_cues(provider: Provider) -> None:
    memory("import", DATA / "memories_600.jsonl")

    def slow(prompt: str) -> str:
        time.sleep(0.05)
        return "1: ⊘thing (reason)\nEND"

    provider.reply = slow
    command = [sys.executable, "-m", "muralkit", "dream"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    while len(provider.requests) < 20 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130 and b"Traceback" not in err
    made = int(re.findall(rb"made +(\d+)", out)[0])
    assert 0 < made < 556 and b"It ended early: interrupted." in out
    assert json.loads(run("status", "--json").stdout)["cues"]["current"] == made


def test_a_second_run_meanwhile_is_refused(provider: Provider) -> None:
    memory("add", "note 1")
    provider.fault = "hang"
    command = [sys.executable, "-m", "muralkit", "dream"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    while not provider.requests and time.monotonic() < until:
        time.sleep(0.05)
    done = run("dream", "--model", "rules")
    assert done.returncode == 1 and b"Another process is making" in done.stderr
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    provider.fault = ""
    assert run("dream", "--model", "rules").returncode == 0


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, 0, 30).astimezone().timestamp()

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_watching_keeps_to_the_schedule_and_survives_a_failed_run(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from muralkit.cli import dream
    from muralkit.dreamer import Report
    from muralkit.errors import StoreError

    configure(user, tasks={"compress-cues": {"schedule": "15 4 * * *"}})
    clock = Clock()

    class Moment(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Moment:
            return cls.fromtimestamp(clock.now, tz)

    monkeypatch.setattr(dream, "time", clock)
    monkeypatch.setattr(dream, "datetime", Moment)
    ran: list[str] = []

    def once() -> list[Report]:
        ran.append(f"{datetime.fromtimestamp(clock.now):%d %H:%M}")
        if len(ran) == 1:
            raise StoreError("the disk is full")
        interrupted = [Report("p", 1, stopped="interrupted")]
        return interrupted if len(ran) == 4 else [Report("p")]

    with pytest.raises(click.exceptions.Exit) as caught:
        dream._watch(tmp_path, once)
    assert caught.value.exit_code == 130
    assert ran == ["01 04:15", "02 04:15", "03 04:15", "04 04:15"]


def test_an_interrupt_ends_all_projects(provider: Provider, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        memory("add", f"note of {name}", "--project", tmp_path / name)
    provider.fault = "hang"
    command = [sys.executable, "-m", "muralkit", "dream", "--all-projects"]
    for how in (signal.SIGINT, signal.SIGTERM):
        provider.requests.clear()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 30
        while not provider.requests and time.monotonic() < until:
            time.sleep(0.05)
        child.send_signal(how)
        child.communicate(timeout=30)
        assert child.returncode == 130 and len(provider.requests) == 1


def test_a_model_without_its_program_is_an_error_and_not_the_rules(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(user, pi={"model": "a/b"})
    memory("add", "x")
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    done = run("dream")
    assert done.returncode == 2 and b"pi is not on the PATH" in done.stderr
    assert cues() == {1: None}
    assert run("dream", "--model", "rules").returncode == 0


def test_why_replies_failed_is_told(provider: Provider) -> None:
    memory("add", "the secret note")
    provider.fault = "truncate"
    done = run("dream")
    assert done.returncode == 1 and b"failed 1 time: cue: the reply broke off" in done.stdout


def test_a_memory_that_the_provider_refuses_does_not_stop_the_others(provider: Provider) -> None:
    memory("add", "poison", "--importance", 100)
    for number in range(3):
        memory("add", f"note {number}")
    answer = provider.answer

    def picky(handler: Any, body: dict[str, Any]) -> None:
        provider.fault = "400" if "poison" in body["messages"][-1]["content"] else ""
        answer(handler, body)

    provider.answer = picky  # type: ignore[method-assign]
    done = run("dream")
    assert (
        done.returncode == 1
        and b"made           3" in done.stdout
        and b"answered 400" in done.stdout
    )
