"""Options for the project and store that a command works on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

PROJECT = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    metavar="FOLDER",
    help="A folder of the project; by default the current one.",
)
STORE = click.option(
    "--store",
    "store_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The store, if not the user's own.",
)


def with_place(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--project` and `--store`, handed on as an opened Place."""

    @PROJECT
    @STORE
    @wraps(command)
    def opened(*arguments: Any, project: Path, store_path: Path | None, **options: Any) -> Any:
        from muralkit.place import open_place

        with open_place(project, store_path) as place:
            return command(*arguments, place=place, **options)

    return opened
