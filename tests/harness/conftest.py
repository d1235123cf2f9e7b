"""The real programs, and a home of their own in which a fake provider is all that they know.

`npm ci` in this folder installs them; .ci/run does, and requires them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.provider import Provider, serve
from tests.test_dreamer import echo

PROGRAMS = Path(__file__).parent / "node_modules" / ".bin"
NAMES = ["opencode", "pi", "omp"]
MODELS = {
    "cue": None,
    "vision": ["text", "image"],
    "other": ["text", "image"],
    "text": ["text"],
    "undeclared": None,
}
"""The provider's models, and what the harnesses are told that they take."""


def missing() -> str:
    """Why the programs can't be run here; empty: they can."""
    if not all((PROGRAMS / name).exists() for name in NAMES):
        return "the harness programs are not installed: npm ci in tests/harness"
    node = shutil.which("node")
    if node is None:
        return "there is no Node"
    done = subprocess.run([node, "--version"], capture_output=True, text=True)
    found = re.match(r"v(\d+)\.(\d+)", done.stdout)
    if found is None or (int(found[1]), int(found[2])) < (20, 6):
        return f"Node is too old: {done.stdout.strip()}"
    return ""


@pytest.fixture(scope="session")
def programs() -> None:
    """Skips where they are not; fails where they have to be."""
    reason = missing()
    if reason and os.environ.get("MURALKIT_REQUIRE_HARNESSES"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty home."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def provider(programs: None, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider that all of them know as `fake`."""
    with serve(echo) as running:
        prepare(home, running, monkeypatch)
        yield running


def prepare(home: Path, provider: Provider, patch: pytest.MonkeyPatch) -> None:
    """A home in which the programs know the provider, and nothing else."""
    patch.setenv("HOME", str(home))
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    patch.setenv("MURALKIT_HOME", str(home / "muralkit"))
    patch.setenv("PATH", f"{PROGRAMS}:{os.environ['PATH']}")
    for name in ("PI_OFFLINE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE"):
        patch.setenv(name, "1")
    patch.setenv("PI_TELEMETRY", "0")
    provider.models = set(MODELS)
    models = pi_models(provider.url)
    write(home / ".pi/agent/models.json", json.dumps(models))
    write(home / ".omp/agent/models.yml", yaml.safe_dump(models))
    write(home / "config/opencode/opencode.json", json.dumps(opencode_config(provider.url)))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def pi_models(url: str) -> dict[str, Any]:
    """Pi's and OMP's list of models."""
    models = [
        {"id": name, "contextWindow": 128_000, "maxTokens": 4096}
        | ({"input": inputs} if inputs else {})
        for name, inputs in MODELS.items()
    ]
    provider = {
        "baseUrl": url,
        "api": "openai-completions",
        "apiKey": "x",
        "compat": {"supportsDeveloperRole": False},
        "models": models,
    }
    return {"providers": {"fake": provider}}


def opencode_config(url: str) -> dict[str, Any]:
    """OpenCode's configuration. To it, `attachment` alone is no image."""
    limit = {"limit": {"context": 128_000, "output": 4096}}
    models: dict[str, Any] = {
        name: {**limit, "attachment": True}
        | ({"modalities": {"input": inputs, "output": ["text"]}} if inputs else {})
        for name, inputs in MODELS.items()
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": url, "apiKey": "x"},
        "models": models,
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "provider": {"fake": provider},
    }
