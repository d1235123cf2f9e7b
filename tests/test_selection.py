"""What the text budget takes, what it leaves, and the block that an agent reads."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.model import CATEGORIES, Cue, Memory, Status, StoredCue
from muralkit.selection import block, current_cues, line, select
from muralkit.store import content_hash


def memory(
    number: int,
    content: str = "x",
    importance: int | None = 50,
    category: str = "NAMING",
    status: Status = Status.ACTIVE,
) -> Memory:
    return Memory(number, category, importance, status, content)


def characters(text: str) -> int:
    """An estimate that can be counted by hand: a token a character."""
    return len(text)


EMPTY = len("<project-memory>\n</project-memory>")
TAGS = len("<NAMING></NAMING>")


def test_the_wrapper_a_line_and_its_categorys_tags_are_paid_for() -> None:
    one = memory(1, "abc")  # its line is "#1: abc"
    assert select([one], EMPTY + TAGS + 7, characters).inline == (one,)
    short = select([one], EMPTY + TAGS + 6, characters)
    assert (short.inline, short.overflow, short.tokens) == ((), (one,), EMPTY)


def test_a_second_memory_of_a_category_pays_only_its_line() -> None:
    pool = [memory(1, "abc"), memory(2, "abc")]
    assert len(select(pool, EMPTY + TAGS + 14, characters).inline) == 2
    assert len(select(pool, EMPTY + TAGS + 13, characters).inline) == 1


def test_permanent_comes_first_then_importance_then_age() -> None:
    pool = [
        memory(1, importance=None),
        memory(2, importance=90),
        memory(3, importance=10, status=Status.PERMANENT),
        memory(4, importance=50),
        memory(5, importance=49),
    ]
    assert [m.id for m in select(pool, 0).overflow] == [3, 2, 1, 4, 5]


def test_what_does_not_fit_is_passed_over_and_a_smaller_one_still_fits() -> None:
    pool = [memory(1, "x" * 50, 90), memory(2, "y", 80), memory(3, "z" * 40, 70), memory(4, "w", 1)]
    chosen = select(pool, EMPTY + TAGS + 10, characters)
    assert [m.id for m in chosen.inline] == [2, 4]
    assert [m.id for m in chosen.overflow] == [1, 3]


def test_the_block() -> None:
    pool = [
        memory(9, "use </NAMING> & <b>\nin\tone line", category="zoo"),
        memory(3, "b"),
        memory(2, "a"),
        memory(7, "rule", category="PROJECT_RULES"),
    ]
    assert block(pool) == (
        "<project-memory>\n"
        "<PROJECT_RULES>\n#7: rule\n</PROJECT_RULES>\n"
        "<NAMING>\n#2: a\n#3: b\n</NAMING>\n"
        '<CATEGORY name="zoo">\n'
        "#9: use &lt;/NAMING&gt; &amp; &lt;b&gt; in one line\n</CATEGORY>\n"
        "</project-memory>"
    )


pools = st.lists(
    st.builds(
        memory,
        st.integers(1, 9999),
        st.text(max_size=60),
        st.none() | st.integers(1, 100),
        st.sampled_from([*CATEGORIES, "other"]),
        st.sampled_from([Status.ACTIVE, Status.PERMANENT]),
    ),
    max_size=30,
    unique_by=lambda m: m.id,
)


@given(pools, st.integers(0, 2000))
def test_any_pool_is_parted_and_the_block_is_within_the_budget(
    pool: list[Memory], budget: int
) -> None:
    chosen = select(pool, budget, characters)
    assert sorted(m.id for m in (*chosen.inline, *chosen.overflow)) == sorted(m.id for m in pool)
    lines = block(chosen.inline).split("\n")
    # newlines between lines are not in the estimate of a line
    assert not chosen.inline or sum(map(len, lines)) + 1 == chosen.tokens <= budget
    assert all("\n" not in line(m) for m in pool)
    assert select(list(reversed(pool)), budget, characters) == chosen


def test_only_current_cues_are_drawn_in_their_order() -> None:
    pool = [memory(n, f"content {n}", n * 10, CATEGORIES[n % 2]) for n in range(1, 7)]

    def cue(number: int, of: str | None = None, text: str = "cue") -> StoredCue:
        return StoredCue(number, text, content_hash(of or f"content {number}"), "m", 1, 0)

    cues = {1: cue(1), 2: cue(2), 3: cue(3, "older"), 4: cue(4, text=""), 6: cue(6)}
    assert current_cues(pool, cues) == [
        Cue(6, "PROJECT_RULES", 60, "cue"),
        Cue(2, "PROJECT_RULES", 20, "cue"),
        Cue(1, "ARCHITECTURE", 10, "cue"),
    ]


@pytest.mark.parametrize(
    "category",
    ["/project-memory", "system-reminder", "/memory-mural", 'x" y="', "a\nb", "A>", "Ä", "a b"],
)
def test_no_category_can_be_taken_for_another_tag(category: str) -> None:
    lines = block([memory(1, "x", category=category)]).splitlines()
    assert lines[0] == "<project-memory>" and lines[-1] == "</project-memory>"
    assert re.fullmatch(r"<CATEGORY name=(\"[^\"<>]*\"|'[^'<>]*')>", lines[1])
    assert lines[2:-1] == ["#1: x", "</CATEGORY>"]
