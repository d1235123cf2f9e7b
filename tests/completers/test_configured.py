"""Whose model makes the cues: the task's, the harness's, the endpoint's, or nobody's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muralkit.completers import Ladder
from muralkit.completers.command import CommandCompleter, Model
from muralkit.completers.configured import completer, harness_of, models, seconds
from muralkit.completers.http import HttpCompleter
from muralkit.errors import ConfigError
from muralkit.sections import Config


def config(**dreamer: Any) -> Config:
    return Config.model_validate({"dreamer": dreamer})


FULL = {
    "model": "a/all",
    "fallback_models": ("a/f1", {"model": "a/f2", "variant": "high"}),
    "variant": "low",
    "tasks": {
        "compress-cues": {
            "model": "a/task",
            "fallback_models": ("a/t1",),
            "variant": "medium",
            "timeout_minutes": 3,
        }
    },
}


def without(**changes: Any) -> dict[str, Any]:
    task = {**FULL["tasks"]["compress-cues"], **changes}  # type: ignore[index]
    return {
        **FULL,
        "tasks": {"compress-cues": {key: v for key, v in task.items() if v is not None}},
    }


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (FULL, [Model("a/task", "medium"), Model("a/t1", "medium")]),
        (
            without(fallback_models=None),
            [Model("a/task", "medium"), Model("a/f1", "medium"), Model("a/f2", "high")],
        ),
        (without(variant=None), [Model("a/task", "low"), Model("a/t1", "low")]),
        (
            {key: FULL[key] for key in ("model", "fallback_models", "variant")},
            [Model("a/all", "low"), Model("a/f1", "low"), Model("a/f2", "high")],
        ),
        ({"model": {"model": "a/x", "thinking_level": "off"}}, [Model("a/x", "off")]),
        (
            {"model": "a/x", "tasks": {"compress-cues": {"fallback_models": ("a/y",)}}},
            [Model("a/x", ""), Model("a/y", "")],
        ),
        ({}, []),
    ],
)
def test_the_models_in_the_order_that_they_are_tried(
    section: dict[str, Any], expected: list[Model]
) -> None:
    assert models(config(opencode=section).dreamer.opencode) == expected


def test_the_time_of_a_run() -> None:
    made = config(opencode=FULL).dreamer
    assert (seconds(made, "opencode"), seconds(made, "pi"), seconds(made, None)) == (
        180.0, 1200.0, 1200.0,
    )  # fmt: skip
    shared = config(opencode=FULL, tasks={"compress-cues": {"timeout_minutes": 5}}).dreamer
    assert (seconds(shared, "opencode"), seconds(shared, None)) == (180.0, 300.0)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("pi", "omp"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_first_harness_that_has_a_model_and_is_installed(programs: Path) -> None:
    made = config(opencode={"model": "a/x"}, pi={"model": "b/x"}, omp={"model": "c/x"})
    assert harness_of(made, None) == "pi"  # opencode is not there
    assert harness_of(made, "omp") == "omp"
    assert harness_of(config(), None) is None


def test_what_makes_the_cues(programs: Path) -> None:
    endpoint = {"base_url": "http://127.0.0.1:1/v1", "model": "local", "key_variable": "KEY"}
    assert completer(config(), None) is None
    ladder = completer(config(pi=FULL), None)
    assert isinstance(ladder, Ladder) and ladder.name == "a/task"
    assert [type(rung) for rung in ladder._rungs] == [CommandCompleter] * 2
    assert completer(config(pi=FULL, endpoint=endpoint), None, "rules") is None
    named = completer(config(pi=FULL), "pi", "z/other")
    assert isinstance(named, Ladder) and named.name == "z/other"
    rung = named._rungs[0]
    assert isinstance(rung, CommandCompleter) and rung._model == Model("z/other", "medium")
    local = completer(config(endpoint=endpoint), None, environment={"KEY": "secret"})
    assert isinstance(local, HttpCompleter)
    assert (local.name, local._key) == ("local", "secret")
    other = completer(config(endpoint=endpoint), None, "bigger")
    assert other is not None and other.name == "bigger"


def test_what_is_named_and_not_configured_is_an_error(programs: Path) -> None:
    with pytest.raises(ConfigError, match="No model is configured for pi"):
        completer(config(), "pi")
    with pytest.raises(ConfigError, match="nothing to ask"):
        completer(config(), None, "a/b")


def test_mural_model_is_ignored(programs: Path) -> None:
    made = Config.model_validate({"mural": {"model": "google/x"}})
    assert completer(made, None) is None
