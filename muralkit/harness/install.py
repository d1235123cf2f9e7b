"""A harness and a scope in, the changes that install it or take it out; and what is there.

Nothing is written before all of it is known. A file of the user's is copied before it is
changed, and what stands in it beside ours is left as it is, comments included.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from muralkit import files, jsonc, output
from muralkit.errors import InputError, OutputError
from muralkit.harness import plugins

Scope = Literal["user", "project"]
HARNESSES = (*plugins.SOURCES, "claude-code")
ENTRY = ("mcpServers", "muralkit")
BACKUP = ".before-muralkit"
MOST = 64 * 2**20
"""Bytes of a file that is edited: Claude Code keeps its history in its own."""

FETCH = 180.0
"""Seconds for npm to fetch OpenCode's package."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; None: there is none. `theirs`: it is the user's own."""

    path: Path
    before: bytes | None
    after: bytes | None
    theirs: bool

    @property
    def needed(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after

    @property
    def backup(self) -> Path | None:
        """Where the user's file is copied to before it is changed."""
        if not self.needed or self.before is None or not self.theirs:
            return None
        return self.path.with_name(self.path.name + BACKUP)


def place(harness: str, scope: Scope, root: Path, environment: Mapping[str, str]) -> Path:
    """The file that a harness reads: its plug-in, or its list of MCP servers."""
    home = files.home(environment)
    if scope == "project":
        return (
            root
            / {
                "opencode": ".opencode/plugin/muralkit.js",
                "pi": ".pi/extensions/muralkit.js",
                "omp": ".omp/extensions/muralkit.js",
                "claude-code": ".mcp.json",
            }[harness]
        )
    if harness == "opencode":
        config = environment.get("XDG_CONFIG_HOME") or str(home / ".config")
        return Path(config) / "opencode/plugin/muralkit.js"
    if harness in ("pi", "omp"):  # OMP obeys Pi's variable too
        folder = environment.get("PI_CODING_AGENT_DIR") or str(home / f".{harness}/agent")
        return files.expanded(folder) / "extensions/muralkit.js"
    claude = environment.get("CLAUDE_CONFIG_DIR")
    return (files.expanded(claude) if claude else home) / ".claude.json"


def installing(
    harness: str, scope: Scope, root: Path, environment: Mapping[str, str] = os.environ
) -> Change:
    """What `install` writes. Raises InputError where the user's file can't be edited."""
    path = _inside(place(harness, scope, root, environment), scope, root)
    before = _read(path)
    if harness in plugins.SOURCES:
        theirs = before is not None and plugins.read(_text(before, path)) is None
        return Change(path, before, plugins.build(harness, scope).encode(), theirs)
    text, mark = _marked(_text(before or b"", path))
    edited = _edited(path, lambda: jsonc.with_member(text, ENTRY, _server()))
    return Change(path, before, (mark + edited).encode(), True)


def removing(
    harness: str, scope: Scope, root: Path, environment: Mapping[str, str] = os.environ
) -> Change:
    """What `uninstall` writes; a file that is not ours is left alone."""
    path = _inside(place(harness, scope, root, environment), scope, root)
    before = _read(path)
    if before is None:
        return Change(path, None, None, False)
    if harness in plugins.SOURCES:
        ours = plugins.read(_text(before, path)) is not None
        return Change(path, before, None if ours else before, not ours)
    text, mark = _marked(_text(before, path))
    edited = _edited(path, lambda: jsonc.without_member(text, ENTRY))
    made = edited != text and text == jsonc.with_member("", ENTRY, _server())
    return Change(path, before, None if made else (mark + edited).encode(), True)


def apply(change: Change) -> None:
    """Write a change, and the copy of what stood there. Raises OutputError."""
    if not change.needed:
        return
    try:
        if change.backup is not None and change.before is not None:
            change.backup.unlink(missing_ok=True)  # a link would lead the copy elsewhere
            output.write(change.backup, change.before)
        if _read(change.path) != change.before:  # Claude Code writes its file all the time
            raise OutputError(
                "Another program has just changed the file.",
                where=str(change.path),
                hint="Nothing was written. Try again, best while that program does not run.",
            )
        if change.after is None:
            change.path.unlink()
            return
        change.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The file can't be written: {error.strerror}.", where=str(change.path)
        ) from error
    output.write(change.path, change.after)


