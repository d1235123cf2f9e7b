"""The replay cache: a key over every input of a picture in, its bytes out.

diskcache keeps the entries. By default it unpickles what it reads
(CVE-2025-69872); here only bytes go in, a pickled entry is refused, and what
comes out counts only if its digest is right. Whatever is wrong with the cache
is a miss: it never stops a render.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import struct
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_BINARY, MODE_RAW

from muralkit.model import SIGNATURE, Dropped, Escaped, MemoryId, Mural, Reason

SIZE_LIMIT = 256 * 2**20  # bytes; at 100 KB a mural, the last 2,500 of them

PATIENCE = 0.3
"""Seconds to wait for a database that another process holds, before it is a miss."""

_MAGIC = b"muralkit-entry-1\n"
_FAULTS = (
    sqlite3.Error,
    OSError,
    diskcache.Timeout,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # a loop of links, JSON nested without end
    struct.error,
)


class ReplayCache:
    """Pictures by key in a folder of the user's, shared by any number of processes.

    Opened on first use; `close` it, or use it in a `with`.
    """

    def __init__(self, folder: str | Path, size_limit: int = SIZE_LIMIT) -> None:
        self.folder, self.size_limit = Path(folder), size_limit
        self._cache: diskcache.Cache | None = None

    def __enter__(self) -> ReplayCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, name: str) -> Mural | None:
        """The picture of that key; None where it is absent or damaged."""
        with contextlib.suppress(*_FAULTS):
            entry = self._open().get(name, retry=False)
            if entry is None:
                return None
            mural = _decode(name, entry)
            if mural is not None:
                return mural
            self._open().delete(name, retry=False)
        return None

    def put(self, mural: Mural) -> None:
        """Keep a picture; a full or unwritable disk only means that it is not kept."""
        with contextlib.suppress(*_FAULTS):
            self._open().set(mural.key, _encode(mural), retry=False)

    def works(self) -> bool:
        """Whether the folder can be opened as a cache."""
        with contextlib.suppress(*_FAULTS):
            self._open()
            return True
        return False

    def close(self) -> None:
        """Close the database."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _open(self) -> diskcache.Cache:
        if self._cache is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            try:
                self._cache = self._connect()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # locked, or not writable
                    raise
                self._discard()
                self._cache = self._connect()
        return self._cache

    def _connect(self) -> diskcache.Cache:
        database = self.folder / diskcache.core.DBNAME
        with contextlib.suppress(FileExistsError):
            os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return _PromptCache(
            str(self.folder), timeout=PATIENCE, disk=_BytesDisk, size_limit=self.size_limit
        )

    def _discard(self) -> None:
        """Remove a database that is none, and the entries that only it knew."""
        for path in (*self.folder.glob("cache.db*"), *self.folder.glob("??/??/*.val")):
            with contextlib.suppress(OSError):
                path.unlink()


class _PromptCache(diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """Gives up on a locked database soon: opening one would else try for a minute."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        try:
            super().__init__(*arguments, **settings)
        except BaseException:
            self.close()
            raise

    @property
    def _sql_retry(self) -> Callable[..., Any]:
        execute = self._sql

        def patient(*arguments: Any) -> Any:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    return execute(*arguments)
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > until:
                        raise
                    time.sleep(0.002)

        return patient


class _BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Text keys and bytes, private files, and no pickle in either direction."""

    def put(self, key: Any) -> tuple[str, bool]:
        if not isinstance(key, str):
            raise TypeError("keys are texts")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        if not raw or not isinstance(key, str):
            raise ValueError("a pickled key")
        return key

    def store(self, value: Any, read: bool, key: Any = diskcache.core.UNKNOWN) -> Any:
        if not isinstance(value, bytes) or read:
            raise TypeError("values are bytes")
        stored = super().store(value, read, key=key)
        if stored[2] is not None:
            (Path(self._directory) / stored[2]).chmod(0o600)
        return stored

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        if mode not in (MODE_RAW, MODE_BINARY) or not self._inside(filename):
            raise ValueError("not an entry of ours")
        data = super().fetch(mode, filename, value, False)
        if not isinstance(data, bytes):
            raise ValueError("not an entry of ours")
        return data

    def remove(self, file_path: str) -> None:
        if self._inside(file_path):
            super().remove(file_path)

    def _inside(self, filename: str | None) -> bool:
        """A foreign database must not make us read or remove what isn't the cache's."""
        if filename is None:
            return True
        folder = Path(self._directory).resolve()
        path = (folder / filename).resolve()
        return path.is_relative_to(folder) and path.is_file()  # a pipe would wait


def _encode(mural: Mural) -> bytes:
    about = {
        "key": mural.key,
        "size": [mural.width, mural.height, mural.tokens],
        "shown": mural.shown,
        "dropped": [(item.memory_id, item.importance, item.reason.name) for item in mural.dropped],
        "escaped": [asdict(item) for item in mural.escaped],
        "stripped": mural.stripped,
    }
    head = json.dumps(about, separators=(",", ":")).encode()
    payload = struct.pack(">I", len(head)) + head + mural.png
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def _decode(name: str, entry: object) -> Mural | None:
    """The picture of an entry; None unless it is whole, and that key's."""
    start = len(_MAGIC) + 32
    if not isinstance(entry, bytes) or not entry.startswith(_MAGIC):
        return None
    payload = entry[start:]
    if hashlib.sha256(payload).digest() != entry[len(_MAGIC) : start]:
        return None
    (length,) = struct.unpack_from(">I", payload)
    about, png = json.loads(payload[4 : 4 + length]), payload[4 + length :]
    if about["key"] != name or not png.startswith(SIGNATURE):
        return None
    width, height, tokens, stripped = map(_whole, (*about["size"], about["stripped"]))
    return Mural(
        png=png,
        width=width,
        height=height,
        tokens=tokens,
        key=name,
        shown=tuple(map(_name, about["shown"])),
        dropped=tuple(
            Dropped(_name(who), _whole(rank), Reason[why]) for who, rank, why in about["dropped"]
        ),
        escaped=tuple(
            Escaped(_whole(item["codepoint"]), _whole(item["count"])) for item in about["escaped"]
        ),
        stripped=stripped,
        cached=True,
    )


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError("not a whole number")
    return value


def _name(value: object) -> MemoryId:
    if not isinstance(value, int | str):
        raise TypeError("not an id")
    return value
