"""Only a declared image input is a yes; whatever else there is, is a no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muralkit.vision import Sight, look, theme_for, themes_for


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The lists of models of the three harnesses."""
    opencode = {
        "openai": {
            "models": {
                "sees": {"modalities": {"input": ["text", "image"]}},
                "reads": {"modalities": {"input": ["text"]}},
                "odd": {"modalities": {"input": "image"}},
                "attaches": {"attachment": True},
            }
        }
    }
    models = [{"id": "sees", "input": ["text", "image"]}, {"id": "reads", "input": ["text"]}, 3]
    for path, text in (
        ("cache/opencode/models.json", json.dumps(opencode)),
        (".pi/agent/models.json", json.dumps({"providers": {"openai": {"models": models[:2]}}})),
        (
            ".omp/agent/models.yml",
            "providers:\n  google:\n    models:\n      - id: sees\n        input: [text, image]\n",
        ),
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    return {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize(
    ("declared", "images"),
    [
        (["text", "image"], True),
        (("image",), True),
        (["text"], False),
        ([], False),
        ({"text": True, "image": True}, True),
        ({"text": True, "image": False}, False),
        ({"image": "yes"}, False),
        ({"image": 1}, False),
    ],
)
def test_what_the_harness_declares_counts_first(declared: object, images: bool) -> None:
    assert look("a/b", declared=declared, table={"*": True}) == Sight(images, "the harness")


@pytest.mark.parametrize("declared", [None, {}, {"text": True}, "image", 3, True])
def test_what_is_no_declaration_leads_on_to_the_next(declared: object) -> None:
    assert look("a/b", declared=declared, table={"a/*": True}) == Sight(True, "mural.vision")
    assert look("a/b", declared=declared) == Sight(False, "")


@pytest.mark.parametrize(
    ("harness", "model", "images"),
    [
        ("opencode", "openai/sees", True),
        ("opencode", "openai-codex/sees", True),
        ("opencode", "openai/reads", False),
        ("pi", "openai/sees", True),
        ("pi", "openai/reads", False),
        ("omp", "google/sees", True),
        ("omp", "google-antigravity/sees", True),
    ],
)
def test_the_harness_s_own_list(
    home: dict[str, str], harness: str, model: str, images: bool
) -> None:
    found = look(model, harness=harness, environment=home, table={"*": not images})
    assert found == Sight(images, f"{harness}'s list of models")


@pytest.mark.parametrize(
    ("harness", "model"),
    [
        ("opencode", "openai/odd"),  # the word alone is no declaration
        ("opencode", "openai/attaches"),  # attachments may be text
        ("opencode", "openai/none"),
        ("opencode", "none/sees"),
        ("opencode", "sees"),
        ("opencode", ""),
        ("pi", "openai/none"),
        ("omp", "openai/sees"),
        ("other", "openai/sees"),
    ],
)
def test_what_a_list_does_not_declare_is_unknown(
    home: dict[str, str], harness: str, model: str
) -> None:
    assert look(model, harness=harness, environment=home) == Sight(False, "")


@pytest.mark.parametrize("harness", ["opencode", "pi", "omp"])
@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"{", b"[]", b'{"providers": 3}', b"- :\n\t- x", b"[" * 9999]
)
def test_a_broken_list_says_nothing(home: dict[str, str], harness: str, content: bytes) -> None:
    paths = {
        "opencode": "cache/opencode/models.json",
        "pi": ".pi/agent/models.json",
        "omp": ".omp/agent/models.yml",
    }
    path = Path(home["HOME"]) / paths[harness]
    path.write_bytes(content)
    assert look("openai/sees", harness=harness, environment=home) == Sight(False, "")
    path.unlink()
    assert look("openai/sees", harness=harness, environment=home) == Sight(False, "")


def test_the_longest_pattern_counts() -> None:
    table = {"*": False, "a/*": True, "a/b-*": False}
    assert [look(m, table=table).images for m in ("a/x", "a/b-2", "c/d")] == [True, False, False]
    readers = {"A/*": "dense", "a/B-*": "large"}  # capitals do not count
    assert [theme_for(m, readers, "standard") for m in ("a/x", "a/b-2", "c/d")] == [
        "dense", "large", "standard",
    ]  # fmt: skip


def test_auto_is_the_theme_of_the_model_s_row() -> None:
    models = (
        "anthropic/claude-fable-5-20260901", "openrouter/anthropic/claude-opus-4.8",
        "OpenAI/GPT-5.6-sol", "x-ai/grok-4.5", "moonshot/kimi-k3", "qwen/Qwen3.8-VL",
        "anthropic/claude-opus-5", "google/gemini-3.6-flash", "google/gemini-2.5-pro", "",
    )  # fmt: skip
    assert [theme_for(model, {}, "auto") for model in models] == [
        "dense", "large", "large", "large", "large", "large", "standard", "dense", "standard",
        "standard",
    ]  # fmt: skip


def test_the_user_s_own_readers_come_before_the_package_s() -> None:
    readers = {"anthropic/*": "mine.toml", "anthropic/claude-opus-4*": "auto"}
    assert theme_for("anthropic/claude-fable-5", readers, "auto") == "mine.toml"
    assert theme_for("anthropic/claude-opus-4-8", readers, "dense") == "large"
    assert theme_for("openai/gpt-5", readers, "auto") == "large"
    assert theme_for("openai/gpt-5", readers, "dense") == "dense"


def test_every_theme_that_a_configuration_can_come_to() -> None:
    assert themes_for({"a": "dark", "b": "dark"}, "dense") == ("dense", "dark")
    assert set(themes_for({"a": "dark"}, "auto")) == {"dark", "standard", "dense", "large"}
    assert "auto" not in themes_for({"a": "auto"}, "dense")
