"""Which memories an agent gets as text, and which are left for the mural.

Memories and a budget in, a Selection out: the text block's memories, the
overflow, and the overflow's current cues in the order that they are drawn in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from muralkit.glyphs.clean import clean
from muralkit.model import Cue, Memory, Status, StoredCue, category_order
from muralkit.pricing import text_tokens
from muralkit.store import content_hash

OPEN, CLOSE = "<project-memory>", "</project-memory>"

Estimate = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Selection:
    """The pool parted: `inline` in id order, `overflow` by rank; `tokens` of the text block."""

    inline: tuple[Memory, ...]
    overflow: tuple[Memory, ...]
    tokens: int


def select(pool: Sequence[Memory], budget: int, estimate: Estimate = text_tokens) -> Selection:
    """Fill the budget greedily: permanent first, then importance descending, then id.

    A memory costs its line, and the first of its category the category's tags. One
    that doesn't fit is passed over, and a smaller one after it may still fit.
    """
    used = estimate(f"{OPEN}\n{CLOSE}")
    opened: set[str] = set()
    inline: list[Memory] = []
    overflow: list[Memory] = []
    for memory in sorted(pool, key=_rank):
        cost = estimate(line(memory))
        if memory.category not in opened:
            cost += estimate(_tag(memory.category)) + estimate(_tag(memory.category, "/"))
        if used + cost > budget:
            overflow.append(memory)
            continue
        used += cost
        opened.add(memory.category)
        inline.append(memory)
    return Selection(tuple(sorted(inline, key=lambda m: m.id)), tuple(overflow), used)


def block(memories: Iterable[Memory]) -> str:
    """The text block: a tag a category in their order, and in it `#id: content` by id."""
    bands: dict[str, list[Memory]] = {}
    for memory in memories:
        bands.setdefault(memory.category, []).append(memory)
    lines = [OPEN]
    for category in sorted(bands, key=category_order):
        lines.append(_tag(category))
        lines += [line(memory) for memory in sorted(bands[category], key=lambda m: m.id)]
        lines.append(_tag(category, "/"))
    return "\n".join([*lines, CLOSE])


def line(memory: Memory) -> str:
    """A memory in the text block: on one line, and unable to close a tag."""
    return f"#{memory.id}: {escape(clean(memory.content)[0])}"


def current_cues(memories: Iterable[Memory], cues: Mapping[int, StoredCue]) -> list[Cue]:
    """The cues that were made of their memory's content of today, in drawing order."""
    found = [
        Cue(memory.id, memory.category, memory.weight, cues[memory.id].text)
        for memory in memories
        if is_current(memory, cues.get(memory.id))
    ]
    return sorted(found, key=lambda c: (category_order(c.category), -c.importance, c.memory_id))


def is_current(memory: Memory, cue: StoredCue | None) -> bool:
    """Whether the memory has a cue, and the content did not change since."""
    return cue is not None and bool(cue.text) and cue.content_hash == content_hash(memory.content)


def _rank(memory: Memory) -> tuple[bool, int, int]:
    return memory.status is not Status.PERMANENT, -memory.weight, memory.id


def _tag(category: str, slash: str = "") -> str:
    """A category's tag: its own, where it is a name as ours are, so that none can be taken
    for a tag of somebody else's.
    """
    if _NAME.fullmatch(category):
        return f"<{slash}{category}>"
    return "</CATEGORY>" if slash else f"<CATEGORY name={quoteattr(clean(category)[0])}>"


_NAME = re.compile("[A-Z][A-Z0-9_]*")
