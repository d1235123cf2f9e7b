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
    r"\d|[_/\\@#$%^&*+]|--|\w[.:]\w|[a-zà-ÿ][A-ZÀ-Þ]|^[A-Z]{2,}[a-z]+[A-Z]|^-\w"
)


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
    for name in identifiers(text):
        if name not in content:
            return f"{name!r} does not stand in the memory: identifiers are copied, not made"
    return ""


def _prohibition_fault(text: str, memory: Memory) -> str:
    if forbids(memory.content) and PROHIBITION not in text:
        return f"the memory forbids something: mark that as {PROHIBITION}thing (reason)"
    for part in text.split(PROHIBITION)[1:]:
        if not re.search(r"\S.*\([^()]*\w[^()]*\)", part):
            return f"each {PROHIBITION} needs its thing and a reason in parentheses behind it"
    return ""


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def _parts(text: str) -> list[str]:
    trimmed = (
        part.strip(".:-–—…") if not part.startswith("--") else part.rstrip(".:-–—…")
        for part in _PARTS.findall(text)
    )
    return [part for part in trimmed if part]
