"""Chooses the canvas: ranked cues in, a page that holds as many as it can out.

A fixed width has one frame. `fit` takes the cheapest frame that drops nothing.
Where no frame holds every cue, the least important go first, across all bands,
and the page ends in a note.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from muralkit.errors import ThemeError
from muralkit.glyphs.shape import add_up
from muralkit.layout.pack import Box, Packer
from muralkit.layout.rank import Note, Ranking
from muralkit.layout.typeset import Typesetter
from muralkit.layout.wrap import Atom, SetCue
from muralkit.manifest import CanvasSection
from muralkit.model import TILE, Role, category_order
from muralkit.theme import Theme

# `fit` keeps columns between these many em. Wrapped ends lose words, and so do
# long lines: 36 em were read better than 54 (259 against 229 of 300 cues exact).
MIN_COLUMN, MAX_COLUMN = 16, 40
MAX_COLUMNS = 8


class Frame(NamedTuple):
    """A canvas to fill, in pixels; `limit` is the greatest height of a column."""

    width: int
    columns: int
    column_width: int
    limit: int


class Banner(NamedTuple):
    """The box of a band's banner."""

    category: str


Item = Banner | Note | list[Atom]


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on a canvas, in order; `items` and the packer's boxes pair up."""

    frame: Frame
    cues: tuple[SetCue, ...]
    items: tuple[Item, ...]
    packer: Packer

    @property
    def fits(self) -> bool:
        """Whether the frame's columns hold every line."""
        return self.packer.fits(self.frame.columns, self.frame.limit)


