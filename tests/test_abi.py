"""cairocffi's declarations, parsed ahead: the same as parsed at the import, or not used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from muralkit import abi

DRAW = """
import hashlib, sys
from muralkit import abi, assets, cuefile, pipeline
{before}
data = assets.demo_file().read_bytes()
mural = pipeline.render(cuefile.read(data, "demo"))
print("pycparser" in sys.modules, hashlib.sha256(mural.png).hexdigest())
"""


def draw(before: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", DRAW.format(before=before)], capture_output=True, text=True
    )
    assert not done.stderr
    return done.stdout.split()


def test_the_picture_is_the_same_with_and_without_them() -> None:
    parsed, plain = draw("abi.MADE_FROM = 'another one'")
    assert parsed == "True"
    known = abi.sources() == abi.MADE_FROM
    assert draw("") == [str(not known), plain]


@pytest.mark.parametrize(
    "before",
    [
        "import cairocffi",
        "sys.modules.pop('cairocffi', None); abi.find_spec = lambda name: True; abi.sources = str",
    ],
)
def test_what_is_there_already_is_left_alone(before: str) -> None:
    assert draw(before)[0] == "True"


def test_every_declaration_of_cairocffi_is_there() -> None:
    """Type by type, against what cairocffi parses itself."""
    code = """
import sys, cairocffi
own = sys.modules["cairocffi.ffi"]
from muralkit.abi import cairo, pixbuf
for theirs, ours in ((own.ffi, cairo.ffi), (own.ffi_pixbuf, pixbuf.ffi)):
    known = theirs.list_types()
    assert [sorted(group) for group in known] == [sorted(group) for group in ours.list_types()]
    for name in known[0]:
        a, b = theirs.typeof(name), ours.typeof(name)
        assert a.kind == b.kind, name
        if a.kind in ("struct", "union") and a.fields is not None:
            assert theirs.sizeof(name) == ours.sizeof(name), name
            assert [(n, f.offset) for n, f in a.fields] == [
                (n, f.offset) for n, f in b.fields], name
        if a.kind == "enum":
            assert a.elements == b.elements, name
print("same")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "same", done.stderr


def test_without_cairocffi_there_are_no_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abi, "find_spec", lambda name: None)
    assert abi.sources() == ""
