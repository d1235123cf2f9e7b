"""What a cue may be, with the numbers that are promised."""

from __future__ import annotations

import pytest

from muralkit.cues.validate import budget, fault, forbids, identifiers
from muralkit.model import Memory, Status


def memory(content: str, importance: int | None = 50, number: int = 7) -> Memory:
    return Memory(number, "NAMING", importance, Status.ACTIVE, content)


@pytest.mark.parametrize(
    ("importance", "most"), [(1, 50), (69, 50), (70, 90), (100, 90), (None, 50)]
)
def test_the_budget_by_importance(importance: int | None, most: int) -> None:
    assert budget(memory("x", importance)) == most
    assert fault("w" * most, memory("x", importance)) == ""
    assert "are allowed" in fault("w" * (most + 1), memory("x", importance))


def test_the_budget_counts_code_points() -> None:
    assert fault("日" * 50, memory("x")) == "" and fault("日" * 51, memory("x"))


@pytest.mark.parametrize(
    ("cue", "problem"),
    [
        ("", "blank"),
        ("  ", "blank"),
        ("a\nb", "one line"),
        ("a\rb", "one line"),
        ("a\x00b", "one line"),
        ("a\u200bb", "one line"),
        ("a\u202eb", "one line"),
        ("a  b", "one line"),
        (" a", "one line"),
        ("a (b", "parentheses"),
        ("a) b (c", "parentheses"),
        ("see #7", "own number"),
        ("#7: a", "own number"),
        ("⊘thing", "reason in parentheses"),
        ("⊘(reason)", "reason in parentheses"),
        ("⊘thing ()", "reason in parentheses"),
        ("⊘thing (!)", "reason in parentheses"),
        ("⊘a (b) ⊘c", "reason in parentheses"),
        ("(b) ⊘a", "reason in parentheses"),
        ("⊘a(b)", "reason in parentheses"),
        ("⊘((a))", "reason in parentheses"),
    ],
)
def test_a_wrong_cue_says_why(cue: str, problem: str) -> None:
    assert problem in fault(cue, memory("a b c thing reason see"))


@pytest.mark.parametrize(
    "cue",
    ["#77 fixed", "a (b) c", "⊘a (b)", "x → y ∵ z", "⊘a b (c) ⊘d (e)", "⊘a, ⊘b (c)", "⊘a（b）"],
)
def test_a_right_cue_is_right(cue: str) -> None:
    assert fault(cue, memory("#77 fixed: a, b, c, d, e; x, y, z")) == ""


@pytest.mark.parametrize(
    "content",
    [
        "You must not push.",
        "Never push.",
        "Build without cache.",
        "Use a instead of b.",
        "We exclude tests.",
        "Do not push.",
        "Don't push.",
        "Pushing is forbidden.",
        "Niemals pushen.",
        "禁止推送",
        "푸시 금지",
    ],
)
def test_a_prohibition_must_carry_its_sign(content: str) -> None:
    assert forbids(content)
    assert "forbids something" in fault("push", memory(content))
    assert fault("⊘push (rule)", memory(content)) == ""


@pytest.mark.parametrize("content", ["Push at once.", "The nevermore service", "a mustnt b"])
def test_other_words_are_no_prohibition(content: str) -> None:
    assert not forbids(content)


CONTENT = (
    "Run `make -j8 all` in src/app_v2.py:14 with --dry-run; see #451, @team-x, v1.2.3-rc1 and "
    "https://example.org/a?b=1. SnapshotZ9Probe takes 46ms, 3f9a2c1, 50% and ERR_2417."
)


@pytest.mark.parametrize(
    "cue",
    [
        "src/app_v2.py:14 → --dry-run",
        "SnapshotZ9Probe ≤46ms ∵ ERR_2417",
        "make -j8 all ≺ #451",
        "v1.2.3-rc1, 3f9a2c1 (@team-x)",
        "https://example.org/a?b=1",
        "plain words and Names → free",
        "take 46ms → see-with",
    ],
)
def test_copied_identifiers_are_fine(cue: str) -> None:
    assert fault(cue, memory(CONTENT, 90)) == ""


@pytest.mark.parametrize(
    ("cue", "altered"),
    [
        ("src/app_v3.py", "src/app_v3.py"),
        ("src/app-v2.py", "src/app-v2.py"),
        ("--dryrun", "--dryrun"),
        ("#452", "#452"),
        ("SnapshotZ9probe", "SnapshotZ9probe"),
        ("47ms", "47ms"),
        ("3f9a2c2", "3f9a2c2"),
        ("ERR_2418", "ERR_2418"),
        ("v1.2.4", "v1.2.4"),
        ("@team_x", "@team_x"),
        ("≤46ms → 51%", "51%"),
        ("46", "46"),
        ("1.2.3", "1.2.3"),
        ("src/app_v2", "src/app_v2"),
        ("app_v2.py", "app_v2.py"),
        ("-50%", "-50%"),
        (".env", ".env"),
        ("-v", "-v"),
        ("cafebabe", "cafebabe"),
        ("PRODUCTION", "PRODUCTION"),
        ("billing-commands", "billing-commands"),
        ("tеam", "tеam"),
    ],
)
def test_an_altered_or_invented_identifier_is_refused(cue: str, altered: str) -> None:
    assert fault(cue, memory(CONTENT, 90)).startswith(repr(altered))


def test_identifiers_are_what_a_wrong_character_spoils() -> None:
    text = "the fooBar(x) in a/b_c.py, at 3.5 (→ --flag, #9): plain pre-push word."
    assert identifiers(text) == [
        "fooBar", "a/b_c.py", "3.5", "--flag", "#9",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "cue"),
    [
        ("Works with app.py, e.g. for tests.", "app.py w/ tests, e.g. tests"),
        ("A read only disk.", "read-only disk"),
        ("端口8080用于API", "端口8080 → API"),
    ],
)
def test_what_is_short_for_the_memory_s_own_words_is_fine(content: str, cue: str) -> None:
    assert fault(cue, memory(content, 90)) == ""


@pytest.mark.parametrize(
    ("content", "cue"),
    [
        ("Port 8080 is open.", "port 80"),
        ("nginx 1.25.3", "nginx 1.2"),
        ("At most 10000 rows.", "≤100 rows"),
        ("It takes 1.5 s.", "5 s"),
        ("the table user_profile_old", "user_profile"),
        ("It takes 300 seconds.", "30s"),
        ("It takes 30 seconds.", "30s"),
        ("It has three replicas.", "3 replicas"),
        ("The app is in src.", "src/app"),
        ("CI and CD run.", "CI/CD"),
        ("fixed in deadbeef12345678", "beef1234"),
    ],
)
def test_a_part_of_an_identifier_is_another_one(content: str, cue: str) -> None:
    assert "does not stand in the memory" in fault(cue, memory(content, 90))
