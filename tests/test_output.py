"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from muralkit.errors import OutputError
from muralkit.output import write


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    write(tmp_path / "a.png", b"one")
    assert (tmp_path / "a.png").read_bytes() == b"one"
    assert mode(tmp_path / "a.png") == 0o600


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o640)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.png").write_bytes(b"old")
    link = tmp_path / "link.png"
    link.symlink_to("real.png")
    write(link, b"new")
    assert link.is_symlink() and (tmp_path / "real.png").read_bytes() == b"new"


def test_a_device_is_written_through() -> None:
    write(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file or directory") as caught:
        write(tmp_path / "no" / "a.png", b"x")
    assert caught.value.where == str(tmp_path / "no" / "a.png")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="Is a directory"):
        write(tmp_path, b"x")


def test_a_name_with_a_null_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="null"):
        write(tmp_path / "a\0b", b"x")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_a_file_without_write_permission_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(OutputError, match="Permission denied"):
        write(path, b"new")
    assert path.read_bytes() == b"old"


def test_standard_output_by_its_path_is_written_through(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "from muralkit.output import write, Path; write(Path('/dev/stdout'), b'x')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (done.stdout, done.returncode) == (b"x", 0)
