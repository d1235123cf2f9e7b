"""Project memory: what everything else sees of a store.

    Store      one project's memories and cues, read and changed
    open_store the user's own SQLite file; nothing outside this package speaks SQL

A store keeps what it holds through anything: a change is whole or not at all.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from muralkit.glyphs.clean import clean
from muralkit.model import Memory, Status, StoredCue

OWN = "own"
"""The source of memories that our own store holds; cues are kept by their memories' source."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory that is not stored yet.

    With an `id`, it is kept under that number where the number is free. A `cue`
    comes along where it was made of this very content.
    """

    category: str
    content: str
    importance: int | None = None
    status: Status = Status.ACTIVE
    id: int | None = None
    created_at: int | None = None
    updated_at: int | None = None
    expires_at: int | None = None
    status_before: Status | None = None
    cue: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of a draft: the memory of that category and content, `new` or known.

    `cue`: the draft's cue is now the memory's.
    """

    memory_id: int
    new: bool
    cue: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """What of a memory is to change; None leaves a field alone."""

    category: str | None = None
    content: str | None = None
    importance: int | None = None
    status: Status | None = None
    expires_at: int | None = None


class Store(Protocol):
    """A project's memories, wherever they are kept.

    Every method raises StoreError where the store can't do it.
    """

    path: Path
    project: str

    def memories(self, statuses: Iterable[Status] | None = None) -> list[Memory]:
        """The project's memories by id: the pool (active, permanent, not expired), or
        all of the given statuses, expired ones included.
        """

    def memory(self, memory_id: int) -> Memory | None:
        """One memory of the project, of any status."""

    def add(self, drafts: Iterable[Draft], *, dry: bool = False) -> list[Kept]:
        """Add them all or none; one with the category and content of another is known.

        A known memory that has no current cue takes the draft's, if its content is the
        same to the letter. `dry` only tells what would come of them.
        """

    def edit(self, memory_id: int, changes: Changes) -> Memory:
        """Change a memory; other content makes its cue stale."""

    def restore(self, memory_id: int) -> Memory:
        """Take a memory back into the pool: from the archive with the status that it had
        before, and without an expiry that is over.
        """

    def holding(self, text: str, fits: Callable[[str], bool], limit: int) -> list[Memory]:
        """The memories of any status that hold a text on one line, and whose content
        `fits`, the most important first.
        """

    def words(self) -> Mapping[str, int]:
        """Every word in the index, in lower case and with the dots behind it, and how many
        memories it stands in. The index may be of more projects than this one.
        """

    def search(self, asked: Sequence[Mapping[str, float]], limit: int) -> list[Memory]:
        """The memories of any status that have these words of the index, the best first.

        Each that is asked for may be one of several, each worth something; the best one
        counts.
        """

    def cues(self) -> dict[int, StoredCue]:
        """The last cue of each memory that has one, current or not."""

    def put_cues(self, cues: Iterable[StoredCue]) -> int:
        """Keep these cues, each in the place of its memory's last one; how many were kept.

        A cue is passed over where its memory is gone or has other content by now.
        """

    def take_lease(self, task: str, holder: str, seconds: float) -> bool:
        """Let only this holder run a task for the project for so long, or for so long
        again. False where another one holds it; a lease that ran out is anybody's.
        """

    def drop_lease(self, task: str, holder: str) -> None:
        """Let others run the task."""


def text_fault(value: object) -> str:
    """Why a text can't be a category, a content or a cue; empty where it can."""
    if not isinstance(value, str) or not clean(value)[0]:
        return "must be a text that is not blank"
    if "\0" in value:
        return "must not have a null character"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return "must be valid Unicode"
    return ""


def content_hash(content: str) -> str:
    """The hash that ties a cue to the content it was made of: sha256 of its UTF-8, in hex."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def content_key(content: str) -> str:
    """The hash by which two contents are the same memory: NFC, case and white space aside."""
    folded = " ".join(unicodedata.normalize("NFC", content).casefold().split())
    return content_hash(folded)
