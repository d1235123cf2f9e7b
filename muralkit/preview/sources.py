"""Where the previewed cues come from: a file, what was read once, or a project's store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from muralkit import assets, configfile, cuefile, files, survey
from muralkit import project as projects
from muralkit.errors import InputError
from muralkit.model import Cue, Memory, MemoryId
from muralkit.place import open_place


@dataclass(frozen=True, slots=True)
class Material:
    """Cues, their memories in full as far as they are known, and what they are for a person."""

    cues: tuple[Cue, ...]
    contents: Mapping[MemoryId, str]
    name: str


NOTHING = Material((), {}, "")
"""Before anything is loaded."""


class Source(Protocol):
    """Cues that may change."""

    def load(self) -> Material:
        """The cues as they are now. Raises MuralkitError."""

    def watched(self) -> Sequence[Path]:
        """The files whose change means other cues."""


@dataclass(frozen=True, slots=True)
class Given:
    """Cues that were read once, from a pipe or standard input."""

    data: bytes
    name: str

    def load(self) -> Material:
        """The cues. Raises InputError."""
        return Material(
            tuple(cuefile.read(self.data, self.name)), cuefile.contents(self.data), self.name
        )

    def watched(self) -> Sequence[Path]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class CueFile:
    """A file of cues; `name` is what a person calls it, if not by its path."""

    path: Path
    name: str = ""

    def load(self) -> Material:
        """The cues as they are now. Raises InputError."""
        try:
            data = files.read(self.path)
        except OSError as error:
            raise InputError(
                f"The file can't be read: {error.strerror}.",
                where=str(self.path),
                hint="It is looked for again as long as the preview runs.",
            ) from error
        material = Given(data, str(self.path)).load()
        return replace(material, name=self.name or material.name)

    def watched(self) -> Sequence[Path]:
        """The file."""
        return (self.path,)


def demo() -> CueFile:
    """The bundled memories of an invented project."""
    return CueFile(assets.demo_file(), "the bundled demo")


class Project:
    """The overflow of a project's memories, or all of them; the demo where there is nothing."""

    def __init__(self, folder: Path, store: Path | None, everything: bool) -> None:
        self._folder, self._store, self._everything = folder, store, everything
        self._files: list[Path] = []

    def load(self) -> Material:
        """The cues that would be drawn now. Raises ConfigError or StoreError."""
        with open_place(self._folder, self._store) as place:
            self._files = [place.own.path, *configfile.candidates(place.root)]
            live = getattr(place.store, "path", place.own.path)
            self._files += [live, live.with_name(f"{live.name}-wal")]
            found = survey.survey(place.store, place.loaded.config, everything=self._everything)
        if not found.drawable:
            shown = demo().load()
            why = "this project has nothing to draw, so this is the bundled demo"
            return Material(shown.cues, shown.contents, why)
        memories: Iterable[Memory] = found.selection.overflow
        contents: dict[MemoryId, str] = {memory.id: memory.content for memory in memories}
        which = "all memories" if self._everything else "the overflow"
        name = f"{which} of {projects.root(self._folder).name}"
        return Material(found.drawable, contents, name)

    def watched(self) -> Sequence[Path]:
        """The databases and the configuration."""
        return self._files
