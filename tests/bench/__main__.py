"""The benchmarks, as one table: `python -m tests.bench`.

Ratios compare two things in one run, so they hold on any machine; times and
memory are this machine's. The least of several runs counts.
"""

from __future__ import annotations

import gc
import json
import random
import shutil
import sqlite3
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import cairosvg

from muralkit import recall as recalls
from muralkit import render, render_svg
from muralkit import theme as themes
from muralkit.cache import ReplayCache
from muralkit.completers.fake import FakeCompleter
from muralkit.cues.validate import identifiers
from muralkit.dreamer import Settings
from muralkit.dreamer import run as run_dreamer
from muralkit.glyphs.clean import clean
from muralkit.layout import lay_out
from muralkit.likeness import CONFUSABLE
from muralkit.model import Cue, Memory, Status
from muralkit.selection import select
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from tests.conftest import DATA, cues_of


class Row(NamedTuple):
    """A figure, and what it must reach: at most, or at least where `least`."""

    what: str
    figure: float
    limit: float
    unit: str
    least: bool = False

    @property
    def reached(self) -> bool:
        return self.figure >= self.limit if self.least else self.figure <= self.limit


def best(work: Callable[[], object], runs: int = 7) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def fit(folder: Path) -> themes.Theme:
    path = folder / "fit.toml"
    path.write_text('inherits = "dense"\n[canvas]\nwidth = "fit"\n')
    return themes.load(path)


def prices(folder: Path) -> list[Row]:
    rows = []
    dense, fitted, standard = themes.load("dense"), fit(folder), themes.load("standard")
    limits = {"50": (240, 200), "120": (510, 475), "300": (1092, 1092)}
    for name, (fixed, cheapest) in limits.items():
        for theme, limit, label in ((dense, fixed, "dense"), (fitted, cheapest, "dense, fit")):
            layout = lay_out(cues_of(name), theme, theme.faces())
            complete = not layout.dropped and not layout.escaped
            tokens = layout.canvas.tokens if complete else 99_999
            rows.append(Row(f"cues_{name} in {label}, nothing dropped", tokens, limit, "tokens"))
    for name, count in (("470", 400), ("1000", 310)):
        layout = lay_out(cues_of(name), dense, dense.faces())
        shown = len(layout.shown) if layout.canvas.tokens <= 1568 else 0
        rows.append(Row(f"cues_{name} in dense, within 1,568 tokens", shown, count, "cues", True))
    layout = lay_out(cues_of("300"), standard, standard.faces())
    tokens = 99_999 if layout.dropped else layout.canvas.tokens
    rows.append(Row("cues_300 in standard, nothing dropped", tokens, 1568, "tokens"))
    size = len(render(cues_of("300"), "dense").png) / 1000
    rows.append(Row("PNG of cues_300 in dense", size, 200, "kB"))
    return rows


def speed(folder: Path) -> list[Row]:
    cues = cues_of("300")
    document = render_svg(cues, "dense").encode()
    stock = best(lambda: cairosvg.svg2png(bytestring=document), 3)
    whole = best(lambda: render(cues, "dense"))
    cache = ReplayCache(folder / "cache")
    render(cues, "dense", cache=cache)
    hit = best(lambda: render(cues, "dense", cache=cache), 30)
    many = [
        Cue(number, f"C{number % 7}", number % 100 + 1, f"cue {number} → path/to_{number}.rs")
        for number in range(100_000)
    ]
    return [
        Row("render of cues_300, warm / stock CairoSVG on its SVG", whole / stock, 0.5, "x"),
        Row("  that render, warm", whole * 1000, 0, "ms"),
        Row("replay of cues_300, warm", hit * 1000, 5, "ms"),
        Row("render of 100,000 cues", best(lambda: render(many, "dense"), 2), 3, "s"),
    ]


