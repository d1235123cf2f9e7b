"""What the plug-ins add to a turn of the real programs: `python -m tests.bench.harnesses`.

Each turn is a message to a program that runs, with a conversation of some turns behind
it; what counts is the time until its request is at the provider. Runs with the plug-in
and without it alternate, turn by turn, so that both meet the same machine. It needs the
programs of tests/harness (npm ci there).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from muralkit import assets
from tests.bench.figures import Row, table
from tests.conftest import switch_on
from tests.harness.conftest import NAMES, prepare
from tests.harness.drivers import driver
from tests.harness.provider import Provider, serve

TURNS = 40
LIMIT = 30  # ms


def added(name: str, provider: Provider, folder: Path) -> Row:
    """The median of what a turn takes longer, turn for turn."""
    provider.reply = lambda prompt: "OK"
    pair = [driver(name, folder) for _ in range(2)]
    try:
        for installed, harness in enumerate(pair):
            if installed:
                command = [sys.executable, "-m", "muralkit", "install", name]
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
            harness.start("vision")
            harness.say("Hello")
        times: list[list[float]] = [[], []]
        for _ in range(TURNS):
            for number, harness in enumerate(pair):
                provider.requests.clear()
                provider.arrivals.clear()
                start = time.perf_counter()
                harness.say("And now?")
                [arrival] = provider.arrivals
                assert ("image_url" in str(provider.requests)) == bool(number)
                times[number].append(arrival - start)
    finally:
        for harness in pair:
            harness.stop()
    without, with_it = times
    longer = [after - before for before, after in zip(without, with_it, strict=True)]
    print(f"{name}: {statistics.median(without) * 1000:.1f} ms without", file=sys.stderr)
    median = statistics.median(longer) * 1000
    return Row(f"what the plug-in adds to a turn of {name}, median", median, LIMIT, "ms")


def main() -> int:
    """Print the table; 1 where a figure is not reached."""
    rows = []
    for name in NAMES:
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
            pytest.MonkeyPatch.context() as patch,
            serve(lambda prompt: "OK") as provider,
        ):
            home = Path(place)
            prepare(home, provider, patch)
            folder = home / "project"
            switch_on(folder, budget=1000)
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
            command = [sys.executable, "-m", "muralkit", "memory", "import"]
            subprocess.run(
                [*command, str(assets.demo_file())], cwd=folder, check=True, capture_output=True
            )
            rows.append(added(name, provider, folder))
    return table(rows)


if __name__ == "__main__":
    sys.exit(main())
