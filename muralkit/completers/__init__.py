"""What answers a prompt: one method, `complete(prompt) -> str`.

fake     replies from a function, for tests and for trying things
http     an OpenAI-compatible endpoint: Ollama, llama.cpp, vLLM, or a provider
command  a harness's own command line, without tools
ladder   a model and its fallbacks, tried in order
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Cause(Enum):
    """Why there is no reply."""

    TIMEOUT = "timeout"
    OUTAGE = "outage"
    """The provider refuses, fails or can't be reached: another prompt would fare alike."""
    BROKEN = "broken"
    """A reply that is none: cut off, empty, or not in the provider's own format."""
    STOPPED = "stopped"
    """We ended it."""


class CompletionError(Exception):
    """There is no reply. `str` says why, without any of the prompt."""

    def __init__(self, cause: Cause, what: str) -> None:
        super().__init__(what)
        self.cause = cause


class Completer(Protocol):
    """Answers prompts, from several threads at once."""

    name: str
    """The model, as cues are marked with it."""

    def complete(self, prompt: str) -> str:
        """The reply to a prompt. Raises CompletionError."""

    def stop(self) -> None:
        """End what is running, and answer no more: `complete` then raises STOPPED."""


MOST_TIMEOUTS = 2
"""Of a model, before a ladder passes it over."""


class Ladder:
    """A model and its fallbacks: the first that answers.

    A model whose provider failed is not asked again, nor one that was late twice.
    """

    def __init__(self, rungs: list[Completer]) -> None:
        self._rungs = rungs
        self.name = rungs[0].name
        self._late = [0] * len(rungs)

    def complete(self, prompt: str) -> str:
        """See Completer. The error is the last rung's; a stop ends the walk."""
        reply, _ = self.answer(prompt)
        return reply

    def answer(self, prompt: str) -> tuple[str, str]:
        """The reply, and the name of the model that gave it."""
        failed: CompletionError | None = None
        last = len(self._rungs) - 1
        for number, rung in enumerate(self._rungs):
            if self._late[number] >= MOST_TIMEOUTS and number != last:
                continue
            try:
                reply = rung.complete(prompt)
            except CompletionError as error:
                if error.cause is Cause.STOPPED:
                    raise
                failed = error
                self._late[number] += {Cause.OUTAGE: MOST_TIMEOUTS, Cause.TIMEOUT: 1}.get(
                    error.cause, 0
                )
            else:
                self._late[number] = 0
                return reply, rung.name
        raise failed or CompletionError(Cause.OUTAGE, "no model is configured")

    def stop(self) -> None:
        """See Completer."""
        for rung in self._rungs:
            rung.stop()


REFUSES_THIS = frozenset((400, 413, 422))
"""HTTP codes that are about one prompt: another may fare better."""


def without_quotes(message: str, prompt: str) -> str:
    """A provider's message, unless it quotes the prompt: no memory's text gets out."""
    words, known = message.split(), " ".join(prompt.split())
    if any(" ".join(words[at : at + 3]) in known for at in range(len(words) - 2)):
        return "(its message quotes the memory, and is not shown)"
    return message
