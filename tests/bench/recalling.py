"""Recall: how often a misread name is found, and in what time."""

from __future__ import annotations

import json
import random
import string
import time
from collections import Counter
from pathlib import Path

from muralkit import recall as recalls
from muralkit.cues.validate import identifiers
from muralkit.glyphs.clean import clean
from muralkit.likeness import CONFUSABLE
from muralkit.model import Memory
from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from tests.bench.figures import Row
from tests.conftest import DATA

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
