"""What is kept open is what would be opened now."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from muralkit.errors import ConfigError, EnvironmentProblem
from muralkit.place import MOST, RECHECK, Places
from muralkit.store import Draft
from tests.conftest import switch_on


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def places(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    monkeypatch.setenv("MURALKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with closing(Places(clock=clock)) as made:
        yield made


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True)


def test_the_same_place_until_a_configuration_changes(places: Places, tmp_path: Path) -> None:
    first = places.at(tmp_path)
    assert places.at(tmp_path) is first and not first.loaded.config.mural.enabled
    switch_on(tmp_path)
    second = places.at(tmp_path)
    assert second is not first and second.loaded.config.mural.enabled
    user = tmp_path / "config/muralkit/muralkit.jsonc"
    user.parent.mkdir(parents=True)
    user.write_text('{"cache_ttl": "7m"} // mine')
    assert places.at(tmp_path).loaded.config.cache_ttl == "7m"
    user.unlink()
    assert places.at(tmp_path).loaded.config.cache_ttl == "5m"


def test_a_wrong_configuration_is_said_until_it_is_mended(places: Places, tmp_path: Path) -> None:
    places.at(tmp_path)
    switch_on(tmp_path, budget=3)
    for _ in range(2):
        with pytest.raises(ConfigError):
            places.at(tmp_path)
    switch_on(tmp_path)
    assert places.at(tmp_path).loaded.config.mural.enabled


def test_a_first_commit_is_another_project_after_a_while(
    places: Places, tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    git(folder, "init", "-q")
    first = places.at(folder)
    assert first.store.project.startswith("dir:")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    assert places.at(folder) is first
    clock.now += RECHECK + 1
    assert places.at(folder).store.project.startswith("git:")


def test_a_checkout_that_git_can_no_longer_read_is_said(
    places: Places, tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    git(folder, "init", "-q")
    places.at(folder)
    (folder / ".git/HEAD").write_text("rubbish")
    clock.now += RECHECK + 1
    with pytest.raises(EnvironmentProblem):
        places.at(folder)


def test_a_store_that_was_replaced_is_opened_anew(places: Places, tmp_path: Path) -> None:
    places.at(tmp_path).store.add([Draft("A", "a")])
    assert len(places.at(tmp_path).store.memories()) == 1
    for path in list((tmp_path / "home").glob("muralkit.db*")):
        path.rename(tmp_path / path.name)
    assert places.at(tmp_path).store.memories() == []


def test_few_places_stay_open(places: Places, tmp_path: Path) -> None:
    import sqlite3

    folders = [tmp_path / str(number) for number in range(MOST + 1)]
    for folder in folders:
        folder.mkdir()
    first = places.at(folders[0])
    second = places.at(folders[1])
    assert places.at(folders[0]) is first  # used last
    for folder in folders[2:]:
        places.at(folder)
    assert places.at(folders[0]) is first
    with pytest.raises(Exception, match="closed") as raised:
        second.own.projects()
    assert isinstance(raised.value.__cause__, sqlite3.ProgrammingError)


def test_a_new_commit_is_no_reason_to_read_the_whole_history(
    places: Places, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "1")
    first = places.at(folder)

    def whole(folder: Path) -> str:
        raise AssertionError("the whole history was read")

    monkeypatch.setattr("muralkit.project.identity", whole)
    clock.now += RECHECK + 1
    assert places.at(folder) is first
    git(folder, "commit", "-q", "--allow-empty", "-m", "2")
    clock.now += RECHECK + 1
    assert places.at(folder) is first
    git(folder, "checkout", "-q", "--orphan", "other")
    git(folder, "commit", "-q", "--allow-empty", "-m", "another root")
    clock.now += RECHECK + 1
    with pytest.raises(AssertionError):
        places.at(folder)


def test_a_checkout_runs_no_program_of_its_own(places: Places, tmp_path: Path) -> None:
    """A commit that is missing is not fetched: the way there is the checkout's to say."""
    folder = tmp_path / "evil"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "1")
    git(folder, "commit", "-q", "--allow-empty", "-m", "2")
    asked = ["git", "-C", str(folder), "rev-list", "--max-parents=0", "HEAD"]
    root = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    (folder / ".git/objects" / root[:2] / root[2:]).unlink()
    for key, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", str(folder / "nowhere")),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", f"touch {tmp_path}/ran; false"),
    ):
        git(folder, "config", key, value)
    with pytest.raises(EnvironmentProblem, match="its history is not whole"):
        places.at(folder)
    assert not (tmp_path / "ran").exists()
