"""A harness's own command line as a completer: one prompt in, one reply out, no tools.

Each run is a process of its own in an empty folder, with the prompt on standard input
and a time-out of ours; what it may not do is told to the program, and what it did is
read from its events. A program that went its own way gives no reply but an error.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from muralkit.completers import REFUSES_THIS, Cause, CompletionError, without_quotes
from muralkit.cues.prompt import SYSTEM

AGENT = "muralkit-cues"
"""Our agent of OpenCode: it has no tools."""


@dataclass(frozen=True, slots=True)
class Model:
    """`provider/model` as the harness calls it, and how long it may think: a variant of
    OpenCode, a thinking level of Pi and OMP.
    """

    name: str
    effort: str = ""


class Harness(Protocol):
    """How a program is called for one completion, and how its output is read."""

    program: str

    def arguments(self, model: Model, seconds: float) -> list[str]:
        """What follows the program's name."""

    def environment(self) -> Mapping[str, str]:
        """What is added to the environment."""

    def reply(self, out: str, err: str, code: int) -> str:
        """The reply in its output. Raises CompletionError."""


class CommandCompleter:
    """A model behind a harness's command line; `seconds` is the most that a reply may take."""

    def __init__(self, harness: Harness, model: Model, *, seconds: float = 120.0) -> None:
        self.name = model.name
        self._harness, self._model, self._seconds = harness, model, seconds
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def complete(self, prompt: str) -> str:
        """See Completer."""
        program = shutil.which(self._harness.program)
        if program is None:
            what = f"{self._harness.program} is not installed, or not on the PATH"
            raise CompletionError(Cause.OUTAGE, what)
        with tempfile.TemporaryDirectory(prefix="muralkit-", ignore_cleanup_errors=True) as folder:
            process = self._start(program, folder)
            try:
                out, err = process.communicate(prompt.encode(), timeout=self._seconds)
            except subprocess.TimeoutExpired as error:
                what = f"{self.name}: no reply in {self._seconds:g} s"
                raise CompletionError(Cause.TIMEOUT, what) from error
            finally:
                self._end(process)
        if self._stopped:
            raise CompletionError(Cause.STOPPED, "stopped")
        try:
            text = self._harness.reply(
                out.decode(errors="replace"), err.decode(errors="replace"), process.returncode
            )
        except CompletionError as error:
            code = re.search(r"(?<!\d)[45]\d\d(?!\d)", str(error))
            this = code is not None and int(code[0]) in REFUSES_THIS
            cause = Cause.BROKEN if this else error.cause
            raise CompletionError(cause, without_quotes(str(error), prompt)) from None
        if not text.strip():
            raise CompletionError(Cause.BROKEN, f"{self.name}: the reply is empty")
        return text

    def _start(self, program: str, folder: str) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise CompletionError(Cause.STOPPED, "stopped")
            try:
                process = subprocess.Popen(  # noqa: S603  # a list, no shell
                    [program, *self._harness.arguments(self._model, self._seconds)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    # PWD too: opencode believes it rather than the folder that it runs in,
                    # and would tell the model of the user's project.
                    env={**os.environ, "PWD": folder, **self._harness.environment()},
                    start_new_session=True,  # so that its children end with it
                )
            except OSError as error:
                what = f"{self._harness.program} can't be run: {error.strerror}"
                raise CompletionError(Cause.OUTAGE, what) from error
            self._running.add(process)
            return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill what is left of a run, and take it off the list."""
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=5)
        with self._lock:
            self._running.discard(process)

    def stop(self) -> None:
        """See Completer."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)


class OpenCode:
    """`opencode run`, with an agent of ours that has no tools."""

    program = "opencode"

    def arguments(self, model: Model, seconds: float) -> list[str]:
        """See Harness."""
        effort = ["--variant", model.effort] if model.effort else []
        plain = ["run", "--pure", "--agent", AGENT, "--title", "cue", "--format", "json"]
        return [*plain, "-m", model.name, *effort]

    def environment(self) -> Mapping[str, str]:
        """See Harness."""
        agent = {
            "mode": "primary",
            "prompt": SYSTEM,
            "tools": {"*": False},
            "permission": {"*": "deny"},
        }
        own: dict[str, Any] = {}
        with contextlib.suppress(ValueError):
            given = json.loads(os.environ.get("OPENCODE_CONFIG_CONTENT", "{}"))
            own = given if isinstance(given, dict) else {}
        agents = own.get("agent")
        own |= {"autoupdate": False, "share": "disabled"}
        own["agent"] = {**(agents if isinstance(agents, dict) else {}), AGENT: agent}
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(own),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DB": ":memory:",  # no session is left behind
        }

    def reply(self, out: str, err: str, code: int) -> str:
        """See Harness. An agent with tools, or a use of one, is an error."""
        if "alling back to default agent" in err or "alling back to default agent" in out:
            what = "opencode did not take the agent without tools"
            raise CompletionError(Cause.OUTAGE, what)
        texts: list[str] = []
        finished = ""
        for event in _events(out):
            kind, part = event.get("type"), event.get("part")
            part = part if isinstance(part, dict) else {}
            if kind == "error":
                raise CompletionError(Cause.OUTAGE, f"opencode: {_reason(event.get('error'))}")
            if kind in ("tool", "tool_use"):
                raise CompletionError(Cause.BROKEN, "opencode used a tool where it must not")
            if kind == "text":
                texts.append(str(part.get("text", "")))
            if kind == "step_finish":
                finished = str(part.get("reason", ""))
        if code:
            raise CompletionError(Cause.OUTAGE, f"opencode: exit code {code}{_last_line(err)}")
        if finished == "length":
            raise CompletionError(Cause.BROKEN, "opencode: the reply was cut off")
        return "".join(texts)


