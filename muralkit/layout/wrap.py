"""Breaks a band's cues into lines: measured words in, atoms at their x out.

In flow, cues run on behind bullets; in lines, each cue starts a line. Words are
set greedily, which gives the fewest lines. Only a word that is wider than a
whole line is broken: after / . _ - : or before a capital, with a break mark.
Widths do not depend on direction, so the order of what runs from right to left is
the typesetter's, line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from muralkit.glyphs.clean import letter_case
from muralkit.glyphs.pieces import Piece
from muralkit.glyphs.shape import Shaper, Word
from muralkit.model import Cue

_BREAK_AFTER = frozenset("/._-:")
# Vowels of Thai and Lao that are written before their consonant: a syllable starts there.
_BREAK_BEFORE = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4")
# How much narrower letters may be joined than each is by itself: of a word that is longer
# than that no more is shaped for each of its lines.
_JOINED = 4


class SetCue(NamedTuple):
    """A cue, its category cleaned, and its measured words; `width` is their sum with spaces."""

    cue: Cue
    category: str
    words: list[Word]
    width: float
    stripped: int


class Atom(NamedTuple):
    """A word, or a part of one, at its x in the line.

    `start`: the first of its cue, behind a bullet. `broken`: a break mark follows.
    """

    x: float
    word: Word
    cue: Cue
    start: bool
    broken: bool


@dataclass(frozen=True, slots=True)
class Measure:
    """What a line can hold, in pixels: `width`, and what stands between words.

    `bullet` includes the space behind the bullet, `gap` the one before it.
    """

    width: float
    indent: float
    gap: float
    bullet: float
    space: float
    mark: float
    flow: bool


def wrap(cues: Sequence[SetCue], measure: Measure, shaper: Shaper) -> list[list[Atom]]:
    """The lines of one band, in order."""
    lines: list[list[Atom]] = []
    line: list[Atom] = []
    x = 0.0  # where the line's text ends so far
    full, indent, space = measure.width, measure.indent, measure.space
    for cue, _category, words, _width, _stripped in cues:
        if line and not measure.flow:
            lines.append(line)
            line, x = [], 0.0
        start = True
        for word in words:
            if start:
                left = x + measure.gap + measure.bullet if line else measure.bullet
            else:
                left = x + (0.0 if word.glued else space) if line else indent
            if left + word.width > full and line:
                room = full - (measure.bullet if start else indent)
                if word.width <= room:  # it fits a line of its own
                    lines.append(line)
                    line, left = [], measure.bullet if start else indent
            if left + word.width > full:
                parts = _Parts(word, shaper)
                while not parts.fit(full - left):
                    head = parts.take(full - left - measure.mark, bool(line))
                    if head is not None:
                        line.append(Atom(left, head, cue, start, True))
                        start = False
                    lines.append(line)
                    line, left = [], measure.bullet if start else indent
                word = parts.rest()
            line.append(Atom(left, word, cue, start, False))
            x = left + word.width
            start = False
    if line:
        lines.append(line)
    return lines


class _Parts:
    """A word that is wider than a line, taken apart from its start."""

    def __init__(self, word: Word, shaper: Shaper) -> None:
        self._shaper, self._word = shaper, word
        self._clusters = _clusters(word, shaper)
        self._shaped = any(cluster.script is not None for cluster in self._clusters)
        self._widths = [shaper.width(cluster) for cluster in self._clusters]
        for index, (before, after) in enumerate(pairwise(self._clusters)):
            if before.text == "-" == after.text[0]:
                self._widths[index] += shaper.hyphen_gap
        self._start = 0

    def fit(self, room: float) -> bool:
        """Whether what is left fits the room."""
        used = 0.0
        most = room * _JOINED if self._shaped else room
        for index in range(self._start, len(self._widths)):
            used += self._widths[index]
            if used > most:
                return False
        return not self._shaped or self.rest().width <= room

    def take(self, room: float, wait: bool) -> Word | None:
        """The longest part that fits the room.

        With `wait` (other words stand on the line) only a good place will do, else
        None is returned; without, any place between two clusters.
        """
        fits = self._longest(room)
        ends = range(fits, self._start, -1)
        good = next((end for end in ends if self._good_end(end)), 0)
        cut = good or (0 if wait else max(fits, self._start + 1))
        if not cut:
            return None
        part = self._join(self._start, cut)
        self._start = cut
        return part

    def _good_end(self, end: int) -> bool:
        return _good_break(self._clusters[end - 1], self._clusters[end])

    def _longest(self, room: float) -> int:
        """Where the longest part ends that fits the room and leaves something."""
        if not self._shaped:
            return self._sum_to(room)
        low, high = self._start, self._sum_to(room * _JOINED)
        while low < high:  # letters are narrower joined, or, now and then, wider
            middle = (low + high + 1) // 2
            if self._join(self._start, middle).width <= room:
                low = middle
            else:
                high = middle - 1
        return low

    def _sum_to(self, room: float) -> int:
        """Where the clusters end whose widths, each by itself, add up to the room."""
        used, fits = 0.0, self._start
        for index in range(self._start, len(self._clusters) - 1):
            used += self._widths[index]
            if used > room:
                break
            fits = index + 1
        return fits

    def rest(self) -> Word:
        """What is left."""
        return self._join(self._start, len(self._clusters))

    def _join(self, start: int, end: int) -> Word:
        pieces: list[Piece] = []
        for cluster in self._clusters[start:end]:
            if pieces and pieces[-1].joins(cluster):
                pieces[-1] = pieces[-1]._replace(text=pieces[-1].text + cluster.text)
            else:
                pieces.append(cluster)
        word = self._word
        return self._shaper.word(tuple(pieces))._replace(
            glued=word.glued, space=word.space, base=word.base
        )


def _clusters(word: Word, shaper: Shaper) -> list[Piece]:
    """What is never parted: a grapheme, or an escape."""
    return [part for piece in word.pieces for part in shaper.split(piece)]


def _good_break(before: Piece, after: Piece) -> bool:
    if before.escaped or after.escaped:
        return not (before.escaped and after.escaped)
    last, first = before.text[0], after.text[0]
    if last == first == "-":
        return False
    if last in _BREAK_AFTER or first in _BREAK_BEFORE:
        return True
    return (letter_case(last), letter_case(first)) == ("Ll", "Lu")
