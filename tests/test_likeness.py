"""How alike two words are: exact costs, and what holds for any two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.likeness import ALIKE, GAP, glyphs
from muralkit.manifest import confusions

WORDS = st.text("abcdrnmlI10O8-/.", max_size=12)


@pytest.mark.parametrize(
    ("one", "other", "cost"),
    [
        ("a3f8e5", "a3f8e5", 0),
        ("a8f8e5", "a3f8e5", ALIKE),
        ("axf8e5", "a3f8e5", 1),
        ("af8e5", "a3f8e5", GAP),
        ("a3f8e5", "af8e5", GAP),
        ("OO8", "000", 3 * ALIKE),
        ("rnodern", "modern", ALIKE),
        ("modem", "modern", ALIKE),
        ("rnodem", "modern", ALIKE),
        ("rnodern_a8", "modern_a3", 2 * ALIKE),
        ("-no", "--no", ALIKE),
        ("ab", "ba", 2),
        ("", "ab", 2 * GAP),
    ],
)
def test_what_differences_cost(one: str, other: str, cost: float) -> None:
    assert glyphs().distance(one, other) == cost


def test_what_a_theme_declares_is_alike_too() -> None:
    pixel = glyphs(("xk", "ri=n"))
    assert glyphs().distance("xa", "ka") == 1 and pixel.distance("xa", "ka") == ALIKE
    assert pixel.distance("riame", "name") == ALIKE == glyphs().distance("rnap", "map")


def test_in_lower_case_a_b_is_like_an_8() -> None:
    assert glyphs(folded=True).distance("b0", "80") == ALIKE and glyphs().distance("b0", "80") == 1


@pytest.mark.parametrize("entry", ["", "H", "HH", "=n", "rn=", "rn=rn", "m=rn", "="])
def test_what_is_neither_a_set_nor_a_run_is_an_error(entry: str) -> None:
    if entry in ("=n", "rn="):
        assert confusions([entry]) == ([entry], {})  # a sign of equality among glyphs
    else:
        with pytest.raises(ValueError, match=r"such as (HK|rn=m)"):
            confusions([entry])


@given(WORDS, WORDS)
def test_only_a_word_itself_is_no_distance_off(one: str, other: str) -> None:
    distance = glyphs().distance(one, other)
    assert (distance == 0) == (one == other)
    assert distance <= GAP * (len(one) + len(other))


@given(WORDS.filter(bool), WORDS.filter(bool))
def test_a_likeness_is_a_part_of_the_longer_word(one: str, other: str) -> None:
    likeness = glyphs().likeness(one, other)
    assert likeness == 0 or 0.5 < likeness <= 1
    assert (likeness == 1) == (one == other)
