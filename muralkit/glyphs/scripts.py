"""What Unicode knows of a text: does it need shaping, where may it break, how is it ordered.

Most text is plain: a glyph a character, from left to right, parted at spaces. Only for
the rest are the libraries imported that have Unicode's tables; they are pinned, so the
tables are the same in every Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

# Characters that stand for themselves: one glyph each, whatever stands beside it, in
# scripts from left to right. All others are shaped. Listed, as in clean.py.
_SIMPLE = (
    " -\u02ff\u0370-\u0482\u048a-\u058f"  # Latin, Greek, Cyrillic, Armenian
    "\u10a0-\u10ff\u1200-\u135a\u1360-\u137c\u1380-\u1399\u13a0-\u167f"  # Georgian to Canadian
    "\u18b0-\u18f5\u1c80-\u1cbf\u1d00-\u1dbf\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u20cf"
    "\u2100-\u2cee\u2cf2-\u2d7e\u2d80-\u2ddf\u2e00-\u3029\u3030-\u3098\u309b-\ua4cf"  # signs, Han
    "\ua640-\ua66e\ua673\ua67e-\ua69d\ua700-\ua7ff\uab00-\uabbf\uac00-\ud7a3\ud800-\ufaff\ufb00-\ufb17"
    "\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff9d\uffa0-\uffef\ufffc-\uffff"  # full width
    "\U0001d400-\U0001d7ff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
    "\U00020000-\U0010ffff"
)
_SHAPED = re.compile(f"[^{_SIMPLE}]")

# Scripts without spaces, that break wherever UAX 14 says, and their punctuation.
_UNSPACED = "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U00020000-\U0003ffff"
_UNSPACED_BREAK = re.compile(f"(?<=[{_UNSPACED}])(?=[{_UNSPACED}])")
_INVOLVED = re.compile(f"[^{_SIMPLE}]|[{_UNSPACED}]")

# Blocks of scripts from right to left, and Arabic digits.
_RTL = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEVEL = re.compile(r"Level\(\s*(\d+)")
_LEVELS = ",\n    levels: ["

JOINERS = frozenset("\u200c\u200d")
"""What draws nothing, but decides whether its neighbours are joined."""


def involved(text: str) -> bool:
    """Whether a text needs more than a glyph a character and breaks at its spaces."""
    return _INVOLVED.search(text) is not None


def shaped(text: str) -> bool:
    """Whether a text's glyphs depend on one another."""
    return _SHAPED.search(text) is not None


def language(text: str) -> str:
    """Whose forms of Han a text takes: "ja" where it has kana."""
    return "ja" if _KANA.search(text) else ""


def graphemes(text: str) -> list[str]:
    """The text's extended grapheme clusters (UAX 29)."""
    if not shaped(text):
        return list(text)
    import unicode_segmentation_rs

    return _cut(text, unicode_segmentation_rs.graphemes(_scalars(text), True))


def units(word: str) -> list[str]:
    """A word's parts that a line may end between: where UAX 14 says so, and both sides
    are of scripts without spaces. Elsewhere a break could not be told from a space.
    """
    inside = {match.start() for match in _UNSPACED_BREAK.finditer(word)}
    if not inside:
        return [word]
    import unicode_segmentation_rs

    parts = [""]
    at = 0
    for part in _cut(word, unicode_segmentation_rs.line_break_units(_scalars(word))):
        if at in inside:
            parts.append("")
        parts[-1] += part
        at += len(part)
    return parts


def _cut(text: str, parts: Sequence[str]) -> list[str]:
    """The text itself, cut where its parts are."""
    cut, at = [], 0
    for part in parts:
        cut.append(text[at : at + len(part)])
        at += len(part)
    return cut


def _scalars(text: str) -> str:
    """Halves of surrogate pairs, which Rust has none of, as characters of no property."""
    return _SURROGATE.sub("\ufffd", text)


def levels(text: str) -> tuple[int, list[int]] | None:
    """The paragraph's level and that of each character (UAX 9); None: all from left to right.

    The paragraph goes by its first strong character.
    """
    if not _RTL.search(text):
        return None
    from bidi.wrapper import get_base_level, get_display

    plain = _scalars(text)
    base = get_base_level(plain)
    report = get_display(plain, base_dir="R" if base else "L", debug=True)
    _, _, tail = str(report).rpartition(_LEVELS)
    of_bytes = [int(match[1]) for match in _LEVEL.finditer(tail)]
    starts = accumulate((len(char.encode()) for char in plain[:-1]), initial=0)
    return base, [of_bytes[start] for start in starts]


def starts_rtl(text: str) -> bool:
    """Whether a text's first strong letter is one from right to left."""
    found = levels(text)
    return found is not None and found[0] == 1


def visual(levels: Sequence[int]) -> list[int]:
    """The order from left to right of a line's items, which have these levels (rule L2)."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = max(end, start + 1)
    return order
