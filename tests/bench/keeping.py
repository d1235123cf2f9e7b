"""Memories: their selection, a whole project, and the dreamer."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from pathlib import Path

from muralkit.completers.fake import FakeCompleter
from muralkit.dreamer import Settings
from muralkit.dreamer import run as run_dreamer
from muralkit.model import Memory, Status
from muralkit.selection import select
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from tests.bench.figures import Row, best
from tests.conftest import DATA


def selection() -> list[Row]:
    def pool(times: int) -> list[Memory]:
        lines = (DATA / "memories_10000.jsonl").read_text("utf-8").splitlines()
        entries = [json.loads(line) for line in lines]
        return [
            Memory(
                copy * 1_000_000 + e["id"],
                e["category"],
                e["importance"],
                Status(e["status"]),
                e["content"],
            )
            for copy in range(times)
            for e in entries
            if e["status"] != "archived"
        ]

    gc.set_threshold(100_000, 20, 50)  # as the command line has it
    few, many = pool(1), pool(10)
    base = best(lambda: select(few, 4000))
    grown = best(lambda: select(many, 4000), 3)
    return [
        Row("selection over memories_10000, warm", base, 0.3, "s"),
        Row("  the same of ten times as many / ten times that", grown / base / 10, 1.3, "x"),
    ]


def project(folder: Path) -> list[Row]:
    """A project's real memories, through the command line."""
    environment = {
        "MURALKIT_HOME": str(folder / "project"),
        "XDG_CONFIG_HOME": str(folder / "none"),
        "PATH": "/usr/bin:/bin",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "muralkit", *arguments, "--project", str(folder)]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment)

    start = time.perf_counter()
    run("memory", "import", str(DATA / "memories_10000.jsonl"), "--store", str(folder / "big.db"))
    imported = time.perf_counter() - start
    run("memory", "import", str(DATA / "memories_600.jsonl"))
    status = best(lambda: run("status"), 5)
    run("dream", "--force", "--model", "rules")
    drawn = best(lambda: run("status"), 5)
    start = time.perf_counter()
    run("dream", "--force", "--model", "rules", "--store", str(folder / "big.db"))
    rules = time.perf_counter() - start
    return [
        Row("import of 10,000 memories, a process", imported, 3, "s"),
        Row("muralkit status on 600 memories, cold process", status, 0.5, "s"),
        Row("  the same where each has a cue, and a page is set", drawn, 0.5, "s"),
        Row("cues of 10,000 memories by rules, a process", rules, 5, "s"),
        Row("600 memories, 50 ms a reply, 8 at once / ideal", dreams(folder), 1.3, "x"),
        Row("peak memory at 100,000 memories", crowd(folder), 300, "MiB"),
    ]


def dreams(folder: Path) -> float:
    """How much longer a run takes than its replies, eight at a time, would by themselves."""
    entries = [json.loads(line) for line in (DATA / "memories_600.jsonl").open(encoding="utf-8")]
    with SqliteStore(folder / "dreams.db", "p") as store:
        store.add([Draft(e["category"], e["content"], 90) for e in entries[:600]])
        start = time.perf_counter()
        report = run_dreamer(
            store,
            FakeCompleter(lambda prompt: "1: ⊘thing (reason)\nEND", seconds=0.05),
            Settings(concurrency=8),
        )
        seconds = time.perf_counter() - start
    assert report.made == len(entries)
    return seconds / (len(entries) * 0.05 / 8)


CROWD = """
import json, resource, sys
from pathlib import Path
from muralkit.sections import Config
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from muralkit.survey import survey
entries = [json.loads(line) for line in open(sys.argv[2])]
with SqliteStore(Path(sys.argv[1]), "p") as store:
    for copy in range(10):
        store.add([Draft(e["category"], f"{e['content']} {copy}") for e in entries])
"""

SURVEY = """
import resource, sys
from pathlib import Path
from muralkit.sections import Config
from muralkit.store.sqlite import SqliteStore
from muralkit.survey import survey
with SqliteStore(Path(sys.argv[1]), "p") as store:
    assert len(survey(store, Config()).pool) == 100_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def crowd(folder: Path) -> float:
    """MiB that a survey of 100,000 memories takes at its peak."""
    path, source = str(folder / "crowd.db"), str(DATA / "memories_10000.jsonl")
    subprocess.run([sys.executable, "-c", CROWD, path, source], check=True)
    done = subprocess.run(
        [sys.executable, "-c", SURVEY, path], check=True, capture_output=True, text=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return int(done.stdout) * unit / 2**20
