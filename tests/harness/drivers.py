"""The real programs, driven turn by turn as their own clients drive them."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

PATIENCE = 120.0
"""Seconds for a turn: OpenCode's first one on a busy machine takes 30."""


class Driver(Protocol):
    """One harness with one conversation. `start` again after `stop` goes on with it."""

    def start(self, model: str) -> None:
        """Start the program."""

    def use(self, model: str) -> None:
        """Switch the model."""

    def say(self, text: str) -> str:
        """One turn; the reply."""

    def compact(self) -> None:
        """Let the harness compact the conversation."""

    def stop(self) -> None:
        """End the program."""


class _Process:
    """A program and the lines that it prints."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PWD": str(folder)},  # OpenCode believes it
            text=True,
            start_new_session=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.seen: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def until(self, wanted: Callable[[str], bool]) -> str:
        """The first line that is wanted."""
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, ends - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError("it did not come: " + "".join(self.seen[-20:]))
            self.seen.append(line)
            if wanted(line):
                return line

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
        except ProcessLookupError:
            self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


class PiDriver:
    """Pi and OMP: JSON lines in their mode `rpc`."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self._started = 0
        self._process: _Process | None = None

    def start(self, model: str) -> None:
        """See Driver."""
        command = [self.name, "--mode", "rpc", "--model", f"fake/{model}"]
        command += ["--no-lsp", "--no-title"] if self.name == "omp" else []
        command += ["--continue"] if self._started else []
        self._started += 1
        self._process = _Process(command, self.folder)

    def use(self, model: str) -> None:
        """See Driver."""
        self._ask({"type": "set_model", "provider": "fake", "modelId": model})

    def say(self, text: str) -> str:
        """See Driver."""
        process = self._running()
        process.write({"type": "prompt", "message": text})
        line = process.until(lambda line: self._type(line) == "agent_end")
        last = json.loads(line)["messages"][-1]
        return "".join(part.get("text", "") for part in last["content"])

    def compact(self) -> None:
        """See Driver."""
        self._ask({"type": "compact"})

    def stop(self) -> None:
        """See Driver."""
        if self._process:
            self._process.stop()
            self._process = None

    def _ask(self, message: dict[str, Any]) -> None:
        process = self._running()
        process.write(message)

        def answers(line: str) -> bool:
            return self._type(line) == "response" and f'"{message["type"]}"' in line

        answer = json.loads(process.until(answers))
        assert answer["success"], answer

    def _running(self) -> _Process:
        assert self._process
        return self._process

    @staticmethod
    def _type(line: str) -> str:
        try:
            return str(json.loads(line).get("type"))
        except ValueError:
            return ""


class OpenCodeDriver:
    """OpenCode: its own HTTP server."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.model, self.session = folder, "", ""
        self._process: _Process | None = None
        self._url = ""

    def start(self, model: str) -> None:
        """See Driver."""
        self.model = model
        self._process = _Process(["opencode", "serve"], self.folder)
        line = self._process.until(lambda line: "listening on" in line)
        found = re.search(r"http://\S+", line)
        assert found
        self._url = found[0]
        if not self.session:
            self.session = self._post("/session", {})["id"]

    def use(self, model: str) -> None:
        """See Driver."""
        self.model = model

    def say(self, text: str) -> str:
        """See Driver."""
        body = {"model": self._model(), "parts": [{"type": "text", "text": text}]}
        answer = self._post(f"/session/{self.session}/message", body)
        assert not answer["info"].get("error"), answer
        return "".join(part.get("text", "") for part in answer["parts"])

    def compact(self) -> None:
        """See Driver."""
        self._post(f"/session/{self.session}/summarize", self._model())

    def stop(self) -> None:
        """See Driver."""
        if self._process:
            self._process.stop()
            self._process = None

    def _model(self) -> dict[str, str]:
        return {"providerID": "fake", "modelID": self.model}

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self._url + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "x-opencode-directory": str(self.folder)},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)


def _processes() -> dict[int, tuple[int, str]]:
    """Every process, with its parent and its command line."""
    listed = subprocess.run(["ps", "-Ao", "pid=,ppid=,args="], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return {int(row[0]): (int(row[1]), row[2] if len(row) > 2 else "") for row in rows}


def command_of(pid: int) -> str:
    """The command line of a process."""
    return _processes().get(pid, (0, ""))[1]


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    parents = {child: parent for child, (parent, _) in _processes().items()}
    found = [child for child, parent in parents.items() if parent == pid]
    return found + [later for child in found for later in descendants(child)]


def driver(name: str, folder: Path) -> Driver:
    """The driver of a harness."""
    return OpenCodeDriver(folder) if name == "opencode" else PiDriver(name, folder)
