"""Where a command's cues come from: a file, standard input, or the project's overflow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click

from muralkit.cli.options import counted
from muralkit.model import Cue

MOST = 2**28
"""Bytes of cues: two million of them."""


def overflow(project: Path, store_path: Path | None, everything: bool) -> list[Cue]:
    """What of the project's memories is to be drawn."""
    from muralkit import survey as surveys
    from muralkit.errors import InputError
    from muralkit.place import open_place

    with open_place(project, store_path) as place:
        config = place.loaded.config
        found = surveys.survey(place.store, config, everything=everything)
    if not found.drawable:
        pool, beyond = counted(len(found.pool)), len(found.selection.overflow)
        if not found.pool:
            what = "this project has no memories"
            hint = "`muralkit memory import AGENTS.md` reads notes; `muralkit demo` needs none."
        elif not beyond:
            what = f"all of the project's {pool} fit the text budget"
            hint = "`--all` draws those that have a current cue all the same."
        else:
            among = pool if everything else f"{beyond:,} beyond the text budget"
            what = f"of the project's {among}, none has a current cue"
            hint = "`muralkit status` tells where the project stands."
        raise InputError(f"There is nothing to draw: {what}.", hint=hint)
    return list(found.drawable)


def read_cues(path: Path) -> bytes:
    """What a path holds; - is standard input. Raises InputError."""
    if str(path) == "-":
        if sys.stdin is None:
            raise click.UsageError("Standard input is closed.")
        if sys.stdin.isatty():
            click.echo("Reading cues from the terminal; end with Ctrl-D.", err=True)
        return _limited(sys.stdin.buffer, "standard input")
    if not path.name:
        raise click.UsageError(
            "CUES is empty or this folder: give the path of a JSON file, or - for standard input."
        )
    try:
        with path.open("rb") as stream:  # a pipe is fine: <(...)
            return _limited(stream, str(path))
    except (OSError, ValueError) as error:
        from muralkit.errors import InputError

        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(
            f"The file can't be read: {reason}.",
            where=str(path),
            hint="Give the path of a JSON file of cues, or - for standard input.",
        ) from error


def _limited(stream: BinaryIO, name: str) -> bytes:
    """All of a stream that has an end."""
    data = stream.read(MOST + 1)
    if len(data) > MOST:
        from muralkit.errors import InputError

        raise InputError(f"There are more than {MOST >> 20} MiB of cues.", where=name)
    return data
