"""`muralkit memory`, as a person and a script use it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DATA
from tests.store.test_magic import NEW, make
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
    assert memory("add", "use  TABS.") == "That is memory 1 already.\n"
    assert json.loads(memory("add", "b", "--category", "NAMING", "--permanent", "--json")) == {
        "ids": [2],
        "known": 0,
        "cues": 0,
        "bad": 0,
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
    assert "PROJECT_RULES, importance 70, permanent" in memory("show", 1)


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
    assert memory("import", source, "--skip-bad") == "Added 1 memory; 0 were known.\n"


def test_a_file_of_another_kind_shows_only_its_first_problems(tmp_path: Path) -> None:
    source = tmp_path / "m.txt"
    source.write_text("bad\n" * 300)
    done = run("memory", "import", source)
    assert done.stderr.count(b": not JSON") == 20 and b"... and 280 more." in done.stderr


def test_a_dry_run_tells_what_is_known_in_the_shape_of_an_import(tmp_path: Path) -> None:
    source = tmp_path / "m.jsonl"
    source.write_text(
        '{"category": "A", "content": "x"}\n{"category": "A", "content": "y", "cue": "of y"}\n'
    )
    memory("add", "Y", "--category", "A")
    memory("add", "y", "--category", "B")
    done = run("memory", "import", source, "--dry-run")
    assert done.stdout == b"A  x\n" and done.stderr == b"Would add 1 memory; 1 was known.\n"
    assert json.loads(memory("import", source, "--dry-run", "--json")) == {
        "ids": [], "known": 1, "cues": 0, "bad": 0, "dry_run": True,
        "memories": [{"category": "A", "content": "x"}],
    }  # fmt: skip
    assert len(listed()) == 2
    report = json.loads(memory("import", source, "--json"))
    assert report == {"ids": [3], "known": 1, "cues": 0, "bad": 0}


def test_a_second_import_brings_the_cues_that_came_later(tmp_path: Path) -> None:
    source = tmp_path / "m.jsonl"
    source.write_text('{"category": "A", "content": "x"}\n')
    memory("import", source)
    source.write_text('{"category": "A", "content": "x", "cue": "of x"}\n')
    assert memory("import", source) == "Added 0 memories; 1 was known; 1 cue came for those.\n"
    assert json.loads(memory("show", 1, "--json"))["cue"]["text"] == "of x"


def test_a_magic_context_database_is_imported_as_far_as_it_goes(tmp_path: Path) -> None:
    from muralkit.project import identity
    from muralkit.store import content_hash

    source, project = tmp_path / "context.db", identity(tmp_path)
    rows: list[dict[str, object]] = [
        {"id": 1, "content": "x", "importance": 70, "mural_cue": "of x",
         "mural_cue_hash": content_hash("x")},
        {"id": 2, "content": "y", "mural_cue": "of old y", "mural_cue_hash": content_hash("old")},
        {"id": 3, "content": "odd", "status": "merged"},
        {"id": 4, "content": " "},
        {"id": 5, "content": "nul\0", "category": "A"},
        {"id": 6, "content": "z", "category": ""},
        {"id": -7, "content": "below"},
        {"id": 8, "content": "fine", "mural_cue": "a\0b", "mural_cue_hash": content_hash("fine")},
    ]  # fmt: skip
    make(source, NEW, *({**row, "project_path": project} for row in rows))
    with closing(sqlite3.connect(source)) as db:
        db.execute("UPDATE memories SET content = CAST(x'ff41' AS TEXT) WHERE id = 3")
        db.execute("UPDATE memories SET status = 'active' WHERE id = 3")
        db.commit()
    done = run("memory", "import", source, "--project", tmp_path)
    assert done.returncode == 2 and listed("--project", tmp_path) == []
    lines = sorted(line for line in done.stderr.decode().splitlines() if ", memory " in line)
    assert [line.partition(", memory ")[2] for line in lines] == [
        "-7: its number is not over 0",
        "3: its content must be valid Unicode",
        "4: its content must be a text that is not blank",
        "5: its content must not have a null character",
        "6: its category must be a text that is not blank",
    ]
    memory("import", source, "--skip-bad", "--project", tmp_path)
    assert [m["content"] for m in listed("--project", tmp_path)] == ["x", "y", "fine"]
    exported = memory("export", "--project", tmp_path)
    assert [json.loads(line).get("cue") for line in exported.splitlines()] == ["of x", None, None]
    (tmp_path / "out.jsonl").write_text(exported)
    again = memory("import", tmp_path / "out.jsonl", "--project", tmp_path)
    assert again == "Added 0 memories; 3 were known.\n"


def test_a_magic_context_source_that_is_a_folder_is_said(tmp_path: Path) -> None:
    done = run("memory", "import", tmp_path, "--format", "magic-context")
    assert done.returncode == 2 and b"can't be read: it is a folder" in done.stderr


def test_what_is_left_of_a_damaged_store_is_exported(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    memory("import", DATA / "memories_600.jsonl", "--store", store)
    data = bytearray(store.read_bytes())
    text = json.loads((DATA / "memories_600.jsonl").read_text("utf-8").splitlines()[300])["content"]
    middle = data.index(text.encode()) // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    store.write_bytes(data)
    done = run("memory", "export", "--store", store)
    assert done.returncode == 2 and b"memory export --salvage" in done.stderr
    done = run("memory", "export", "--salvage", "--store", store, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0 and b"can't be read." in done.stderr
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) > 400
    memory("import", tmp_path / "out.jsonl", "--store", tmp_path / "new.db")


def test_what_a_memory_says_moves_no_cursor() -> None:
    memory("add", "red \x1b[31m alert \x9b2J", "--category", "A\x1b[2J")
    for done in (memory("list"), memory("show", 1)):
        assert "\x1b" not in done and "\x9b" not in done and "\\x1b[31m" in done


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


def test_an_archived_memory_that_is_added_again_is_pointed_to() -> None:
    memory("add", "x", "--permanent")
    memory("archive", 1)
    told = memory("add", "X")
    assert told == (
        "That is memory 1 already. It is archived or expired: `muralkit memory restore 1` takes "
        "it back.\n"
    )
    assert memory("restore", 1) == "Restored 1 memory.\n"
    assert listed()[0]["status"] == "permanent"


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


def test_a_checkout_that_git_cannot_read_is_not_another_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()  # git says: not a git repository
    done = run("memory", "list", "--project", tmp_path)
    assert done.returncode == 3 and b"git can't read this checkout: fatal" in done.stderr
    inner = tmp_path / "inner"
    inner.mkdir()
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    assert listed("--project", inner) == []  # without a commit it is a folder as any other
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    done = run("memory", "list", "--project", inner)
    assert done.returncode == 3 and b"it is not installed" in done.stderr


def test_the_folder_decides_and_no_variable_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "a")], check=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    commit = ["git", *identity, "-C", str(tmp_path / "a"), "commit", "-q", "--allow-empty"]
    subprocess.run([*commit, "-m", "x"], check=True)
    (tmp_path / "b").mkdir()
    memory("add", "in a", "--project", tmp_path / "a")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "a/.git"))
    assert listed("--project", tmp_path / "b") == []


def test_what_was_archived_comes_back_the_same_after_an_export(tmp_path: Path) -> None:
    memory("add", "x", "--permanent")
    memory("archive", 1)
    memory("export", "-o", tmp_path / "out.jsonl")
    memory("import", tmp_path / "out.jsonl", "--store", tmp_path / "b.db")
    memory("restore", 1, "--store", tmp_path / "b.db")
    assert listed("--store", tmp_path / "b.db")[0]["status"] == "permanent"


def test_a_number_that_nobody_could_count_on_from_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"category": "A", "content": "x", "id": 9007199254740992}')
    done = run("memory", "import", tmp_path / "m.jsonl")
    assert done.returncode == 2 and b"from 1 to 1,000,000,000,000" in done.stderr


def test_a_truncated_store_is_salvaged_though_it_does_not_open(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    memory("import", DATA / "memories_600.jsonl", "--store", store)
    store.write_bytes(store.read_bytes()[:-4096])
    assert run("memory", "list", "--store", store).returncode == 2
    memory("export", "--salvage", "--store", store, "-o", tmp_path / "out.jsonl")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) > 400
