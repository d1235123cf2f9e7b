"""Gives every line its place: a chosen page in, a Layout out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from muralkit.glyphs.clean import clean
from muralkit.layout.canvas import Banner, Item, Page
from muralkit.layout.rank import Note, Ranking
from muralkit.layout.typeset import Typesetter
from muralkit.model import TILE, Canvas, Escaped, Layout, Line, Placed, Role
from muralkit.theme import Theme


def place(page: Page, ranking: Ranking, typesetter: Typesetter, theme: Theme) -> Layout:
    """The finished page on a canvas of whole tiles."""
    margin, gutter = theme.manifest.canvas.margin, theme.manifest.canvas.gutter
    frame = page.frame
    placed: list[Placed] = []
    bottom = 0
    for number, column in enumerate(page.packer.balanced(frame.columns)):
        x, y = margin + number * (frame.column_width + gutter), margin
        for line, above in _column(page, column.start, column.end, typesetter):
            y += above
            placed.append(Placed(line, x, y, frame.column_width))
            y += line.height
        bottom = max(bottom, y)
    height = max(1, -(-bottom // TILE)) * TILE  # the rest of the last tile is the lower margin
    return Layout(
        canvas=Canvas(frame.width, height, frame.columns, frame.column_width),
        placed=tuple(placed),
        shown=_shown(placed),
        dropped=tuple(ranking.dropped),
        escaped=_escaped(page, typesetter),
        stripped=_stripped(page),
    )


def _column(page: Page, start: int, end: int, typesetter: Typesetter) -> Iterator[tuple[Line, int]]:
    """The lines of a column from the top, each with the space above it."""
    for index in range(start, end):
        box, item = page.packer.boxes[index], page.items[index]
        if index == start and box.repeat:
            name = _category(page.items, start)
            yield typesetter.banner(name, Role.REPEAT, page.frame.column_width), 0
        yield _line(item, page, typesetter), 0 if index == start else box.above


def _line(item: Item, page: Page, typesetter: Typesetter) -> Line:
    width = page.frame.column_width
    match item:
        case Banner(category):
            return typesetter.banner(category, Role.BANNER, width)
        case Note(count, importance):
            return typesetter.note(f"+{count} more, of importance {importance} and less", width)
        case _:
            return typesetter.line(item)


def _category(items: Iterable[Item], index: int) -> str:
    """The category of the band that the item at `index` stands in."""
    banners = [item for item in list(items)[:index] if isinstance(item, Banner)]
    return banners[-1].category


def _shown(placed: Iterable[Placed]) -> tuple[int | str, ...]:
    ids = dict.fromkeys(memory_id for item in placed for memory_id in item.line.memory_ids)
    return tuple(ids)


def _escaped(page: Page, typesetter: Typesetter) -> tuple[Escaped, ...]:
    """The characters of cues and of categories that no face has."""
    counts = Counter(
        piece.escaped
        for cue in page.cues
        for word in cue.words
        for piece in word.pieces
        if piece.escaped
    )
    for name in {cue.category for cue in page.cues}:
        counts.update(typesetter.missing_in_banner(name))
    return tuple(Escaped(ord(char), counts[char]) for char in sorted(counts))


def _stripped(page: Page) -> int:
    named = sum(clean(category)[1] for category in {cue.cue.category for cue in page.cues})
    return named + sum(cue.stripped for cue in page.cues)
