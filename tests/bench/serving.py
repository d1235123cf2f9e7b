"""`muralkit serve`: folds and replays."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.figures import Row, best
from tests.conftest import DATA


def serving(folder: Path) -> list[Row]:
    """Turns of an agent through `muralkit serve`: 600 memories with cues, in a warm process."""
    home, project = folder / "serve", folder / "served"
    project.mkdir()
    (project / ".muralkit").mkdir()
    (project / ".muralkit" / "muralkit.json").write_text('{"mural": {"enabled": true}}')
    environment = {
        "MURALKIT_HOME": str(home),
        "XDG_CONFIG_HOME": str(folder / "none"),
        "PATH": "/usr/bin:/bin",
    }
    command = [sys.executable, "-m", "muralkit"]
    for arguments in (
        ["memory", "import", str(DATA / "memories_600.jsonl")],
        ["dream", "--model", "rules"],
    ):
        subprocess.run(
            [*command, *arguments], check=True, capture_output=True, env=environment, cwd=project
        )
    with Client([*command, "serve"], environment, project) as client:
        turn = {"harness": "pi", "session": "s", "model": "a/b", "inputs": ["text", "image"]}
        assert len(client.ask("baseline", turn)["parts"]) == 2
        replay = best(lambda: client.ask("baseline", turn), 50)
        filled = best(lambda: client.ask("baseline", {**turn, "fold": True}))

        def empty() -> float:
            shutil.rmtree(home / "cache")
            start = time.perf_counter()
            assert client.ask("baseline", {**turn, "fold": True})["folded"]
            return time.perf_counter() - start

        fold = min(empty() for _ in range(5))
        held = sqlite3.connect(home / "muralkit.db", isolation_level=None)
        held.execute("BEGIN EXCLUSIVE")
        start = time.perf_counter()
        client.ask("baseline", turn)
        late = time.perf_counter() - start
        start = time.perf_counter()
        client.ask("baseline", {**turn, "fold": True})
        late = max(late, time.perf_counter() - start - filled)
        held.close()
    return [
        Row("replay through muralkit serve, 600 memories", replay * 1000, 3, "ms"),
        Row("fold of 600 memories, empty render cache", fold, 0.5, "s"),
        Row("fold of 600 memories, filled render cache", filled * 1000, 50, "ms"),
        Row("what a held store adds to a turn", late, 0.5, "s"),
    ]


class Client:
    """A server as a plug-in has it: one process, a line out, a line in."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        result: dict[str, Any] = json.loads(self._process.stdout.readline())["result"]
        return result
