"""Which project a folder belongs to: its identity, the same in every clone and harness."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from muralkit.errors import EnvironmentProblem


def identity(folder: Path) -> str:
    """`git:` and the project's first commit, else `dir:` and a hash of the folder.

    The first commit is the lexicographically smallest root of HEAD's history, so
    clones and worktrees share it; the hash is the first 12 hex digits of the md5
    of the resolved path. The magic-context database names projects alike.

    Raises EnvironmentProblem where the folder is in a checkout that git can't read:
    its memories would else go to another project without a word.
    """
    roots = _git(folder, "rev-list", "--max-parents=0", "HEAD").split()
    if roots:
        return f"git:{min(roots)}"
    _check_readable(folder)
    digest = hashlib.md5(str(folder.resolve()).encode(), usedforsecurity=False).hexdigest()
    return f"dir:{digest[:12]}"


def root(folder: Path) -> Path:
    """The top of the folder's git checkout, else the folder itself."""
    top = _git(folder, "rev-parse", "--show-toplevel").strip()
    return Path(top) if top else folder.resolve()


def _check_readable(folder: Path) -> None:
    """A checkout without a commit is fine; one that git refuses, or no git at all, isn't."""
    whole = folder.resolve()
    checkout = next((p for p in (whole, *whole.parents) if (p / ".git").exists()), None)
    if checkout is None or _git(folder, "rev-parse", "--git-dir"):
        return
    done = _run(folder, "rev-parse", "--git-dir")
    said = done.stderr.strip().splitlines() if done else []
    raise EnvironmentProblem(
        f"git can't read this checkout: {said[0] if said else 'it is not installed'}.",
        where=str(checkout),
        hint="A project is its first commit. Mend it (`git -C FOLDER status` says more), or "
        "remove the .git folder if it is none.",
    )


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; nothing where there is no git, no checkout or no commit."""
    done = _run(folder, *arguments)
    return done.stdout if done is not None and done.returncode == 0 else ""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    # The folder decides, and no variable that a hook or a shell has set for another one.
    environment = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    try:
        return subprocess.run(  # noqa: S603  # a list, no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607  # git as the user has it
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
            env={**environment, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


_ELSEWHERE = frozenset(("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"))
