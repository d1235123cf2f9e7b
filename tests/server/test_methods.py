"""What each request comes to."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muralkit.pipeline import render
from muralkit.server.methods import Methods
from muralkit.server.protocol import PROTOCOL
from muralkit.store.sqlite import SqliteStore
from muralkit.survey import survey
from tests.conftest import switch_on
from tests.server.conftest import Ask

TURN: dict[str, Any] = {
    "harness": "pi",
    "session": "s",
    "model": "a/b",
    "inputs": ["text", "image"],
}


def test_a_baseline_is_folded_then_replayed(filled: Methods, ask: Ask, project: Path) -> None:
    first = ask("baseline", **TURN)
    assert first["enabled"] and first["folded"]
    text, image = first["parts"]
    place = filled.places.at(project)
    found = survey(place.store, place.loaded.config)
    assert base64.b64decode(image["data"]) == render(found.drawable, "standard").png
    assert first["text"] == found.text and text["text"].startswith(found.text)
    ask("memory.add", content="new", importance=100)
    again = ask("baseline", **TURN)
    assert not again["folded"] and again["parts"] == first["parts"]
    assert again["reason"].startswith("nothing has changed since the fold: first use")
    assert ask("baseline", **TURN, fold=True)["text"] != first["text"]


def test_another_server_replays_the_same(filled: Methods, ask: Ask, project: Path) -> None:
    first = ask("baseline", **TURN)
    with closing(Methods(project)) as other:
        from muralkit.server.protocol import BaselineRequest, checked

        again = other.baseline(checked(BaselineRequest, TURN))
    assert not again.folded and again.parts == first["parts"]


def test_switched_off_in_mid_session_folds_once(filled: Methods, ask: Ask, project: Path) -> None:
    assert len(ask("baseline", **TURN)["parts"]) == 2
    switch_on(project, on=False)
    off = ask("baseline", **TURN)
    assert off["folded"] and not off["enabled"] and len(off["parts"]) == 1
    assert not ask("baseline", **TURN)["folded"]
    switch_on(project)
    assert len(ask("baseline", **TURN)["parts"]) == 2


def test_a_project_without_memories_adds_nothing(ask: Ask) -> None:
    empty = ask("baseline", **TURN)
    assert empty["parts"] == [] and empty["text"] == "" and "fit the text budget" in empty["reason"]


@pytest.mark.parametrize("theirs", [PROTOCOL - 1, PROTOCOL + 1])
def test_a_plug_in_of_another_version_gets_text_alone(
    filled: Methods, ask: Ask, theirs: int
) -> None:
    hello = ask("hello", client="x", version="9", protocol=theirs)
    assert not hello["compatible"] and f"protocol {theirs}" in hello["advice"]
    made = ask("baseline", **TURN, protocol=theirs)
    assert [part["type"] for part in made["parts"]] == ["text"]
    assert "memory-mural" not in json.dumps(made["parts"])
    assert f"protocol {theirs}" in made["reason"]
    assert ask("hello", protocol=PROTOCOL)["compatible"]


def test_a_model_that_takes_no_images_any_more_gets_none(filled: Methods, ask: Ask) -> None:
    assert len(ask("baseline", **TURN)["parts"]) == 2
    blind = ask("baseline", **{**TURN, "inputs": ["text"]})
    assert blind["folded"] and len(blind["parts"]) == 1
    assert blind["reason"].startswith("the model no longer accepts images")
    assert not ask("baseline", **{**TURN, "inputs": ["text"]})["folded"]


def test_a_model_that_is_known_later_gets_the_picture_then(filled: Methods, ask: Ask) -> None:
    assert len(ask("baseline", **{**TURN, "inputs": None})["parts"]) == 1
    seen = ask("baseline", **TURN)
    assert seen["folded"] and len(seen["parts"]) == 2
    assert seen["reason"].startswith("the model is now known to accept images")
    again = ask("baseline", **{**TURN, "inputs": None})  # not known again is no reason
    assert not again["folded"] and again["parts"] == seen["parts"]


@pytest.mark.parametrize("inputs", [None, "image", ["text"], {"image": "yes"}, {"image": 1}, 7, {}])
def test_only_a_plain_yes_is_an_image(filled: Methods, ask: Ask, inputs: object) -> None:
    assert len(ask("baseline", **{**TURN, "inputs": inputs})["parts"]) == 1


def test_memories_are_added_listed_and_recalled(ask: Ask) -> None:
    content = "The build id a3f8e5c is pinned in deploy/lock.toml."
    added = ask("memory.add", content=content, category="NAMING", importance=70, permanent=True)
    assert added["new"] and not ask("memory.add", content=content, category="NAMING")["new"]
    [entry] = ask("memory.list")["memories"]
    assert entry["id"] == added["memory_id"] and entry["status"] == "permanent"
    assert ask("memory.list", category="OTHER")["memories"] == []
    [match] = ask("recall", query="a8f8e5c")["matches"]
    assert match["memory"] == entry and match["certainty"] == "likely"
    assert ask("recall", query="a3f8e5c")["matches"][0]["certainty"] == "exact"
    assert ask("memory.add", content=" ")["code"] == -32000
    assert ask("memory.add", content="x", importance=101)["data"]["where"] == "importance"


def test_a_host_makes_the_cues(ask: Ask) -> None:
    for number in range(3):
        ask("memory.add", content=f"Port {8000 + number} is the ledger's.", importance=50 + number)
    pending = ask("cues.pending", limit=2)
    assert pending["left"] == 3 and pending["reason"] == ""
    first, second = pending["prompts"]
    assert "Port 8002 is the ledger's." in first["prompt"]  # the most important one first
    replies = [
        {**first, "reply": "1: ledger port = 8002\nEND"},
        {**second, "reply": "1: ledger port = 9001\nEND"},
    ]
    made, refused = ask("cues.apply", model="host/m", replies=replies)["outcomes"]
    assert made["result"] == "made" and made["reason"] == ""
    assert refused["result"] == "refused" and "9001" in refused["reason"]
    assert "was refused because" in refused["prompt"]
    for _ in range(2):
        [last] = ask("cues.apply", model="host/m", replies=[replies[1]])["outcomes"]
    assert last["result"] == "fallback" and last["prompt"] == ""
    left = ask("cues.pending")
    assert len(left["prompts"]) == 1 and left["left"] == 1
    [done] = ask("cues.apply", model="m", replies=[{**left["prompts"][0], "reply": "1: x\nEND"}])[
        "outcomes"
    ]
    assert done["result"] == "made"
    done = ask("cues.pending")
    assert done["prompts"] == [] and done["left"] == 0
    assert done["reason"] == "every memory has its cue"


def test_a_cue_of_an_older_content_is_stale(ask: Ask, methods: Methods, project: Path) -> None:
    from muralkit.store import Changes

    ask("memory.add", content="old")
    [prompt] = ask("cues.pending")["prompts"]
    methods.places.at(project).store.edit(prompt["memory_id"], Changes(content="new"))
    reply = {**prompt, "reply": "1: old\nEND"}
    gone = {**prompt, "memory_id": 99, "reply": "1: old\nEND"}
    outcomes = ask("cues.apply", model="m", replies=[reply, gone])["outcomes"]
    assert [outcome["result"] for outcome in outcomes] == ["stale", "stale"]
    assert methods.places.at(project).store.cues() == {}


def test_only_one_process_makes_the_cues(ask: Ask, methods: Methods, project: Path) -> None:
    from muralkit.server.protocol import PendingRequest

    ask("memory.add", content="a memory")
    with closing(Methods(project)) as other:
        assert len(other.pending(PendingRequest()).prompts) == 1
        assert ask("cues.pending")["reason"] == "another process makes them"
    assert len(ask("cues.pending")["prompts"]) == 1  # the other let go at its end


def test_no_cue_is_asked_for_where_the_mural_is_off(ask: Ask, project: Path) -> None:
    ask("memory.add", content="a memory")
    switch_on(project, on=False)
    assert "switched off" in ask("cues.pending")["reason"]


def test_the_status_is_that_of_the_command(filled: Methods, ask: Ask) -> None:
    status = ask("status", model="a/b", inputs=["text", "image"])
    assert status["pool"] == 60 and status["gate"]["open"] and status["mural"]["shown"] > 0
    assert status["vision"] == {"images": True, "source": "the harness"}
    assert ask("status")["vision"] is None


def held(path: Path) -> sqlite3.Connection:
    """Another program in the midst of a change."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    return db


