"""Cues without a model: valid for any memory, and good for real ones."""

from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.cues.rules import cue
from muralkit.cues.validate import budget, fault, identifiers
from muralkit.model import Memory, Status
from tests.conftest import DATA
from tests.cues.test_validate import memory


def corpus() -> list[Memory]:
    lines = (DATA / "memories_600.jsonl").read_text("utf-8").splitlines()
    return [
        Memory(e["id"], e["category"], e["importance"], Status(e["status"]), e["content"])
        for e in map(json.loads, lines)
    ]


def test_every_cue_of_the_corpus_is_valid_and_keeps_the_identifiers() -> None:
    shares = []
    for entry in corpus():
        made = cue(entry)
        assert fault(made, entry) == "" and len(made) <= budget(entry)
        names = set(identifiers(entry.content))
        if names:
            shares.append(sum(name in made for name in names) / len(names))
    assert len(shares) > 500 and statistics.median(shares) >= 0.5


@pytest.mark.parametrize(
    ("content", "importance", "expected"),
    [
        (
            "Never edit auth/gate.yaml by hand. It is generated from src/t.ex with `--out`.",
            90,
            "⊘edit auth/gate.yaml hand (← src/t.ex --out)",
        ),
        ("ledger-d listens on port 17774.", 50, "ledger-d listens port 17774"),
        (
            "Deploys on Friday are forbidden because nobody is on call.",
            90,
            "⊘Deploys Friday (nobody call)",
        ),
        (
            "Use pnpm instead of npm: the lock file is pnpm's.",
            90,
            "Use pnpm ⊘npm (lock file pnpm's)",
        ),
        ("Run `make gen` before each push.", 50, "Run make gen ≺ ∀ push"),
        ("Метрики называются vault_total.", 50, "Метрики называются vault_total"),
        (
            "커밋 접두어는 feat(a9): 형식을 사용합니다.",
            50,
            "커밋 접두어는 feat(a9) 형식을 사용합니다",
        ),
        ("数据库迁移放在 src/db 目录。", 50, "数据库迁移放在 src/db 目录。"),
    ],
)
def test_what_the_rules_make(content: str, importance: int, expected: str) -> None:
    assert cue(memory(content, importance)) == expected


@pytest.mark.parametrize(
    "content",
    [
        "", "()", "⊘", "#7", "#7 #7", "((((", "a" * 500, "/".join("abc" for _ in range(99)),
        "日" * 500, "never", "never " * 50, "never #7", "禁止", "must not ()", "⊘ never (",
        "\u202e\u200b", "x\u0301" * 80, "without " + "a/b" * 60, "```\ncode\n```", "e\u0301" * 30,
    ],
)  # fmt: skip
def test_any_memory_has_a_valid_cue(content: str) -> None:
    for importance in (10, 90):
        entry = memory(content, importance)
        assert fault(cue(entry), entry) == ""


WORDS = st.sampled_from(
    ["never", "must not", "(", ")", "⊘", "#7", "#77", "a/b.c", "because", "。", "日本", "x", "()",
     "é", "--flag", "instead of", ":", ";", "∵", "→", "\n", "é\u0301", "without", "禁止", "7"]
)  # fmt: skip


@given(st.text(max_size=200) | st.lists(WORDS, max_size=40).map(" ".join), st.integers(1, 100))
def test_any_text_has_a_valid_cue(content: str, importance: int) -> None:
    entry = memory(content, importance)
    made = cue(entry)
    assert fault(made, entry) == ""
    assert cue(entry) == made


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Deployments to prod are not automatic.", "Deployments prod not automatic"),
        ("The API does not support pagination.", "API not support pagination"),
        ("Enabled in staging, not in production.", "Enabled staging not production"),
        ("It means OutboxReaper, not the row.", "→ OutboxReaper not row"),
        ("Keep secrets in .env files.", "Keep secrets .env files"),
        ("There is no cache.", "no cache"),
        ("Der Cache ist nicht geteilt.", "Cache nicht geteilt"),
    ],
)
def test_a_negation_is_never_lost(content: str, expected: str) -> None:
    assert cue(memory(content)).removeprefix("→ ") == expected.removeprefix("→ ")


def test_a_reason_behind_because_stands_in_the_parentheses() -> None:
    made = cue(memory("You must not push because the hook is slow.", 90))
    assert made == "You ⊘push (hook slow)" or made == "⊘push (hook slow)"
