"""OpenCode's list of models: read where it is well-formed, unknown where it isn't."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muralkit import modelsdev

LIST = {"a": {"models": {"m/1": {"cost": {"input": 3, "output": 15.5}}, "free": {}}}}


@pytest.mark.parametrize(
    ("content", "model", "expected"),
    [
        (LIST, "a/m/1", (3.0, 15.5)),
        (LIST, "a/free", None),
        (LIST, "a/none", None),
        (LIST, "b/x", None),
        (LIST, "plain", None),
        ({"a": {"models": {"x": {"cost": {"input": "3", "output": 1}}}}}, "a/x", None),
        ({"a": {"models": {"x": {"cost": {"input": 3}}}}}, "a/x", None),
        ({"a": {"models": {"x": 3}}}, "a/x", None),
        ({"a": {"models": []}}, "a/x", None),
        ([], "a/x", None),
        ("rubbish", "a/x", None),
    ],
)
def test_a_price(
    tmp_path: Path, content: object, model: str, expected: tuple[float, float] | None
) -> None:
    path = tmp_path / "opencode" / "models.json"
    path.parent.mkdir()
    path.write_text(json.dumps(content))
    assert modelsdev.price(model, {"XDG_CACHE_HOME": str(tmp_path)}) == expected
    assert modelsdev.price(model, {"OPENCODE_MODELS_PATH": str(path)}) == expected


def test_without_a_list_nothing_is_known(tmp_path: Path) -> None:
    assert modelsdev.entry("a/x", {"XDG_CACHE_HOME": str(tmp_path)}) == {}
