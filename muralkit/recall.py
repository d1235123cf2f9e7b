"""What was read in a picture in, the memory behind it out: certain, likely or possible.

A name that stands in a memory as it was asked for is exact. Else identifiers are
compared by a distance that knows which glyphs are taken for one another, so that a
misread `a8f8e5` still leads to `a3f8e5`; that is never called exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from muralkit import theme as themes
from muralkit.cues.validate import identifiers, is_identifier, stands
from muralkit.errors import MuralkitError
from muralkit.glyphs.clean import clean
from muralkit.likeness import Glyphs, glyphs
from muralkit.model import Memory
from muralkit.store import Store
from muralkit.vision import themes_for

if TYPE_CHECKING:
    from muralkit.sections import MuralSection

CANDIDATES = 50
"""Memories that are looked at closely: those with the words most like the query's."""

NEAREST, WEIGHED = 30, 60
"""Words of the store that one of the query may be, of those whose glyphs are compared: in
each row of numbers, dozens differ by as many digits."""

WORDS, COMPARED = 200, 4
"""Words of a query that count, and those that may have been misread: whoever asks for more
has a text, in which some are right."""

MOST_HITS = 2000
"""Memories that the words of a query are looked up in, all together: 10 ms."""

PART, PIECE = 0.8, 0.6
"""How alike a name is to one that it is a part of (lock.toml of a/lock.toml), or a piece."""

SHORTEST, LONGEST = 3, 200
"""Characters of a word that may have been misread. A shorter one is like too many, and a
longer one is no name."""

SURE = 0.8
"""Of 1: how alike a likely answer is at least."""

AHEAD = 0.05
"""How far before the next one a likely answer is."""

_BEFORE, _BEHIND = "(\"'`", ".,;:!?)\"'`"
"""What stands around a word. A dot before it is a part (.env), or a glyph that was misread."""


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


def find(store: Store, query: str, limit: int = 5, confusable: tuple[str, ...] = ()) -> list[Match]:
    """The memories of a store, of any status, that fit the query, the likeliest first.

    `confusable` is what a theme's face makes alike, beside what every face does.
    """
    wanted = clean(query)[0]
    parts = _parts(wanted)
    if not parts:
        return []
    found = store.holding(wanted, lambda text: whole(wanted, clean(text)[0]), CANDIDATES)
    if len(wanted) >= SHORTEST:
        folded = wanted.casefold()
        found += store.holding(wanted, lambda text: folded in clean(text)[0].casefold(), CANDIDATES)
    found += store.search(
        _nearby(parts, store.words(), glyphs(confusable, folded=True)), CANDIDATES
    )
    return rank(query, {memory.id: memory for memory in found}.values(), limit, confusable)


def whole(wanted: str, content: str) -> bool:
    """Whether what was read stands in a text to the letter, and is no part of a longer name
    or number: no 7 of 7,000, no 5 of −5, no O of O'Brien.
    """
    start = content.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before, after = content[max(0, start - 2) : start], content[end : end + 2]
        if stands(wanted, before + wanted + after) and not (
            (before[-1:] in _WITHIN and before[:1].isalnum() and len(before) == 2)
            or (before[-1:] in _SIGNED and before != "" and wanted[0].isdigit())
            or (after[:1] in _WITHIN and after[1:].isalnum())
        ):
            return True
        start = content.find(wanted, start + 1)
    return False


_WITHIN = (",", "'", "’")
_SIGNED = ("−", "±")


def confusable(mural: MuralSection) -> tuple[str, ...]:
    """What the faces of the configured themes make alike, as far as those can be read."""
    found: list[str] = []
    for theme in themes_for(mural.readers, mural.theme):
        with suppress(MuralkitError):  # said where a picture is drawn with it
            found += themes.load(theme).manifest.recall.confusable
    return tuple(dict.fromkeys(found))


