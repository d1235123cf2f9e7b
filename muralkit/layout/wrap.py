"""Breaks a band's cues into lines: measured words in, atoms at their x out.

In flow, cues run on behind bullets; in lines, each cue starts a line. Words are
set greedily, which gives the fewest lines. Only a word that is wider than a
whole line is broken: after / . _ - : or before a capital, with a break mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from muralkit.glyphs.clean import is_mark, letter_case
from muralkit.glyphs.shape import Piece, Shaper, Word
from muralkit.model import Cue

_BREAK_AFTER = frozenset("/._-:")


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
                left = x + space if line else indent
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
        self._shaper = shaper
        self._clusters = _clusters(word)
        texts = [cluster.text for cluster in self._clusters]
        self._widths = [shaper.measure(text) for text in texts]
        for index, pair in enumerate(pairwise(texts)):
            if pair[0] == "-" == pair[1][0]:
                self._widths[index] += shaper.hyphen_gap
        self._start = 0

    def fit(self, room: float) -> bool:
        """Whether what is left fits the room."""
        used = 0.0
        for index in range(self._start, len(self._widths)):
            used += self._widths[index]
            if used > room:
                return False
        return True

    def take(self, room: float, wait: bool) -> Word | None:
        """The longest part that fits the room.

        With `wait` (other words stand on the line) only a good place will do, else
        None is returned; without, any place between two clusters.
        """
        used, good, fits = 0.0, 0, 0
        for index in range(self._start, len(self._clusters) - 1):
            used += self._widths[index]
            if used > room:
                break
            fits = index + 1
            if _good_break(self._clusters[index], self._clusters[index + 1]):
                good = fits
        cut = good or (0 if wait else max(fits, self._start + 1))
        if not cut:
            return None
        part = self._clusters[self._start : cut]
        self._start = cut
        return _join(part, self._shaper)

    def rest(self) -> Word:
        """What is left."""
        return _join(self._clusters[self._start :], self._shaper)


def _clusters(word: Word) -> list[Piece]:
    """What is never parted: a character with its combining marks, or an escape."""
    clusters: list[Piece] = []
    for text, escaped in word.pieces:
        if escaped:
            clusters.append(Piece(text, escaped))
            continue
        for char in text:
            if clusters and not clusters[-1].escaped and is_mark(char):
                clusters[-1] = Piece(clusters[-1].text + char, "")
            else:
                clusters.append(Piece(char, ""))
    return clusters


def _good_break(before: Piece, after: Piece) -> bool:
    if before.escaped or after.escaped:
        return not (before.escaped and after.escaped)
    last, first = before.text[0], after.text[0]
    if last == first == "-":
        return False
    return last in _BREAK_AFTER or (letter_case(last), letter_case(first)) == ("Ll", "Lu")


def _join(clusters: list[Piece], shaper: Shaper) -> Word:
    pieces: list[Piece] = []
    for cluster in clusters:
        if pieces and not cluster.escaped and not pieces[-1].escaped:
            pieces[-1] = Piece(pieces[-1].text + cluster.text, "")
        else:
            pieces.append(cluster)
    return shaper.word(tuple(pieces))
