"""`muralkit memory`, as a person and a script use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DATA
from tests.test_cli import run


def memory(*arguments: object, stdin: bytes = b"", cwd: Path | None = None) -> str:
    done = run("memory", *arguments, stdin=stdin, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def listed(*arguments: object, cwd: Path | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(memory("list", "--json", *arguments, cwd=cwd))
    return found


def test_a_memorys_life() -> None:
    assert memory("add", "Use tabs.", "--importance", 70) == "Added memory 1.\n"
    assert memory("add", "use  TABS.") == "That is a memory of this project already.\n"
    assert json.loads(memory("add", "b", "--category", "NAMING", "--permanent", "--json")) == {
        "ids": [2],
        "known": 0,
    }
    assert "1   70  PROJECT_RULES  Use tabs." in memory("list")
    assert "2*  50  NAMING" in memory("list", "--category", "NAMING")
    memory("edit", 1, "--content", "Use spaces.", "--permanent")
    shown = json.loads(memory("show", 1, "--json"))
    assert (shown["content"], shown["status"], shown["importance"]) == (
        "Use spaces.",
        "permanent",
        70,
    )
    assert memory("archive", 1, 2) == "Archived 2 memories.\n"
    assert listed() == [] and len(listed("--all")) == 2
    assert memory("restore", 1) == "Restored 1 memory.\n"
    assert "PROJECT_RULES, importance 70, active" in memory("show", 1)


def test_import_export_and_a_second_import(tmp_path: Path) -> None:
    source = DATA / "memories_600.jsonl"
    assert memory("import", source) == "Added 600 memories; 0 were known.\n"
    assert memory("import", source) == "Added 0 memories; 600 were known.\n"
    memory("export", "-o", tmp_path / "out.jsonl")
    entries = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    wanted = [json.loads(line) for line in source.read_text().splitlines()]
    fields = ("id", "category", "importance", "status", "content")
    assert sorted([[e[f] for f in fields] for e in entries], key=str) == sorted(
        [[e[f] for f in fields] for e in wanted], key=str
    )
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600


def test_the_demo_comes_with_its_cues() -> None:
    from muralkit import assets

    memory("import", assets.demo_file())
    shown = json.loads(memory("show", 3, "--json"))
    assert shown["cue"]["current"] and "verify_hmac()" in shown["cue"]["text"]
    memory("edit", 3, "--content", "other")
    assert "cue (stale): " in memory("show", 3)


def test_notes_in_markdown(tmp_path: Path) -> None:
    notes = tmp_path / "CLAUDE.md"
    notes.write_text("# CLAUDE.md\n## Commands\n- make\n## Rules\n- Be brief.\n")
    shown = memory("import", notes, "--dry-run", "--leave-out", "Commands")
    assert shown == "PROJECT_RULES  Be brief.\n" and listed() == []
    memory("import", notes, "--leave-out", "Commands")
    assert [m["content"] for m in listed()] == ["Be brief."]


def test_bad_lines_stop_an_import_unless_they_are_skipped(tmp_path: Path) -> None:
    source = tmp_path / "m.jsonl"
    source.write_text('{"category": "A", "content": "x"}\nbad\n{"category": "A"}\n')
    done = run("memory", "import", source)
    assert done.returncode == 2 and listed() == []
    assert f"{source}, line 2: not JSON".encode() in done.stderr
    assert f"{source}, line 3: the field 'content' is missing".encode() in done.stderr
    assert b"2 entries can't be read; nothing was imported" in done.stderr
    assert memory("import", source, "--skip-bad") == "Added 1 memories; 0 were known.\n"


def test_standard_input_is_a_source() -> None:
    memory("import", "-", stdin=b'{"category": "A", "content": "x"}')
    assert [m["content"] for m in listed()] == ["x"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("show", 9), 2, b"There is no memory 9"),
        (("edit", 9, "--importance", 5), 2, b"There is no memory 9"),
        (("archive", 9), 2, b"There is no memory 9"),
        (("show", 10**30), 2, b"There is no memory"),
        (("add", " \n"), 2, b"must be a text that is not blank"),
        (("add", "x", "--importance", 101), 2, b"1<=x<=100"),
        (("import", "missing.jsonl"), 2, b"does not exist"),
        (("list", "--store", "/proc/none/m.db"), 2, b"can't be opened or written"),
        (("list", "--project", "/nowhere"), 2, b"does not exist"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: tuple[object, ...], code: int, message: bytes
) -> None:
    done = run("memory", *arguments)
    assert done.returncode == code and message in done.stderr, done.stderr


@pytest.mark.parametrize("option", ["--content", "--category"])
def test_an_edit_cannot_empty_a_memory(option: str) -> None:
    memory("add", "x")
    assert run("memory", "edit", 1, option, " ").returncode == 2
    assert (listed()[0]["content"], listed()[0]["category"]) == ("x", "PROJECT_RULES")


def test_restoring_leaves_a_permanent_memory_alone() -> None:
    memory("add", "x", "--permanent")
    assert memory("restore", 1) == "Restored 0 memories.\n"
    assert listed()[0]["status"] == "permanent"


def test_an_archive_of_several_is_all_or_none() -> None:
    memory("add", "x")
    assert run("memory", "archive", 1, 9).returncode == 2
    assert len(listed()) == 1


def test_the_editor_changes_a_memory(tmp_path: Path) -> None:
    memory("add", "before")
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/before/after/ "$1"\n')
    editor.chmod(0o755)
    command = [sys.executable, "-m", "muralkit", "memory", "edit", "1"]
    subprocess.run(command, check=True, env={**os.environ, "EDITOR": str(editor)})
    assert listed()[0]["content"] == "after"


def test_a_project_is_its_first_commit_in_every_clone(tmp_path: Path) -> None:
    def git(*arguments: str, cwd: Path) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)

    first = tmp_path / "first"
    first.mkdir()
    git("init", "-q", cwd=first)
    git("commit", "-q", "--allow-empty", "-m", "root", cwd=first)
    git("clone", "-q", str(first), "second", cwd=tmp_path)
    (tmp_path / "second/sub").mkdir()
    (tmp_path / "other").mkdir()
    memory("add", "shared", cwd=first)
    assert len(listed(cwd=tmp_path / "second/sub")) == 1
    assert listed(cwd=tmp_path / "other") == []
    assert len(listed("--project", first, cwd=tmp_path)) == 1


def test_the_identities_of_folders(tmp_path: Path) -> None:
    import hashlib

    from muralkit.project import identity

    expected = hashlib.md5(str(tmp_path.resolve()).encode()).hexdigest()[:12]
    assert identity(tmp_path) == f"dir:{expected}"


@pytest.mark.parametrize(
    "name", ["add", "list", "show", "edit", "archive", "restore", "import", "export"]
)
def test_every_command_has_help_with_an_example(name: str) -> None:
    help_text = memory(name, "--help")
    assert "Example" in help_text and "\\b" not in help_text
