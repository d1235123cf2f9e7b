"""The frozen data that passes between the stages.

Lengths are CSS pixels (one pixel of the PNG), y grows downwards, and a point
(x, y) is measured from the canvas's top left corner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SIGNATURE = b"\x89PNG\r\n\x1a\n"
"""The first eight bytes of every PNG file."""

TILE = 28
"""Pixels a side of one image token: the patch of Claude's vision models."""

CATEGORIES = ("PROJECT_RULES", "ARCHITECTURE", "CONSTRAINTS", "CONFIG_VALUES", "NAMING")
"""The known categories in their order; any other follows, by name."""


def category_order(category: str) -> tuple[int, str]:
    """What bands are sorted by."""
    known = category in CATEGORIES
    return (CATEGORIES.index(category) if known else len(CATEGORIES)), category


DEFAULT_IMPORTANCE = 50
"""What an absent (null) importance reads as, on the scale of 1 to 100."""

PROHIBITION = "⊘"
"""The sign that makes a cue a prohibition."""

MemoryId = int | str


class Status(StrEnum):
    """What becomes of a memory: the first two are the pool that an agent may see."""

    ACTIVE = "active"
    PERMANENT = "permanent"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Memory:
    """One durable fact of a project.

    `importance` is as it was given, null included: `weight` reads null as 50.
    Times are seconds since 1970, UTC; `expires_at` null means never.
    """

    id: int
    category: str
    importance: int | None
    status: Status
    content: str
    created_at: int = 0
    updated_at: int = 0
    expires_at: int | None = None
    status_before: Status | None = None
    """Of an archived one: what it is when it comes back."""

    @property
    def weight(self) -> int:
        """The importance from 1 to 100."""
        return DEFAULT_IMPORTANCE if self.importance is None else self.importance


@dataclass(frozen=True, slots=True)
class StoredCue:
    """The cue that was made of a memory's content of that hash, and by what.

    An empty `text` has no cue yet, but `rejections` of that content are counted.
    """

    memory_id: int
    text: str
    content_hash: str
    model: str
    rules_version: int
    rejections: int


@dataclass(frozen=True, slots=True)
class Frozen:
    """A session's context baseline as it was folded, and what it was folded from.

    `facts` are by name what a later turn is held against. `png` is None where there is
    no picture; `damaged` where there was one, and its bytes are no longer what they
    were. `folds` counts them; times are seconds since 1970.
    """

    harness: str
    session: str
    project: str
    facts: Mapping[str, str]
    text: str
    marker: str
    png: bytes | None = field(repr=False)
    reason: str
    folded_at: float
    used_at: float
    folds: int
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Cue:
    """A memory in one short line.

    `importance` runs from 1 to 100. `text` is data as it came: layout cleans it.
    """

    memory_id: MemoryId
    category: str
    importance: int
    text: str


class Role(StrEnum):
    """What a line is for."""

    TEXT = "text"
    BANNER = "banner"
    REPEAT = "repeat"
    """The slim banner of a band that goes on in another column."""
    NOTE = "note"
    """The mural's own last line: how many cues it leaves out."""


class Ink(StrEnum):
    """What a run is drawn for; the theme gives each ink its colour."""

    TEXT = "text"
    PROHIBITION = "prohibition"
    MARK = "mark"
    """Bullets, break marks, escapes, notes: what no cue text can ever take."""
    BANNER = "banner"


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive characters of one face, size, ink and direction, as they are written.

    `x` is the left edge, from the line's left edge; `width` the sum of advances;
    `size` the em in pixels; `tracking` is added to every advance. `rtl`: the first
    character is the rightmost.
    """

    text: str
    x: float
    width: float
    family: str
    weight: int
    size: float
    tracking: float
    ink: Ink
    rtl: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of runs: whole pixels high, its baseline `ascent` below its top."""

    role: Role
    runs: tuple[Run, ...]
    height: int
    ascent: int
    memory_ids: tuple[MemoryId, ...] = ()
    """Whose cues have text on this line, in order."""
    starts: tuple[float, ...] = ()
    """Where each of them begins, from the line's left edge; the last one goes on to the end."""

    @property
    def width(self) -> float:
        """From the line's left edge to the end of its last run."""
        return max((run.x + run.width for run in self.runs), default=0.0)

    def spans(self) -> Iterator[tuple[MemoryId, float, float]]:
        """Each cue on the line with its left and right edge, from the line's left edge."""
        ends = (*self.starts, self.width)[1:]
        yield from zip(self.memory_ids, self.starts, ends, strict=True)


@dataclass(frozen=True, slots=True)
class Placed:
    """A line at its place: (x, y) is its top left corner, `width` its column's."""

    line: Line
    x: int
    y: int
    width: int

    @property
    def baseline(self) -> int:
        """The y of the baseline."""
        return self.y + self.line.ascent


@dataclass(frozen=True, slots=True)
class Canvas:
    """The picture's size in whole tiles, and its columns."""

    width: int
    height: int
    columns: int
    column_width: int

    @property
    def tokens(self) -> int:
        """Image tokens: tiles of 28 x 28 px, each side rounded up."""
        return -(-self.width // TILE) * -(-self.height // TILE)


class Reason(StrEnum):
    """Why a cue is not drawn."""

    FULL = "the canvas is full"
    TOO_LARGE = "larger than the whole canvas"
    EMPTY = "nothing to draw"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A cue that is not drawn, and why."""

    memory_id: MemoryId
    importance: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Escaped:
    """A character that no face has: drawn as `[U+13000]`, `count` times."""

    codepoint: int
    count: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A finished page: every line at a fixed position.

    `shown` are the memories whose cues are drawn whole, in drawing order.
    `stripped` counts the invisible characters that were left out.
    """

    canvas: Canvas
    placed: tuple[Placed, ...]
    shown: tuple[MemoryId, ...]
    dropped: tuple[Dropped, ...]
    escaped: tuple[Escaped, ...]
    stripped: int


@dataclass(frozen=True, slots=True)
class Mural:
    """The picture and what is known of it.

    `png` is the file's bytes, `tokens` its price in tiles, `key` the hash over
    every input of the picture; `cached` says that the bytes came from the cache.
    """

    png: bytes = field(repr=False)
    width: int
    height: int
    tokens: int
    key: str
    shown: tuple[MemoryId, ...]
    dropped: tuple[Dropped, ...]
    escaped: tuple[Escaped, ...]
    stripped: int = 0
    cached: bool = False
