"""A cue and the memory it was made of in; what is wrong with it, or nothing, out.

A model may word a cue as it likes, but it may not invent: every identifier (a path,
a name, a number, a hash, a flag) must stand in the memory as it stands in the cue.
"""

from __future__ import annotations

import re

from muralkit.glyphs.clean import clean
from muralkit.model import PROHIBITION, Memory

IMPORTANT = 70
LONG, SHORT = 90, 50
"""Code points of a cue, from an importance of 70 on and below."""

SIGNS = "→←⊘∵≺≻∅∀≤≥×÷≠≈±•…"

# What forbids, in the languages whose words are told apart safely. A memory in another
# language needs no sign: it is better to miss a prohibition's ink than to refuse its cue.
_FORBIDS = re.compile(
    r"\b(?:must not|mustn't|never|without|instead of|exclude[sd]?|do not|don't"
    r"|may not|should not|shouldn't|shall not|forbidden|not allowed"
    r"|darf nicht|dürfen nicht|niemals|verboten|nicht erlaubt"
    r"|ne (?:pas|jamais)|jamais|interdit|prohibido|nunca|no debe|vietato|proibido)\b"
    r"|禁止|不得|不要|请勿|してはいけない|しないこと|금지|하지 마",
    re.IGNORECASE,
)
# The parts of a cue between spaces, signs, quotes and brackets.
_PARTS = re.compile(rf"[^\s{SIGNS}\"'`«»“”‘’()\[\]{{}}<>,;!?|=~·、。，；：！？（）「」]+")
_IDENTIFIER = re.compile(
    r"\d|[_/\\@#$%^&*+]|--|\w[.:]\w|^\.\w|[a-zà-ÿ][A-ZÀ-Þ]|^[A-Z]{2,}[a-z]+[A-Z]|^-\w"
)
# Words that may be names too: capitals, hexadecimal, hyphens, letters of two scripts.
_NAMELIKE = re.compile(
    r"^[A-Z]{4,}$|^[a-f]{6,}$|[^\W\d_]-[^\W\d_]|[A-Za-z][Ѐ-ӿͰ-Ͽ]|[Ѐ-ӿͰ-Ͽ][A-Za-z]"
)
_SHORTHAND = frozenset(("w/", "w/o", "e.g", "i.e", "vs", "n/a"))
_REASON = re.compile(r"\S.*?(?:\s\(|（)[^()（）]*\w[^()（）]*[)）]")


def budget(memory: Memory) -> int:
    """The code points that the cue of a memory may have."""
    return LONG if memory.weight >= IMPORTANT else SHORT


def forbids(text: str) -> bool:
    """Whether a memory says what must not be."""
    return _FORBIDS.search(text) is not None


def identifiers(text: str) -> list[str]:
    """The parts of a text that mean nothing if a character is wrong, in order."""
    return [part for part in _parts(text) if is_identifier(part)]


def is_identifier(part: str) -> bool:
    """Whether a word is one that must not be altered: it has a digit, a capital within,
    or a sign that words don't have.
    """
    return _IDENTIFIER.search(part) is not None


def fault(text: str, memory: Memory) -> str:
    """What is wrong with a cue of that memory, for whoever made it; empty: nothing."""
    most = budget(memory)
    if not text.strip():
        return "it is blank"
    if "\n" in text or "\r" in text or clean(text) != (text, 0):
        return (
            "it must be one line without control, zero-width or bidi characters, or double spaces"
        )
    if len(text) > most:
        return f"it has {len(text)} characters; {most} are allowed"
    if not _balanced(text):
        return "its parentheses are not balanced"
    own = f"#{memory.id}"
    if own in text and re.search(rf"{own}(?!\d)", text):
        return f"it must not name the memory's own number (#{memory.id})"
    problem = _prohibition_fault(text, memory)
    if problem:
        return problem
    content = clean(memory.content)[0]
    names = (p for p in _parts(text) if is_identifier(p) or _NAMELIKE.search(p))
    for name in names:
        if not _is_there(name, content):
            return f"{name!r} does not stand in the memory: identifiers are copied, not made"
    return ""


def _prohibition_fault(text: str, memory: Memory) -> str:
    if forbids(memory.content) and PROHIBITION not in text:
        return f"the memory forbids something: mark that as {PROHIBITION}thing (reason)"
    *before, last = text.split(PROHIBITION)[1:] or [""]
    for part in before:
        if not _REASON.search(part) and not part.rstrip().endswith((",", "/", "+", "、")):
            return _NEEDS_REASON
    return "" if not last or _REASON.search(last) else _NEEDS_REASON


_NEEDS_REASON = f"each {PROHIBITION} needs its thing and, after a space, a reason in parentheses"


def _is_there(name: str, content: str) -> bool:
    """Whether the memory has a name, whole and to the letter. Plain words only may be in
    another case, or joined by a hyphen where the memory has them apart.
    """
    if name.casefold() in _SHORTHAND or stands(name, content):
        return True
    words = {word.strip(".,;:!?()`'\"").casefold() for word in content.split()}
    plain = name.replace("-", "").isalpha() and name.isascii() and not is_identifier(name)
    return plain and all(part.casefold() in words for part in name.split("-"))


def stands(name: str, content: str) -> bool:
    """Whether a name stands in a text by itself, and is no part of a longer one."""
    start = content.find(name)
    while start >= 0:
        end = start + len(name)
        before, after = content[:start][-1:], content[end : end + 2]
        if not _continues(before) and not (
            _continues(after[:1]) and (after[:1] != "." or after[1:].isalnum())
        ):
            return True
        start = content.find(name, start + 1)
    return False


def _continues(char: str) -> bool:
    """Whether a name goes on over this character. Scripts without spaces end a name."""
    return bool(char) and ((char.isascii() and char.isalnum()) or char in "_/\\-.@#$%+")


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "(（") - (char in ")）")
        if depth < 0:
            return False
    return depth == 0


def _parts(text: str) -> list[str]:
    """The words of a text, without the punctuation around them. A dot or a hyphen right
    before a letter or digit is a part: .env, -v, -100.
    """
    parts: list[str] = []
    for found in _PARTS.findall(text):
        part = found.rstrip(".:-–—…")
        while part and part[0] in ".:-–—…" and not re.match(r"--\w|[.-]\w", part):
            part = part[1:]
        if part:
            parts.append(part)
    return parts
