"""Two words in, how alike they are out, by what readers take for one another in small print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from muralkit.manifest import confusions

ALIKE = 0.25
"""The cost of taking a glyph for one that looks like it, beside 1 for any other."""

GAP = 1.5
"""The cost of a glyph too many or too few: readers mistake glyphs more often than they miss
them, and of two names as far off the one of the same length is the right one."""

LEAST = 0.5
"""Words that are less alike are not alike at all."""

FILTERED = 0.6
"""Of a word's glyphs, how many may differ at all. Counting them is a hundred times faster
than weighing them, and few pairs of words pass."""

# The last two rows were misread in every face (LEGIBILITY: single look-alikes, and the dot).
CONFUSABLE = ("0O8DQ", "1lI|i!", "38B", "5S6", "6G", "2Z", "7T", "CG", "UV", "uv", "VY", ".,", ":;",
              "-_", "/|", "hn", "ec", "ao", "gq", "tf", "WM", "HK", "EF", "PR",
              "48", "68", "3d", "bh", "eo", "._")  # fmt: skip
"""Sets of glyphs that readers take for one another, in small print."""

PAIRS = {"rn": "m", "cl": "d", "vv": "w", "ii": "u", "nn": "m", "./": "/", "--": "-"}
"""Two glyphs that are read as one."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What each glyph is taken for, and which runs of glyphs are read as another one."""

    likes: Mapping[str, frozenset[str]]
    joined: Mapping[str, str]
    runs: re.Pattern[str]

    def likeness(self, one: str, other: str) -> float:
        """From LEAST, not counted, to 1 for the same word; 0 where they are not alike."""
        longest = max(len(one), len(other))
        most = int(longest * FILTERED)
        if Levenshtein.distance(one, other, score_cutoff=most) > most:
            return 0.0
        alike = 1 - self.distance(one, other) / longest
        return alike if alike > LEAST else 0.0

    def distance(self, one: str, other: str) -> float:
        """The cost of all that differs."""
        if one == other:
            return 0.0
        plain = self._edits(one, other)
        whole, against = self._join(one), self._join(other)
        if (whole, against) == (one, other):
            return plain
        runs = abs(len(one) - len(whole) - len(other) + len(against))
        return min(plain, max(1, runs) * ALIKE + self._edits(whole, against))

    def _join(self, word: str) -> str:
        return self.runs.sub(lambda found: self.joined[found[0]], word)

    def _edits(self, one: str, other: str) -> float:
        """The costs of the fewest edits, or of glyph for glyph: of several ways to make so
        few edits any one is weighed, but in words of one length most are only misread.
        """
        edits = sum(
            self._mistake(one[edit.src_pos], other[edit.dest_pos]) if edit.tag == "replace" else GAP
            for edit in Levenshtein.editops(one, other)
        )
        if len(one) == len(other):
            return min(edits, sum(map(self._mistake, one, other)))
        return edits

    def _mistake(self, glyph: str, other: str) -> float:
        return 0.0 if glyph == other else ALIKE if other in self.likes.get(glyph, ()) else 1.0


@lru_cache(maxsize=16)
def glyphs(confusable: tuple[str, ...] = (), folded: bool = False) -> Glyphs:
    """The built-in sets and runs, and others, as a theme's manifest has them.

    `folded`: for words in lower case, in which a B that is taken for an 8 is a b.
    """
    sets, joined = confusions(confusable)
    sets, joined = [*CONFUSABLE, *sets], {**PAIRS, **joined}
    if folded:
        sets = [likes.casefold() for likes in sets]
        joined = {run.casefold(): one.casefold() for run, one in joined.items()}
    found: dict[str, set[str]] = {}
    for likes in sets:
        for glyph in likes:
            found.setdefault(glyph, set()).update(likes)
    longest_first = sorted(joined, key=len, reverse=True)
    runs = re.compile("|".join(map(re.escape, longest_first)))
    return Glyphs({glyph: frozenset(likes) for glyph, likes in found.items()}, joined, runs)
