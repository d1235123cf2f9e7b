"""Memories and a completer in, an outcome for each memory out.

A reply that is refused is asked for again with the reason; three refusals of one
content, in this run or earlier ones, lead to the cue of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from muralkit.cues import prompt
from muralkit.cues.prompt import PROMPT_VERSION, Refusal
from muralkit.cues.rules import RULES, RULES_VERSION
from muralkit.cues.rules import cue as rules_cue
from muralkit.cues.validate import budget, fault
from muralkit.glyphs.clean import clean
from muralkit.model import Memory, StoredCue
from muralkit.selection import is_current
from muralkit.store import content_hash

MOST_REFUSALS = 3
"""Of one content, before the rules make its cue."""

IMPORTED = ("imported", "magic-context")
"""Cues that others made: they are as good as theirs, and are not made anew."""

Answer = Callable[[str], tuple[str, str]]
"""A prompt in; the reply and the model's name out. Raises CompletionError."""


class Result(StrEnum):
    """What came of a memory."""

    MADE = "made"
    FALLBACK = "fallback"
    """The model's cues were refused; the rules made one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A memory's cue, how it came about, and how many replies were refused for it."""

    cue: StoredCue
    result: Result
    refused: int


@dataclass(frozen=True, slots=True)
class Weighed:
    """A reply's part for one memory: the cue to keep, and why the model's was refused.

    Without a `result` the cue only counts a refusal, and the model may be asked again.
    """

    cue: StoredCue
    result: Result | None
    refusal: Refusal | None


def is_pending(memory: Memory, cue: StoredCue | None, *, model: bool) -> bool:
    """Whether a memory's cue is to be made; `model`: a model would make it.

    A cue of the rules gives way to a model's, unless the model had its three tries.
    """
    if cue is None or not is_current(memory, cue):
        return True
    if cue.model in IMPORTED:
        return False
    if len(cue.text) > budget(memory):  # its importance went down
        return True
    untried = model and cue.rejections < MOST_REFUSALS
    if cue.model == RULES:
        return untried or cue.rules_version != RULES_VERSION
    return untried and cue.rules_version != PROMPT_VERSION


def by_rules(memory: Memory, refused: int = 0) -> Outcome:
    """The cue of the rules; `refused` is how often a model's was."""
    made = StoredCue(
        memory.id,
        rules_cue(memory),
        content_hash(memory.content),
        RULES,
        RULES_VERSION,
        refused,
    )
    return Outcome(made, Result.FALLBACK if refused >= MOST_REFUSALS else Result.MADE, 0)


def by_model(
    memories: Sequence[Memory],
    cues: Mapping[int, StoredCue],
    answer: Answer,
    tell: Callable[[Outcome | StoredCue], None],
) -> None:
    """The cues of these memories from a model, asked again for what is refused.

    `tell` takes each outcome, and, as it grows, each count of refusals: the cue of
    before with another count, or one without a text. Raises CompletionError.
    """
    known = dict(cues)
    refused = dict.fromkeys((memory.id for memory in memories), 0)
    refusals: dict[int, Refusal] = {}
    left: list[Memory] = []
    for memory in memories:
        tries = rejections(memory, known.get(memory.id))
        if tries >= MOST_REFUSALS:
            tell(by_rules(memory, tries))
        else:
            left.append(memory)
    while left:
        reply, model = answer(prompt.ask(left, refusals))
        again: list[Memory] = []
        for memory, weighed in zip(left, weigh(left, known, reply, model), strict=True):
            if weighed.refusal is not None:
                refused[memory.id] += 1
                refusals[memory.id] = weighed.refusal
            if weighed.result is None:
                tell(weighed.cue)
                known[memory.id] = weighed.cue
                again.append(memory)
            else:
                tell(Outcome(weighed.cue, weighed.result, refused[memory.id]))
        left = again


def weigh(
    memories: Sequence[Memory], cues: Mapping[int, StoredCue], reply: str, model: str
) -> list[Weighed]:
    """What a model's reply comes to for each of the memories that it was asked for."""
    parsed = prompt.parse(reply, len(memories))
    weighed: list[Weighed] = []
    for number, memory in enumerate(memories):
        before = cues.get(memory.id)
        tries = rejections(memory, before)
        text = parsed[number] if isinstance(parsed, list) else reply
        problem = parsed if isinstance(parsed, str) else fault(text, memory)
        if not problem:
            digest = content_hash(memory.content)
            made = StoredCue(memory.id, text, digest, model, PROMPT_VERSION, tries)
            weighed.append(Weighed(made, Result.MADE, None))
            continue
        refusal = Refusal(clean(text)[0], problem)
        if tries + 1 < MOST_REFUSALS:
            weighed.append(Weighed(_counted(memory, before, model, tries + 1), None, refusal))
        elif before is not None and is_current(memory, before) and before.model != RULES:
            kept = replace(before, rejections=tries + 1)
            weighed.append(Weighed(kept, Result.FALLBACK, refusal))
        else:
            weighed.append(Weighed(by_rules(memory, tries + 1).cue, Result.FALLBACK, refusal))
    return weighed


def _counted(memory: Memory, before: StoredCue | None, model: str, tries: int) -> StoredCue:
    """The cue of before with another count of refusals; without a text where it is stale."""
    if before is not None and is_current(memory, before):
        return replace(before, rejections=tries)
    return StoredCue(memory.id, "", content_hash(memory.content), model, PROMPT_VERSION, tries)


def rejections(memory: Memory, cue: StoredCue | None) -> int:
    """How often a reply for this very content was refused before."""
    same = cue is not None and cue.content_hash == content_hash(memory.content)
    return cue.rejections if cue is not None and same else 0
