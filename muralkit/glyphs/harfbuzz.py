"""A text of one script, face and direction in, placed glyphs out: HarfBuzz shapes it.

The only importer of uharfbuzz, which only text that needs it imports. Positions are
the font's own whole units, so they are the same on every machine.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import uharfbuzz

FURTHEST = 16
"""Em that a glyph may advance or be moved by: no bundled face moves the last of a
grapheme's 16 characters as far."""

MOST_GLYPHS = 64
"""Glyphs a character may become; the longest decomposition in Unicode has 18."""

# An identifier looks the same everywhere: its letters are not kerned or joined.
_SEPARATE = {"kern": False, "liga": False, "clig": False, "calt": False, "dlig": False}
_LETTERS = frozenset(("Latn", "Grek", "Cyrl", "", None))


class Glyph(NamedTuple):
    """A glyph by its number, its origin and its advance in em; y upwards.

    `cluster` is the index of the first character that it stands for.
    """

    number: int
    x: float
    y: float
    advance: float
    cluster: int


class Shaped(NamedTuple):
    """Glyphs from left to right, and how high and low their outlines reach, in em."""

    glyphs: tuple[Glyph, ...]
    top: float
    bottom: float


def opened(data: bytes) -> Any:
    """A font file for HarfBuzz, at a scale of its own units."""
    return uharfbuzz.Font(uharfbuzz.Face(data))


def shape(font: Any, em: int, text: str, rtl: bool, hyphen_gap: float) -> Shaped:
    """The glyphs of a text, each with the origin counted from the advances before it.

    `hyphen_gap` (em) parts two hyphens. Raises ValueError where the font's tables
    lead to what can't be drawn.
    """
    buffer = uharfbuzz.Buffer()
    buffer.add_codepoints([ord(char) for char in text])
    buffer.language = "und"  # else HarfBuzz takes the locale's
    buffer.guess_segment_properties()
    letters = buffer.script in _LETTERS and not _is_emoji(text)
    buffer.direction = "rtl" if rtl else "ltr"
    uharfbuzz.shape(font, buffer, _SEPARATE if letters else {})
    infos, positions = buffer.glyph_infos, buffer.glyph_positions
    if len(infos) > MOST_GLYPHS * len(text):
        raise ValueError("its tables make too many glyphs of a character")
    glyphs: list[Glyph] = []
    left = right = top = bottom = pen = 0
    for number, (info, place) in enumerate(zip(infos, positions, strict=True)):
        lengths = place.x_offset, place.y_offset, place.x_advance
        if any(abs(length) > FURTHEST * em for length in lengths):
            raise ValueError(f"its tables move a glyph by over {FURTHEST} em")
        gap = 0.0
        if number + 1 < len(infos) and text[info.cluster] == "-":
            gap = hyphen_gap if text[infos[number + 1].cluster] == "-" else 0.0
        glyphs.append(
            Glyph(
                info.codepoint,
                place.x_offset / em,
                place.y_offset / em,
                place.x_advance / em + gap,
                info.cluster,
            )
        )
        extents = font.get_glyph_extents(info.codepoint)
        if extents is not None and extents.width:
            x = pen + place.x_offset + extents.x_bearing
            left, right = min(left, x), max(right, x + extents.width)
            high = place.y_offset + extents.y_bearing
            top, bottom = max(top, high), min(bottom, high + extents.height)
        pen += place.x_advance
    if pen <= 0:  # a mark by itself would be drawn over what stands before it
        glyphs = _beside(glyphs, left / em, right / em)
    return Shaped(tuple(glyphs), top / em, bottom / em)


def _beside(glyphs: list[Glyph], left: float, right: float) -> list[Glyph]:
    """Glyphs that take no room, moved to the right of their origin, and taking it."""
    placed, pen = [], -left
    for glyph in glyphs:
        placed.append(glyph._replace(x=pen + glyph.x, advance=0.0))
        pen += glyph.advance
    return [*placed[:-1], *(glyph._replace(advance=right - left) for glyph in placed[-1:])]


@lru_cache(maxsize=4096)
def script(text: str) -> str:
    """The ISO code of the first script of a text, such as "Arab"; empty where it has none."""
    buffer = uharfbuzz.Buffer()
    buffer.add_codepoints([ord(char) for char in text])
    buffer.language = "und"
    buffer.guess_segment_properties()
    return buffer.script or ""


def _is_emoji(text: str) -> bool:
    return any(ord(char) >= 0x1F000 or char in "\u200d\u20e3" for char in text)
