"""A harness in, its plug-in out: one file of plain JavaScript that starts `muralkit serve`."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muralkit import __version__
from muralkit.server.protocol import PROTOCOL

SOURCES = {"opencode": "opencode.js", "pi": "pi.js", "omp": "pi.js"}
"""The harnesses that load a plug-in, and the part of it that is theirs."""

_HEADER = re.compile(r"// muralkit (\S+), protocol (\d+): ")
_SETTINGS = re.compile(r"^const SETTINGS = (\{.*\});$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Written:
    """What an installed plug-in says of itself; `command` is what it starts."""

    harness: str
    version: str
    protocol: int
    command: tuple[str, ...]


def command() -> list[str]:
    """What starts muralkit from anywhere, as it runs now.

    Without the variables of Python (-E) and without the current folder on its path (-P):
    a project that is open in a harness decides nothing about the code that runs.
    """
    return [sys.executable, "-E", "-P", "-m", "muralkit"]


def build(harness: str, scope: str = "user") -> str:
    """The text of a harness's plug-in, for the user or a project."""
    folder = Path(__file__).parent
    settings = {
        "command": command(),
        "protocol": PROTOCOL,
        "version": __version__,
        "harness": harness,
        "scope": scope,
    }
    header = (
        f"// muralkit {__version__}, protocol {PROTOCOL}: `muralkit install {harness}` wrote it\n"
        f"// and brings it up to date; `muralkit uninstall {harness}` removes it.\n"
    )
    parts = [folder / "client.js", folder / SOURCES[harness]]
    body = "\n".join(part.read_text("utf-8") for part in parts)
    return f"{header}\nconst SETTINGS = {json.dumps(settings)};\n\n{body}"


def read(text: str) -> Written | None:
    """What a file says of itself; None where it is no plug-in of ours."""
    header, settings = _HEADER.match(text), _SETTINGS.search(text)
    if header is None:
        return None
    found: Any = {}
    if settings is not None:
        with suppress(ValueError):
            found = json.loads(settings[1])
    started = found.get("command") if isinstance(found, dict) else None
    parts = tuple(map(str, started)) if isinstance(started, list) else ()
    name = str(found.get("harness", "")) if isinstance(found, dict) else ""
    return Written(name, header[1], int(header[2]), parts)
