"""The real programs make cues, through their own command lines, against a fake provider."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muralkit.completers import Cause, CompletionError
from muralkit.completers.command import HARNESSES, CommandCompleter, Model
from muralkit.completers.configured import completer
from muralkit.cues.prompt import SYSTEM
from muralkit.dreamer import Settings, run
from muralkit.sections import Config
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from tests.harness.conftest import NAMES
from tests.harness.provider import Provider

PATIENCE = 90.0  # seconds for a reply: opencode's first start on a busy machine takes 15


def made(name: str, model: str = "fake/cue", seconds: float = PATIENCE) -> CommandCompleter:
    return CommandCompleter(HARNESSES[name], Model(model), seconds=seconds)


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_comes_through_and_no_tool_is_offered(provider: Provider, name: str) -> None:
    provider.reply = lambda prompt: "1: häl → lo\nEND"
    assert made(name).complete("Compress ⊘this").strip() == "1: häl → lo\nEND"
    [body] = provider.requests
    assert not body.get("tools") and body["model"] == "cue"
    texts = json.dumps(body["messages"], ensure_ascii=False)
    assert "Compress ⊘this" in texts and SYSTEM in texts
    assert str(Path.cwd()) not in texts  # nothing of the project is told


FAULTS = [
    ("401", Cause.OUTAGE, PATIENCE),
    ("length", Cause.BROKEN, PATIENCE),
    ("500", Cause.OUTAGE, 8.0),  # both try again and again: our time-out ends that, or they
    ("hang", Cause.TIMEOUT, 8.0),
    ("truncate", Cause.TIMEOUT, 8.0),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("fault", "cause", "seconds"), FAULTS)
def test_a_fault_of_the_provider_is_none_of_the_user(
    provider: Provider, name: str, fault: str, cause: Cause, seconds: float
) -> None:
    provider.fault = fault
    try:
        reply = made(name, seconds=seconds).complete("Say it")
    except CompletionError as error:
        allowed = {cause, Cause.TIMEOUT} if fault == "500" else {cause}
        if (name, fault) == ("omp", "truncate"):  # it says so, where OpenCode tries again
            allowed = {Cause.OUTAGE}
        assert error.cause in allowed, error
    else:
        # Pi takes half a stream for a whole one: its reply lacks the last line.
        assert (name, fault) == ("pi", "truncate") and not reply.strip().endswith("END")


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_model_is_an_outage(provider: Provider, name: str) -> None:
    with pytest.raises(CompletionError) as caught:
        made(name, "fake/nope").complete("Say it")
    assert caught.value.cause is Cause.OUTAGE, caught.value


@pytest.mark.parametrize("name", NAMES)
def test_a_run_through_the_configured_harness(
    provider: Provider, name: str, tmp_path: Path
) -> None:
    """Memory by memory, with the harness's own model settings, to cues in the store."""
    config = Config.model_validate(
        {"dreamer": {"reply_seconds": PATIENCE, name: {"model": "fake/cue"}}}
    )
    with SqliteStore(tmp_path / "m.db", "p") as store:
        store.add([Draft("A", f"note {n} of src/file_{n}.py", importance=90) for n in range(4)])
        report = run(store, completer(config, None), Settings(concurrency=2))
        assert (report.made, report.failed, report.stopped) == (4, 0, "")
        cues = store.cues()
    assert {cue.text for cue in cues.values()} == {
        f"cue of note {n} of src/file_{n}.py" for n in range(4)
    }
    assert {cue.model for cue in cues.values()} == {"fake/cue"}


@pytest.mark.parametrize("name", NAMES)
def test_half_a_reply_never_becomes_a_cue(provider: Provider, name: str, tmp_path: Path) -> None:
    provider.fault = "truncate"
    with SqliteStore(tmp_path / "m.db", "p") as store:
        store.add([Draft("A", "note of src/file_12345.py", importance=90)])
        report = run(store, made(name, seconds=8.0), Settings())
        assert report.made == 0
        assert all(cue.model == "rules" or not cue.text for cue in store.cues().values())
