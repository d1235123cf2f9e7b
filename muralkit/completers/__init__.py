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


class Ladder:
    """A model and its fallbacks: the first that answers."""

    def __init__(self, rungs: list[Completer]) -> None:
        self._rungs = rungs
        self.name = rungs[0].name

    def complete(self, prompt: str) -> str:
        """See Completer. The error is the last rung's; a stop ends the walk."""
        reply, _ = self.answer(prompt)
        return reply

    def answer(self, prompt: str) -> tuple[str, str]:
        """The reply, and the name of the model that gave it."""
        failed: CompletionError | None = None
        for rung in self._rungs:
            try:
                return rung.complete(prompt), rung.name
            except CompletionError as error:
                if error.cause in (Cause.STOPPED, Cause.TIMEOUT):
                    raise
                failed = error
        raise failed or CompletionError(Cause.OUTAGE, "no model is configured")

    def stop(self) -> None:
        """See Completer."""
        for rung in self._rungs:
            rung.stop()
