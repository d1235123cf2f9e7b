"""Where muralkit keeps what is its own."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """The folder of the replay cache: in $MURALKIT_HOME/cache, or the user's cache folder.

    None where there is no home folder to put it in.
    """
    home = os.environ.get("MURALKIT_HOME")
    if home:
        folder = Path(os.path.abspath(os.path.expanduser(home))) / "cache"  # noqa: PTH100, PTH111  # pathlib raises for ~nobody
    else:
        from platformdirs import user_cache_path

        folder = user_cache_path("muralkit", appauthor=False)
    return folder / "murals" if folder.is_absolute() else None
