"""Who is drawn first when not all can be: cues in, measured cues by rank out.

The rank is importance, highest first, then the id, lowest first. The order in
the picture is another: by band, then by rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from muralkit.glyphs.clean import clean
from muralkit.layout.typeset import Typesetter
from muralkit.layout.wrap import SetCue
from muralkit.model import Cue, Dropped, MemoryId, Reason

MOST_CHARACTERS = 1_000_000
"""Of a cue that is measured at all: no canvas holds more of the smallest letters."""


PROBE = 20_000
"""Characters of a longer cue that are set first: most canvases are full with them."""


def rank(cue: Cue) -> tuple[int, bool, MemoryId]:
    """Importance descending, id ascending; numbers before names."""
    return -cue.importance, isinstance(cue.memory_id, str), cue.memory_id


@dataclass(frozen=True, slots=True)
class Note:
    """What the mural says of the cues that it leaves out: how many, and the
    importance of the most important one.
    """

    count: int
    importance: int


class Ranking:
    """The cues that have something to draw, by rank; measured as far as needed.

    Measuring stops once the text is wider than all the lines of a canvas, so
    that a hundred thousand cues cost little more than those that fit.
    """

    def __init__(self, cues: Sequence[Cue], typesetter: Typesetter) -> None:
        self._typesetter = typesetter
        self._waiting: list[tuple[Cue, str, int]] = []
        self.dropped: list[Dropped] = []
        for cue in sorted(cues, key=rank, reverse=True):
            text, stripped = clean(cue.text)
            if text:
                self._waiting.append((cue, text, stripped))
            else:
                self._drop(cue, Reason.EMPTY)

    def _drop(self, cue: Cue, reason: Reason) -> None:
        self.dropped.append(Dropped(cue.memory_id, cue.importance, reason))

    def measured(
        self, room: float, alone: Callable[[SetCue], bool], doubtful: float
    ) -> list[SetCue]:
        """The next cues by rank, until their widths add up to more than `room` pixels.

        A cue that even an empty canvas can't hold is dropped and passed over;
        `alone` tells, and is asked only of those that are wider than `doubtful`.
        """
        cues: list[SetCue] = []
        used = 0.0
        while self._waiting and used <= room:
            waiting, text, stripped = self._waiting.pop()
            if len(text) > MOST_CHARACTERS:
                self._drop(waiting, Reason.TOO_LARGE)
                continue
            cue = self._typesetter.set_cue(waiting, text[:PROBE], stripped)
            if len(text) > PROBE and (cue.width <= doubtful or alone(cue)):
                cue = self._typesetter.set_cue(waiting, text, stripped)
            if cue.width > doubtful and not alone(cue):
                self._drop(cue.cue, Reason.TOO_LARGE)
                continue
            cues.append(cue)
            used += cue.width
        return cues

    def give_up(self, cue: SetCue) -> None:
        """Drop a measured cue that even an empty canvas can't hold."""
        self._drop(cue.cue, Reason.TOO_LARGE)

    def leave_out(self, cues: Sequence[SetCue]) -> None:
        """Drop these measured cues, and all that were not measured: the canvas is full."""
        for cue in cues:
            self._drop(cue.cue, Reason.FULL)
        for waiting, _, _ in reversed(self._waiting):
            self._drop(waiting, Reason.FULL)
        self._waiting.clear()

    def note(self, left: Sequence[SetCue]) -> Note | None:
        """The note for a page that leaves these measured cues out (they are in rank
        order), all that were not measured, and those that no canvas can hold.
        """
        large = [item for item in self.dropped if item.reason is Reason.TOO_LARGE]
        count = len(left) + len(self._waiting) + len(large)
        if not count:
            return None
        importance = max((item.importance for item in large), default=0)
        if left:
            importance = max(importance, left[0].cue.importance)
        elif self._waiting:
            importance = max(importance, self._waiting[-1][0].importance)
        return Note(count, importance)

    @property
    def waiting(self) -> int:
        """How many cues were not measured."""
        return len(self._waiting)