def _inside(path: Path, scope: Scope, root: Path) -> Path:
    """The path, unless a project's leads out of it: a cloned one is not to be trusted."""
    if scope == "project" and not path.resolve().is_relative_to(root.resolve()):
        raise InputError(
            "This leads out of the project, by a symbolic link.",
            where=str(path),
            hint="Remove the link, or install for the user: --user.",
        )
    return path


def _marked(text: str) -> tuple[str, str]:
    """A text without its byte order mark, and that mark."""
    bare = text.removeprefix("\ufeff")
    return bare, text[: len(text) - len(bare)]


def needs_package(change: Change) -> bool:
    """Whether OpenCode would fetch its own package at its next start, and let it wait."""
    folder = change.path.parent.parent
    return not (folder / "node_modules/@opencode-ai/plugin/package.json").exists()


def fetch_package(change: Change) -> str:
    """Fetch it now, with npm; what went wrong, or nothing.

    OpenCode does so by itself for each folder with plug-ins, and its first start waits
    for it: some seconds, and up to two minutes where the registry can't be reached.
    """
    program, npm = shutil.which("opencode"), shutil.which("npm")
    if program is None or npm is None:
        return f"{'opencode' if program is None else 'npm'} is not on the PATH"
    folder = change.path.parent.parent
    manifest = folder / "package.json"
    try:
        if manifest.exists():
            shutil.copyfile(manifest, folder / f"package.json{BACKUP}")
        asked = subprocess.run(  # noqa: S603  # the user's own program
            [program, "--version"], capture_output=True, text=True, timeout=30, check=True
        )
        package = f"@opencode-ai/plugin@{asked.stdout.strip()}"
        subprocess.run(  # noqa: S603  # the user's own program
            # No scripts: a project's package.json may name what it likes.
            [
                npm,
                "install",
                "--prefix",
                str(folder),
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "-E",
                package,
            ],
            capture_output=True,
            timeout=FETCH,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return "it took too long"
    except (OSError, subprocess.CalledProcessError) as error:
        code = getattr(error, "returncode", "")
        return f"npm ended with {code}" if code else str(error)
    return ""


@dataclass(frozen=True, slots=True)
class Found:
    """An installation that is there. `fault` says what is wrong with it, if anything."""

    harness: str
    scope: Scope
    path: Path
    version: str
    fault: str


def found(root: Path, environment: Mapping[str, str] = os.environ) -> list[Found]:
    """Every installation of the user's and of a project."""
    scopes: tuple[Scope, ...] = ("user", "project")
    made = [
        _look(harness, scope, place(harness, scope, root, environment))
        for harness in HARNESSES
        for scope in scopes
    ]
    return [item for item in made if item is not None]


def _look(harness: str, scope: Scope, path: Path) -> Found | None:
    try:
        data = _read(path)
        if data is None:
            return None
        text = _text(data, path)
        if harness == "claude-code":
            servers = jsonc.read(_marked(text)[0]).get(ENTRY[0])
            entry = servers.get(ENTRY[1]) if isinstance(servers, dict) else None
            if entry is None:
                return None
            started = entry.get("command") if isinstance(entry, dict) else None
            return Found(harness, scope, path, "", _unstartable([str(started)]))
    except (InputError, AttributeError) as error:
        return Found(harness, scope, path, "", f"it can't be read: {error}")
    written = plugins.read(text)
    if written is None:
        return Found(harness, scope, path, "", "it is not muralkit's")
    if written.harness not in (harness, ""):
        return None  # Pi and OMP may share a folder
    fault = _unstartable(list(written.command))
    if not fault and text != plugins.build(harness, scope):
        fault = f"it is of version {written.version}, or was changed"
    return Found(harness, scope, path, written.version, fault)


def _unstartable(started: list[str]) -> str:
    if started and shutil.which(started[0]):
        return ""
    return f"it starts {started[0] if started else 'nothing'}, which is not there"


def _server() -> dict[str, Any]:
    """The entry of an MCP server; every model of Claude Code accepts images."""
    program, *rest = plugins.command()
    return {"command": program, "args": [*rest, "mcp", "--inputs", "text,image"]}


def _edited(path: Path, edit: Any) -> str:
    try:
        made: str = edit()
    except InputError as error:
        hint = f"Mend it, or add {json.dumps({ENTRY[1]: _server()})} to its {ENTRY[0]} by hand."
        raise InputError(error.what, where=str(path), hint=hint) from error
    return made


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path, MOST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"The file can't be read: {error.strerror}.", where=str(path)) from error


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("The file is not UTF-8 text.", where=str(path)) from error