def rank(
    query: str, candidates: Iterable[Memory], limit: int = 5, confusable: tuple[str, ...] = ()
) -> list[Match]:
    """The candidates that fit the query, the likeliest first."""
    wanted = clean(query)[0]
    parts = _parts(wanted)
    if not parts:
        return []
    known = glyphs(confusable)
    made: list[tuple[float, str, bool, Memory]] = []
    for memory in candidates:
        content = clean(memory.content)[0]
        if whole(wanted, content):
            made.append((1.0, wanted, True, memory))
            continue
        likeness, found = _likeness(parts, content, known)
        if likeness > 0:
            made.append((min(likeness, 0.99), found, False, memory))
    made.sort(key=lambda item: (-item[0], -item[3].weight, item[3].id))
    matches: list[Match] = []
    for place, (score, found, exact, memory) in enumerate(made[:limit]):
        following = made[place + 1][0] if place + 1 < len(made) else 0.0
        sure = place == 0 and score >= SURE and score - following >= AHEAD
        certainty = (
            Certainty.EXACT if exact
            else Certainty.LIKELY if sure
            else Certainty.POSSIBLE
        )  # fmt: skip
        matches.append(Match(memory, certainty, found, round(score, 3)))
    return matches


def _bare(word: str) -> str:
    """A word without what stands around it."""
    return word.lstrip(_BEFORE).rstrip(_BEHIND)


def _parts(text: str) -> list[tuple[str, float]]:
    """The words of a query and what each is worth: an identifier says more than a word."""
    words = map(_bare, text.split(" "))
    return [(word, 3.0 if is_identifier(word) else 1.0) for word in words if word]


def _nearby(
    parts: Sequence[tuple[str, float]], terms: Mapping[str, int], known: Glyphs
) -> list[dict[str, float]]:
    """For each word of the query, the words of the store that it may be, and their worth.

    `terms` are all words of the store, and how many memories each stands in: a rare one
    says more.
    """
    asked: list[dict[str, float]] = []
    compared = 0
    words = [(part.casefold(), weight) for part, weight in parts[:WORDS]]
    for word, weight in sorted(words, key=lambda item: (item[0] in terms, -item[1])):
        near = {form: 1.0 for form in (word, f"{word}.", f"{word}:") if form in terms}
        if compared < COMPARED and (not near or weight > 1):
            near = _near(word, terms, known) | near
            compared += 1
        rarity = weight / math.log2(1 + terms.get(word, 1))
        asked.append({term: rarity * alike for term, alike in near.items()})
    return _rare(asked, terms)


def _rare(asked: list[dict[str, float]], terms: Mapping[str, int]) -> list[dict[str, float]]:
    """Without the words that stand in too many memories, the rarest ones excepted: they
    take most of the time, and tell least.
    """
    hits = sorted({(terms[term], term) for near in asked for term in near if term in terms})
    kept: set[str] = set()
    total = 0
    for count, term in hits:
        if kept and total + count > MOST_HITS:
            break
        kept.add(term)
        total += count
    return [{term: worth for term, worth in near.items() if term in kept} for near in asked]


def _near(word: str, terms: Mapping[str, int], known: Glyphs) -> dict[str, float]:
    """The terms that a word may be, the nearest first, and how alike they are."""
    if not SHORTEST <= len(word) <= LONGEST:
        return {}
    most = len(word) // 2 + 1  # one for a dot behind the term
    fewest = process.extract(
        word, terms.keys(), scorer=Levenshtein.distance, score_cutoff=most, limit=WEIGHED
    )
    alike = ((known.likeness(word, _bare(term)), term) for term, _, _ in fewest)
    best = sorted((item for item in alike if item[0]), reverse=True)
    return {term: likeness for likeness, term in best[:NEAREST]}


def _likeness(parts: Sequence[tuple[str, float]], content: str, known: Glyphs) -> tuple[float, str]:
    """How alike the query's words are to the content's, and the names that are."""
    words = set(map(_bare, content.split(" "))) | set(identifiers(content))
    words.discard("")
    folded = {word.casefold(): word for word in words}
    total, compared = 0.0, 0
    found: list[str] = []
    for part, weight in parts[:WORDS]:
        best, name = 0.0, ""
        if part in words or part.casefold() in folded:
            best, name = 1.0, part if part in words else folded[part.casefold()]
        elif compared < COMPARED and SHORTEST <= len(part) <= LONGEST:
            compared += 1
            best, name = max(
                ((max(known.likeness(part, word), _within(part, word)), word) for word in words),
                default=(0.0, ""),
            )
        if best > 0:
            total += weight * best
            found.append(name)
    return total / sum(weight for _, weight in parts), " ".join(found)


def _within(part: str, word: str) -> float:
    """How alike a part of a longer word is to it; 0 where it is none."""
    at = word.casefold().find(part.casefold())
    if at < 0:
        return 0.0
    around = word[at - 1 : at] + word[at + len(part) : at + len(part) + 1]
    return PIECE if any(map(str.isalnum, around)) else PART
