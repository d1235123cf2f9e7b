"""Where a project stands: a store and a configuration in, a Survey out.

The walk up to the layout: pool, text budget, overflow, cues, gate, page. What
`muralkit status` prints and `muralkit render` draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muralkit.errors import FontError, ThemeError
from muralkit.gate import Facts, Verdict, judge
from muralkit.model import Cue, Layout, Memory, MemoryId, StoredCue
from muralkit.pricing import FAMILIES, text_tokens
from muralkit.sections import Config
from muralkit.selection import Selection, block, current_cues, is_current, select
from muralkit.store import Store
from muralkit.vision import Sight


@dataclass(frozen=True, slots=True)
class Survey:
    """A project's memories, parted, and what the gate says of them.

    `current`, `stale` and `missing` count the pool by its cues; `drawable` are the
    overflow's current cues in drawing order.
    """

    pool: tuple[Memory, ...]
    selection: Selection
    budget: int
    current: int
    stale: int
    missing: int
    drawable: tuple[Cue, ...]
    verdict: Verdict

    @property
    def text(self) -> str:
        """The text block of the memories that the budget takes; empty without any."""
        return block(self.selection.inline) if self.selection.inline else ""

    def overflow_text(self, shown: Iterable[MemoryId]) -> str:
        """What the memories of these cues would be as text, in full."""
        drawn = set(shown)
        return block(memory for memory in self.selection.overflow if memory.id in drawn)


def survey(
    store: Store, config: Config, *, everything: bool = False, vision: bool | None = None
) -> Survey:
    """Look at a project. With `everything` the budget is nothing: all is overflow.

    Raises StoreError.
    """
    pool = tuple(store.memories())
    cues = store.cues()
    budget = 0 if everything else config.memory.injection_budget_tokens
    selection = select(pool, budget)
    drawable = tuple(current_cues(selection.overflow, cues))
    current, stale = _count(pool, cues)
    facts = Facts(
        enabled=config.mural.enabled,
        pool=len(pool),
        current=current,
        overflow=len(selection.overflow),
        drawable=len(drawable),
        vision=vision,
    )
    return Survey(
        pool=pool,
        selection=selection,
        budget=budget,
        current=current,
        stale=stale,
        missing=len(pool) - current - stale,
        drawable=drawable,
        verdict=judge(facts),
    )


def page(found: Survey, theme: str, extra: Sequence[str] = ()) -> Layout | None:
    """How the drawable cues are set in a theme, and which of them; None where there are none.

    `extra` are the font files of the user's configuration.

    Raises ThemeError or FontError.
    """
    if not found.drawable:
        return None
    from muralkit import theme as themes
    from muralkit import themefile
    from muralkit.layout import lay_out

    chosen = themes.check(themefile.find(theme, extra))
    return lay_out(found.drawable, chosen, chosen.faces())


def report(store: Store, config: Config, theme: str, sight: Sight | None = None) -> dict[str, Any]:
    """All of that as JSON has it; `sight`: for a model of which that is known.

    A theme that can't be used is the report's `trouble`. Raises StoreError.
    """
    found = survey(store, config, vision=None if sight is None else sight.images)
    layout, trouble = None, ""
    try:
        layout = page(found, theme, config.fonts.extra)
    except (ThemeError, FontError) as error:
        trouble = str(error).replace("\n", " ")
    made: dict[str, Any] = {
        "project": store.project,
        "pool": len(found.pool),
        "text": {
            "memories": len(found.selection.inline),
            "tokens": found.selection.tokens,
            "budget": found.budget,
        },
        "overflow": len(found.selection.overflow),
        "drawable": len(found.drawable),
        "cues": {"current": found.current, "stale": found.stale, "missing": found.missing},
        "gate": {"open": found.verdict.open, "reason": found.verdict.reason},
        "mural": None,
        "overflow_tokens": text_tokens(found.overflow_text(layout.shown)) if layout else 0,
        "prices": {},
        "theme": theme,
        "trouble": trouble,
    }
    if layout is not None:
        canvas = layout.canvas
        made["mural"] = {
            "width": canvas.width,
            "height": canvas.height,
            "tokens": canvas.tokens,
            "shown": len(layout.shown),
            "dropped": len(layout.dropped),
        }
        made["prices"] = {
            family.name: family.tokens(canvas.width, canvas.height) for family in FAMILIES
        }
    if sight is not None:
        made["vision"] = {"images": sight.images, "source": sight.source or None}
    return made


def _count(pool: tuple[Memory, ...], cues: Mapping[int, StoredCue]) -> tuple[int, int]:
    """How many of the pool have a current cue, and how many a stale one."""
    current = sum(is_current(memory, cues.get(memory.id)) for memory in pool)
    having = sum(bool((cue := cues.get(memory.id)) and cue.text) for memory in pool)
    return current, having - current
