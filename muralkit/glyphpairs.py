"""How unlike two glyphs are, as a reader of the picture sees them: a theme in, distances out.

Each glyph is drawn by our own rasterizer at the theme's size and levels, at four places
between two pixels, since layout sets glyphs at fractions of a pixel. A pair's distance is
the least over these places and a shift of a pixel to either side: what is left when a
reader doesn't know exactly where a letter begins. Up and down it does, by the line.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from markupsafe import escape

from muralkit.glyphs.pieces import Piece
from muralkit.glyphs.shape import Shaper
from muralkit.manifest import InksSection
from muralkit.model import Canvas, Ink, Run
from muralkit.theme import Theme

PAIRS = (
    "0O", "08", "0Q", "0D", "OQ", "1l", "1I", "lI", "1i", "17", "38", "3d", "48", "5S", "56", "68",
    "6G", "b6", "8B", "2Z", "HK", "UV", "vy", "hn", "hb", "ec", "eo", "ao", "gq", "ft", "CG", ".,",
    ",;", ".:", ":;", "-_", "._", "/|",
)  # fmt: skip
"""What readers of the pages of the reading test took for one another, and the classic ones."""

HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
"""What sums and ids are made of: there no sense of the words helps a reader."""

LETTERS = string.digits + string.ascii_letters
"""What no two of may be drawn the same."""

PHASES = 4
"""Places between two pixels at which a glyph is drawn."""

SHIFTS = (-1, 0, 1)
"""Pixels that the second glyph is moved by."""


@dataclass(frozen=True, slots=True)
class Distance:
    """How unlike two glyphs are at their most alike.

    `pixels`: the ink that one has and the other has not, in whole pixels of it;
    `share`: that of the ink of both, laid one on the other; 0 to 1.
    """

    pair: str
    pixels: float
    share: float


Cell = tuple[tuple[int, ...], ...]
"""Rows of coverage, in the theme's steps from ground to ink."""


def distances(theme: Theme, pairs: Iterable[str] = PAIRS) -> list[Distance]:
    """The distance of each pair that the theme's faces have both glyphs of, the smallest first.

    Raises FontError, or EnvironmentProblem without libcairo.
    """
    pairs = list(pairs)
    cells = _drawn(theme, {char for pair in pairs for char in pair})
    top = theme.manifest.raster.levels - 1
    found = (
        _distance(pair, cells[pair[0]], cells[pair[1]], top)
        for pair in pairs
        if cells.keys() >= set(pair)
    )
    return sorted(found, key=lambda distance: distance.pixels)


def twins(theme: Theme) -> list[str]:
    """The pairs of letters and digits that are drawn the same, at each place between pixels."""
    cells = _drawn(theme, set(LETTERS))
    known = [char for char in LETTERS if char in cells]
    return ["".join(pair) for pair in combinations(known, 2) if cells[pair[0]] == cells[pair[1]]]


def _drawn(theme: Theme, wanted: set[str]) -> dict[str, list[Cell]]:
    """Each glyph that the theme's faces have, as it is drawn."""
    text = theme.manifest.text
    shaper = Shaper(theme.faces(), text.face, text.size, 0.0, text.snap)
    runs = {
        char: list(shaper.runs(Piece(char), 0.0, Ink.TEXT))
        for char in sorted(wanted - shaper.missing("".join(wanted)))
    }
    # A face of square pixels stands on whole ones.
    return _cells(theme, runs, 1 if text.snap else PHASES)


def _distance(pair: str, first: Sequence[Cell], second: Sequence[Cell], top: int) -> Distance:
    least = min(
        _difference(one, other, shift) for one, other, shift in product(first, second, SHIFTS)
    )
    return Distance(pair, round(least[0] / top, 2), round(least[0] / max(1, least[1]), 3))


def _difference(one: Cell, other: Cell, shift: int) -> tuple[int, int]:
    """The ink that only one of them has, and that either has, with `other` moved to the right."""
    only = either = 0
    blank = (0,) * abs(shift)
    for row, beside in zip(one, other, strict=True):
        moved = (*blank, *beside[:-shift]) if shift > 0 else (*beside[-shift:], *blank)
        for a, b in zip(row, moved, strict=True):
            only += abs(a - b)
            either += max(a, b)
    return only, either


def _cells(theme: Theme, glyphs: dict[str, list[Run]], phases: int) -> dict[str, list[Cell]]:
    """Each glyph as it is drawn in black on white, once a phase."""
    from muralkit.native import require_cairo

    require_cairo()
    from muralkit import raster
    from muralkit.plates import Plates

    size = max((run.size for runs in glyphs.values() for run in runs), default=1.0)
    side = 3 * math.ceil(size)
    canvas = Canvas(side * phases, side * max(1, len(glyphs)), 1, side * phases)
    document = "".join(_document(glyphs, canvas, side, phases))
    plain = replace(theme.manifest, inks=InksSection(page="#ffffff", text="#000000"))
    indices = raster.rasterize(document, canvas, Plates(plain), theme.faces())
    return _cropped(
        {
            char: [
                _cut(indices, canvas.width, column * side, row * side, side)
                for column in range(phases)
            ]
            for row, char in enumerate(glyphs)
        }
    )


def _cropped(cells: dict[str, list[Cell]]) -> dict[str, list[Cell]]:
    """The same without the rows and columns that no glyph has ink in, but for those that
    a glyph is shifted to.
    """
    every = [cell for found in cells.values() for cell in found]
    rows = [y for y in range(len(every[0])) if any(any(cell[y]) for cell in every)] if every else []
    if not rows:
        return cells
    top, bottom = rows[0], rows[-1] + 1
    inked = [any(column) for column in zip(*(row for cell in every for row in cell), strict=True)]
    left = max(0, inked.index(True) - 1)
    right = len(inked) - inked[::-1].index(True) + 1
    return {
        char: [tuple(row[left:right] for row in cell[top:bottom]) for cell in found]
        for char, found in cells.items()
    }


def _document(
    glyphs: dict[str, list[Run]], canvas: Canvas, side: int, phases: int
) -> Iterator[str]:
    size = f'width="{canvas.width}" height="{canvas.height}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect {size} fill="#ffffff"/>'
    for row, runs in enumerate(glyphs.values()):
        for column, run in product(range(phases), runs):
            x, y = column * side + side // 3 + column / phases, row * side + 2 * side // 3
            yield (
                f'<text x="{x:g}" y="{y}" font-family="{escape(run.family)}" fill="#000000" '
                f'font-weight="{run.weight}" font-size="{run.size:g}">{escape(run.text)}</text>'
            )
    yield "</svg>"


def _cut(indices: bytes, width: int, left: int, top: int, side: int) -> Cell:
    """A cell's rows. The palette begins with the steps from the page to the text's ink."""
    return tuple(
        tuple(indices[row * width + left : row * width + left + side])
        for row in range(top, top + side)
    )
