"""The table of readers: its rows and floors make sense, and name what there is."""

from __future__ import annotations

from muralkit import readers, themefile
from muralkit import theme as themes
from muralkit.sections import Config
from muralkit.session import Turn, facts


def test_every_row_names_a_theme_and_how_we_know() -> None:
    for row in readers.table():
        assert row.theme in themefile.names() and row.source, row
        assert row.pattern == row.pattern.lower()
    patterns = [row.pattern for row in readers.table()]
    assert len(set(patterns)) == len(patterns)


def test_the_longest_pattern_counts_whatever_the_case() -> None:
    found = readers.known("Anthropic/Claude-Opus-4-8")
    assert found is not None and found.theme == "large"
    assert readers.known("meta/llama") is None


def test_the_theme_of_a_profile_holds_its_floors() -> None:
    profiles = readers.profiles()
    assert list(profiles) == ["dense", "standard", "large"]
    for profile in profiles.values():
        text = themes.load(profile.theme).manifest.text
        assert text.size >= profile.size and text.pitch - text.size >= profile.leading
        assert profile.source


def test_a_session_folds_with_the_theme_of_its_model() -> None:
    def settings(model: str, theme: str) -> str:
        config = Config.model_validate({"mural": {"theme": theme}})
        return facts(Turn("pi", "1", model), "project", config)["settings"]

    for model, theme in (
        ("anthropic/claude-opus-4-8", "large"),
        ("google/gemini-3.6-flash", "dense"),
        ("a/unknown", "standard"),
        ("", "standard"),
    ):
        assert settings(model, "auto") == settings(model, theme)
    assert settings("a/b", "large") != settings("a/b", "dense")