def choose(ranking: Ranking, typesetter: Typesetter, theme: Theme) -> Page:
    """The page to draw. Tells the ranking which cues it leaves out."""
    canvas = theme.manifest.canvas
    filler = _Filler(typesetter, theme)
    frames = _frames(theme, typesetter)
    pitch = theme.manifest.text.pitch
    capacity = max(f.columns * (f.limit // pitch) * f.column_width for f in frames)
    widest = max(frames, key=lambda f: f.columns * f.limit * f.column_width)

    def alone(cue: SetCue) -> bool:
        return filler.page([cue], widest, Note(1, 1)).fits

    ranked: list[SetCue] = []
    while True:
        used = add_up(cue.width for cue in ranked)
        ranked += ranking.measured(capacity - used, alone, capacity / 10)
        if not ranking.waiting:
            page = _cheapest(filler, ranked, frames, canvas, ranking.note([]))
            if page is not None:
                return page
        full = _largest(frames) if canvas.width == "fit" else frames
        pages = [_fullest(filler, ranked, frame, ranking) for frame in full]
        page = max(pages, key=lambda page: len(page.cues))
        left = ranked[len(page.cues) :]
        if not left or alone(left[0]):
            ranking.leave_out(left)
            return page
        ranking.give_up(left[0])  # it would keep out all that are less important
        ranked.remove(left[0])


def _frames(theme: Theme, typesetter: Typesetter) -> list[Frame]:
    """The frames that the theme allows: a banner, a line and the note fit each."""
    canvas, size = theme.manifest.canvas, theme.manifest.text.size
    least_height = theme.manifest.banner.height + 2 * theme.manifest.text.pitch
    if canvas.width != "fit":
        frame = _frame(canvas, canvas.width, canvas.columns)
        if frame.limit < least_height:
            raise ThemeError(
                f"A canvas of {frame.limit + canvas.margin} px with a margin of {canvas.margin} px "
                f"has no room for a line; it needs {least_height} px.",
                where=str(theme.path),
                hint="Ask for a smaller margin or width, or a larger canvas.max_tiles.",
            )
        if frame.column_width < typesetter.least_width:
            raise ThemeError(
                f"{canvas.columns} columns of {frame.column_width} px are too narrow for text of "
                f"{size:g} px; a column needs {typesetter.least_width} px.",
                where=str(theme.path),
                hint="Ask for fewer columns, a wider canvas or smaller text.",
            )
        return [frame]
    least = max(typesetter.least_width, round(MIN_COLUMN * size))
    frames = [
        _frame(canvas, tiles * TILE, columns)
        for tiles in range(1, min(canvas.max_side // TILE, canvas.max_tiles) + 1)
        for columns in range(1, MAX_COLUMNS + 1)
    ]
    most = max(least, round(MAX_COLUMN * size))
    wide = [
        frame
        for frame in frames
        if least <= frame.column_width <= most and frame.limit >= least_height
    ]
    if not wide:
        raise ThemeError(
            f"No canvas up to {canvas.max_side} px is wide enough for text of {size:g} px.",
            where=str(theme.path),
            hint="Ask for a larger canvas.max_side or smaller text.",
        )
    return wide


def _frame(canvas: CanvasSection, width: int, columns: int) -> Frame:
    rows = min(canvas.max_side // TILE, canvas.max_tiles // -(-width // TILE))
    inner = width - 2 * canvas.margin - (columns - 1) * canvas.gutter
    return Frame(width, columns, inner // columns, rows * TILE - canvas.margin)


def _largest(frames: Sequence[Frame]) -> list[Frame]:
    """For a pool that no frame holds: those of the largest canvases, a few."""
    area = max(f.width * f.limit for f in frames)
    big = [f for f in frames if f.width * f.limit >= 0.97 * area and f.width <= 2 * f.limit]
    return sorted(big or frames, key=lambda f: f.columns * f.column_width * f.limit)[-6:]


def _cheapest(
    filler: _Filler,
    cues: Sequence[SetCue],
    frames: Sequence[Frame],
    canvas: CanvasSection,
    note: Note | None,
) -> Page | None:
    """The page of the fewest tiles that holds every cue, or None.

    Frames are tried from the cheapest by a lower bound: the lines that the text
    would need if none had a gap, or, better, as many as a wider column was seen
    to need. A frame whose bound is not under the best price so far can't win.
    """
    best: tuple[int, Page] | None = None
    widths: list[int] = []  # column widths tried, ascending, and the lines they took
    heights: list[int] = []
    floor = filler.floor(cues)
    for frame in sorted(frames, key=lambda f: (_price(f, floor(f.column_width), canvas), f)):
        bound = floor(frame.column_width)
        if best and _price(frame, bound, canvas) >= best[0]:
            break
        at = bisect_left(widths, frame.column_width)
        if at < len(widths):
            bound = max(bound, heights[at])
        if bound > frame.columns * frame.limit or (
            best and _price(frame, bound, canvas) >= best[0]
        ):
            continue
        page = filler.page(cues, frame, note)
        widths.insert(at, frame.column_width)
        heights.insert(at, page.packer.height(0, len(page.items)))
        price = _price(frame, page.packer.least_height(frame.columns) * frame.columns, canvas)
        if page.fits and (best is None or price < best[0]):
            best = price, page
    return best[1] if best else None


def _price(frame: Frame, height: int, canvas: CanvasSection) -> int:
    """Tiles of a frame whose columns hold `height` pixels of lines in all."""
    tall = -(-height // frame.columns) + canvas.margin
    return -(-frame.width // TILE) * max(1, -(-tall // TILE))


def _fullest(filler: _Filler, ranked: Sequence[SetCue], frame: Frame, ranking: Ranking) -> Page:
    """The page with the most cues by rank that the frame holds, and the note."""

    def attempt(count: int) -> Page:
        return filler.page(ranked[:count], frame, ranking.note(ranked[count:]))

    low, high = 0, len(ranked)
    while low < high:
        middle = (low + high + 1) // 2
        if attempt(middle).fits:
            low = middle
        else:
            high = middle - 1
    return attempt(low)


class _Filler:
    """Puts cues on a frame: bands, banners, wrapped lines, the note."""

    def __init__(self, typesetter: Typesetter, theme: Theme) -> None:
        self._typesetter = typesetter
        self._text, self._banner = theme.manifest.text, theme.manifest.banner

    def bands(self, cues: Sequence[SetCue]) -> Iterator[tuple[str, list[SetCue]]]:
        """The cues by category, in the categories' order; within one by rank."""
        ordered = sorted(cues, key=lambda cue: category_order(cue.category))
        for name, band in groupby(ordered, key=lambda cue: cue.category):
            yield name, list(band)

    def page(self, cues: Sequence[SetCue], frame: Frame, note: Note | None) -> Page:
        """The cues as items and boxes in the frame."""
        items: list[Item] = []
        boxes: list[Box] = []
        for name, band in self.bands(cues):
            items.append(Banner(name))
            bar, _ = self._typesetter.banner_height(name, Role.BANNER)
            repeat, _ = self._typesetter.banner_height(name, Role.REPEAT)
            boxes.append(Box(bar, self._banner.above, True, 0))
            for atoms in self._typesetter.wrap(band, frame.column_width):
                items.append(atoms)
                boxes.append(Box(self._typesetter.height(atoms)[0], 0, False, repeat))
        if note is not None:
            items.append(note)
            boxes.append(Box(self._typesetter.height(())[0], 0, False, 0))
        return Page(frame, tuple(cues), tuple(items), Packer(boxes))

    def floor(self, cues: Sequence[SetCue]) -> _Floor:
        """The least height of these cues as a function of the column's width."""
        banner = self._banner.height
        flow = self._text.arrangement == "flow"
        bands = []
        for _, band in self.bands(cues):
            widths = [cue.width for cue in band]
            bands.append([add_up(widths)] if flow else widths)
        return _Floor(bands, banner, self._text.pitch)


class _Floor(NamedTuple):
    """Lines without gaps: no wrapping can take fewer."""

    bands: list[list[float]]
    banner: int
    pitch: int

    def __call__(self, width: int) -> int:
        lines = sum(-(-text // width) for band in self.bands for text in band)
        return int(lines) * self.pitch + len(self.bands) * self.banner
