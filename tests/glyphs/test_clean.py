"""Text is cleaned to one line with nothing invisible in it."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.glyphs.clean import clean, escape


def flag(region: str) -> str:
    return "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"


@pytest.mark.parametrize(
    ("text", "expected", "stripped"),
    [
        ("plain", "plain", 0),
        ("  a   b  ", "a b", 0),
        ("a\tb\nc\r\nd", "a b c d", 0),
        ("a\u2028b\u3000c\xa0d", "a b c d", 0),
        ("a\x00b\x1b[31mc\x7f", "ab[31mc", 3),
        ("a\u200bb\u200dc\ufeff", "abc", 3),
        ("a\u202eb\u2066c\u200f", "abc", 3),
        ("soft\xadhyphen", "softhyphen", 1),
        ("tag\U000e0041", "tag", 1),
        ("e\u0301", "é", 0),
        # So do the forms of Bengali and Kannada that a joiner before a virama asks for,
        # and a letter's form at the end of a word.
        ("র\u200d্যাম", "র\u200d্যাম", 0),
        ("ರ\u200d್ಯ", "ರ\u200d್ಯ", 0),
        ("അവന്\u200d x", "അവന്\u200d x", 0),
        ("അവന\u200d x", "അവന x", 1),
        # Where words part in a script without spaces, a line may break.
        ("ภาษา\u200b\u200bไทย", "ภาษา\u200bไทย", 1),
        ("\u200bภาษา\u200b x\u200by", "ภาษา x\u200by".replace("\u200b", ""), 3),
        # More than a grapheme's share of marks is stripped, of whatever class.
        ("ส" + "\u0e47" * 27, "ส" + "\u0e47" * 15, 12),
        ("ب" + "\u08f0" * 40 + "ت", "ب" + "\u08f0" * 15 + "ت", 25),
        ("👩" + "\u200d👩" * 20, "👩" + "\u200d👩" * 7, 26),
        # NFC of today's Unicode, where that of 3.2 was wrong or had nothing.
        ("\U0002f874\ufa2e\ufad9", "\u5f53\u90de\u9f8e", 0),
        # Tags stay where they tell one of the three flags that there are.
        (f"a{flag('gbeng')}b{flag('gbsct')}", f"a{flag('gbeng')}b{flag('gbsct')}", 0),
        (flag("gbwls"), flag("gbwls"), 0),
        (flag("usca"), "🏴", 5),
        (flag("gbeng")[:-1], "🏴", 5),
        (flag("gbeng")[1:], "", 6),
        (f"{flag('gbeng')}\U000e0041", flag("gbeng"), 1),
        # Joiners stay where they decide what is drawn, one of them.
        ("👩\u200d💻", "👩\u200d💻", 0),
        ("👩🏽\u200d\u200d💻", "👩🏽\u200d💻", 1),
        ("👩\u200c💻", "👩💻", 1),
        ("⏱\ufe0f", "⏱", 1),
        ("می\u200cشود", "می\u200cشود", 0),
        ("र्\u200dय", "र्\u200dय", 0),
        ("ب\u200c ت", "ب ت", 1),
        ("ب\u200c\u064e", "ب\u064e", 1),
        ("\u200cب\u200d", "ب", 2),
        ("e\u200d\u0301", "é", 1),
        ("\u200b \n", "", 1),
    ],
)
def test_clean(text: str, expected: str, stripped: int) -> None:
    assert clean(text) == (expected, stripped)


@given(st.text())
def test_cleaned_text_is_one_line_without_invisible_characters(text: str) -> None:
    cleaned, _ = clean(text)
    assert cleaned == cleaned.strip(" ") and "  " not in cleaned
    kinds = {unicodedata.category(char) for char in cleaned if char != " "}
    assert not kinds & {"Cc", "Zs", "Zl", "Zp"}
    assert not any(
        unicodedata.bidirectional(c) in ("LRO", "RLO", "LRE", "RLE", "PDF") for c in cleaned
    )
    assert clean(cleaned) == (cleaned, 0)


@given(st.text(st.sampled_from("aب\u064eक\u094d👩🏽\u0301\u200c\u200d\ufe0f "), max_size=40))
def test_text_with_joiners_is_cleaned_once(text: str) -> None:
    cleaned, _ = clean(text)
    assert clean(cleaned) == (cleaned, 0)


def test_a_million_joiners_take_no_time() -> None:
    cleaned, stripped = clean("ب" + ("\u064e" * 30 + "\u200c") * 30_000 + "ت")
    assert (cleaned.count("\u064e"), stripped > 900_000) == (8, True)


def test_every_format_character_of_this_python_is_invisible_or_has_a_picture() -> None:
    """What Unicode calls Cf is stripped, but for signs that are drawn before digits."""
    kept = {
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) == "Cf" and clean(f"a{chr(code)}b")[1] == 0
    }
    assert kept <= {
        *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD,
        *range(0x13430, 0x13440),
    }  # fmt: skip


def test_escape_shows_the_code_point() -> None:
    assert escape("𓀀") == "[U+13000]"
    assert escape("\ue000") == "[U+E000]"


def test_marks_beyond_eight_on_a_character_are_stripped() -> None:
    assert clean("x" + "\u0323" * 500 + "y") == ("x" + "\u0323" * 8 + "y", 492)
    assert clean("a\u0323\u0302\u0301") == ("ậ\u0301", 0)


def test_a_million_marks_take_no_time() -> None:
    cleaned, stripped = clean(("a" + "\u0330" * 1000) * 1000)
    assert (len(cleaned), stripped) == (9_000, 992_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301", "é"),  # composed since Unicode 1.1
        ("\u1e9b\u0323", "\u1e9b\u0323"),  # NFC keeps it
        ("\uac00\u11a8", "\uac01"),  # Hangul, by rule
        ("\U0001d400\u0301", "\U0001d400\u0301"),
        # Composed since Unicode 16, which Python 3.14 has and 3.13 has not: left alone in all.
        ("\U00016121\U0001611e", "\U00016121\U0001611e"),
        # Balinese, since Unicode 5.0, a sequence that every Python in use would compose.
        ("\u1b05\u1b35", "\u1b05\u1b35"),
    ],
)
def test_every_python_normalises_alike(text: str, expected: str) -> None:
    assert clean(text) == (expected, 0)


@given(st.text(st.characters(max_codepoint=0x25FF), max_size=8))
def test_the_short_way_is_the_long_way(text: str) -> None:
    short = clean(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muralkit.glyphs.clean._PLAIN", re.compile("(?!)"))
        assert clean(text) == short


def test_every_plain_character_is_as_it_is_in_the_long_way() -> None:
    for code in range(0x2600):
        short = clean(f"a{chr(code)}b")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("muralkit.glyphs.clean._PLAIN", re.compile("(?!)"))
            assert clean(f"a{chr(code)}b") == short, hex(code)


@given(
    st.text(
        st.sampled_from("ا\u1100\u0dca\u1039🏴\u0f71\u0600\u1014\u200d\u200b\u0301👩\u0e47"),
        max_size=90,
    )
)
def test_what_was_cut_is_clean(text: str) -> None:
    cleaned, _ = clean(text)
    assert clean(cleaned) == (cleaned, 0)
