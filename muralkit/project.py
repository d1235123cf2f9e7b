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
    head = commit(folder)
    if head:
        roots = _git(folder, "rev-list", "--max-parents=0", head).split()
        if not roots:
            raise _unreadable(folder, "its history is not whole")
        return f"git:{min(roots)}"
    _check_readable(folder)
    digest = hashlib.md5(str(folder.resolve()).encode(), usedforsecurity=False).hexdigest()
    return f"dir:{digest[:12]}"


def commit(folder: Path) -> str:
    """The commit of HEAD; nothing where there is none."""
    return _git(folder, "rev-parse", "--verify", "--quiet", "HEAD").strip()


def leads_elsewhere(folder: Path, before: str, now: str) -> bool:
    """Whether what a commit adds to another one may change the identity: a root of its own.

    It looks at the new commits only; a whole history takes git seconds where it is long.
    """
    return bool(_git(folder, "rev-list", "--max-parents=0", now, "--not", before).strip())


def is_shallow(folder: Path) -> bool:
    """Whether a clone lacks the start of its history, and so its first commit."""
    return _git(folder, "rev-parse", "--is-shallow-repository").strip() == "true"


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
    raise _unreadable(checkout, said[0] if said else "it is not installed")


def _unreadable(checkout: Path, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"git can't read this checkout: {why}.",
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
            timeout=PATIENCE,
            check=False,
            env={**environment, **_NOTHING_RUNS, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem(
            f"git takes more than {PATIENCE:.0f} s to read this checkout.",
            where=str(folder),
            hint="`git commit-graph write --reachable` lets it read a long history in no time.",
        ) from error
    except OSError:
        return None


_NOTHING_RUNS = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}
"""A checkout's configuration names programs, for fetching what it lacks: none is run."""

PATIENCE = 30.0
"""Seconds for git: a history of 400,000 commits takes it 3."""

_ELSEWHERE = frozenset(("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"))