def cold(folder: Path) -> list[Row]:
    """Processes from start to end, beside Python alone."""

    def run(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run(
            [sys.executable, *arguments], check=True, capture_output=True, env=environment
        )

    environment = {"MURALKIT_HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
    render_it = ["-m", "muralkit", "render", str(DATA / "cues_300.json")]
    render_it += ["--theme", "dense", "-o", str(folder / "m.png")]
    bare = best(run("-c", "pass"))
    miss = best(run(*render_it, "--no-cache"))
    run(*render_it)()
    hit = best(run(*render_it))
    stock = best(run("-c", "import cairosvg"))
    return [
        Row("muralkit render, cold process, a replay", hit, 0.3, "s"),
        Row("muralkit render, cold process, a miss", miss, 0.8, "s"),
        Row("  Python alone", bare, 0, "s"),
        Row("  import cairosvg alone", stock, 0, "s"),
    ]


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


TRIES = 1000
LEAST_NAME = 7
"""Characters of a name that recall is tried with."""


def recall(folder: Path) -> list[Row]:
    """Names with wrong characters, each in the place of another at random. In every other
    try they are ones that it is taken for (where there is one), else any letter or digit.

    The names stand in one memory only, and what is asked for is in none to the letter:
    nothing could tell there.
    """
    entries = [json.loads(line) for line in (DATA / "memories_10000.jsonl").open(encoding="utf-8")]
    rows, times = [], []
    with SqliteStore(folder / "recall.db", "p") as store:
        store.add([Draft(e["category"], e["content"], e["importance"]) for e in entries])
        owners = _owners(store.memories())
        names = sorted(name for name in owners if len(name) >= LEAST_NAME and owners[name])
        rng = random.Random(7)
        for wrong, limit in ((1, 97), (2, 90)):
            right = [0, 0]
            for number in range(TRIES):
                name, query = _misread(names, owners, wrong, number % 2 == 0, rng)
                start = time.perf_counter()
                matches = recalls.find(store, query)
                times.append(time.perf_counter() - start)
                right[number % 2] += bool(matches) and matches[0].memory.id == owners[name]
            what = f"right memory first, {wrong} of 7+ characters wrong"
            rows.append(Row(what, sum(right) / TRIES * 100, limit, "%", True))
            rows.append(Row("  by a glyph that looks like it", right[0] / TRIES * 200, 0, "%"))
            rows.append(Row("  by any letter or digit", right[1] / TRIES * 200, 0, "%"))
    times.sort()
    return [
        *rows,
        Row("recall over 10,000 memories, warm, median", times[len(times) // 2] * 1000, 50, "ms"),
        Row("  95 of 100 queries", times[len(times) * 95 // 100] * 1000, 0, "ms"),
    ]


def _owners(memories: list[Memory]) -> dict[str, int]:
    """The memory of each name; 0 where it stands in several."""
    found = [(name, m.id) for m in memories for name in set(identifiers(clean(m.content)[0]))]
    count = Counter(name for name, _ in found)
    return {name: owner if count[name] == 1 else 0 for name, owner in found}


def _misread(
    names: list[str], owners: dict[str, int], wrong: int, alike: bool, rng: random.Random
) -> tuple[str, str]:
    """A name, and what is asked for in its place."""
    while True:
        name = rng.choice(names)
        letters = list(name)
        for at in rng.sample(range(len(name)), wrong):
            sets = CONFUSABLE if alike else ()
            others = {glyph for likes in sets if letters[at] in likes for glyph in likes}
            others = others - {letters[at]} or {*string.ascii_letters, *string.digits}
            letters[at] = rng.choice(sorted(others - {letters[at]}))
        query = "".join(letters)
        if query not in owners:
            return name, query


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


def memory() -> list[Row]:
    code = (
        "import json, resource, sys, muralkit\n"
        "muralkit.render(json.load(open(sys.argv[1])), 'dense')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    source = str(DATA / "cues_1000.json")
    done = subprocess.run(
        [sys.executable, "-c", code, source], check=True, capture_output=True, text=True
    )
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    return [Row("peak memory at 1,000 cues", int(done.stdout) * unit / 2**20, 120, "MiB")]


def main() -> int:
    """Print the table; 1 where a figure is not reached."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = prices(folder) + memory() + speed(folder) + cold(folder)
        rows += selection() + project(folder) + recall(folder) + serving(folder)
    return table(rows)


def table(rows: list[Row]) -> int:
    """Print the figures; 1 where one is not reached."""
    if "--json" in sys.argv:
        print(json.dumps([row._asdict() for row in rows]))
    else:
        print(f"{'':54}{'figure':>12}{'limit':>12}")
        for row in rows:
            figure = f"{row.figure:,.3g}" if row.figure < 100 else f"{row.figure:,.0f}"
            sign = ">=" if row.least else "<="
            limit = f"{sign} {row.limit:,g}" if row.limit else ""
            verdict = "" if not row.limit or row.reached else "  NOT REACHED"
            print(f"{row.what:54}{figure:>8} {row.unit:<6}{limit:>10}{verdict}")
    return 0 if all(row.reached for row in rows if row.limit) else 1


if __name__ == "__main__":
    sys.exit(main())
