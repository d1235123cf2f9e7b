"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from muralkit.errors import OutputError

PRIVATE = 0o600  # a picture holds memories


def write(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write a file by renaming a finished one over it. See write_all."""
    write_all([(path, data)], mode)


def write_all(results: Sequence[tuple[Path, bytes]], mode: int = PRIVATE) -> None:
    """Write several files, each by renaming a finished one over it, once all are finished.

    An existing file keeps its permissions, a new one gets `mode`. Raises
    OutputError; what stood at the paths before is then intact.
    """
    finished: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, data in results:
            if not path.name:
                raise IsADirectoryError(21, "Is a directory")
            if path.exists() and not path.is_file():
                _write_through(path, data)  # as it is named: a pipe's /dev/stdout has no real path
            else:
                target = Path(os.path.realpath(path))
                finished.append((_finished(target, data, mode), target))
        while finished:
            finished[0][0].replace(finished[0][1])
            del finished[0]
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise OutputError(
            f"The file can't be written: {reason}.",
            where=str(path),
            hint="Give another path; what stood there is as it was.",
        ) from error
    finally:
        for temporary, _ in finished:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _write_through(target: Path, data: bytes) -> None:
    """A device or a pipe can't be replaced; a folder gives its own error."""
    with target.open("wb") as stream:
        stream.write(data)


def _finished(target: Path, data: bytes, mode: int) -> Path:
    """The data in a file beside the target, ready to be renamed over it."""
    if target.is_file() and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied")
    if target.exists():
        mode = target.stat().st_mode & 0o7777
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode)
        return Path(name)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output. Raises OutputError; a reader that left is BrokenPipeError."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except (OSError, AttributeError, ValueError) as error:  # full, or closed from the start
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is closed"
        raise OutputError(
            f"Standard output can't be written: {reason}.", hint="Give a file with -o."
        ) from error
