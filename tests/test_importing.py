"""Memories from elsewhere: notes, JSON Lines and Claude Code folders, read as written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.errors import InputError
from muralkit.importing import claude, headings, jsonl, markdown
from muralkit.model import Status
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from tests.conftest import DATA

NOTES = """\
---
title: ours
---
# AGENTS.md

An introduction that
is wrapped.

## Contents
- [Style](#style)
- [Naming](#naming), [Limits](#limits)

## Commands
- `npm test` runs the tests

### Deploy
- `npm run ship`

## Code style
1. Use tabs, and wrap
   at 100 columns.
2) Imports:
   - stdlib first
   - then ours

     ```py
     import os
     ```
   * last: types
- outer item
  - inner item

        indented code
- two paragraphs

  in one item

## Naming conventions
> Topics are team.event.v1.

## Deployment
Ship on Tuesdays.

| Variable | Value |
|----------|-------|
| PORT     | 8080  |
| HOST     |       |

### Known limits
<!-- a comment -->
At most 5 retries.
"""


def test_markdown_notes() -> None:
    found = markdown.read(NOTES.encode(), "AGENTS.md", ["commands"])
    assert not found.problems
    assert [(draft.category, draft.content) for draft in found.drafts] == [
        ("PROJECT_RULES", "An introduction that is wrapped."),
        ("PROJECT_RULES", "Use tabs, and wrap at 100 columns."),
        ("PROJECT_RULES", "Imports: stdlib first"),
        ("PROJECT_RULES", "Imports: then ours\n```py\nimport os\n```"),
        ("PROJECT_RULES", "Imports: last: types"),
        ("PROJECT_RULES", "outer item"),
        ("PROJECT_RULES", "inner item\n```\nindented code\n```"),
        ("PROJECT_RULES", "two paragraphs in one item"),
        ("NAMING", "Topics are team.event.v1."),
        ("Deployment", "Ship on Tuesdays."),
        ("Deployment", "Variable: PORT; Value: 8080"),
        ("Deployment", "Variable: HOST"),
        ("CONSTRAINTS", "At most 5 retries."),
    ]


def test_code_stays_with_its_own_section() -> None:
    notes = (
        "## Limits\n- at most 5\n## Deploy\n```sh\nmake deploy\n```\n"
        "- Parent with code:\n  ```\n  make x\n  ```\n  - child\n"
        "- With a quote\n  > never do that\n"
    )
    assert [(d.category, d.content) for d in markdown.read(notes.encode(), "x").drafts] == [
        ("CONSTRAINTS", "at most 5"),
        ("Deploy", "Deploy\n```sh\nmake deploy\n```"),
        ("Deploy", "Parent with code:\n```\nmake x\n```"),
        ("Deploy", "Parent with code: child"),
        ("Deploy", "With a quote"),
        ("Deploy", "never do that"),
    ]


def test_headings_are_left_out_only_where_asked() -> None:
    contents = [draft.content for draft in markdown.read(NOTES.encode(), "x").drafts]
    assert "`npm test` runs the tests" in contents and "`npm run ship`" in contents


@pytest.mark.parametrize(
    ("heading", "category"),
    [
        ("Project rules", "PROJECT_RULES"),
        ("Testing", "PROJECT_RULES"),
        ("Naming conventions", "NAMING"),
        ("Architecture overview", "ARCHITECTURE"),
        ("Known issues & limitations", "CONSTRAINTS"),
        ("Environment variables", "CONFIG_VALUES"),
        ("CONFIG_VALUES", "CONFIG_VALUES"),
        ("PROJECT_RULES", "PROJECT_RULES"),
        ("Architektur", "ARCHITECTURE"),
        ("Namenskonventionen", "NAMING"),
        ("Einschränkungen", "CONSTRAINTS"),
        ("Règles du projet", "PROJECT_RULES"),
        ("Configuración", "CONFIG_VALUES"),
        ("Архитектура", "ARCHITECTURE"),
        ("Правила", "PROJECT_RULES"),
        ("命名规范", "NAMING"),
        ("架构", "ARCHITECTURE"),
        ("設定", "CONFIG_VALUES"),
        ("コーディング規約", "PROJECT_RULES"),
        ("제약 사항", "CONSTRAINTS"),
        ("Deployment", "Deployment"),
        ("  Release\nday ", "Release day"),
        ("x" * 200, "x" * 60),
        ("", "PROJECT_RULES"),
    ],
)
def test_headings_in_any_language_lead_to_a_category(heading: str, category: str) -> None:
    assert headings.category([heading] if heading else []) == category


def test_the_innermost_heading_that_says_something_decides() -> None:
    assert headings.category(["Architecture", "Naming", "Misc"]) == "NAMING"
    assert headings.category(["Intro", "Misc"]) == "Misc"


@given(st.text(max_size=300))
def test_any_text_is_notes(text: str) -> None:
    for draft in markdown.read(text.encode("utf-8", "replace"), "x").drafts:
        assert draft.content.strip() and draft.category


@given(st.binary(max_size=200))
def test_any_bytes_are_notes_or_problems(data: bytes) -> None:
    markdown.read(data, "x")
    for problem in jsonl.read(data, "x").problems:
        assert problem.where.startswith("x") and problem.what


def test_json_lines() -> None:
    lines = (DATA / "memories_600.jsonl").read_bytes()
    found = jsonl.read(lines, "memories")
    entries = [json.loads(line) for line in lines.splitlines()]
    assert not found.problems
    assert [(d.id, d.content, d.importance, d.status) for d in found.drafts] == [
        (e["id"], e["content"], e["importance"], Status(e["status"])) for e in entries
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("nope", "not JSON: Expecting value (column 1)"),
        ("3", "a memory is an object"),
        ('{"content": "x"}', "'category' is missing"),
        ('{"category": "A"}', "'content' is missing"),
        ('{"category": "A", "content": " "}', "'content' must be a text that is not blank"),
        ('{"category": 3, "content": "x"}', "'category' must be a text"),
        ('{"category": "A", "content": "x", "importance": 0}', "from 1 to 100"),
        ('{"category": "A", "content": "x", "importance": 5.5}', "from 1 to 100"),
        ('{"category": "A", "content": "x", "status": "gone"}', "active, permanent or archived"),
        ('{"category": "A", "content": "x", "id": -1}', "from 1 to"),
        ('{"category": "A", "content": "x", "expires_at": "soon"}', "seconds since 1970"),
        ('{"category": "A", "content": "x\\ud800"}', "'content' must be valid Unicode"),
        ('{"category": "A", "content": "a\\u0000b"}', "must not have a null character"),
    ],
)
def test_a_bad_line_is_named(line: str, what: str) -> None:
    good = '{"category": "A", "content": "fine"}'
    found = jsonl.read(f"{good}\n\n{line}\n{good}".encode(), "m")
    assert len(found.drafts) == 2
    [problem] = found.problems
    assert problem.where == "m, line 3" and what in problem.what


def test_an_export_gives_back_what_was_imported(tmp_path: Path) -> None:
    drafts = [
        Draft("A", "one\nline two ⊘", 70, Status.PERMANENT, 5, 10, 20, cue="cue ⊘one (two)"),
        Draft("weird category", "zwei", None, Status.ARCHIVED, 7, 11, 11, 4_000_000_000),
        Draft("A", "drei", 1, Status.ARCHIVED, 8, 11, 11, status_before=Status.PERMANENT),
    ]
    with SqliteStore(tmp_path / "a.db", "p") as store:
        store.add(drafts)
        exported = "\n".join(jsonl.write(store.memories(Status), store.cues()))
    assert list(jsonl.read(exported.encode(), "x").drafts) == drafts
    with SqliteStore(tmp_path / "b.db", "p") as store:
        store.add(jsonl.read(exported.encode(), "x").drafts)
        assert "\n".join(jsonl.write(store.memories(Status), store.cues())) == exported
        again = store.add(jsonl.read(exported.encode(), "x").drafts)
        assert [(kept.new, kept.cue) for kept in again] == [(False, False)] * 3


def test_a_stale_cue_is_not_exported(tmp_path: Path) -> None:
    from muralkit.store import Changes

    with SqliteStore(tmp_path / "a.db", "p") as store:
        store.add([Draft("A", "x", cue="of x")])
        store.edit(1, Changes(content="y"))
        [line] = jsonl.write(store.memories(), store.cues())
    assert "cue" not in json.loads(line)


def claude_folder(folder: Path) -> Path:
    (folder / "MEMORY.md").write_text(
        "# Memory\n- [Tabs](tabs.md) — they like tabs\n- [Gone](gone.md)\n"
        "- [Page](https://example.org/guide.md)\n- [Space](my%20notes.md)\n- [Loop](loop.md)\n"
        "- [Out](../secret.md)\n- [Staging](ref_staging.md#top)\n"
        "## Constraints\n- A note in the index itself.\n"
    )
    (folder / "my notes.md").write_text("Spaces are fine.\n")
    (folder / "tabs.md").write_text(
        "---\nname: tabs\ndescription: Use tabs, not spaces.\ntype: feedback\n---\n"
        "They corrected this twice.\n"
    )
    (folder / "ref_staging.md").write_text(
        "---\nname: staging\ndescription: 'Staging: eu-3'\ntype: reference\n---\n"
    )
    (folder / "architecture.md").write_text("---\ntype: architecture\n---\nIngest is in Rust.\n")
    (folder / "broken.md").write_text("---\nname: [unclosed\n---\nx\n")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "date.md").write_text("---\ndescription: 2020-13-45\n---\nx\n")
    (folder / "deep.md").write_text(f"---\nname: {'[' * 3000}\n---\nx\n")
    (folder / "empty.md").write_text("---\nname: empty\n---\n")
    (folder / "latin.md").write_bytes(b"\xe4")
    (folder / "colon.md").write_text(
        "---\nname: colon\ndescription: Deploy rule: never `on` Friday\ntype: feedback\n---\n"
    )
    (folder / "nested.md").write_text(
        "---\ndescription: Nested.\nmetadata:\n  type: reference\n  node: 3\n---\n"
    )
    (folder / "quoted.md").write_text('---\nmetadata: {\ndescription: "Un: closed"\n---\nBody.\n')
    (folder.parent / "secret.md").write_text("secret")
    return folder


def test_a_claude_code_folder(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    found = claude.read(claude_folder(folder))
    assert [(draft.category, draft.content) for draft in found.drafts] == [
        ("CONSTRAINTS", "A note in the index itself."),
        ("PROJECT_RULES", "Use tabs, not spaces.\nThey corrected this twice."),
        ("PROJECT_RULES", "Spaces are fine."),
        ("REFERENCE", "Staging: eu-3"),
        ("ARCHITECTURE", "Ingest is in Rust."),
        ("PROJECT_RULES", "x"),
        ("PROJECT_RULES", "Deploy rule: never `on` Friday"),
        ("PROJECT_RULES", "2020-13-45\nx"),
        ("PROJECT_RULES", "x"),
        ("REFERENCE", "Nested."),
        ("PROJECT_RULES", "Un: closed\nBody."),
    ]
    problems = sorted((Path(p.where).name, p.what) for p in found.problems)
    assert [name for name, _ in problems[:3]] == ["MEMORY.md"] * 3
    assert [name for name, _ in problems[3:]] == [
        "empty.md",
        "latin.md",
        "loop.md",
    ]
    assert [what for _, what in problems[:3]] == [
        "the link ../secret.md leads out of the folder",
        "the link gone.md leads to no file",
        "the link loop.md leads to no file",
    ]
    assert "neither a description nor a body" in problems[3][1]
    assert problems[4][1] == "not UTF-8 text (byte 0)"


def notes(text: str | bytes) -> list[tuple[str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    found = markdown.read(data, "x")
    assert not found.problems
    return [(draft.category, draft.content) for draft in found.drafts]


def test_a_file_that_starts_with_a_rule_loses_nothing() -> None:
    assert [content for _, content in notes("---\n\nIntro.\n\n---\n- item\n")] == ["Intro.", "item"]
    assert [content for _, content in notes("---\nglobs: '*.ts'\n# note\n---\n- item\n")] == [
        "item"
    ]
    assert [content for _, content in notes("---\n---\n- item\n")] == ["item"]


def test_html_is_read_as_its_text() -> None:
    text = (
        "<details>\n<summary>Known <b>limits</b></summary>\n\n- 5 retries\n\n</details>\n\n"
        "- after\n\n<p align='center'>Never &lt;b&gt; push</p>\n\n<!-- hidden -->\n\n"
        "<script>alert(1)</script>\n<style>\np { color: red }\n</style>\n\n"
        "- item\n  <p>inside</p>\n"
    )
    assert notes(text) == [
        ("CONSTRAINTS", "5 retries"),
        ("PROJECT_RULES", "after"),
        ("PROJECT_RULES", "Never <b> push"),
        ("PROJECT_RULES", "item inside"),
    ]


def test_a_line_in_bold_is_a_heading_and_a_sentence_is_not() -> None:
    text = (
        "# Rules\n**Naming:**\n\n- topics\n\n**Never force push.**\n\n__Deployment__\n\n- ship\n\n"
        "## Limits\n- five\n\n**Half** bold\n"
    )
    assert notes(text) == [
        ("NAMING", "topics"),
        ("NAMING", "**Never force push.**"),
        ("Deployment", "ship"),
        ("CONSTRAINTS", "five"),
        ("CONSTRAINTS", "**Half** bold"),
    ]


def test_what_has_no_words_is_no_memory() -> None:
    text = (
        "[![CI](https://x/b.svg)](https://x) ![logo][l]\n\n- [ ]\n- [x] done\n- ![a](b.png)\n"
        "- [Setup](#setup)\n- see [Setup](#setup) first\n\n---\n"
    )
    assert [content for _, content in notes(text)] == ["[x] done", "see [Setup](#setup) first"]


def test_an_item_keeps_its_order_of_words_and_code() -> None:
    text = "- run first:\n  ```sh\n  make\n  ```\n  then second\n\n  and third\n"
    assert [content for _, content in notes(text)] == [
        "run first:\n```sh\nmake\n```\nthen second and third"
    ]


def test_deep_nesting_is_read_to_the_end() -> None:
    text = "".join(f"{'  ' * depth}- level {depth}\n" for depth in range(60))
    assert [content for _, content in notes(text)] == [f"level {depth}" for depth in range(60)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_in_other_encodings_with_a_mark(encoding: str) -> None:
    assert notes("- hällo\n".encode(encoding)) == [("PROJECT_RULES", "hällo")]


@pytest.mark.parametrize("data", ["- hällo".encode("latin-1"), b"\xff\xfe-\x00\xd8"])
def test_text_that_is_none_is_a_problem_and_readable_where_it_is_skipped(data: bytes) -> None:
    found = markdown.read(data, "x")
    assert [problem.where for problem in found.problems] == ["x"]
    assert "not UTF-8 text" in found.problems[0].what and len(found.drafts) == 1


def test_a_json_array_of_memories() -> None:
    good = {"category": "A", "content": "x"}
    data = json.dumps([good, 3, {**good, "importance": 0}], indent=2).encode()
    for prefix in (b"", b"\n ", b"\xef\xbb\xbf"):
        found = jsonl.read(prefix + data, "m")
        assert [draft.content for draft in found.drafts] == ["x"]
        assert [problem.where for problem in found.problems] == ["m, entry 2", "m, entry 3"]
    [problem] = jsonl.read(b"[1,", "m").problems
    assert (problem.where, problem.what) == ("m", "not JSON: Expecting value (column 4)")


def test_an_empty_claude_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no notes"):
        claude.read(tmp_path)


def test_the_title_of_a_page_is_no_category() -> None:
    text = "# Repository Guidelines\n- first\n## Deployment\n- ship\n## Limits\n- five\n"
    assert notes(text) == [
        ("PROJECT_RULES", "first"), ("Deployment", "ship"), ("CONSTRAINTS", "five"),
    ]  # fmt: skip
    assert notes("# Naming\n- a\n# Limits\n- b\n") == [("NAMING", "a"), ("CONSTRAINTS", "b")]
    assert notes("# Naming\n- a\n") == [("NAMING", "a")]
    assert notes("# Portfolio\n- a\n") == [("Portfolio", "a")]
    assert notes("# Ports\n- a\n") == [("CONFIG_VALUES", "a")]


def test_an_alert_loses_its_label() -> None:
    assert notes("> [!WARNING]\n> Never push.\n") == [("PROJECT_RULES", "Never push.")]
