"""`muralkit status` and `muralkit render` on a project's real memories."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muralkit import assets
from muralkit.model import Status, StoredCue
from muralkit.sections import Config
from muralkit.store import Changes, Draft, content_hash
from muralkit.store.sqlite import SqliteStore
from muralkit.survey import page, survey
from tests.test_cli import run
from tests.test_cli_memory import memory


def status(*arguments: object) -> dict[str, Any]:
    done = run("status", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and no configuration of the user's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def configure(project: Path, **values: object) -> None:
    (project / ".muralkit").mkdir(exist_ok=True)
    (project / ".muralkit/muralkit.jsonc").write_text(json.dumps(values))


def test_an_empty_project(project: Path) -> None:
    found = status("--project", project)
    assert (found["pool"], found["overflow"], found["mural"], found["prices"]) == (0, 0, None, {})
    assert not found["gate"]["open"]
    assert b"pool      0 active" in run("status", "--project", project).stdout


def test_a_project_with_memories(project: Path) -> None:
    memory("import", assets.demo_file(), "--project", project)
    configure(project, mural={"enabled": True}, memory={"injection_budget_tokens": 1000})
    found = status("--project", project)
    assert found["pool"] == 120 and found["text"]["budget"] == 1000
    assert found["text"]["tokens"] <= 1000
    assert found["text"]["memories"] + found["overflow"] == 120
    assert found["drawable"] == found["overflow"]
    assert found["cues"] == {"current": 120, "stale": 0, "missing": 0}
    beyond = found["overflow"]
    reason = f"{beyond} of {beyond} memories beyond the text budget have a current cue"
    assert found["gate"] == {"open": True, "reason": reason}
    assert found["prices"]["Claude"] == found["mural"]["tokens"]
    assert found["prices"]["Claude"] * 4 < found["overflow_tokens"]
    text = run("status", "--project", project).stdout.decode()
    assert "gate      open: " in text and "Gemini 3" in text and "does not pay" in text


def test_the_cues_are_told_apart(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db", "p") as store:
        store.add([Draft("A", f"content {n}", cue=f"cue {n}") for n in range(4)])
        store.add([Draft("A", "without a cue"), Draft("A", "kept", status=Status.ARCHIVED)])
        assert store.put_cues([StoredCue(1, "cue", content_hash("older"), "m", 1, 0)]) == 0
        store.edit(1, Changes(content="newer"))
        found = survey(store, Config(), everything=True)
        assert (len(found.pool), found.current, found.stale, found.missing) == (5, 3, 1, 1)
        assert [cue.memory_id for cue in found.drawable] == [2, 3, 4]
        assert not survey(store, Config()).selection.overflow
        assert page(survey(store, Config()), "standard") is None


def test_render_draws_the_overflow_of_the_project(project: Path) -> None:
    memory("import", assets.demo_file(), "--project", project)
    configure(project, mural={"theme": "dense"}, memory={"injection_budget_tokens": 1000})
    out = project / "m.png"
    found = status("--project", project)
    report = json.loads(run("render", "--project", project, "-o", out, "--json").stdout)
    assert len(report["shown"]) == found["overflow"] and report["theme"] == "dense"
    assert report["tokens"] == found["mural"]["tokens"]
    whole = json.loads(run("render", "--all", "--project", project, "-o", out, "--json").stdout)
    assert len(whole["shown"]) == 120
    other = run("render", "--project", project, "-o", out, "--json", "--theme", "standard")
    assert json.loads(other.stdout)["theme"] == "standard"


def test_render_of_a_project_with_nothing_to_draw_is_an_error(project: Path) -> None:
    done = run("render", "--project", project, "-o", project / "m.png")
    assert done.returncode == 2 and b"There is nothing to draw" in done.stderr
    memory("add", "x", "--project", project)
    done = run("render", "--project", project, "-o", project / "m.png")
    assert b"project's 1 memory fit the text budget" in done.stderr and b"`--all`" in done.stderr
    done = run("render", "--all", "--project", project, "-o", project / "m.png")
    assert b"project's 1 memory, none has a current cue" in done.stderr
    assert not (project / "m.png").exists()


def test_a_magic_context_database_as_a_live_source(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from muralkit.project import identity
    from tests.store.test_magic import NEW, make

    path = tmp_path / "context.db"
    rows = [
        {
            "id": n, "content": f"content {n}", "project_path": identity(project),
            "mural_cue": f"cue {n}", "mural_cue_hash": content_hash(f"content {n}"),
        }
        for n in range(1, 31)
    ]  # fmt: skip
    make(path, NEW, *rows)
    user = tmp_path / "config/muralkit/muralkit.jsonc"
    user.parent.mkdir(parents=True)
    user.write_text(json.dumps({"store": {"source": "magic-context", "magic_context": str(path)}}))
    assert status("--project", project)["pool"] == 30
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE memories SET content = 'changed' WHERE id = 3")
        db.commit()
    assert status("--project", project)["cues"] == {"current": 29, "stale": 1, "missing": 0}
    done = run("memory", "add", "x", "--project", project)
    assert done.returncode == 2 and b"muralkit only reads them" in done.stderr
    user.unlink()
    assert memory("import", path, "--project", project) == "Added 30 memories; 0 were known.\n"
    assert status("--project", project)["cues"] == {"current": 29, "stale": 0, "missing": 1}
    user.write_text(json.dumps({"store": {"source": "magic-context", "magic_context": str(path)}}))
    path.unlink()
    done = run("status", "--project", project)
    assert done.returncode == 2 and str(path).encode() in done.stderr


def test_what_the_canvas_leaves_out_is_no_part_of_the_price(tmp_path: Path, project: Path) -> None:
    """A picture that shows a part of the overflow is held against that part as text."""
    source = tmp_path / "many.jsonl"
    entries = [
        {"category": "A", "content": f"memory number {n} " * 8, "cue": f"memory number {n} " * 4}
        for n in range(900)
    ]
    source.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    memory("import", source, "--project", project)
    found = status("--project", project)
    shown, dropped = found["mural"]["shown"], found["mural"]["dropped"]
    assert dropped > 0 and shown + dropped == found["drawable"] == found["overflow"]
    line = len("#100: " + ("memory number 100 " * 8).strip()) / 3.5
    assert found["overflow_tokens"] == pytest.approx(shown * line, rel=0.1)
    text = run("status", "--project", project).stdout.decode()
    assert f": {shown} cues, and {dropped} are left out" in text


def test_a_theme_that_cannot_be_used_leaves_the_rest_of_the_status(project: Path) -> None:
    memory("import", assets.demo_file(), "--project", project)
    configure(project, mural={"theme": "nope.toml"}, memory={"injection_budget_tokens": 500})
    done = run("status", "--project", project)
    assert done.returncode == 0 and b"pool      120" in done.stdout
    assert b"mural     none: There is no theme" in done.stdout
    assert status("--project", project)["mural"] is None


def test_what_of_the_configuration_was_ignored_is_said(project: Path) -> None:
    configure(project, cache={"size_mib": 1})
    done = run("status", "--project", project)
    assert b"cache ignored: only the user's own files may set it" in done.stderr


def test_the_status_for_a_model(project: Path, tmp_path: Path) -> None:
    memory("import", assets.demo_file(), "--project", project)
    configure(
        project,
        mural={
            "enabled": True,
            "vision": {"a/*": True, "a/blind": False},
            "readers": {"a/small*": "dense"},
        },
        memory={"injection_budget_tokens": 1000},
    )
    found = status("--project", project, "--model", "a/small-1")
    assert found["gate"]["open"] and found["theme"] == "dense"
    assert found["vision"] == {"images": True, "source": "mural.vision"}
    for model, source in (("a/blind", "mural.vision"), ("b/unknown", None)):
        found = status("--project", project, "--model", model)
        assert found["vision"] == {"images": False, "source": source}
        assert found["gate"]["reason"] == "the model is not known to accept images"
        assert found["theme"] == "standard"
    text = run("status", "--project", project, "--model", "b/x").stdout
    assert b"model     b/x: not known to accept images, so it gets text alone" in text


def test_auto_is_the_theme_for_the_model_and_without_one_the_standard_one(project: Path) -> None:
    memory("import", assets.demo_file(), "--project", project)
    configure(project, mural={"theme": "auto"}, memory={"injection_budget_tokens": 500})
    here = ("--project", project, "--json")
    assert json.loads(run("status", *here).stdout)["theme"] == "standard"
    for model, theme in (("anthropic/claude-opus-4-8", "large"), ("a/unknown", "standard")):
        assert json.loads(run("status", "--model", model, *here).stdout)["theme"] == theme
    done = run("render", "--all", "-o", project / "m.png", *here)
    assert json.loads(done.stdout)["theme"] == "standard"
    done = run("render", "--theme", "auto", *here)
    assert done.returncode == 2 and b"Set mural.theme" in done.stderr
