"""Line breaks and graphemes are Unicode's, by pinned tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.glyphs import scripts


@pytest.mark.parametrize(
    ("word", "units"),
    [
        ("提交前", ["提", "交", "前"]),
        ("推送」後。", ["推", "送」", "後。"]),  # closing marks stay with what they close (LB 13)
        ("བཀྲ་ཤིས་བདེ", ["བཀྲ་", "ཤིས་", "བདེ"]),  # Tibetan, at each tsheg
        ("ሰላም፡ለዓለም", ["ሰላም፡", "ለዓለም"]),
        ("ภาษา\u200bไทย", ["ภาษา\u200b", "ไทย"]),
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


def test_kana_makes_a_text_japanese() -> None:
    assert scripts.language("骨の角") == "ja"
    assert scripts.language("骨角") == ""
