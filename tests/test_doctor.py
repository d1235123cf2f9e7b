"""Each check finds what it is for, and one that fails never hides the others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muralkit import assets
from tests.store.test_magic import NEW, make
from tests.test_cli import run
from tests.test_cli_memory import memory


class Clinic:
    def __init__(self, tmp_path: Path) -> None:
        self.project, self.home = tmp_path / "project", tmp_path / "home"
        self.config = tmp_path / "config"
        self.project.mkdir()

    def look(self) -> tuple[int, list[dict[str, Any]]]:
        done = run("doctor", "--json", "--project", self.project)
        return done.returncode, json.loads(done.stdout)

    def configure(self, text: str) -> Path:
        path = self.project / ".muralkit/muralkit.jsonc"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    made = Clinic(tmp_path)
    monkeypatch.setenv("MURALKIT_HOME", str(made.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.config))
    monkeypatch.setenv("HOME", str(made.config))
    return made


def bad(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(f["severity"], f["area"]) for f in findings if f["severity"] != "fine"]


def test_a_healthy_project(clinic: Clinic) -> None:
    memory("import", assets.demo_file(), "--project", clinic.project)
    run("render", "--all", "--project", clinic.project, "-o", clinic.project / "m.png")
    code, findings = clinic.look()
    assert (code, bad(findings)) == (0, [])
    assert {f["area"] for f in findings} == {
        "libcairo", "fonts", "theme", "config", "project", "harness", "sessions", "store", "cues",
        "cache",
    }  # fmt: skip
    assert b"fine" in run("doctor", "--project", clinic.project).stdout


def test_every_finding_that_is_not_fine_says_what_to_do(clinic: Clinic) -> None:
    clinic.configure('{"mural": {"model": "x", "enabeld": 1}, "store": {"path": "x"}}')
    memory("add", "x", "--project", clinic.project)
    (clinic.home / "muralkit.db").chmod(0o644)
    code, findings = clinic.look()
    assert code == 1
    assert sorted(bad(findings)) == [
        ("warning", "config"),
        ("warning", "config"),
        ("warning", "config"),
        ("warning", "cues"),
        ("warning", "store"),
    ]
    assert all(f["hint"] for f in findings if f["severity"] != "fine")
    what = " ".join(f["what"] for f in findings)
    assert "mural.model deprecated" in what and "did you mean 'enabled'" in what


@pytest.mark.parametrize(
    ("config", "area"),
    [
        ('{"mural": {"theme": "missing.toml"}}', "theme"),
        ("{", "config"),
        ('{"memory": {"injection_budget_tokens": 1}}', "config"),
    ],
)
def test_an_error_is_code_2_and_the_rest_is_still_checked(
    clinic: Clinic, config: str, area: str
) -> None:
    clinic.configure(config)
    code, findings = clinic.look()
    assert code == 2 and ("error", area) in bad(findings)
    assert {
        "libcairo", "fonts", "cache", "config", "project", "harness", "sessions", "theme", "store",
        "cues",
    } == {f["area"] for f in findings}  # fmt: skip


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_damaged_store_is_an_error(clinic: Clinic, content: bytes) -> None:
    clinic.home.mkdir()
    (clinic.home / "muralkit.db").write_bytes(content)
    code, findings = clinic.look()
    assert code == 2 and ("error", "store") in bad(findings)
    assert {"theme", "config", "cache"} <= {f["area"] for f in findings}
    assert any("--salvage" in f["hint"] for f in findings)


def test_rows_of_a_source_that_are_no_memories_are_warnings(clinic: Clinic) -> None:
    source = clinic.project / "context.db"
    make(source, NEW, {"id": 1, "content": "x", "status": "odd", "project_path": "any"})
    path = clinic.config / "muralkit/muralkit.jsonc"
    path.parent.mkdir(parents=True)
    path.write_text(
        json.dumps({"store": {"source": "magic-context", "magic_context": str(source)}})
    )
    _, findings = clinic.look()
    assert ("warning", "source") in bad(findings)  # no memory is this project's
    from muralkit.project import identity

    source.unlink()
    make(
        source,
        NEW,
        {"id": 1, "content": "x", "status": "odd", "project_path": identity(clinic.project)},
        {"id": 2, "content": "y", "project_path": identity(clinic.project)},
    )
    _, findings = clinic.look()
    whats = [f["what"] for f in findings if f["severity"] == "warning"]
    assert "memory 1: its status 'odd' is none that muralkit knows" in whats


def test_an_open_cache_is_a_warning(clinic: Clinic) -> None:
    run("demo", "-o", clinic.project / "m.png")
    (clinic.home / "cache/murals").chmod(0o755)
    code, findings = clinic.look()
    assert code == 1 and bad(findings) == [("warning", "cache")]
    assert any("chmod 700" in f["hint"] for f in findings)


def test_a_missing_source_database_is_an_error(clinic: Clinic) -> None:
    path = clinic.config / "muralkit/muralkit.jsonc"
    path.parent.mkdir(parents=True)
    path.write_text('{"store": {"source": "magic-context", "magic_context": "/nowhere.db"}}')
    code, findings = clinic.look()
    assert code == 2 and bad(findings) == [("error", "source")]
    [found] = [f for f in findings if f["area"] == "source"]
    assert "/nowhere.db: magic-context has no database here" in found["what"]
    assert "store.magic_context" in found["hint"]
    assert {"theme", "config", "store", "cache"} <= {f["area"] for f in findings}


def test_a_damaged_picture_of_a_session_is_a_warning(clinic: Clinic) -> None:
    memory("import", assets.demo_file(), "--project", clinic.project)
    clinic.configure('{"mural": {"enabled": true}, "memory": {"injection_budget_tokens": 500}}')
    run(
        "baseline", "--harness", "pi", "--session", "one", "--model", "a/b", "--inputs", "image",
        "--project", clinic.project,
    )  # fmt: skip
    with closing(sqlite3.connect(clinic.home / "muralkit.db")) as db:
        db.execute("UPDATE sessions SET png = x'00'")
        db.commit()
    code, findings = clinic.look()
    assert code == 1 and ("warning", "sessions") in bad(findings)
    assert any("muralkit fold --session one" in f["hint"] for f in findings)


def test_auto_looks_at_every_theme_that_it_can_lead_to(clinic: Clinic) -> None:
    clinic.configure('{"mural": {"theme": "auto", "readers": {"a/*": "nope.toml", "b/*": "dark"}}}')
    code, findings = clinic.look()
    themes = [(f["severity"], f["what"]) for f in findings if f["area"] == "theme"]
    drawn = [what.partition(" ")[0] for severity, what in themes if severity == "fine"]
    assert sorted(drawn) == ["dark", "dense", "large", "standard"]
    assert code == 2 and [what for severity, what in themes if severity == "error"] == [
        f"There is no theme '{clinic.project / 'nope.toml'}'."
    ]
