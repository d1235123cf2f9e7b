"""What is asked again, what the rules take over, and what is never asked twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from muralkit.completers import Cause, CompletionError
from muralkit.cues.compress import Outcome, Result, by_model, by_rules, is_pending
from muralkit.cues.prompt import PROMPT_VERSION
from muralkit.cues.rules import RULES, RULES_VERSION
from muralkit.cues.rules import cue as rules_cue
from muralkit.model import Memory, StoredCue
from muralkit.store import content_hash
from tests.cues.test_validate import memory

ONE, TWO = memory("first thing 11", 50, 1), memory("second thing 22", 50, 2)


def ask(
    memories: list[Memory], replies: list[str], cues: dict[int, StoredCue] | None = None
) -> tuple[list[Outcome], list[StoredCue], list[str]]:
    """Outcomes, counts of refusals, and the prompts of a run with these replies."""
    outcomes: list[Outcome] = []
    counts: list[StoredCue] = []
    prompts: list[str] = []
    left = iter(replies)

    def answer(prompt: str) -> tuple[str, str]:
        prompts.append(prompt)
        return next(left), "m"

    def tell(event: Outcome | StoredCue) -> None:
        outcomes.append(event) if isinstance(event, Outcome) else counts.append(event)

    by_model(memories, cues or {}, answer, tell)
    assert next(left, None) is None
    return outcomes, counts, prompts


def made(entry: Memory, text: str, model: str = "m", tries: int = 0) -> StoredCue:
    return StoredCue(entry.id, text, content_hash(entry.content), model, PROMPT_VERSION, tries)


def test_a_valid_reply_is_the_cue() -> None:
    outcomes, counts, prompts = ask([ONE], ["1: thing → 11\nEND"])
    assert outcomes == [Outcome(made(ONE, "thing → 11"), Result.MADE, 0)]
    assert counts == [] and len(prompts) == 1


def test_a_refused_reply_is_asked_again_with_the_reason() -> None:
    outcomes, counts, prompts = ask([ONE], ["1: thing 12\nEND", "nonsense", "1: thing 11\nEND"])
    assert outcomes == [Outcome(made(ONE, "thing 11", tries=2), Result.MADE, 2)]
    assert counts == [made(ONE, "", tries=1), made(ONE, "", tries=2)]
    assert "'12' does not stand in the memory" in prompts[1] and "thing 12" in prompts[1]
    assert "the reply does not end with the line END" in prompts[2]


def test_after_three_refusals_the_rules_make_the_cue() -> None:
    outcomes, counts, prompts = ask([ONE], ["1: 12\nEND"] * 3)
    [outcome] = outcomes
    assert (outcome.result, outcome.refused, len(prompts)) == (Result.FALLBACK, 3, 3)
    assert (outcome.cue.text, outcome.cue.model, outcome.cue.rejections) == (
        rules_cue(ONE), RULES, 3,
    )  # fmt: skip
    assert len(counts) == 2
    assert not is_pending(ONE, outcome.cue, model=True)
    assert is_pending(replace(ONE, content="other"), outcome.cue, model=True)


def test_earlier_refusals_of_the_same_content_count() -> None:
    outcomes, _, prompts = ask([ONE], ["1: 12\nEND"], {1: made(ONE, "", tries=2)})
    assert outcomes[0].result is Result.FALLBACK and len(prompts) == 1
    outcomes, _, prompts = ask([ONE], [], {1: made(ONE, "", tries=3)})
    assert outcomes[0].cue.model == RULES and prompts == []
    stale = replace(made(ONE, "", tries=3), content_hash="old")
    assert ask([ONE], ["1: 11\nEND"], {1: stale})[0][0].cue.text == "11"


def test_a_refusal_does_not_take_a_cue_away_that_is_there() -> None:
    before = by_rules(ONE).cue
    outcomes, counts, _ = ask([ONE], ["1: 12\nEND", "1: 11\nEND"], {1: before})
    assert counts == [replace(before, rejections=1)]
    assert outcomes[0].cue.text == "11"


def test_a_models_older_cue_is_better_than_the_rules() -> None:
    before = replace(made(ONE, "old 11"), rules_version=PROMPT_VERSION - 1)
    assert is_pending(ONE, before, model=True)
    outcomes, _, _ = ask([ONE], ["x"] * 3, {1: before})
    assert outcomes[0].cue == replace(before, rejections=3)
    assert not is_pending(ONE, outcomes[0].cue, model=True)


def test_a_batch_asks_again_only_for_what_was_refused() -> None:
    outcomes, _, prompts = ask([ONE, TWO], ["1: 11\n2: 33\nEND", "1: 22\nEND"])
    assert [(o.cue.memory_id, o.cue.text) for o in outcomes] == [(1, "11"), (2, "22")]
    assert "first thing" not in prompts[1] and "second thing" in prompts[1]


def test_a_failed_prompt_keeps_what_was_told_before() -> None:
    told: list[Outcome | StoredCue] = []
    replies = iter(["1: 11\n2: 33\nEND"])

    def answer(prompt: str) -> tuple[str, str]:
        for reply in replies:
            return reply, "m"
        raise CompletionError(Cause.OUTAGE, "down")

    with pytest.raises(CompletionError):
        by_model([ONE, TWO], {}, answer, told.append)
    assert [type(event).__name__ for event in told] == ["Outcome", "StoredCue"]


PENDING: list[tuple[str, Callable[[], StoredCue | None], bool, bool]] = [
    ("none", lambda: None, True, True),
    ("none", lambda: None, False, True),
    ("stale", lambda: replace(made(ONE, "x"), content_hash="old"), True, True),
    ("only refusals", lambda: made(ONE, "", tries=1), True, True),
    ("current", lambda: made(ONE, "x"), True, False),
    ("current, no model now", lambda: made(ONE, "x"), False, False),
    ("older prompt", lambda: replace(made(ONE, "x"), rules_version=0), True, True),
    ("older prompt, no model", lambda: replace(made(ONE, "x"), rules_version=0), False, False),
    ("imported", lambda: replace(made(ONE, "x", "imported"), rules_version=0), True, False),
    ("rules", lambda: by_rules(ONE).cue, False, False),
    ("rules, a model now", lambda: by_rules(ONE).cue, True, True),
    ("rules after three tries", lambda: by_rules(ONE, 3).cue, True, False),
    (
        "older rules",
        lambda: replace(by_rules(ONE).cue, rules_version=RULES_VERSION - 1),
        False,
        True,
    ),
]


@pytest.mark.parametrize(("_name", "cue", "model", "expected"), PENDING)
def test_what_is_still_to_be_made(
    _name: str, cue: Callable[[], StoredCue | None], model: bool, expected: bool
) -> None:
    assert is_pending(ONE, cue(), model=model) is expected
