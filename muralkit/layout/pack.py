"""Fills columns: the heights of boxes in, the places to part them out.

A box is a line. A banner is never the last box of a column, and a column that
begins inside a band repeats the band's banner, slim. Heights are whole pixels,
so every search here is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple


class Box(NamedTuple):
    """A line as packing sees it, in pixels.

    `above` is the space over it, left out at the top of a column; `banner`: it
    must not end a column; `repeat` is the slim banner's height where the box
    starts a column inside its band, else 0.
    """

    height: int
    above: int
    banner: bool
    repeat: int


class Column(NamedTuple):
    """The boxes from `start` up to, not including, `end`."""

    start: int
    end: int


class Packer:
    """The boxes of a page, with the sums that make a column's height one subtraction."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes = boxes
        self._below = [0, *accumulate(box.above + box.height for box in boxes)]

    def height(self, start: int, end: int) -> int:
        """The height of a column of these boxes; an empty one has none."""
        if start >= end:
            return 0
        first = self.boxes[start]
        return self._below[end] - self._below[start] - first.above + first.repeat

    def furthest(self, start: int, limit: int) -> int:
        """The largest end of a column from `start` that is at most `limit` high."""
        if start >= len(self.boxes):
            return start
        first = self.boxes[start]
        most = limit + self._below[start] + first.above - first.repeat
        end = max(start, bisect_right(self._below, most) - 1)
        while end > start and self.boxes[end - 1].banner:
            end -= 1
        return end

    def fits(self, columns: int, limit: int) -> bool:
        """Whether that many columns of that height hold every box."""
        end = 0
        for _ in range(columns):
            end = self.furthest(end, limit)
        return end == len(self.boxes)

    def least_height(self, columns: int) -> int:
        """The least height at which that many columns hold every box."""
        low, high = 0, self._below[-1]
        while low < high:
            middle = (low + high) // 2
            if self.fits(columns, middle):
                high = middle
            else:
                low = middle + 1
        return low

    def balanced(self, columns: int) -> list[Column]:
        """Columns of the least greatest height, the shortest one as high as can be.

        Ties go to fuller columns on the left.
        """
        limit = self.least_height(columns)
        # After each column: how high the shortest so far is, and where it began.
        reached: dict[int, tuple[int, int]] = {0: (limit, -1)}
        trail: list[dict[int, tuple[int, int]]] = []
        for ends in self._windows(columns, limit):
            following: dict[int, tuple[int, int]] = {}
            for start, (shortest, _) in reached.items():
                for end in ends:
                    tall = self.height(start, end)
                    if end < start or tall > limit:
                        continue
                    best = following.get(end)
                    if best is None or (min(shortest, tall), start) > best:
                        following[end] = (min(shortest, tall), start)
            trail.append(following)
            reached = following
        cuts = [len(self.boxes)]
        for following in reversed(trail):
            cuts.append(following[cuts[-1]][1])
        cuts.reverse()
        return [Column(start, end) for start, end in pairwise(cuts)]

    def _windows(self, columns: int, limit: int) -> list[list[int]]:
        """Where each column can end: at most where a greedy fill does, and late
        enough for the columns that follow.
        """
        latest = [0]
        for _ in range(columns):
            latest.append(self.furthest(latest[-1], limit))
        earliest = [len(self.boxes)]
        for _ in range(columns - 1):
            start = earliest[-1]
            while start > 0 and self.height(start - 1, earliest[-1]) <= limit:
                start -= 1
            earliest.append(start)
        earliest.reverse()
        return [
            [end for end in range(low, high + 1) if not (end and self.boxes[end - 1].banner)]
            for low, high in zip(earliest, latest[1:], strict=True)
        ]
