"""What Unicode knows of a text: does it need shaping, and where may it break.

Most text is plain: a glyph a character, parted at spaces. Only for the rest are the
libraries imported that have Unicode's tables (here and in bidi.py); they are pinned, so
the tables are the same in every Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Characters that stand for themselves: one glyph each, whatever stands beside it, in
# scripts from left to right. All others are shaped. Listed, as in clean.py.
_SIMPLE = (
    " -\u02ff\u0370-\u0482\u048a-\u058f"  # Latin, Greek, Cyrillic, Armenian
    "\u10a0-\u10ff\u1200-\u135a\u1360-\u137c\u1380-\u1399\u13a0-\u167f"  # Georgian to Canadian
    "\u18b0-\u18f5\u1c80-\u1cbf\u1d00-\u1dbf\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u20cf"
    "\u2100-\u2cee\u2cf2-\u2d7e\u2d80-\u2ddf\u2e00-\u3029\u3030-\u3098\u309b-\ua4cf"  # signs, Han
    "\ua640-\ua66e\ua673\ua67e-\ua69d\ua700-\ua7ff\uab00-\uabbf\uac00-\ud7a3\ud800-\udfff\uf900-\ufaff"
    "\ufb00-\ufb17"
    "\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff9d\uffa0-\uffef\ufffc-\uffff"  # full width
    "\U0001d400-\U0001d7ff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
    "\U00020000-\U000dffff\U000e1000-\U000effff"  # tags, and nobody knows what is in private use
)
WORD_BREAK = "\u200b"
"""What draws nothing, but may end a line between two words of a script without spaces."""

_SHAPED = re.compile(f"[^{_SIMPLE}]")

# Scripts without spaces, that break wherever UAX 14 says, and their punctuation: Tibetan,
# Ethiopic, then Han and its kin.
_UNSPACED = (
    "\u0f00-\u0fff\u1200-\u139f"
    "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED_BREAK = re.compile(f"(?<=[{_UNSPACED}])(?=[{_UNSPACED}])|(?<={WORD_BREAK})")
_INVOLVED = re.compile(f"[^{_SIMPLE}]|[{_UNSPACED}]")

_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
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

    return _cut(text, unicode_segmentation_rs.graphemes(scalars(text), True))


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
    for part in _cut(word, unicode_segmentation_rs.line_break_units(scalars(word))):
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


def scalars(text: str) -> str:
    """Halves of surrogate pairs, which Rust has none of, as characters of no property."""
    return _SURROGATE.sub("\ufffd", text)
