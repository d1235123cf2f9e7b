"""The README's guide for theme authors has what there is, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muralkit import guide, pipeline, proof
from muralkit import theme as themes
from tests.conftest import ROOT, cues_of

README = (ROOT / "README.md").read_text("utf-8")
FILES = dict(re.findall(r"`(\w+/[\w.]+)`:\n\n```\w+\n(.*?)```", README, re.DOTALL))


def test_the_tables_are_those_of_the_dataclasses() -> None:
    again = "run python -m muralkit.guide, and put its tables into the README"
    assert guide.settings() in README, again
    assert guide.template_data() in README, again


def test_a_field_without_a_meaning_does_not_get_in(monkeypatch: pytest.MonkeyPatch) -> None:
    from muralkit.model import Canvas

    kept = {name: text for name, text in guide.MEANINGS[Canvas].items() if name != "tokens"}
    monkeypatch.setitem(guide.MEANINGS, Canvas, kept)
    with pytest.raises(LookupError):
        guide.template_data()


def test_there_are_three_worked_examples() -> None:
    assert {name.partition("/")[0] for name in FILES} == {"paper", "ruled", "ours"}


@pytest.mark.parametrize("example", ["paper", "ruled", "ours"])
def test_an_example_draws_and_is_fit_for_its_readers(tmp_path: Path, example: str) -> None:
    for name, text in FILES.items():
        if name.startswith(f"{example}/"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
    font = ROOT / "fonts/RobotoCondensed-Regular.ttf"
    if example == "ours":
        (tmp_path / "ours/ours.ttf").write_bytes(font.read_bytes())
    mural = pipeline.render(cues_of("120"), tmp_path / example)
    assert len(mural.shown) >= 110 and len(mural.shown) + len(mural.dropped) == 120
    found = proof.prove(tmp_path / example)
    assert found.warnings == ()
    if example == "ruled":
        assert found.demo.tokens == 663
        theme = themes.load(tmp_path / example)
        assert pipeline.render(cues_of("7"), theme).png != pipeline.render(cues_of("7")).png


def test_the_figures_of_theme_check_are_those_of_the_themes() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d,]+) \| ([\d.]+) \| ([\d.]+), ([\d.]+) \| ([\d.]+)", README, re.M
    )
    assert [row[0] for row in rows] == ["dense", "standard", "dark", "large", "pixel"]
    for name, tokens, characters, text, prohibition, digits in rows:
        found = proof.prove(name)
        ratios = {item.ink: item.ratio for item in found.contrasts}
        nearest = proof.digits(found.distances)
        assert nearest is not None
        assert found.demo.tokens == int(tokens.replace(",", ""))
        assert abs(found.demo.characters_per_token - float(characters)) < 0.051
        assert round(ratios["text"], 1) == float(text)
        assert round(ratios["prohibition"], 1) == float(prohibition)
        assert round(nearest.pixels, 1) == float(digits)


def test_every_command_of_themes_is_in_the_readme() -> None:
    for words in ("muralkit preview", "theme new", "theme check", "theme list", "mural_golden",
                  "--muralkit-update", "golden update --dir", "golden check --dir"):  # fmt: skip
        assert words in README, words
