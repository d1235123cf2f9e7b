"""The benchmarks, as one table: `python -m tests.bench`.

Ratios compare two things in one run, so they hold on any machine; times and
memory are this machine's. The least of several runs counts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.bench.drawing import cold, memory, prices, speed
from tests.bench.figures import table
from tests.bench.keeping import project, selection
from tests.bench.recalling import recall
from tests.bench.serving import serving


def main() -> int:
    """Print the table; 1 where a figure is not reached."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = prices(folder) + memory() + speed(folder) + cold(folder)
        rows += selection() + project(folder) + recall(folder) + serving(folder)
    return table(rows)


if __name__ == "__main__":
    sys.exit(main())
