"""Checks in, findings out: what is wrong with an install, and what to do about it."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path

from muralkit.config import Loaded
from muralkit.errors import MuralkitError
from muralkit.gate import LEAST_CUES, LEAST_SHARE
from muralkit.model import Status
from muralkit.sections import MuralSection
from muralkit.store import Store
from muralkit.store.magic import MagicStore
from muralkit.store.sqlite import SqliteStore
from muralkit.vision import themes_for


class Severity(IntEnum):
    """How bad a finding is; also doctor's exit code."""

    FINE = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `hint` says what to do where it isn't fine."""

    severity: Severity
    area: str
    what: str
    hint: str = ""


Check = Callable[[], Iterator[Finding]]


def guarded(area: str, check: Check) -> list[Finding]:
    """The findings of a check; an error of ours is one, and never stops the others."""
    try:
        return list(check())
    except MuralkitError as error:
        return [failed(area, error)]


def failed(area: str, error: MuralkitError) -> Finding:
    """An error as a finding."""
    place = f"{error.where}: " if error.where else ""
    return Finding(Severity.ERROR, area, place + error.what, error.hint)


def libcairo() -> Iterator[Finding]:
    """The library that draws."""
    from muralkit.native import require_cairo

    require_cairo()
    import cairocffi

    version = cairocffi.cairo_version_string()
    yield Finding(Severity.FINE, "libcairo", f"version {version}")


def project(folder: Path) -> Iterator[Finding]:
    """Which project the folder belongs to."""
    from muralkit import project as projects

    root, name = projects.root(folder), projects.identity(folder)
    if projects.is_shallow(folder):
        what = f"{root} is a shallow clone: its memories are not those of whole clones"
        yield Finding(Severity.WARNING, "project", what, "`git fetch --unshallow` makes it whole.")
    yield Finding(Severity.FINE, "project", f"{root} is {name}")


def fonts() -> Iterator[Finding]:
    """Every bundled face, held against its checksum."""
    from muralkit.glyphs.faces import bundled, load

    files = bundled()
    for file in files:
        load(file)
    yield Finding(Severity.FINE, "fonts", f"{len(files)} faces as they are pinned")


def themes(mural: MuralSection, extra: Sequence[str] = ()) -> Iterator[Finding]:
    """Every theme that the configuration can lead to, drawn once in small."""
    for name in themes_for(mural.readers, mural.theme):
        yield from guarded("theme", partial(_theme, name, extra))


def _theme(name: str, extra: Sequence[str]) -> Iterator[Finding]:
    from muralkit import pipeline, themefile
    from muralkit import theme as drawn
    from muralkit.glyphs.faces import load

    cue = {"id": 1, "category": "NAMING", "importance": 50, "cue": "⊘a (b) → c"}
    chosen = drawn.check(themefile.find(name, extra))
    for file in chosen.face_files[len(chosen.face_files) - len(extra) :]:
        load(file)
    mural = pipeline.render([cue], chosen)
    yield Finding(Severity.FINE, "theme", f"{name} draws, {mural.width} px wide")


def configuration(loaded: Loaded) -> Iterator[Finding]:
    """The files that were read, and what in them was ignored."""
    if not loaded.files:
        yield Finding(Severity.FINE, "config", "no file: everything is at its default")
    for path in loaded.files:
        keys = sorted(key for key, origin in loaded.origins.items() if origin == path)
        yield Finding(Severity.FINE, "config", f"{path}: {', '.join(keys) or 'nothing of ours'}")
    for remark in loaded.remarks:
        what = f"{remark.where}: {remark.key} {remark.what}"
        hint = "Mend or remove the key; `muralkit config schema` lists all of them."
        yield Finding(Severity.WARNING, "config", what, hint)


def store(path: Path, damage: list[str]) -> Iterator[Finding]:
    """The memory store's integrity and permissions."""
    for line in damage:
        hint = (
            "Save what can be read with `muralkit memory export --salvage`, then move the file "
            "away and import that."
        )
        yield Finding(Severity.ERROR, "store", f"{path}: {line}", hint)
    yield from private("store", path)
    if not damage:
        yield Finding(Severity.FINE, "store", f"{path} is whole")


def sessions(own: SqliteStore) -> Iterator[Finding]:
    """The sessions' frozen pictures."""
    frozen = own.baselines()
    for item in frozen:
        if item.damaged:
            what = f"the picture of {item.harness} session {item.session} is damaged"
            hint = f"It gets text alone until `muralkit fold --session {item.session}`."
            yield Finding(Severity.WARNING, "sessions", what, hint)
    yield Finding(Severity.FINE, "sessions", f"{len(frozen)} context baselines are kept")


def harnesses(root: Path) -> Iterator[Finding]:
    """What `muralkit install` wrote, for the user and in a project."""
    from muralkit.harness import install

    installed = install.found(root)
    for item in installed:
        what = f"{item.path} ({item.scope}, {item.harness})"
        if item.fault:
            flag = "" if item.scope == "user" else " --project"
            hint = f"`muralkit install {item.harness}{flag}` writes it anew."
            yield Finding(Severity.WARNING, "harness", f"{what}: {item.fault}", hint)
        else:
            version = f", version {item.version}" if item.version else ""
            yield Finding(Severity.FINE, "harness", f"{what}{version}")
    if not installed:
        yield Finding(Severity.FINE, "harness", "none has muralkit: `muralkit install --help`")


def source(memories: MagicStore) -> Iterator[Finding]:
    """Another program's database that memories are read from."""
    for number, what in memories.unusable().items():
        hint = "It is passed over. Mend it in the program that it is of."
        yield Finding(Severity.WARNING, "source", f"memory {number}: {what}", hint)
    count = len(memories.memories(Status))
    what = f"{memories.path}: {count:,} of its memories are this project's"
    if count:
        yield Finding(Severity.FINE, "source", what)
    else:
        hint = "Is this the right folder? A project is the first commit of its git history."
        yield Finding(Severity.WARNING, "source", what, hint)


def cache(folder: Path | None) -> Iterator[Finding]:
    """The replay cache's place and permissions."""
    if folder is None:
        hint = "Set MURALKIT_HOME to a folder."
        yield Finding(Severity.WARNING, "cache", "no home folder: nothing is kept", hint)
        return
    if not folder.exists():
        yield Finding(Severity.FINE, "cache", f"{folder} is not there yet")
        return
    yield from private("cache", folder)
    from muralkit.cache import ReplayCache

    with ReplayCache(folder) as opened:
        if not opened.works():
            hint = f"Remove the folder {folder}; it is made anew."
            yield Finding(Severity.WARNING, "cache", f"{folder} can't be used", hint)
            return
    yield Finding(Severity.FINE, "cache", f"{folder} works")


def cues(memories: Store) -> Iterator[Finding]:
    """Whether the cues cover enough of the pool for a mural."""
    from muralkit.selection import is_current

    pool, made = memories.memories(), memories.cues()
    current = sum(is_current(memory, made.get(memory.id)) for memory in pool)
    what = f"{current} of {len(pool)} memories have a current cue"
    if pool and current < LEAST_CUES and current * LEAST_SHARE < len(pool):
        yield Finding(Severity.WARNING, "cues", what, "The mural waits until more are made.")
    else:
        yield Finding(Severity.FINE, "cues", what)


def private(area: str, path: Path) -> Iterator[Finding]:
    """A finding where others can read what holds memories."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        hint = f"chmod {'700' if path.is_dir() else '600'} {path}"
        yield Finding(Severity.WARNING, area, f"{path} is open to others ({mode:o})", hint)
