"""From right to left: the levels of a text's characters, and the order that they give a line.

The bidi algorithm is a library's (UAX 9). Over it stands what a page of notes about code
needs: names and numbers keep their order, and arrows point where reading goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import accumulate

from muralkit.glyphs.scripts import scalars

# Blocks of scripts from right to left, and Arabic digits.
_BLOCKS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
_RTL = re.compile(f"[{_BLOCKS}]")

# A word with a Latin letter or a digit may be a name or number. What its sentence put
# around it is none of it: quotes, stops, brackets without a partner in it, arrows, and
# any sign between it and a letter from right to left.
_LETTER = "0-9A-Za-z\u00c0-\u052f"
_WORD = f"[^ {_BLOCKS}]*[{_LETTER}][^ {_BLOCKS}]*"
_BEFORE = frozenset("\"'`\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f,;")
_QUOTES = {quote: quote for quote in "\"'`\u00bb\u201d"} | {
    "\u00ab": "\u00bb", "\u2018": "\u2019", "\u2019": "\u2019", "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
}  # fmt: skip
_AFTER = _BEFORE | frozenset(".:!?\u2026")
_BRACKETS = dict(zip(")]}", "([{", strict=True))
_OPENING = frozenset(_BRACKETS.values())
_NUMBER = "[ -@\\[-`{-\u00bf\u00d7\u00f7\u2000-\u2bff]*"
_RANGE = rf"[\[(][^()\[\]{_BLOCKS}]*[{_LETTER}][^()\[\]{_BLOCKS}]*[\])]"

# An arrow within text from right to left points where reading goes, as Unicode has it for
# the signs that it mirrors itself (UAX 9, HL6): readers follow the head, not the character.
_ARROWS = "←→⇐⇒↤↦⇠⇢⇦⇨⟵⟶⟸⟹⬅➡⇤⇥↩↪↼⇀⇜⇝↞↠↢↣⟻⟼⟽⟾"
_ONE_WAY = "➔➙➛➜➝➞"  # there are none that point to the left
_TURNED = str.maketrans(
    _ARROWS + _ONE_WAY,
    "".join(map(str.__add__, _ARROWS[1::2], _ARROWS[::2])) + "←" * len(_ONE_WAY),
)
_LEADS = f"[{_ARROWS}{_ONE_WAY}]|->|<-"
_ARROW = rf"[{_ARROWS}{_ONE_WAY}]|[-=]>|<[-=](?![-=])"

_LEVEL = re.compile(r"Level\(\s*(\d+)")
_LEVELS = ",\n    levels: ["


def levels(text: str) -> tuple[int, list[int]] | None:
    """The paragraph's level and that of each character (UAX 9); None: all from left to right.

    The paragraph goes by its first strong character. What looks like a name has the
    levels of a Latin word, and what looks like a number those of one of digits alone, as
    an author would see to with marks (a higher-level protocol, HL3): else 2026-11-30 in
    Arabic would be read as 30-11-2026, and --no-x in Hebrew as no-x--.
    """
    if not _RTL.search(text):
        return None
    from bidi.wrapper import get_base_level, get_display

    plain = scalars(text)
    base = get_base_level(plain)
    plain = re.sub(_WORD, _plainly, re.sub(_RANGE, _half_open, plain))
    if base:  # what leads to what reads from right to left, names too
        plain = re.sub(_LEADS, lambda match: "\u05d0" * len(match[0]), plain)
    plain = re.sub("1+(?= a)", lambda match: "a" * len(match[0]), plain)  # 187 ms
    report = get_display(plain, base_dir="R" if base else "L", debug=True)
    _, _, tail = str(report).rpartition(_LEVELS)
    of_bytes = [int(match[1]) for match in _LEVEL.finditer(tail)]
    starts = accumulate((len(char.encode()) for char in plain[:-1]), initial=0)
    return base, [of_bytes[start] for start in starts]


def _half_open(match: re.Match[str]) -> str:
    """A range such as [0, 5) as one word: Unicode would mirror either end."""
    text = match[0]
    if _BRACKETS[text[-1]] == text[0]:
        return text  # UAX 9 has a rule for pairs (N0)
    return _kind(text) * len(text)


def _kind(text: str) -> str:
    """A character of the direction that a name or number has: a letter, or a digit."""
    return "1" if re.fullmatch(_NUMBER, text) else "a"


def _plainly(match: re.Match[str]) -> str:
    """A word with one such character for each of its name or number."""
    word, text = match[0], match.string
    letters = [found.start() for found in re.finditer(f"[{_LETTER}]", word)]
    start, end = 0, len(word)
    if match.start() and text[match.start() - 1] != " ":
        start = letters[0]
    if match.end() < len(text) and text[match.end()] != " ":
        end = letters[-1] + 1
    paired = _paired(word[start:end], start)
    while start < letters[0] and (step := _sentence(word, start, _BEFORE, paired)):
        start += step
    while end > letters[-1] + 1 and (step := _sentence(word, end - 1, _AFTER, paired)):
        end -= step
    core = word[start:end]
    kind = _kind(core)
    made = (
        char if char in "()[]{}" and at not in paired else kind
        for at, char in enumerate(core, start)
    )
    return word[:start] + "".join(made) + word[end:]


def _sentence(word: str, at: int, signs: Set[str], paired: Set[int]) -> int:
    """How many characters there are the sentence's: none, one, or an arrow of two."""
    char = word[at]
    if char in _QUOTES and _quoted(word, at, signs is _BEFORE):
        return 0
    if char in signs or (char in "()[]{}" and at not in paired):
        return 1
    first = at if signs is _BEFORE else max(0, at - 1)
    for start in (first, at):
        arrow = re.compile(_ARROW).match(word, start)
        if arrow and (arrow.start() if signs is _BEFORE else arrow.end() - 1) == at:
            return len(arrow[0])
    return 0


def _quoted(word: str, at: int, opens: bool) -> bool:
    """Whether a quote has its partner in the word."""
    if opens:
        return any(closing in word[at + 1 :] for closing in _QUOTES[word[at]])
    return any(word[at] in _QUOTES.get(char, "") for char in word[:at])


def _paired(text: str, offset: int) -> set[int]:
    """Where the brackets are that have a partner in the text; `offset` is added."""
    found: set[int] = set()
    opened: list[tuple[str, int]] = []
    for at, char in enumerate(text, offset):
        if char in _OPENING:
            opened.append((char, at))
        elif char in _BRACKETS and opened and opened[-1][0] == _BRACKETS[char]:
            found |= {opened.pop()[1], at}
    return found


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
