"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from muralkit.errors import OutputError

PRIVATE = 0o600  # a picture holds memories


def write(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write a file by renaming a finished one over it.

    An existing file keeps its permissions, a new one gets `mode`. Raises
    OutputError; what stood at the path before is then intact.
    """
    try:
        if not path.name:
            raise IsADirectoryError(21, "Is a directory")
        if path.exists() and not path.is_file():
            _write_through(path, data)  # as it is named: a pipe's /dev/stdout has no real path
            return
        target = Path(os.path.realpath(path))
        if target.is_file() and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        if target.exists():
            mode = target.stat().st_mode & 0o7777
        _replace(target, data, mode)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise OutputError(
            f"The file can't be written: {reason}.",
            where=str(path),
            hint="Give another path; what stood there is as it was.",
        ) from error


def _write_through(target: Path, data: bytes) -> None:
    """A device or a pipe can't be replaced; a folder gives its own error."""
    with target.open("wb") as stream:
        stream.write(data)


def _replace(target: Path, data: bytes, mode: int) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
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
