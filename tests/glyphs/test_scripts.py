"""Bidi, line breaks and graphemes are Unicode's, by pinned tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.glyphs import scripts


def displayed(text: str) -> str:
    """A text's characters from left to right, as one line (mirroring is the font's)."""
    found = scripts.levels(text)
    levels = found[1] if found else [0] * len(text)
    return "".join(text[index] for index in scripts.visual(levels))


@pytest.mark.parametrize(
    ("text", "base", "levels"),
    [
        # UAX 9: numbers in a right-to-left run stand a level higher (I1, I2)
        ("abc אבג 123 x", 0, "0000111122200"),
        ("אבג abc 123", 1, "11112222222"),  # W7: a number behind Latin is Latin
        ("اب ١٢", 1, "11122"),
        ("اب 12", 1, "11122"),  # W2: a European number behind Arabic is an Arabic one
        ("אב 1,2 ג", 1, "11122211"),  # W4: the comma between digits is theirs
        ("א-1", 1, "112"),  # W4 needs digits on both sides; W6
        ("a (ב) c", 0, "0001000"),  # N0: brackets take the outer direction
        ("ב (a) ג", 1, "1112111"),
    ],
)
def test_levels_are_those_of_the_bidi_algorithm(text: str, base: int, levels: str) -> None:
    assert scripts.levels(text) == (base, [int(level) for level in levels])


@pytest.mark.parametrize(
    ("levels", "order"),
    [
        # The examples of rule L2, as indices: "car means CAR." and its kin
        ([0] * 10 + [1, 1, 1] + [0], [*range(10), 12, 11, 10, 13]),
        ([1, 1, 1, 2, 2, 2, 1], [6, 3, 4, 5, 2, 1, 0]),
        ([0, 0, 1, 1, 2, 2, 1, 0], [0, 1, 6, 4, 5, 3, 2, 7]),
        ([2, 1, 2], [2, 1, 0]),
        ([], []),
    ],
)
def test_a_line_is_reversed_from_its_highest_level_down(
    levels: list[int], order: list[int]
) -> None:
    assert scripts.visual(levels) == order


def test_texts_as_they_are_seen() -> None:
    assert displayed("car means אבג.") == "car means גבא."
    assert displayed("אבג means CAR") == "means CAR גבא"  # the first strong letter decides
    assert displayed("שלום 123 עולם") == "םלוע 123 םולש"
    assert displayed("port 80") == "port 80"


@given(st.text(st.sampled_from("aב١1 -(),ا日"), max_size=30))
def test_the_order_of_a_line_is_a_permutation(text: str) -> None:
    assert sorted(displayed(text)) == sorted(text)


def test_text_from_left_to_right_needs_no_levels() -> None:
    assert scripts.levels("plain → 日本 ก้ क्षि") is None


@pytest.mark.parametrize(
    ("word", "units"),
    [
        ("提交前", ["提", "交", "前"]),
        ("推送」後。", ["推", "送」", "後。"]),  # closing marks stay with what they close (LB 13)
        ("は「伝票」", ["は", "「伝", "票」"]),  # opening ones with what they open (LB 14)
        ("メッセージ", ["メッ", "セー", "ジ"]),  # small kana and the long mark (LB 21, CJ)
        (
            "使用Python3编写",
            ["使", "用Python3编", "写"],
        ),  # not at Latin: it would look like a space
        ("svc/画布_3c1.ts", ["svc/画", "布_3c1.ts"]),
        ("변경기록", ["변경기록"]),  # Korean has spaces
        ("plain/word", ["plain/word"]),
        ("กำลังทดสอบ", ["กำลังทดสอบ"]),  # UAX 14 leaves Thai to dictionaries
        ("", [""]),
    ],
)
def test_words_of_scripts_without_spaces_part_where_uax_14_says(
    word: str, units: list[str]
) -> None:
    assert scripts.units(word) == units


@pytest.mark.parametrize(
    ("text", "graphemes"),
    [
        ("क्षि", ["क्षि"]),
        ("नमस्ते", ["न", "म", "स्ते"]),
        ("👩‍💻👍🏽", ["👩‍💻", "👍🏽"]),
        ("🇹🇷🇩🇪", ["🇹🇷", "🇩🇪"]),
        ("x̣̂y", ["x̣̂", "y"]),
        ("กำน้ำ", ["กำ", "น้ำ"]),
        ("각a", ["각", "a"]),
        ("a\ud800b̂", ["a", "\ud800", "b̂"]),
    ],
)
def test_graphemes_are_those_of_uax_29(text: str, graphemes: list[str]) -> None:
    assert scripts.graphemes(text) == graphemes


@given(st.text(max_size=30))
def test_nothing_of_a_text_is_lost(text: str) -> None:
    assert "".join(scripts.graphemes(text)) == text
    assert "".join(scripts.units(text)) == text
    found = scripts.levels(text)
    assert found is None or len(found[1]) == len(text)


def test_each_character_that_counts_as_simple_is_a_grapheme_by_itself() -> None:
    import unicode_segmentation_rs

    from muralkit.glyphs.clean import clean

    codes = (code for code in range(0x20, 0x110000) if not 0xD800 <= code < 0xE000)
    simple = [chr(code) for code in codes if not scripts.shaped(chr(code))]
    simple = [char for char in simple if clean(f"a{char}a") == (f"a{char}a", 0)]
    # What Unicode itself would join: nothing is, of characters that stand for themselves.
    text = "".join(char + "a" for char in simple) + "".join(simple)
    found = unicode_segmentation_rs.graphemes(text, True)
    assert [part for part in found if len(part) > 1 and part != "\r\n"] == []


def test_whatever_runs_from_right_to_left_is_shaped() -> None:
    from unicodedata import bidirectional

    strong = [chr(c) for c in range(0x110000) if bidirectional(chr(c)) in ("R", "AL", "AN")]
    from muralkit.glyphs.clean import clean

    kept = [char for char in strong if clean(f"a{char}a")[1] == 0]
    assert [char for char in kept if not scripts.shaped(char)] == []
    assert [char for char in kept if scripts.levels(f"a{char}a") is None] == []


def test_kana_makes_a_text_japanese() -> None:
    assert scripts.language("骨の角") == "ja"
    assert scripts.language("骨角") == ""
