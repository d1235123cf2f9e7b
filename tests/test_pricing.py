"""Prices by provider, held against the published and measured table (2026-11)."""

from __future__ import annotations

import pytest

from muralkit.model import Cue
from muralkit.pricing import FAMILIES, as_text, text_tokens

# 1092 x 1092, 616 x 308 and 1568 x 728 px
TABLE = {
    "Claude": (1521, 242, 1456),
    "OpenAI GPT-5.4 to 6, 5-mini": (1470, 240, 1353),
    "OpenAI gpt-5-nano": (1838, 300, 1691),
    "OpenAI o4-mini": (2107, 344, 1939),
    "OpenAI 4.1-mini": (1985, 324, 1826),
    "OpenAI 4.1-nano": (3014, 492, 2773),
    "OpenAI gpt-4o": (765, 425, 1445),
    "OpenAI gpt-5": (630, 350, 1190),
    "OpenAI o1, o3": (675, 375, 1275),
    "OpenAI gpt-4o-mini": (25501, 14167, 48169),
    "Gemini 3": (1120, 1120, 1120),
    "Gemini 2.5": (1032, 2064, 2064),
    "Grok": (1193, 190, 1142),
    "Qwen2.5-VL": (1521, 242, 1456),
    "Qwen3-VL": (1156, 190, 1127),
    "Kimi K2.5, GLM-4.6V": (1521, 242, 1456),
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_price_of_a_picture(family: object) -> None:
    from muralkit.pricing import Family

    assert isinstance(family, Family)
    sizes = ((1092, 1092), (616, 308), (1568, 728))
    assert tuple(family.tokens(*size) for size in sizes) == TABLE[family.name]


def test_every_family_of_the_table_is_priced() -> None:
    assert {family.name for family in FAMILIES} == set(TABLE)


def test_small_pictures_on_gemini_have_a_flat_price() -> None:
    gemini = next(family for family in FAMILIES if family.name == "Gemini 2.5")
    assert [gemini.tokens(28, 28), gemini.tokens(384, 384)] == [258, 258]
    assert gemini.tokens(385, 28) > 258


def test_text_is_estimated_by_its_characters() -> None:
    assert [text_tokens(t) for t in ("", "a", "abcdefg", "abcdefgh")] == [0, 1, 2, 3]
    cues = [Cue(1, "A", 5, "x"), Cue(2, "B", 5, "y"), Cue(3, "A", 5, "z")]
    assert as_text(cues) == "A\n- x\n- z\nB\n- y\n"