class Pi:
    """`pi -p`, without tools, extensions, sessions and context files."""

    program = "pi"

    def arguments(self, model: Model, seconds: float) -> list[str]:
        """See Harness."""
        plain = [
            "-p", "--mode", "json", "--no-session", "--no-tools", "--no-extensions", "--no-skills",
            "--no-prompt-templates", "--no-context-files", "--system-prompt", SYSTEM,
        ]  # fmt: skip
        return [*plain, "--model", model.name, "--thinking", model.effort or "off"]

    def environment(self) -> Mapping[str, str]:
        """See Harness."""
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}

    def reply(self, out: str, err: str, code: int) -> str:
        """See Harness. In this mode errors are no exit code but a message's reason to stop."""
        return _pi_reply(self.program, out, err, code)


class Omp(Pi):
    """`omp -p`: Pi's family, with a few switches of its own."""

    program = "omp"

    def arguments(self, model: Model, seconds: float) -> list[str]:
        """See Harness."""
        plain = [
            "-p", "--mode", "json", "--no-session", "--no-tools", "--no-lsp", "--no-extensions",
            "--no-skills", "--no-rules", "--no-title", f"--max-time={max(1, round(seconds))}",
            "--system-prompt", SYSTEM,
        ]  # fmt: skip
        return [*plain, "--model", model.name, "--thinking", model.effort or "off"]


HARNESSES: Mapping[str, Harness] = {"opencode": OpenCode(), "pi": Pi(), "omp": Omp()}


def _pi_reply(program: str, out: str, err: str, code: int) -> str:
    last: dict[str, Any] = {}
    for event in _events(out):
        kind = str(event.get("type", ""))
        if kind.startswith("tool_"):
            raise CompletionError(Cause.BROKEN, f"{program} used a tool where it must not")
        message = event.get("message")
        if kind == "message_end" and isinstance(message, dict):
            last = message if message.get("role") == "assistant" else last
    if last.get("stopReason") == "error" or (code and not last):
        reason = last.get("errorMessage") or f"exit code {code}{_last_line(err)}"
        raise CompletionError(Cause.OUTAGE, f"{program}: {_short(str(reason))}")
    if last.get("stopReason") == "length":
        raise CompletionError(Cause.BROKEN, f"{program}: the reply was cut off")
    if last.get("stopReason") == "aborted":
        raise CompletionError(Cause.BROKEN, f"{program}: the reply broke off")
    content = last.get("content")
    parts = content if isinstance(content, list) else []
    return "".join(
        str(part.get("text", ""))
        for part in parts
        if isinstance(part, dict) and part.get("type") == "text"
    )


def _events(out: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of an output, one a line; other lines are passed over."""
    for line in out.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict):
                yield event


def _reason(error: object) -> str:
    if isinstance(error, dict):
        data = error.get("data")
        inner = data if isinstance(data, dict) else {}
        code = inner.get("statusCode")
        text = inner.get("message") or error.get("message") or error.get("name") or "an error"
        return _short(f"{text} ({code})" if code else str(text))
    return _short(str(error))


def _last_line(err: str) -> str:
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    return f": {_short(lines[-1])}" if lines else ""


def _short(text: str) -> str:
    return " ".join(text.split())[:200]
