"""From right to left: the levels of a text's characters, and the order that they give a line.

The bidi algorithm is a library's (UAX 9). Over it stands what a page of notes about code
needs: names and numbers keep their order, and arrows point where reading goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from muralkit.glyphs.scripts import scalars

# Blocks of scripts from right to left, and Arabic digits.
_BLOCKS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
_RTL = re.compile(f"[{_BLOCKS}]")

# A name or number: from its first sign, letter or digit (from a letter only, behind one
# from right to left) to its last. What its sentence put around it is left out: quotes,
# stops, brackets without a partner within, a sign before a letter from right to left.
_LETTER = "0-9A-Za-z\u00c0-\u052f"
_BEFORE = "\"'`\u00ab\u00bb\u2018-\u201f([{"
_AFTER = ".,;:!?\u2026)\\]}"
_PAIR = "|".join(
    rf"{left}(?>[^ {_BLOCKS}{left}{right}]+|{left}[^ {_BLOCKS}{left}{right}]*{right})*{right}"
    for left, right in ((r"\(", r"\)"), (r"\[", r"\]"), (r"\{", r"\}"))
)
_SIGN = rf"{_PAIR}|[^ {_BLOCKS}{_LETTER}{_BEFORE}{_AFTER}]"
_NAME = (  # compiled when it is needed: that takes 7 ms
    rf"(?:(?<![^ {_BEFORE}])(?:{_SIGN}|[.:])*+)?[{_LETTER}]"
    rf"(?:[{_BEFORE}{_AFTER}]*?(?:[{_LETTER}]|(?:{_SIGN})(?![{_BLOCKS}])))*+"
)
# An arrow within text from right to left points where reading goes, as Unicode has it for
# the signs that it mirrors itself (UAX 9, HL6): readers follow the head, not the character.
_ARROWS = "←→⇐⇒↤↦⇠⇢⇦⇨⟵⟶⟸⟹"
_TURNED = str.maketrans(_ARROWS, "".join(map(str.__add__, _ARROWS[1::2], _ARROWS[::2])))

_LEVEL = re.compile(r"Level\(\s*(\d+)")
_LEVELS = ",\n    levels: ["


def levels(text: str) -> tuple[int, list[int]] | None:
    """The paragraph's level and that of each character (UAX 9); None: all from left to right.

    The paragraph goes by its first strong character. A name or number has the levels
    of a Latin word, as an author would see to with marks (a higher-level protocol, HL3):
    its parts would be turned round else, and 2026-11-30 in Arabic read as 30-11-2026.
    """
    if not _RTL.search(text):
        return None
    from bidi.wrapper import get_base_level, get_display

    plain = scalars(text)
    base = get_base_level(plain)
    plain = re.sub(_NAME, lambda match: "a" * len(match[0]), plain)
    report = get_display(plain, base_dir="R" if base else "L", debug=True)
    _, _, tail = str(report).rpartition(_LEVELS)
    of_bytes = [int(match[1]) for match in _LEVEL.finditer(tail)]
    starts = accumulate((len(char.encode()) for char in plain[:-1]), initial=0)
    return base, [of_bytes[start] for start in starts]


def turned(text: str) -> str:
    """A text with its arrows turned round, as text from right to left has them."""
    return text.translate(_TURNED)


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
