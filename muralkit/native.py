"""libcairo: found, or asked for with the command that installs it here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from muralkit import abi
from muralkit.errors import EnvironmentProblem

INSTALL = {
    "debian": "sudo apt-get install libcairo2",
    "fedora": "sudo dnf install cairo",
    "suse": "sudo zypper install libcairo2",
    "arch": "sudo pacman -S cairo",
    "alpine": "sudo apk add cairo",
    "darwin": "brew install cairo",
    "win32": "install the GTK runtime (https://github.com/tschoonj/GTK-for-Windows-Runtime-Environment-Installer)",
}
"""The command by system family; for Linux the family of /etc/os-release."""

HOMEBREW = "/opt/homebrew/lib:/usr/local/lib"


def require_cairo() -> None:
    """Make libcairo ready for CairoSVG.

    Raises EnvironmentProblem with the exact command where it is missing.
    """
    os.environ.pop("PIXMAN_DISABLE", None)  # it can leave pixman without what fills a bar
    try:
        with _homebrew_visible():
            abi.provide()
            import cairocffi  # noqa: F401
    except OSError as error:
        if error.errno is not None:  # the loader's own errors have no number
            raise EnvironmentProblem(f"cairocffi can't be loaded: {error}.") from error
        family = system_family()
        raise EnvironmentProblem(
            "The system library libcairo, which draws the picture, is not installed.",
            hint=f"Install it with: {INSTALL.get(family, INSTALL['debian'])}",
        ) from error


def system_family(release: Path = Path("/etc/os-release"), platform: str = sys.platform) -> str:
    """A key of INSTALL, from the platform and, on Linux, ID and ID_LIKE."""
    if platform != "linux":
        return platform
    try:
        lines = release.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "debian"
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    words = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
    aliases = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "opensuse": "suse"}
    for word in words:
        family = aliases.get(word, word)
        if family in INSTALL:
            return family
    return "debian"


@contextmanager
def _homebrew_visible() -> Iterator[None]:
    """Let ctypes look where Homebrew installs: on Apple silicon it doesn't by itself."""
    name = "DYLD_FALLBACK_LIBRARY_PATH"
    before = os.environ.get(name)
    if sys.platform != "darwin":
        yield
        return
    os.environ[name] = f"{before}:{HOMEBREW}" if before else f"{HOMEBREW}:/usr/lib"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
