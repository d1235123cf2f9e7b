"""The two indexes of the memories' texts: of whole words, and of three characters in a row.

Both are SQLite's FTS5, and hold the memories of every project in the file; what is
found is the project's.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from muralkit.model import DEFAULT_IMPORTANCE

WORD = re.compile(r"[\w./\\@#$%+:&*^-]+")
"""A word as the migration 007 has SQLite find it."""

MOST_PARTS = 16
"""Parts of a text that are looked up: so many are in no memory that doesn't have the rest."""

MOST_TERMS = 300
"""Words that are looked up in one search; SQLite takes 500 parts of a statement."""


def holding(
    db: sqlite3.Connection, project: str, text: str, fits: Callable[[str], bool], limit: int
) -> list[int]:
    """See Store.holding; the memories' numbers."""
    source, values = _holding(text)
    query = (
        f"SELECT m.id, m.content FROM {source} AND m.project = ?"  # noqa: S608  # our own words
        " ORDER BY coalesce(m.importance, ?) DESC, m.id"
    )
    rows = db.execute(query, (*values, project, DEFAULT_IMPORTANCE))
    return list(islice((number for number, content in rows if fits(content)), limit))


def _holding(text: str) -> tuple[str, list[str]]:
    """Where memories with the words of a text come from, and the values of that.

    Words of three characters and more are looked up, in any case, and where there are
    none, the longest one is looked for in each content: 10 ms of 10,000.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "memories m WHERE FALSE", []  # no content has half a character
    words = text.split()
    parts = dict.fromkeys(word[at : at + 3] for word in words for at in range(len(word) - 2))
    if not parts:
        return "memories m WHERE instr(m.content, ?)", [max(words, key=len)]
    # CROSS: SQLite would else go through all of the project's memories.
    source = "memories_text t CROSS JOIN memories m ON m.id = t.rowid WHERE memories_text MATCH ?"
    return source, [" AND ".join(map(_quoted, islice(parts, MOST_PARTS)))]


def words(db: sqlite3.Connection) -> dict[str, int]:
    """See Store.words."""
    return dict(db.execute("SELECT term, doc FROM memories_terms").fetchall())


def search(
    db: sqlite3.Connection, project: str, asked: Sequence[Mapping[str, float]], limit: int
) -> list[int]:
    """See Store.search; the memories' numbers."""
    terms = [
        (number, worth, _quoted(term))
        for number, near in enumerate(asked)
        for term, worth in near.items()
    ][:MOST_TERMS]
    if not terms:
        return []
    hits = " UNION ALL ".join(
        ["SELECT rowid AS id, ? AS asked, ? AS worth FROM memories_words"
         " WHERE memories_words MATCH ?"] * len(terms)
    )  # fmt: skip
    query = (
        f"WITH best AS (SELECT id, max(worth) AS worth FROM ({hits}) GROUP BY id, asked),"  # noqa: S608  # our own words
        " found AS (SELECT id, sum(worth) AS worth FROM best GROUP BY id)"
        " SELECT id FROM found CROSS JOIN memories USING (id) WHERE project = ?"
        " ORDER BY worth DESC, id LIMIT ?"
    )
    values = (value for term in terms for value in term)
    return [number for (number,) in db.execute(query, (*values, project, limit))]


def _quoted(term: str) -> str:
    """A term as FTS5 takes it, whatever signs it has."""
    return '"' + term.replace('"', '""') + '"'
