"""What muralkit does with a harness's program, whatever that program does."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from muralkit.completers import Cause, CompletionError
from muralkit.completers.command import HARNESSES, CommandCompleter, Model

PI_OK = {
    "type": "message_end",
    "message": {
        "role": "assistant",
        "stopReason": "stop",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "1: a\nEND"}],
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first on the PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def printing(*events: object, code: int = 0, err: str = "") -> str:
    lines = "\n".join(json.dumps(event) for event in events)
    return f"cat > /dev/null\necho '{err}' >&2\ncat <<'X'\n{lines}\nX\nexit {code}"


def complete(harness: str, seconds: float = 10.0, model: str = "p/m", effort: str = "") -> str:
    return CommandCompleter(HARNESSES[harness], Model(model, effort), seconds=seconds).complete(
        "the prompt"
    )


def fault(harness: str, seconds: float = 10.0) -> CompletionError:
    with pytest.raises(CompletionError) as caught:
        complete(harness, seconds)
    return caught.value


def message(reason: str, **more: object) -> dict[str, object]:
    return {"type": "message_end", "message": {"role": "assistant", "stopReason": reason, **more}}


def test_the_prompt_comes_on_standard_input_in_an_empty_folder(folder: Path) -> None:
    seen = folder / "seen"
    pwd = f"{sys.executable} -c \"import os; print(os.environ['PWD'])\""  # a shell has its own
    look = f'(pwd; {pwd}; ls -A | wc -l; cat; echo; echo "$@") > {seen}'
    program(folder, "pi", f"{look}\n{printing(PI_OK)}")
    assert complete("pi", effort="low") == "1: a\nEND"
    where, told, count, prompt, arguments = seen.read_text().splitlines()
    assert told == where  # and not the user's project
    assert count.strip() == "0" and not Path(where).exists()  # it was ours, and is gone
    assert prompt == "the prompt" and "the prompt" not in arguments
    for switch in ("--no-tools", "--no-extensions", "--no-session", "--no-context-files"):
        assert switch in arguments
    assert "--model p/m --thinking low" in arguments


def test_opencode_gets_an_agent_without_tools(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "OPENCODE_CONFIG_CONTENT", '{"agent": {"mine": {"mode": "primary"}}, "theme": "x"}'
    )
    seen = folder / "seen"
    text = {"type": "text", "part": {"text": "1: a\nEND"}}
    program(
        folder,
        "opencode",
        f'(echo "$OPENCODE_CONFIG_CONTENT"; echo "$OPENCODE_DB"; echo "$@") > {seen}\n'
        + printing(text, {"type": "step_finish", "part": {"reason": "stop"}}),
    )
    assert complete("opencode", effort="high") == "1: a\nEND"
    content, database, arguments = seen.read_text().splitlines()
    config = json.loads(content)
    ours = config["agent"]["muralkit-cues"]
    assert ours["tools"] == {"*": False} and ours["permission"] == {"*": "deny"}
    assert config["agent"]["mine"] and config["theme"] == "x" and database == ":memory:"
    assert "--agent muralkit-cues" in arguments and "-m p/m --variant high" in arguments


FAULTS: list[tuple[str, str, Cause, str]] = [
    ("pi", printing(message("error", errorMessage="401 no")), Cause.OUTAGE, "pi: 401 no"),
    ("pi", printing(code=1, err="Error: no key"), Cause.OUTAGE, "exit code 1: Error: no key"),
    ("pi", printing(message("length")), Cause.BROKEN, "cut off"),
    ("pi", printing(message("aborted")), Cause.BROKEN, "broke off"),
    ("pi", printing(), Cause.BROKEN, "the reply is empty"),
    ("pi", printing([1], "x", None, {"type": 3}), Cause.BROKEN, "the reply is empty"),
    ("pi", printing({"type": "tool_execution_start"}, PI_OK), Cause.BROKEN, "used a tool"),
    ("omp", printing(message("error", errorMessage="500")), Cause.OUTAGE, "omp: 500"),
    (
        "opencode",
        printing({"type": "error", "error": {"data": {"statusCode": 401, "message": "no"}}}),
        Cause.OUTAGE,
        "opencode: no (401)",
    ),
    ("opencode", printing({"type": "error", "error": {"name": "Odd"}}), Cause.OUTAGE, "Odd"),
    ("opencode", printing({"type": "error", "error": 3}), Cause.OUTAGE, "opencode: 3"),
    (
        "opencode",
        printing(
            {"type": "text", "part": {"text": "1: a\nEND"}},
            err='agent "muralkit-cues" not found. Falling back to default agent',
        ),
        Cause.OUTAGE,
        "the agent without tools",
    ),
    ("opencode", printing({"type": "tool_use", "part": {}}), Cause.BROKEN, "used a tool"),
    (
        "opencode",
        printing({"type": "text", "part": {"text": "1"}},
                 {"type": "step_finish", "part": {"reason": "length"}}),
        Cause.BROKEN,
        "cut off",
    ),
    ("opencode", printing(code=3, err="boom"), Cause.OUTAGE, "exit code 3: boom"),
    ("opencode", "exit 0", Cause.BROKEN, "the reply is empty"),
    ("opencode", "head -c 300000 /dev/urandom", Cause.BROKEN, "the reply is empty"),
    ("pi", "kill -9 $$", Cause.OUTAGE, "exit code -9"),
]  # fmt: skip


@pytest.mark.parametrize(("harness", "body", "cause", "what"), FAULTS)
def test_each_fault_has_its_cause(
    folder: Path, harness: str, body: str, cause: Cause, what: str
) -> None:
    program(folder, harness, body)
    error = fault(harness)
    assert (error.cause, what in str(error)) == (cause, True), error


@pytest.mark.parametrize("harness", ["opencode", "pi", "omp"])
def test_a_program_that_is_not_there_is_an_outage(
    harness: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"{harness} is not installed" in str(fault(harness))


def test_a_program_that_hangs_ends_with_all_its_children(folder: Path) -> None:
    pid = folder / "pid"
    program(folder, "pi", f"sleep 300 & echo $! > {pid}; wait")
    started = time.monotonic()
    error = fault("pi", 0.5)
    assert error.cause is Cause.TIMEOUT and time.monotonic() - started < 10
    for _ in range(50):
        status = Path(f"/proc/{int(pid.read_text())}/stat")
        if not status.exists() or status.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the program's child lives on")


def test_a_program_that_does_not_read_is_no_hang(folder: Path) -> None:
    program(folder, "pi", printing(PI_OK).replace("cat > /dev/null", "exec < /dev/null"))
    made = CommandCompleter(HARNESSES["pi"], Model("p/m"), seconds=10)
    assert made.complete("x" * 1_000_000) == "1: a\nEND"


def test_a_stop_ends_what_runs_and_starts_nothing_new(folder: Path) -> None:
    program(folder, "pi", "sleep 300")
    made = CommandCompleter(HARNESSES["pi"], Model("p/m"), seconds=60)
    timer = threading.Timer(0.5, made.stop)
    timer.start()
    started = time.monotonic()
    for _ in range(2):
        with pytest.raises(CompletionError) as caught:
            made.complete("x")
        assert caught.value.cause is Cause.STOPPED
    assert time.monotonic() - started < 10
    timer.join()


@pytest.mark.parametrize("harness", ["pi", "opencode"])
def test_a_message_that_quotes_the_memory_is_not_passed_on(folder: Path, harness: str) -> None:
    said = "content filter: the very secret note is bad"
    events: dict[str, object] = {
        "pi": message("error", errorMessage=said),
        "opencode": {"type": "error", "error": {"data": {"message": said}}},
    }
    program(folder, harness, printing(events[harness]))
    made = CommandCompleter(HARNESSES[harness], Model("p/m"), seconds=10)
    with pytest.raises(CompletionError) as caught:
        made.complete("Compress this: the very secret note of ours")
    assert "secret" not in str(caught.value) and "not shown" in str(caught.value)
    with pytest.raises(CompletionError, match="very secret note"):
        made.complete("another prompt")


@pytest.mark.parametrize(("code", "cause"), [(400, Cause.BROKEN), (429, Cause.OUTAGE)])
def test_a_refusal_of_one_prompt_is_no_outage(folder: Path, code: int, cause: Cause) -> None:
    program(folder, "pi", printing(message("error", errorMessage=f"{code} bad request")))
    assert fault("pi").cause is cause
