"""Text as it came in, text that may be drawn out: one line, nothing invisible.

White space of every kind becomes one space; control, zero-width, bidi and other
invisible characters are left out and counted, but for the joiners where they decide
what is drawn: between letters of scripts that join, and in emoji of several characters.
What remains and has no glyph is escaped later, by the shaper. A cue can therefore never
hide text, reorder what stands around it, or start a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from unicodedata import normalize
from unicodedata import ucd_3_2_0 as _UNICODE  # noqa: N812

# Unicode 16: Cc, the default-ignorable code points (DerivedCoreProperties.txt)
# and the interlinear annotation signs. Listed, not looked up, so that every
# Python draws the same picture.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Tags stay where they tell a flag: those of England, Scotland and Wales, gbeng to gbwls.
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_FLAG = re.compile(f"({_FLAGS})")
# So do the spaces of no width between words of Thai, Lao, Myanmar and Khmer: lines break there.
_NO_SPACES = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f]"
_WORD_BREAK = re.compile(f"(?<={_NO_SPACES})\u200b+(?={_NO_SPACES})")
_JOINERS = re.compile("[\u200c\u200d]+")
# Arabic to Malayalam and Sinhala, Myanmar, Khmer, Mongolian; emoji. Listed, too.
_JOINING = re.compile(
    "[\u0600-\u085f\u0860-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af]"
)
_EMOJI = re.compile("[\u2190-\u21ff\u2300-\u2bff\U0001f000-\U0001faff]")
# Every Python has another Unicode, but all have 3.2 too. What came later is left as it
# comes, and so looks the same everywhere; the letters with accents are all older.

# Visible, without marks, and in NFC: all of nearly every cue, and a tenth of the work.
_PLAIN = re.compile("[ -~\xa1-\xac\xae-\xff\u2010-\u2027\u2190-\u22ff\u25a0-\u25ff]*")

_VIRAMA = 9  # the combining class of what joins or parts letters of India

# What Unicode 3.2 lacks, or has wrong (its Corrigendum 4), of Han's other forms. All of it
# is older than any Python that we run on, and never changes (UAX 15, stability).
_LATER = (0xFA2E, 0xFA2F, *range(0xFA6B, 0xFA6E), *range(0xFA70, 0xFADA),
          0x2F868, 0x2F874, 0x2F91F, 0x2F95F, 0x2F9BF)  # fmt: skip
_FORMS = {code: normalize("NFC", chr(code)) for code in _LATER}
_FORM = re.compile(f"[{''.join(map(chr, _LATER))}]")

_ASCII = frozenset(map(chr, range(128)))

MOST_MARKS = 8
"""Combining marks that one character keeps; no script in use stacks more. The rest
are stripped: they would pile up unread, and a million of them cost as much to draw
as a page."""

MOST_IN_GRAPHEME = 16
"""Characters that one grapheme keeps: that is also the most of those marks that Unicode's
combining classes don't tell, such as Thai and Tibetan ones. A family of four with skin
tones has 11, conjuncts of Sanskrit have 10."""

MOST_BEFORE = 4 * MOST_MARKS
"""How far back a joiner's letter is looked for."""

_SPACES = re.compile("[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


def clean(text: str) -> tuple[str, int]:
    """The text on one line in NFC, and how many invisible characters it lost."""
    if _PLAIN.fullmatch(text):
        return " ".join(text.split()), 0
    visible = _without_invisible(text)
    stripped = len(text) - len(visible)
    joined = _with_joiners(visible)
    line = _SPACES.sub(" ", _composed(joined)).strip(" ")
    stripped += len(visible) - len(joined)
    kept = line
    if any(map(_UNICODE.combining, line)):
        kept = "".join(_with_few_marks(line))
    if len(kept) > MOST_IN_GRAPHEME:
        from muralkit.glyphs import scripts  # most text is plain, and this takes 10 ms

        kept = "".join(map(_cut, scripts.graphemes(kept)))
    if kept == line:
        return line, stripped
    again, more = clean(kept)  # what was cut may have moved the bounds of graphemes
    return again, stripped + len(line) - len(kept) + more


def _cut(grapheme: str) -> str:
    if len(grapheme) <= MOST_IN_GRAPHEME:
        return grapheme
    return grapheme[:MOST_IN_GRAPHEME].rstrip("\u200c\u200d")


def _without_invisible(text: str) -> str:
    if "\u200b" in text:
        return "\u200b".join(map(_without_others, _WORD_BREAK.split(text)))
    return _without_others(text)


def _without_others(text: str) -> str:
    if "\U000e007f" not in text:
        return _INVISIBLE.sub("", text)
    parts = _FLAG.split(text)  # each second one is a flag
    parts[::2] = [_INVISIBLE.sub("", part) for part in parts[::2]]
    return "".join(parts)


def _with_joiners(text: str) -> str:
    """The text with one joiner of those that stand between two that it joins or parts."""
    if not _JOINERS.search(text):
        return text
    parts, at = [], 0
    for match in _JOINERS.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        before = _base_before(text, match.start())
        after = text[at : at + 1]
        if _EMOJI.match(before) and _EMOJI.match(after):
            parts.append("\u200d" if "\u200d" in match[0] else "")
        elif _JOINING.match(before) and (
            (_JOINING.match(after) and not is_mark(after)) or _is_virama(after)
        ):
            parts.append(match[0][0])
        elif _is_virama(text[match.start() - 1 : match.start()]) and match[0][0] == "\u200d":
            parts.append("\u200d")  # a letter's form at the end of a word
    return "".join([*parts, text[at:]])


def _base_before(text: str, end: int) -> str:
    """The last character before `end` that is no mark and no joiner."""
    for index in range(end - 1, max(-1, end - MOST_BEFORE), -1):
        if not is_mark(text[index]) and text[index] not in "\u200c\u200d":
            return text[index]
    return ""


def _composed(text: str) -> str:
    """In NFC, as far as the characters are in Unicode 3.2, or forms of Han."""
    if _FORM.search(text):
        text = text.translate(_FORMS)
    newer = {char for char in set(text) - _ASCII if _UNICODE.category(char) == "Cn"}
    if not newer:
        return _UNICODE.normalize("NFC", text)
    return "".join(
        "".join(part) if left else _UNICODE.normalize("NFC", "".join(part))
        for left, part in groupby(text, key=newer.__contains__)
    )


def _with_few_marks(line: str) -> Iterator[str]:
    marks = 0
    for char in line:
        if char not in "\u200c\u200d":
            marks = marks + 1 if is_mark(char) else 0
        if marks <= MOST_MARKS:
            yield char


def is_mark(character: str) -> bool:
    """Whether it combines with the character before it."""
    return _UNICODE.combining(character) != 0


def _is_virama(character: str) -> bool:
    return bool(character) and _UNICODE.combining(character) == _VIRAMA


def letter_case(character: str) -> str:
    """Lu for a capital, Ll for a small letter, else another Unicode category."""
    return _UNICODE.category(character)


def escape(character: str) -> str:
    """How a character without a glyph is drawn, such as `[U+1F600]`."""
    return f"[U+{ord(character):04X}]"
