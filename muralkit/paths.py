"""Where muralkit keeps what is its own."""

from __future__ import annotations

import os
from pathlib import Path

from muralkit import files


def store_file() -> Path | None:
    """The user's store: in $MURALKIT_HOME, or the user's data folder; None without a home."""
    home = _home()
    if home is None:
        from platformdirs import user_data_path

        return _inside(user_data_path("muralkit", appauthor=False), "muralkit.db")
    return home / "muralkit.db"


def cache_folder() -> Path | None:
    """The folder of the replay cache: in $MURALKIT_HOME/cache, or the user's cache folder.

    None where there is no home folder to put it in.
    """
    home = _home()
    if home is None:
        from platformdirs import user_cache_path

        return _inside(user_cache_path("muralkit", appauthor=False), "murals")
    return home / "cache" / "murals"


def _home() -> Path | None:
    home = os.environ.get("MURALKIT_HOME")
    if not home:
        return None
    return files.expanded(home).absolute()


def _inside(folder: Path, name: str) -> Path | None:
    return folder / name if folder.is_absolute() else None
