"""The gate opens only when all of its conditions hold, and says which does not."""

from __future__ import annotations

import pytest

from muralkit.gate import Facts, judge


def facts(
    pool: int = 40,
    current: int = 40,
    overflow: int = 20,
    drawable: int = 20,
    enabled: bool = True,
    vision: bool | None = None,
) -> Facts:
    return Facts(enabled, pool, current, overflow, drawable, vision)


@pytest.mark.parametrize(
    ("current", "pool", "opens"),
    [
        (14, 100, False),
        (15, 100, True),
        (7, 10, True),
        (6, 13, False),
        (5, 10, True),
        (0, 1, False),
    ],
)
def test_coverage(current: int, pool: int, opens: bool) -> None:
    verdict = judge(facts(pool, current, 5, min(current, 5)))
    assert verdict.open is opens
    if not opens:
        assert f"only {current}/{pool} memories have a current cue" in verdict.reason


def test_a_closed_gate_says_how_many_cues_are_needed() -> None:
    assert judge(facts(40, 10)).reason == ("only 10/40 memories have a current cue; 15 are needed")
    assert judge(facts(13, 6)).reason.endswith("7 are needed")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (facts(enabled=False), "mural.enabled is false"),
        (facts(vision=False), "not known to accept images"),
        (facts(overflow=0, drawable=0), "all memories of the pool (40) fit the text budget"),
        (facts(drawable=0), "none of the 20 memories"),
    ],
)
def test_each_condition(given: Facts, reason: str) -> None:
    assert not judge(given).open and reason in judge(given).reason


@pytest.mark.parametrize("vision", [None, True])
def test_all_conditions(vision: bool | None) -> None:
    verdict = judge(facts(vision=vision))
    assert verdict.open and "20 of 20 memories" in verdict.reason


def test_an_empty_pool_is_closed() -> None:
    assert not judge(facts(0, 0, 0, 0)).open
