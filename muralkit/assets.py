"""Finds templates/ and fonts/.

In a wheel they lie inside the package; in a checkout (and so in an editable
install) beside it. Nothing else in the package knows the difference.
"""

from __future__ import annotations

from pathlib import Path

from muralkit.errors import EnvironmentProblem

PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder of that name: "templates" or "fonts".

    Raises EnvironmentProblem where the install is incomplete.
    """
    for parent in (PACKAGE, PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise EnvironmentProblem(
        f"The folder {name}/ of muralkit is missing.",
        where=str(PACKAGE),
        hint="The install is incomplete: pip install --force-reinstall muralkit",
    )


def demo_file() -> Path:
    """The bundled set of a project's memories with their cues, as JSON Lines."""
    return PACKAGE / "demo.jsonl"
