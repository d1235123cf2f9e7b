"""A glyph's outline as cubic segments: apart, because pens cost an import of fontTools."""

from __future__ import annotations

from typing import Any

from fontTools.pens.basePen import BasePen

Segment = tuple[str, tuple[float, ...]]
"""One step of an outline: M x y, L x y, C x1 y1 x2 y2 x y, or Z; y upwards."""

Point = tuple[float, float]


MOST_COMPONENTS, MOST_SEGMENTS = 200, 20_000
"""The most intricate ideographs have some 60 components and 1,000 segments."""


class _SegmentPen(BasePen):  # type: ignore[misc]  # fontTools' pens have no types
    """Collects segments in em; BasePen turns quadratic curves into cubic ones."""

    def __init__(self, glyphs: Any, em: int) -> None:
        super().__init__(glyphs)
        self.em = em
        self._components = 0
        self.segments: list[Segment] = []

    def addComponent(self, glyphName: str, transformation: Any) -> None:
        """A glyph made of glyphs, made of glyphs: a few hundred bytes could be billions."""
        self._components += 1
        if self._components > MOST_COMPONENTS:
            raise ValueError(f"a glyph has more than {MOST_COMPONENTS} components")
        super().addComponent(glyphName, transformation)

    def _add(self, step: str, *points: Point) -> None:
        if len(self.segments) >= MOST_SEGMENTS:
            raise ValueError(f"a glyph has more than {MOST_SEGMENTS} segments")
        self.segments.append((step, tuple(value / self.em for point in points for value in point)))

    def _moveTo(self, pt: Point) -> None:
        self._add("M", pt)

    def _lineTo(self, pt: Point) -> None:
        self._add("L", pt)

    def _curveToOne(self, pt1: Point, pt2: Point, pt3: Point) -> None:
        self._add("C", pt1, pt2, pt3)

    def _closePath(self) -> None:
        self._add("Z")

    def _endPath(self) -> None:
        self._add("Z")


def segments(glyphs: Any, name: str, em: int) -> tuple[Segment, ...]:
    """The outline of one glyph of a fontTools glyph set, in em, y upwards."""
    pen = _SegmentPen(glyphs, em)
    glyphs[name].draw(pen)
    return tuple(pen.segments)
