"""Which project a folder belongs to: its identity, the same in every clone and harness."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path


def identity(folder: Path) -> str:
    """`git:` and the project's first commit, else `dir:` and a hash of the folder.

    The first commit is the lexicographically smallest root of HEAD's history, so
    clones and worktrees share it; the hash is the first 12 hex digits of the md5
    of the resolved path. The magic-context database names projects alike.
    """
    roots = _git(folder, "rev-list", "--max-parents=0", "HEAD").split()
    if roots:
        return f"git:{min(roots)}"
    digest = hashlib.md5(str(folder.resolve()).encode(), usedforsecurity=False).hexdigest()
    return f"dir:{digest[:12]}"


def root(folder: Path) -> Path:
    """The top of the folder's git checkout, else the folder itself."""
    top = _git(folder, "rev-parse", "--show-toplevel").strip()
    return Path(top) if top else folder.resolve()


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; nothing where there is no git, no checkout or no commit."""
    try:
        done = subprocess.run(  # noqa: S603  # a list, no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607  # git as the user has it
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
