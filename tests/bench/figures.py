"""Figures, what they must reach, and their table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple


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
