"""A completer without a model: for tests, and for trying what a run would do."""

from __future__ import annotations

import threading
from collections.abc import Callable

from muralkit.completers import Cause, CompletionError


class FakeCompleter:
    """Replies with what a function makes of the prompt, after `seconds`.

    `prompts` has every prompt that was answered.
    """

    def __init__(
        self, reply: Callable[[str], str], *, seconds: float = 0.0, name: str = "fake/model"
    ) -> None:
        self.name, self._reply, self._seconds = name, reply, seconds
        self.prompts: list[str] = []
        self._stopped = threading.Event()

    def complete(self, prompt: str) -> str:
        """See Completer."""
        if self._stopped.wait(self._seconds):
            raise CompletionError(Cause.STOPPED, "stopped")
        self.prompts.append(prompt)
        return self._reply(prompt)

    def stop(self) -> None:
        """See Completer."""
        self._stopped.set()
