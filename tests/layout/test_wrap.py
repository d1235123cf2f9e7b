"""Lines are broken where the rules say, in a font in which each glyph is 5 px wide."""

from __future__ import annotations

from muralkit.layout import lay_out
from muralkit.model import Cue, Ink, Layout, Line, Role
from muralkit.theme import Theme
from tests.conftest import SquareTheme, cue


def lines(theme: Theme, *cues: Cue) -> list[Line]:
    """The text lines of a page."""
    layout: Layout = lay_out(cues, theme, theme.faces())
    return [item.line for item in layout.placed if item.line.role is Role.TEXT]


def spelled(line: Line) -> str:
    """A line's runs with their x, as `x:text`, marks in brackets."""
    return " ".join(
        f"{run.x:g}:[{run.text}]" if run.ink is Ink.MARK else f"{run.x:g}:{run.text}"
        for run in line.runs
    )


def test_flow_runs_cues_on_behind_bullets(squares: SquareTheme) -> None:
    # bullet 5 px + 1.2 px, three glyphs 15 px, then a gap of 10 px
    [line] = lines(squares(), cue(1, "abc"), cue(2, "de"))
    assert spelled(line) == "0:[*] 6.2:abc 31.2:[*] 37.4:de"
    assert line.memory_ids == (1, 2)


def test_lines_start_each_cue_on_a_line(squares: SquareTheme) -> None:
    theme = squares(text='arrangement = "lines"')
    assert [spelled(line) for line in lines(theme, cue(1, "abc"), cue(2, "de"))] == [
        "0:[*] 6.2:abc",
        "0:[*] 6.2:de",
    ]


def test_a_continuation_line_hangs(squares: SquareTheme) -> None:
    # 280 px: 6.2 + 54 glyphs = 276.2; a space and one more word don't fit
    made = lines(squares(), cue(1, "a" * 54 + " bc"))
    assert [spelled(line) for line in made] == ["0:[*] 6.2:" + "a" * 54, "10:bc"]
    assert [line.memory_ids for line in made] == [(1,), (1,)]


def test_words_of_one_cue_share_a_run(squares: SquareTheme) -> None:
    [line] = lines(squares(), cue(1, "one two"))
    assert [run.text for run in line.runs] == ["*", "one two"]


def test_a_cue_moves_with_its_bullet(squares: SquareTheme) -> None:
    first = cue(1, "a" * 50)  # ends at 256.2; gap, bullet and one glyph need 21.2
    made = lines(squares(), first, cue(2, "bcd"))
    assert [spelled(line) for line in made] == ["0:[*] 6.2:" + "a" * 50, "0:[*] 6.2:bcd"]


def test_a_word_is_not_broken_that_fits_a_line_of_its_own(squares: SquareTheme) -> None:
    made = lines(squares(), cue(1, "abcde " + "x" * 54))
    assert [spelled(line) for line in made] == ["0:[*] 6.2:abcde", "10:" + "x" * 54]


def test_a_long_token_breaks_after_a_separator_with_a_mark(squares: SquareTheme) -> None:
    token = "a" * 40 + "/" + "b" * 40
    made = lines(squares(), cue(1, token))
    assert [spelled(line) for line in made] == [
        "0:[*] 6.2:" + "a" * 40 + "/ 211.2:[~]",
        "10:" + "b" * 40,
    ]


def test_the_last_separator_that_fits_is_taken(squares: SquareTheme) -> None:
    token = "a/b.c_d-e:" * 9
    made = lines(squares(), cue(1, token))
    # 6.2 + 5 n + 5 for the mark <= 280: n = 53, so the break is after "a/" of the sixth
    assert made[0].runs[1].text == ("a/b.c_d-e:" * 6)[:52]


def test_a_long_token_breaks_at_a_change_of_case(squares: SquareTheme) -> None:
    token = "x" * 30 + "Y" + "z" * 40
    made = lines(squares(), cue(1, token))
    assert [line.runs[-1].text for line in made] == ["~", "Y" + "z" * 40]
    assert made[0].runs[1].text == "x" * 30


def test_a_long_token_without_a_good_place_breaks_at_the_edge(squares: SquareTheme) -> None:
    made = lines(squares(), cue(1, "x" * 60))
    assert [run.text for run in made[0].runs] == ["*", "x" * 53, "~"]
    assert [run.text for run in made[1].runs] == ["x" * 7]


def test_a_long_token_behind_other_words_starts_where_it_can_break_well(
    squares: SquareTheme,
) -> None:
    made = lines(squares(), cue(1, "go " + "p" * 20 + "/" + "q" * 50))
    assert made[0].runs[1].text == "go " + "p" * 20 + "/"
    made = lines(squares(), cue(1, "go " + "q" * 60))
    assert [made[0].runs[1].text, made[1].runs[0].text] == ["go", "q" * 53]


def test_a_mark_is_not_in_the_ink_of_any_text(squares: SquareTheme) -> None:
    """A cue that spells the bullet, the break mark or an escape does not draw them."""
    [line] = lines(squares(), cue(1, "a * b ~ [U+13000]"))
    inks = {run.text: run.ink for run in line.runs}
    assert inks == {"*": Ink.MARK, "a * b ~ [U+13000]": Ink.TEXT}
    [line] = lines(squares(), cue(1, "a𓀀"))
    assert [(run.text, run.ink) for run in line.runs[1:]] == [
        ("a", Ink.TEXT),
        ("[U+13000]", Ink.MARK),
    ]


def test_an_escape_is_never_broken(squares: SquareTheme) -> None:
    made = lines(squares(), cue(1, "𓀀" * 12))
    texts = [run.text for line in made for run in line.runs if run.text not in ("*", "~")]
    assert "".join(texts) == "[U+13000]" * 12
    assert all(text.count("[") == text.count("]") for text in texts)


def test_every_line_of_a_prohibition_is_in_its_ink(squares: SquareTheme) -> None:
    made = lines(squares(), cue(1, "⊘" + "word " * 13 + "(reason)"), cue(2, "fine"))
    inks = [{run.ink for run in line.runs} - {Ink.MARK} for line in made]
    assert inks[:2] == [{Ink.PROHIBITION}, {Ink.PROHIBITION, Ink.TEXT}]
    late = lines(squares(), cue(3, "word " * 20 + "→ ⊘thing (reason)"))
    assert all({run.ink for run in line.runs} <= {Ink.PROHIBITION, Ink.MARK} for line in late)
