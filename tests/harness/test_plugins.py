"""The mural in the real harnesses, end to end: what their provider gets is what counts."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from muralkit import assets, project
from muralkit.model import StoredCue
from muralkit.store import Draft, content_hash
from muralkit.store.sqlite import SqliteStore
from tests.conftest import switch_on
from tests.harness.conftest import NAMES, PROGRAMS, write
from tests.harness.drivers import Driver, command_of, descendants, driver
from tests.harness.provider import Provider, ToolCall

Start = Callable[[str], Driver]
BUDGET = 1000


def muralkit(folder: Path, *arguments: str) -> str:
    """A command of ours, as a person gives it in the project's folder."""
    command = [sys.executable, "-m", "muralkit", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def opencode_package(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """OpenCode's own package, fetched once by `muralkit install`."""
    home = tmp_path_factory.mktemp("fetched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(home))
        patch.setenv("PATH", f"{PROGRAMS}:{os.environ['PATH']}")
        muralkit(home, "install", "opencode")
    made = home / "opencode"
    assert (made / "node_modules/@opencode-ai/plugin/package.json").exists()
    yield made


@pytest.fixture
def folder(provider: Provider, home: Path) -> Path:
    """A project with the 120 memories of the demo, and a provider that says OK."""
    provider.reply = lambda prompt: "OK done"
    made = home / "project"
    switch_on(made, budget=BUDGET)
    subprocess.run(["git", "init", "-q"], cwd=made, check=True)
    muralkit(made, "memory", "import", str(assets.demo_file()))
    return made


@pytest.fixture
def start(folder: Path, home: Path, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Start a harness by name in the project, on the model that sees."""
    running: list[Driver] = []

    def go(name: str) -> Driver:
        made = driver(name, folder)
        running.append(made)
        made.start("vision")
        return made

    yield go
    for made in running:
        made.stop()


def install(name: str, folder: Path, request: pytest.FixtureRequest, *flags: str) -> Path:
    """Install the plug-in; where it is."""
    if name == "opencode":
        fetched = request.getfixturevalue("opencode_package")
        for target in (Path(os.environ["XDG_CONFIG_HOME"]) / "opencode", folder / ".opencode"):
            target.mkdir(parents=True, exist_ok=True)
            for entry in ("package.json", "package-lock.json"):
                shutil.copy(fetched / entry, target / entry)
            shutil.copytree(
                fetched / "node_modules", target / "node_modules", copy_function=os.link
            )
    line = muralkit(folder, "install", name, *flags).splitlines()[0]
    return Path(line.rpartition(": ")[0])


def turns(provider: Provider) -> list[dict[str, Any]]:
    """The requests of turns: those that offer tools, as the small ones for titles do not."""
    return [body for body in provider.requests if body.get("tools")]


def parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Every part of every message of a request."""
    found: list[dict[str, Any]] = []
    for message in body["messages"]:
        content = message["content"]
        found += content if isinstance(content, list) else [{"type": "text", "text": content}]
    return found


def pictures(body: dict[str, Any]) -> list[bytes]:
    urls = [part["image_url"]["url"] for part in parts(body) if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def blocks(body: dict[str, Any]) -> list[str]:
    """The text blocks of memories."""
    texts = [part.get("text") or "" for part in parts(body)]
    return [text for text in texts if "<project-memory>" in text]


def tools(body: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in body["tools"]}


def rendered(folder: Path, home: Path) -> bytes:
    muralkit(folder, "render", "-o", str(home / "m.png"))
    return (home / "m.png").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_only_a_model_that_sees_gets_the_picture(
    provider: Provider, folder: Path, home: Path, start: Start, name: str,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    install(name, folder, request)
    harness = start(name)
    assert harness.say("Hello there") == "OK done"
    [body] = turns(provider)
    assert pictures(body) == [rendered(folder, home)]
    [block] = blocks(body)
    assert block.startswith("<project-memory>") and "<memory-mural>" in block
    kinds = [part for part in parts(body) if part["type"] == "image_url" or part["text"] == block]
    assert [part["type"] for part in kinds] == ["text", "image_url"]
    assert {"mural_recall", "mural_remember"} <= tools(body)
    small = [entry for entry in provider.requests if not entry.get("tools")]
    assert not any(pictures(entry) or blocks(entry) for entry in small)
    for blind in ("text", "undeclared"):
        provider.requests.clear()
        harness.use(blind)
        harness.say("And now?")
        [body] = turns(provider)
        assert body["model"] == blind and pictures(body) == []
        [block] = blocks(body)
        assert "memory-mural" not in json.dumps(body)


@pytest.mark.parametrize("name", NAMES)
def test_the_prefix_stays_through_changes_and_a_restart(
    provider: Provider, folder: Path, home: Path, start: Start, name: str,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    install(name, folder, request)
    harness = start(name)
    harness.say("One")
    muralkit(folder, "memory", "add", "Something new.", "--importance", "100")
    harness.say("Two")
    with SqliteStore(home / "muralkit/muralkit.db", project.identity(folder)) as store:
        memory = store.memories()[5]
        digest = content_hash(memory.content)
        store.put_cues([StoredCue(memory.id, "another cue", digest, "m", 1, 0)])
        store.add([Draft("A", "And more.", 100, cue="more")])
    harness.say("Three")
    harness.stop()
    harness.start("vision")
    harness.say("Four")
    bodies = turns(provider)
    assert len(bodies) == 4
    for before, after in pairwise(bodies):
        kept = after["messages"][: len(before["messages"])]
        assert json.dumps(kept) == json.dumps(before["messages"])
    assert len(pictures(bodies[3])) == 1 and "Something new." not in json.dumps(bodies[3])
    harness.use("other")
    harness.say("Five")
    last = turns(provider)[-1]
    assert last["model"] == "other" and "Something new." in blocks(last)[0]
    assert pictures(last) == [rendered(folder, home)] != pictures(bodies[3])


@pytest.mark.parametrize("name", NAMES)
def test_switched_off_the_request_is_as_without_the_plug_in(
    provider: Provider, folder: Path, start: Start, name: str, request: pytest.FixtureRequest
) -> None:
    switch_on(folder, on=False)
    bodies = []
    for installed in (False, True):
        if installed:
            install(name, folder, request)
        harness = start(name)
        harness.say("Hello there")
        harness.stop()
        bodies += turns(provider)
        provider.requests.clear()
    without, off = bodies
    assert json.dumps(off) == json.dumps(without)


BROKEN = {
    "missing": None,
    "crashing": "exit 1",
    "hanging": "exec sleep 600",
    "printing": "while :; do echo '{rubbish'; echo '{\"id\": 1, \"result\": 7}'; sleep 0.1; done",
    "flooding": "exec yes \"$(head -c 3000 /dev/zero | tr '\\0' x)\"",
    "endless": "exec tr '\\0' x < /dev/zero",
}


@pytest.mark.parametrize(
    ("name", "how"),
    [("pi", how) for how in BROKEN]
    # the same client in the others, whose starts take longer
    + [(name, how) for name in ("opencode", "omp") for how in ("missing", "crashing", "hanging")],
)
def test_whatever_muralkit_does_the_turn_ends(
    provider: Provider, folder: Path, home: Path, start: Start, name: str, how: str,
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    plug_in = install(name, folder, request)
    fake = home / "bin/muralkit"
    script = BROKEN[how]
    if script is not None:
        write(fake, f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
    text = plug_in.read_text()
    own = json.dumps(sys.executable)
    assert own in text
    plug_in.write_text(text.replace(own, json.dumps(str(fake))))
    path = [
        entry for entry in os.environ["PATH"].split(":") if not (Path(entry) / "muralkit").exists()
    ]
    monkeypatch.setenv("PATH", ":".join(path))
    harness = start(name)
    assert harness.say("Hello there") == "OK done"
    assert harness.say("And again") == "OK done"
    assert not any(pictures(body) or blocks(body) for body in turns(provider))


@pytest.mark.parametrize("name", NAMES)
def test_killed_in_mid_session_the_last_baseline_stays(
    provider: Provider, folder: Path, start: Start, name: str, request: pytest.FixtureRequest
) -> None:
    install(name, folder, request)
    harness = start(name)
    harness.say("One")
    killed = [pid for pid in descendants(os.getpid()) if "muralkit serve" in command_of(pid)]
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    harness.say("Two")
    first, second = turns(provider)
    kept = second["messages"][: len(first["messages"])]
    assert json.dumps(kept) == json.dumps(first["messages"])


@pytest.mark.parametrize("name", NAMES)
def test_the_recall_tool_answers_the_model(
    provider: Provider, folder: Path, start: Start, name: str, request: pytest.FixtureRequest
) -> None:
    install(name, folder, request)
    fact = "The build id a3f8e5c is pinned in deploy/lock.toml."
    provider.calls = [
        ToolCall("mural_remember", {"content": fact, "category": "NAMING"}),
        ToolCall("mural_recall", {"query": "a8f8e5c"}),
    ]
    assert start(name).say("Look it up") == "OK done"
    first, second, third = turns(provider)
    assert "Remembered as #" in json.dumps(second["messages"][len(first["messages"]) :])
    answer = json.dumps(third["messages"][len(second["messages"]) :])
    assert "likely" in answer and fact in answer
    assert pictures(first) == pictures(second) == pictures(third)


@pytest.mark.parametrize("name", NAMES)
def test_the_host_makes_the_cues_where_it_is_asked_to(
    provider: Provider, folder: Path, home: Path, start: Start, name: str,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    """With the model that is configured for that harness, not the session's."""
    install(name, folder, request)
    (folder / ".muralkit/muralkit.json").write_text('{"mural": {"enabled": true}}')
    muralkit(folder, "config", "set", "dreamer.in_session", "true")
    muralkit(folder, "config", "set", f"dreamer.{name}.model", "fake/cue")
    for number in range(3):
        muralkit(folder, "memory", "add", f"Port 700{number} is the ledger's.")

    def reply(prompt: str) -> str:
        found = [line for line in prompt.splitlines() if line.startswith("Port 700")]
        return f"1: ledger port = {found[0].split()[1]}\nEND" if found else "OK done"

    provider.reply = reply
    harness = start(name)
    assert harness.say("Hello there") == "OK done"
    with SqliteStore(home / "muralkit/muralkit.db", project.identity(folder)) as store:
        wait_for(lambda: sum(cue.model == "fake/cue" for cue in store.cues().values()) == 3)
        made = {cue.text for cue in store.cues().values() if cue.model == "fake/cue"}
    assert made == {f"ledger port = 700{number}" for number in range(3)}
    asked = [body for body in provider.requests if body["model"] == "cue"]
    assert len(asked) == 3
    for body in asked:  # the memory alone: no baseline, no tools
        assert not pictures(body) and not blocks(body) and not body.get("tools")


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_stays_after_a_compaction(
    provider: Provider, folder: Path, home: Path, start: Start, name: str,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    install(name, folder, request)
    write(home / ".omp/agent/config.yml", "compaction:\n  keepRecentTokens: 500\n")
    write(home / ".pi/agent/settings.json", '{"compaction": {"keepRecentTokens": 500}}')
    # Sentences of their own: OMP takes a reply that repeats itself for a fault, and asks again.
    answer = " ".join(f"Sentence {number} is a long answer." for number in range(400))
    provider.reply = lambda prompt: answer
    harness = start(name)
    for text in ("One", "Two", "Three"):
        harness.say(text)
    before = turns(provider)[-1]
    provider.requests.clear()
    provider.reply = lambda prompt: "A summary."
    harness.compact()
    assert provider.requests or name == "omp"  # which draws what was said, and asks nobody
    assert not any(pictures(body) for body in provider.requests)
    provider.requests.clear()
    harness.say("Four")
    [body] = turns(provider)
    assert "Sentence 7 is" not in json.dumps(body["messages"][-1])
    assert pictures(body) == pictures(before) and blocks(body) == blocks(before)


@pytest.mark.parametrize("name", NAMES)
def test_two_installations_add_one_picture(
    provider: Provider, folder: Path, start: Start, name: str, request: pytest.FixtureRequest
) -> None:
    install(name, folder, request)
    muralkit(
        folder, "install", name, "--project", "--no-fetch" if name == "opencode" else "--fetch"
    )
    start(name).say("Hello there")
    [body] = turns(provider)
    assert len(pictures(body)) == 1 and len(blocks(body)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_plug_in_of_another_protocol_says_so_and_adds_text(
    provider: Provider, folder: Path, start: Start, name: str, request: pytest.FixtureRequest
) -> None:
    plug_in = install(name, folder, request)
    text = plug_in.read_text()
    assert '"protocol": 1' in text
    plug_in.write_text(text.replace('"protocol": 1', '"protocol": 0'))
    start(name).say("Hello there")
    [body] = turns(provider)
    assert pictures(body) == [] and len(blocks(body)) == 1


def wait_for(done: Callable[[], bool], seconds: float = 60) -> None:
    """Until it is so."""
    import time

    ends = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < ends, "it did not come to be"
        time.sleep(0.2)
