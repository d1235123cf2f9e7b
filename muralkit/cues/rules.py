"""A cue without a model: the same one each time, valid, and in the memory's own words.

Identifiers are kept as they stand, filler goes, relations become signs, and what is
forbidden gets its ⊘ and a reason. It is the default where no model is configured, and
what is left when a model's cues were refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from muralkit.cues.validate import budget, fault, forbids, is_identifier
from muralkit.glyphs.clean import clean
from muralkit.model import PROHIBITION, Memory

RULES = "rules"
"""The model that a cue of ours is marked with."""

RULES_VERSION = 2
"""Goes up with every change that makes other or better cues; older ones are made anew."""

_SIGNS: tuple[tuple[str, str], ...] = (
    (r"because of|because|due to|since|weil|wegen", "∵"),
    (
        r"(?:is|are|was|were) (?:generated|derived|read|built|taken) from|comes? from|depends? on",
        "←",
    ),
    (r"leads? to|results? in|returns?|causes?|becomes?|means?|triggers?|goes? (?:in)?to", "→"),
    (r"(?:must )?not exceed|at most|no more than|up to|maximum of", "≤"),
    (r"at least|no less than|minimum of", "≥"),
    (r"before", "≺"),
    (r"after", "≻"),
    (r"every|each|all|always", "∀"),
    (r"empty|nothing", "∅"),
)
_WORDS = re.compile(
    rf"(?<!\S)(?:{'|'.join(f'({words})' for words, _ in _SIGNS)})(?=[\s,.;:]|$)", re.IGNORECASE
)
_RELATIONS = "∵←→≤≥≺≻∀∅"
_FILLER = frozenset(
    (
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "which",
        "who",
        "so",
        "very",
        "just",
        "also",
        "please",
        "note",
        "there",
        "here",
        "we",
        "our",
        "us",
        "you",
        "your",
        "they",
        "their",
        "them",
        "has",
        "have",
        "had",
        "will",
        "would",
        "can",
        "could",
        "do",
        "does",
        "did",
        "must",
        "should",
        "shall",
        "of",
        "and",
        "or",
        "as",
        "for",
        "by",
        "to",
        "in",
        "on",
        "at",
        "with",
        "when",
        "if",
        "then",
        "than",
        "what",
        "where",
        "while",
        "into",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "ist",
        "sind",
        "und",
        "oder",
    )
)
_MARKER = re.compile(
    r"\b(?:must not|mustn't|may not|should not|shouldn't|shall not|do not|don't|never|without"
    r"|instead of|excludes?|excluded|is forbidden|are forbidden|forbidden|is not allowed"
    r"|are not allowed)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\s*(?:∵|\b(?:because(?: of)?|since|due to|weil|denn|parce que|porque)\b|[:;.!?](?=\s|$)"
    r"|,(?=\s)|\bso that\b|\botherwise\b|\bor else\b)\s*",
    re.IGNORECASE,
)
_NEGATIONS = frozenset(
    ("not", "no", "nor", "neither", "cannot", "isn't", "aren't", "wasn't", "doesn't", "don't",
     "didn't", "won't", "can't", "hasn't", "nicht", "kein", "keine", "keinen", "pas", "не", "нет")
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])")
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_NOISE = re.compile(r"[`*\[\]{}\"“”„«»⊘]+")
_CALL = re.compile(r"[^()]+\([^()]*\)[^()]*")
_BRACKETS = re.compile(r"[()]+")


def cue(memory: Memory) -> str:
    """The cue of a memory: valid for `fault`, whatever the memory says."""
    for made in _candidates(memory):
        text = clean(made)[0]
        if not fault(text, memory):
            return text
    return "note (rule)" if not forbids(memory.content) else f"{PROHIBITION}note (rule)"


def _candidates(memory: Memory) -> Iterable[str]:
    """From the best to the safest."""
    most = budget(memory)
    content = clean(memory.content)[0]
    if f"#{memory.id}" in content:
        content = re.sub(rf"#{memory.id}(?!\d)", " ", content)
    text = " ".join(_NOISE.sub(" ", content).split())
    spaced = not _SPACELESS.search(text)
    if forbids(memory.content):
        text = " ".join(_BRACKETS.sub(" ", text).split())  # its reason has the brackets
        if spaced:
            yield from _prohibitions(text, most)
        thing, reason = _halves(text)
        yield _forbidding("", _cut(thing, most // 2), _cut(reason, most // 2 - 5), most)
        yield f"{PROHIBITION}{_cut(text, most - 8)} (rule)"
    else:
        yield _fitted(_items(_signed(text)), most) if spaced else _cut(text, most)
        yield _cut(text, most)
    for piece in re.split(r"[\s⊘()]+", content):
        head = _cut(piece, most - 8) or piece[: most - 8]
        yield f"{PROHIBITION}{head} (rule)" if forbids(memory.content) else head


def _prohibitions(text: str, most: int) -> Iterable[str]:
    """Who, what must not be, and why: parted at the words that forbid and that give reasons."""
    found = _MARKER.search(text)
    if found is None:
        return
    before, after = text[: found.start()], text[found.end() :]
    if found[0].casefold().endswith(("forbidden", "allowed")):
        *context_before, thing = _SENTENCE.split(before)
        for why in (after, " ".join(context_before), "rule"):
            if any(char.isalnum() for char in why):
                yield _forbidding("", thing, why, most)
        return
    reason_at = _REASON.search(after, 1) if after else None
    thing = after[: reason_at.start()] if reason_at else after
    reason = after[reason_at.end() :] if reason_at else ""
    sentences = _SENTENCE.split(before)
    subject, context = sentences[-1], " ".join(sentences[:-1])
    for why in (re.split(r"(?<=[.!?;])\s", reason)[0], context, "rule"):
        if any(char.isalnum() for char in why):
            yield _forbidding(subject, thing, why, most)


def _forbidding(subject: str, thing: str, reason: str, most: int) -> str:
    """`subject ⊘thing (reason)` within the budget: the reason has a third of it, the rest
    goes to what is forbidden.
    """
    whole = [_items(_signed(part)) for part in (subject, thing, reason)]
    extra = len(f" {PROHIBITION} ()")
    why = _fitted(whole[2], max(8, (most - extra) // 3))
    what = _fitted(whole[1], most - extra - len(why))
    room = most - extra - len(why) - len(what)
    who = _fitted(whole[0], room - 1) if room > 6 else ""
    if not why or not what:
        return ""
    slack = most - extra - len(what) - len(who)
    why = _fitted(whole[2], max(len(why), slack))
    return f"{who} {PROHIBITION}{what} ({why})"


def _halves(text: str) -> tuple[str, str]:
    """A text parted near its middle, at a break if there is one."""
    middle = len(text) // 2
    breaks = [found.end() for found in re.finditer(r"[,;:，、。；：]\s*|\s", text)]
    at = min(breaks, key=lambda place: abs(place - middle), default=middle)
    return text[:at], text[at:]


def _signed(text: str) -> str:
    """Relations in words as signs."""
    return _WORDS.sub(lambda found: _SIGNS[(found.lastindex or 1) - 1][1], text)


LEADING = "∀←≤≥≺≻"
"""Relations that a phrase may start with."""

SUBJECT = 2
"""Words that say what a memory is about: its first ones."""


@dataclass(slots=True)
class _Item:
    """A word and what it is worth: the least goes first where the budget is short."""

    text: str
    worth: float


def _items(text: str) -> list[_Item]:
    items: list[_Item] = []
    negation = ""  # it belongs to the word behind it, and is never parted from it
    for number, sentence in enumerate(_SENTENCE.split(text)):
        for word in sentence.split():
            bare = word.rstrip(",;:.!?'’–—").lstrip(",;:!?'’–—")
            if "(" in bare or ")" in bare:
                bare = bare if _CALL.fullmatch(bare) else _BRACKETS.sub("", bare)
            if bare.casefold() in _NEGATIONS:
                negation = bare
                continue
            if not bare or bare.casefold() in _FILLER:
                continue
            worth = 3.0 if is_identifier(bare) else 1.5 if bare in _RELATIONS else 1.0
            if len(items) < SUBJECT:
                worth += 1
            if negation and bare not in _RELATIONS:
                bare, worth, negation = f"{negation} {bare}", worth + 1, ""
            items.append(_Item(bare, worth - 1.4 * min(number, 2) - len(items) * 0.001))
    return items


def _fitted(items: list[_Item], most: int) -> str:
    """As many words as fit, the worthiest, in their order; no sign without its word."""
    left = [item for item in items if len(item.text) <= most]
    length = sum(len(item.text) + 1 for item in left) - 1
    gone: set[int] = set()
    for index in sorted(range(len(left)), key=lambda index: left[index].worth):
        if length <= most:
            break
        gone.add(index)
        length -= len(left[index].text) + 1
    return _joined([item for index, item in enumerate(left) if index not in gone])


def _joined(items: list[_Item]) -> str:
    kept: list[str] = []
    for item in items:
        follows = bool(kept) and kept[-1] in _RELATIONS and item.text != "∀"
        dangles = follows if kept else item.text not in LEADING
        if item.text in _RELATIONS and dangles:
            continue
        kept.append(item.text)
    while kept and kept[-1] in _RELATIONS:
        kept.pop()
    return " ".join(kept)


def _cut(text: str, most: int) -> str:
    """The start of a text, not through the middle of an identifier."""
    if len(text) <= most:
        return text.strip()
    head = text[:most]
    if re.match(r"[\w./:@#-]", text[most], re.ASCII):
        head = re.sub(r"[\w./:@#-]+$", "", head, flags=re.ASCII) or head
    return head.strip()
