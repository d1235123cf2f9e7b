"""The pytest plug-in, in projects of its own: each runs pytest as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

CUES = [{"id": 1, "category": "NAMING", "importance": 50, "cue": "one cue"}]
TEST = """
def test_mine(mural_golden):
    mural = mural_golden("cues.json", theme="mine")
    assert mural.shown == (1,)
"""


class Project:
    """A theme with its test."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.golden = folder, folder / "golden/test_mine.png"
        (folder / "mine").mkdir()
        self.theme('inherits = "dense"\n')
        (folder / "cues.json").write_text(json.dumps(CUES))
        (folder / "test_theme.py").write_text(TEST)

    def theme(self, manifest: str) -> None:
        (self.folder / "mine/theme.toml").write_text(manifest)

    def pytest(self, *arguments: str, installed: bool = False) -> tuple[int, str]:
        """With our plug-in by its name; or, `installed`, with every one that is."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        environment = dict(os.environ)
        if not installed:  # the others take most of the time
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
            command += ["-p", "muralkit.testing"]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, env=environment
        )
        return done.returncode, done.stdout + done.stderr

    def left(self) -> list[str]:
        return sorted(path.name for path in self.golden.parent.glob("*.png"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_update_writes_the_golden_image_and_the_next_run_holds_to_it(project: Project) -> None:
    code, said = project.pytest(installed=True)
    assert code == 1 and "there is no golden image yet" in said
    assert project.left() == ["test_mine.actual.png"]
    assert project.pytest("--muralkit-update", installed=True)[0] == 0
    assert project.left() == ["test_mine.png"]
    assert project.pytest()[0] == 0


def test_a_difference_is_counted_and_left_behind(project: Project) -> None:
    project.pytest("--muralkit-update")
    before = project.golden.read_bytes()
    project.theme('inherits = "dense"\n[inks]\ntext = "#333333"\n')
    code, said = project.pytest()
    assert code == 1 and "pixels differ" in said and "test_mine.difference.png" in said
    assert "Traceback" not in said and "--muralkit-update" in said
    assert project.golden.read_bytes() == before
    assert project.left() == [
        "test_mine.actual.png", "test_mine.difference.png", "test_mine.png",
    ]  # fmt: skip
    with Image.open(project.golden.with_suffix(".difference.png")) as sheet:
        assert sheet.size == (3 * 1092 + 16, 28)
    project.theme('inherits = "dense"\n[canvas]\nwidth = 280\ncolumns = 1\n')
    assert "the size is 280 x 28 px, expected 1092 x 28 px" in project.pytest()[1]
    project.theme('inherits = "dense"\n')
    assert project.pytest()[0] == 0
    assert project.left() == ["test_mine.png"]  # what a mended failure left is gone


def test_names_folders_and_cues_of_one_s_own(project: Project) -> None:
    (project.folder / "test_theme.py").write_text(
        "import pytest\n"
        f"CUES = {CUES!r}\n"
        "@pytest.mark.parametrize('theme', ['dark', 'dense'])\n"
        "def test_a(mural_golden, theme):\n"
        "    mural_golden(CUES, theme)\n"
        "    mural_golden(CUES, theme, name=f'x-{theme}', folder='pictures')\n"
    )
    assert project.pytest("--muralkit-update")[0] == 0
    assert project.left() == ["test_a-dark.png", "test_a-dense.png"]
    assert (project.folder / "pictures/x-dark.png").is_file()
    assert project.pytest()[0] == 0


@pytest.mark.parametrize("content", [b"", b"no picture"])
def test_a_golden_image_that_is_none_is_a_failure(project: Project, content: bytes) -> None:
    project.golden.parent.mkdir()
    project.golden.write_bytes(content)
    code, said = project.pytest()
    assert code == 1 and "it is no PNG of ours" in said


@pytest.mark.parametrize(
    ("cues", "theme", "says"),
    [
        ("none.json", "mine", "The cues can't be read: No such file or directory"),
        ("theme.json", "mine", "The field 'id' is missing"),
        ("cues.json", "minn", "There is no theme 'minn'"),
        ("cues.json", "bad.toml", "Unknown key 'inks.tekst'; did you mean 'text'?"),
    ],
)
def test_what_cannot_be_drawn_fails_with_its_reason_alone(
    project: Project, cues: str, theme: str, says: str
) -> None:
    (project.folder / "theme.json").write_text('{"theme": "mine"}')
    (project.folder / "bad.toml").write_text('[inks]\ntekst = "#000000"\n')
    (project.folder / "test_theme.py").write_text(
        f"def test_mine(mural_golden):\n    mural_golden({cues!r}, {theme!r})\n"
    )
    code, said = project.pytest()
    assert code == 1 and says in said
    assert "Traceback" not in said and "muralkit/" not in said and "1 failed" in said


def test_the_plug_in_costs_other_projects_nothing() -> None:
    code = "import sys, muralkit.testing; print([m for m in sys.modules if m in %r])"
    heavy = ("cairosvg", "jinja2", "pydantic", "fontTools", "diskcache", "PIL", "click")
    done = subprocess.run([sys.executable, "-c", code % (heavy,)], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_two_tests_of_one_name_do_not_share_a_golden_image(project: Project) -> None:
    (project.folder / "test_other.py").write_text(TEST.replace('"mine"', '"dense"'))
    code, said = project.pytest("--muralkit-update")
    assert code == 1 and "is held by test_other.py::test_mine too: give a name=" in said
    (project.folder / "test_other.py").write_text(TEST.replace('"mine"', '"dark", name="other"'))
    assert project.pytest("--muralkit-update")[0] == 0
    assert project.pytest()[0] == 0
