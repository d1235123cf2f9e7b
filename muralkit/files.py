"""Files that others wrote, read with care: no device, no pipe, nothing endless."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from muralkit.errors import EnvironmentProblem

MOST = 64 * 2**20
"""Bytes; the largest fonts in use, of all of Chinese, have half of that."""


def read(path: Path, most: int = MOST) -> bytes:
    """The bytes of a regular file.

    Raises OSError, with a reason in `strerror`, for one that is larger than `most`
    or no regular file, before a byte is read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would wait
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, "the name is not one of a file", str(path)) from error
    try:
        status = os.fstat(handle)
        check_regular(path, status)
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
        with os.fdopen(os.dup(handle), "rb") as stream:
            return stream.read(most)
    finally:
        os.close(handle)


def check_regular(path: Path, status: os.stat_result) -> None:
    """Raises OSError, with a reason in `strerror`, where it is no regular file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """The user's home folder. Raises EnvironmentProblem where there is none."""
    named = environment.get("HOME")
    if named and Path(named).is_absolute():
        return Path(named)
    found = expanded("~") if not named else Path()
    if not found.is_absolute():
        raise EnvironmentProblem(
            "There is no home folder.", hint="Set HOME to a folder, by its whole path."
        )
    return found


def expanded(path: str) -> Path:
    """A path with its ~; pathlib's own way raises where there is no such user."""
    return Path(os.path.expanduser(path))  # noqa: PTH111
