"""Memories from elsewhere: a file or folder in, Drafts and what is wrong with it out.

jsonl     JSON Lines, as `memory export` writes them
markdown  notes as people write them: AGENTS.md, CLAUDE.md, MEMORY.md
claude    a Claude Code memory folder
magic     a magic-context database
headings  which category a heading leads to
"""

from __future__ import annotations

from dataclasses import dataclass

from muralkit.store import Draft


@dataclass(frozen=True, slots=True)
class Problem:
    """A place of the source (a file, or file and line) and what is wrong there."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Found:
    """The memories of a source in its order, and what could not be read."""

    drafts: tuple[Draft, ...]
    problems: tuple[Problem, ...] = ()