def test_a_held_store_replays_or_says_so(filled: Methods, ask: Ask, tmp_path: Path) -> None:
    first = ask("baseline", **TURN)
    with closing(held(tmp_path / "home/muralkit.db")):
        assert ask("baseline", **TURN)["parts"] == first["parts"]
        other = ask("baseline", **{**TURN, "session": "other"})
        assert [part["type"] for part in other["parts"]] == ["text"]  # no picture that can't stay
        assert "held the store" in other["reason"]
        refused = ask("memory.add", content="x")
        assert refused["code"] == -32000 and "held the store for over 2 s" in refused["message"]
    assert not ask("baseline", **TURN)["folded"]
    assert ask("memory.add", content="x")["new"]


def test_a_store_that_is_moved_away_is_opened_anew(
    filled: Methods, ask: Ask, tmp_path: Path
) -> None:
    assert ask("status")["pool"] == 60
    for name in ("muralkit.db", "muralkit.db-wal", "muralkit.db-shm"):
        (tmp_path / "home" / name).rename(tmp_path / name)
    assert ask("status")["pool"] == 0
    ask("memory.add", content="x")
    with SqliteStore(tmp_path / "home/muralkit.db", ask("status")["project"]) as store:
        assert len(store.memories()) == 1


def test_a_damaged_store_is_an_empty_baseline(filled: Methods, ask: Ask, tmp_path: Path) -> None:
    for path in (tmp_path / "home").glob("muralkit.db*"):
        path.unlink()
    (tmp_path / "home/muralkit.db").write_bytes(b"rubbish" * 1000)
    made = ask("baseline", **TURN)
    assert made["parts"] == [] and made["reason"].startswith("there is no baseline: ")


def test_a_bad_configuration_is_an_empty_baseline(filled: Methods, ask: Ask, project: Path) -> None:
    (project / ".muralkit/muralkit.json").write_text("{")
    made = ask("baseline", **TURN)
    assert made["parts"] == [] and "Not JSON" in made["reason"] and not made["available"]
    switch_on(project)
    assert len(ask("baseline", **TURN)["parts"]) == 2


def test_auto_is_the_theme_for_the_model_that_is_asked_for(
    filled: Methods, ask: Ask, project: Path
) -> None:
    settings = project / ".muralkit/muralkit.json"
    settings.write_text('{"mural": {"enabled": true, "theme": "auto"}}')
    assert ask("status")["theme"] == "standard"
    assert ask("status", model="openai/gpt-5.6", inputs=["image"])["theme"] == "large"
