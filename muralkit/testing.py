"""A pytest plug-in for themes of one's own: the fixture `mural_golden`.

Every pytest run where muralkit is installed imports this module, so it imports nothing
of the renderer until a test asks for a picture.

def test_my_theme(mural_golden):
    mural_golden("cues.json", theme="my-theme")
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from muralkit.model import Cue, Mural

FOLDER = "golden"
"""Beside the test's file."""

UPDATE = "--muralkit-update"

HOLDERS = pytest.StashKey[dict[Path, str]]()
"""The test that each golden image is held by."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Our one option."""
    group = parser.getgroup("muralkit", "golden images of murals")
    group.addoption(
        UPDATE,
        action="store_true",
        help="make what mural_golden draws the golden images; look at each before you commit it",
    )


class MuralGolden:
    """Holds murals against golden images; see `mural_golden`."""

    def __init__(
        self, beside: Path, name: str, update: bool, test: str, holders: dict[Path, str]
    ) -> None:
        self._beside, self._name, self._update = beside, name, update
        self._test, self._holders = test, holders
        self._held: set[Path] = set()

    def __call__(
        self,
        cues: str | Path | Iterable[Cue | Mapping[str, Any]],
        theme: str | Path = "standard",
        *,
        name: str | None = None,
        folder: str | Path = FOLDER,
    ) -> Mural:
        """Draw the cues (or those of a file) and fail where the picture is not the golden one.

        Paths are looked for beside the test's file. The golden image is FOLDER/NAME.png,
        NAME being the test's own by default. Where it differs, NAME.actual.png and
        NAME.difference.png stay beside it.
        """
        __tracebackhide__ = True
        from muralkit import pipeline
        from muralkit.errors import MuralkitError

        golden = self._beside / folder / f"{name or self._name}.png"
        mural = None
        try:
            own = self._beside / theme
            mural = pipeline.render(self._read(cues), own if own.exists() else theme)
            problem = self._hold(golden, mural.png)
        except MuralkitError as error:
            problem = str(error)
        except OSError as error:
            problem = f"{golden}: {error.strerror}"
        if problem or mural is None:  # outside of the handlers: their errors add nothing
            pytest.fail(problem, pytrace=False)
        return mural

    def _read(self, cues: Any) -> Any:
        if not isinstance(cues, str | Path):
            return cues
        from muralkit import cuefile, files
        from muralkit.errors import InputError

        path = self._beside / cues
        try:
            return cuefile.read(files.read(path), str(path))
        except OSError as error:
            raise InputError(
                f"The cues can't be read: {error.strerror}.", where=str(path)
            ) from error

    def _hold(self, golden: Path, png: bytes) -> str:
        """What is wrong with a picture beside its golden image; empty: nothing."""
        from muralkit import output
        from muralkit.golden import FILE_MODE

        if golden in self._held:
            return f"{golden} is held twice in one test: give a name= each."
        self._held.add(golden)
        holder = self._holders.setdefault(golden, self._test)
        if holder != self._test:
            return f"{golden} is held by {holder} too: give a name= to one of them."
        left = {kind: golden.with_suffix(f".{kind}.png") for kind in ("actual", "difference")}
        if self._update:
            golden.parent.mkdir(parents=True, exist_ok=True)
            if not golden.exists() or golden.read_bytes() != png:
                output.write(golden, png, FILE_MODE)
            _remove(left.values())
            return ""
        problem, sheet = _compared(golden, png)
        _remove(left.values())
        if not problem:
            return ""
        golden.parent.mkdir(parents=True, exist_ok=True)
        output.write(left["actual"], png, FILE_MODE)
        if sheet:
            output.write(left["difference"], sheet, FILE_MODE)
        seen = left["difference"] if sheet else left["actual"]
        return f"{golden}: {problem}\nLook at {seen}\nWhere it is meant: pytest {UPDATE}"


def _compared(golden: Path, png: bytes) -> tuple[str, bytes]:
    """What differs, and the picture of that."""
    from muralkit.golden import compare, same_pixels

    if not golden.exists():
        return "there is no golden image yet", b""
    expected = golden.read_bytes()
    try:
        found = compare(expected, png)
    except ValueError as error:
        return str(error), b""
    if found.problem:
        return found.problem, found.sheet
    if expected != png:
        return same_pixels(expected, png), b""
    return "", b""


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


@pytest.fixture
def mural_golden(request: pytest.FixtureRequest) -> MuralGolden:
    """Draws cues in a theme and holds the picture against FOLDER/NAME.png beside the test."""
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    holders = request.config.stash.setdefault(HOLDERS, {})
    update = bool(request.config.getoption(UPDATE))
    return MuralGolden(request.path.parent, name, update, request.node.nodeid, holders)
