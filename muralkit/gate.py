"""Whether a mural is drawn at all: a pool and its cues in, a Verdict out.

A closed gate is no error: the agent gets its text, and the reason says why.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST_CUES = 15  # current cues that open the gate, whatever the pool
LEAST_SHARE = 2  # ... or one in this many of the pool: small projects don't wait for ever


@dataclass(frozen=True, slots=True)
class Verdict:
    """Open, or closed with a reason that a person understands."""

    open: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What the gate looks at.

    `pool` counts the active and permanent memories, `current` those of them with a
    current cue, `overflow` those that the text budget left out, `drawable` the
    overflow's current cues. `vision` is whether the model accepts images; None
    where nobody asked for a certain model.
    """

    enabled: bool
    pool: int
    current: int
    overflow: int
    drawable: int
    vision: bool | None = None


def judge(facts: Facts) -> Verdict:
    """The first gate that is closed, or an open one."""
    if not facts.enabled:
        return Verdict(False, "the mural is switched off (mural.enabled is false)")
    if facts.vision is False:
        return Verdict(False, "the model is not known to accept images")
    if not facts.overflow:
        return Verdict(False, f"all memories of the pool ({facts.pool}) fit the text budget")
    if facts.current < LEAST_CUES and facts.current * LEAST_SHARE < facts.pool:
        needed = min(LEAST_CUES, -(-facts.pool // LEAST_SHARE))
        return Verdict(
            False,
            f"only {facts.current}/{facts.pool} memories have a current cue; {needed} are needed",
        )
    if not facts.drawable:
        return Verdict(
            False, f"none of the {facts.overflow} memories beyond the text budget has a current cue"
        )
    return Verdict(
        True,
        f"{facts.drawable} of {facts.overflow} memories beyond the text budget have a current cue",
    )
