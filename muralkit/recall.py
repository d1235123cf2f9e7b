"""What was read in a picture in, the memory behind it out: certain, likely or possible.

A name that stands in a memory as it was asked for is exact. Else identifiers are
compared by a distance that knows which glyphs are taken for one another, so that a
misread `a8f8e5` still leads to `a3f8e5`; that is never called exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from muralkit.cues.validate import identifiers, is_identifier, stands
from muralkit.glyphs.clean import clean
from muralkit.model import Memory
from muralkit.store import Store

CANDIDATES = 80
"""Memories that are looked at closely: those that share most trigrams with the query."""

SURE = 0.8
"""Of 1: how alike a likely answer is at least."""

AHEAD = 0.05
"""How far before the next one a likely answer is."""

ALIKE = 0.25
"""The cost of taking a glyph for one that looks like it, beside 1 for any other."""

CONFUSABLE = ("0O8DQ", "1lI|i!", "38B", "5S6", "6G", "2Z", "7T", "CG", "UV", "uv", "VY", ".,", ":;",
              "-_", "/|", "hn", "ec", "ao", "gq", "tf", "WM", "HK", "EF", "PR")  # fmt: skip
"""Sets of glyphs that readers take for one another, in small print."""

PAIRS = {"rn": "m", "cl": "d", "vv": "w", "ii": "u", "nn": "m", "./": "/", "--": "-"}
"""Two glyphs that are read as one."""


class Certainty(StrEnum):
    """How sure it is that a memory is the one that was meant."""

    EXACT = "exact"
    """What was asked for stands in it, whole and to the letter."""
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Match:
    """A memory, how sure it is, what in it was taken for the query, and how alike (to 1)."""

    memory: Memory
    certainty: Certainty
    found: str
    likeness: float


def find(store: Store, query: str, limit: int = 5) -> list[Match]:
    """The memories of a store, of any status, that fit the query, the likeliest first."""
    return rank(query, store.search(trigrams(query), CANDIDATES), limit)


def trigrams(query: str) -> list[str]:
    """What candidates are searched by: every three characters in a row, of each word.

    A glyph that may be another one stands for itself only: the others carry the search.
    """
    words = clean(query)[0].split(" ")
    found = [word[at : at + 3] for word in words for at in range(len(word) - 2)]
    return list(dict.fromkeys(part.casefold() for part in found))


def rank(query: str, candidates: Iterable[Memory], limit: int = 5) -> list[Match]:
    """The candidates that fit the query, the likeliest first."""
    wanted = clean(query)[0]
    parts = _parts(wanted)
    if not parts:
        return []
    made: list[tuple[float, str, bool, Memory]] = []
    for memory in candidates:
        content = clean(memory.content)[0]
        if stands(wanted, content):
            made.append((1.0, wanted, True, memory))
            continue
        likeness, found = _likeness(parts, content)
        if likeness > 0:
            made.append((min(likeness, 0.99), found, False, memory))
    made.sort(key=lambda item: (-item[0], -item[3].weight, item[3].id))
    best = [score for score, _, exact, _ in made if not exact]
    matches: list[Match] = []
    for place, (score, found, exact, memory) in enumerate(made[:limit]):
        following = made[place + 1][0] if place + 1 < len(made) else 0.0
        sure = score >= SURE and score == max(best, default=0.0) and score - following >= AHEAD
        first = place == 0
        certainty = (
            Certainty.EXACT if exact
            else Certainty.LIKELY if sure and first
            else Certainty.POSSIBLE
        )  # fmt: skip
        matches.append(Match(memory, certainty, found, round(score, 3)))
    return matches


def _parts(text: str) -> list[tuple[str, float]]:
    """The words of a query and what each is worth: an identifier says more than a word."""
    words = [word.strip(".,;:!?()\"'`") for word in text.split(" ")]
    return [(word, 3.0 if is_identifier(word) else 1.0) for word in words if word]


def _likeness(parts: Sequence[tuple[str, float]], content: str) -> tuple[float, str]:
    """How alike the query's words are to the content's, and the names that are."""
    words = {word.strip(".,;:!?()\"'`") for word in content.split(" ")} | set(identifiers(content))
    words.discard("")
    folded = {word.casefold(): word for word in words}
    total = worth = 0.0
    found: list[str] = []
    for part, weight in parts:
        worth += weight
        if part in words or part.casefold() in folded:
            best, name = 1.0, part if part in words else folded[part.casefold()]
        elif len(part) < 3:
            continue
        else:
            best, name = _nearest(part, words)
        if best > 0.5:
            total += weight * best
            found.append(name)
    return total / worth, " ".join(found)


def _nearest(part: str, words: Iterable[str]) -> tuple[float, str]:
    """The most alike word, and how alike it is; 0 where none is by half."""
    best, name = 0.0, ""
    skeleton = _skeleton(part)
    for word in words:
        longest = max(len(part), len(word))
        if abs(len(part) - len(word)) > longest // 3:
            continue
        if _skeleton(word) == skeleton:
            more = abs(len(part) - len(word))  # pairs that were read as one
            changed = more or sum(a != b for a, b in zip(part, word, strict=True))
            likeness = 1 - ALIKE * max(changed, 1) / longest
        else:
            most = (1 - max(best, 0.5)) * longest
            likeness = 1 - _distance(part, word, most) / longest
        if likeness > best:
            best, name = likeness, word
    return (best, name) if best > 0.5 else (0.0, "")


@lru_cache(maxsize=20_000)
def _skeleton(word: str) -> str:
    """A word with each glyph by the first of its likes, pairs that look like one as one."""
    for pair, one in PAIRS.items():
        word = word.replace(pair, one)
    return word.translate(_FIRST)


_LIKES: dict[str, set[str]] = {}
for _set in CONFUSABLE:
    for _glyph in _set:
        _LIKES.setdefault(_glyph, set()).update(_set)
_FIRST = {ord(glyph): min(likes) for glyph, likes in _LIKES.items()}


def _distance(one: str, other: str, most: float) -> float:
    """Edits from one to the other, an alike glyph at ALIKE; over `most` it may be any number."""
    row = [float(index) for index in range(len(other) + 1)]
    for number, glyph in enumerate(one, 1):
        likes = _LIKES.get(glyph, ())
        last, row[0] = row[0], float(number)
        least = row[0]
        for index, against in enumerate(other, 1):
            cost = 0.0 if glyph == against else ALIKE if against in likes else 1.0
            value = min(last + cost, row[index] + 1, row[index - 1] + 1)
            last, row[index] = row[index], value
            least = min(least, value)
        if least > most:
            return least
    return row[-1]
