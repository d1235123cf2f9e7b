"""A missing libcairo is an error with the command of the platform."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muralkit import abi, native
from muralkit.errors import EnvironmentProblem

RELEASES = {
    'ID=debian\nVERSION_ID="12"\n': "sudo apt-get install libcairo2",
    "ID=ubuntu\nID_LIKE=debian\n": "sudo apt-get install libcairo2",
    'ID=linuxmint\nID_LIKE="ubuntu debian"\n': "sudo apt-get install libcairo2",
    "ID=fedora\n": "sudo dnf install cairo",
    'ID="rocky"\nID_LIKE="rhel centos fedora"\n': "sudo dnf install cairo",
    'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n': "sudo zypper install libcairo2",
    "ID=arch\n": "sudo pacman -S cairo",
    "ID=alpine\n": "sudo apk add cairo",
    "": "sudo apt-get install libcairo2",
}


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_the_command_of_each_distribution(tmp_path: Path, release: str) -> None:
    path = tmp_path / "os-release"
    path.write_text(release)
    assert native.INSTALL[native.system_family(path, "linux")] == RELEASES[release]


def test_the_command_of_macos(tmp_path: Path) -> None:
    assert native.INSTALL[native.system_family(tmp_path / "none", "darwin")] == "brew install cairo"


@pytest.mark.parametrize("made_from", [abi.MADE_FROM, "another cairocffi"])
def test_without_the_library_the_command_line_says_how_to_install_it(
    tmp_path: Path, made_from: str
) -> None:
    """What the loader finds under the name is no library, so there is none."""
    (tmp_path / "libcairo.so.2").write_text("not a library")
    code = (
        "import sys\n"
        f"from muralkit import abi; abi.MADE_FROM = {made_from!r}\n"
        "from muralkit.cli import main\n"
        f"sys.exit(main(['demo', '-o', {str(tmp_path / 'x.png')!r}, '--no-cache']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
    )
    assert done.returncode == 3
    assert "The system library libcairo" in done.stderr
    assert "Install it with: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.png").exists()


def test_another_fault_of_the_system_is_not_called_a_missing_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such as a limit on files, which ctypes' search for the library runs into."""

    def full() -> bool:
        raise OSError(27, "File too large")

    monkeypatch.setattr(abi, "provide", full)
    with pytest.raises(EnvironmentProblem, match=r"cairocffi can't be loaded: .*File too large"):
        native.require_cairo()


def test_pixman_s_switches_are_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """PIXMAN_DISABLE=... can leave bars unfilled: no variable may change the picture."""
    code = (
        "import os; from muralkit import native; native.require_cairo(); "
        "print(os.environ.get('PIXMAN_DISABLE'))"
    )
    monkeypatch.setenv("PIXMAN_DISABLE", "wholeops fast")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "None", done.stderr
