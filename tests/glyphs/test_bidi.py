"""The order of text from right to left: Unicode's, but for names and arrows."""

from __future__ import annotations

from unicodedata import bidirectional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.glyphs import bidi, scripts
from muralkit.glyphs.clean import clean

MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def displayed(text: str) -> str:
    """A text's characters from left to right, as one line, signs mirrored."""
    found = bidi.levels(text)
    levels = found[1] if found else [0] * len(text)
    shown = [
        bidi.turned(char).translate(MIRRORED) if level % 2 else char
        for char, level in zip(text, levels, strict=True)
    ]
    return "".join(shown[index] for index in bidi.visual(levels))


@pytest.mark.parametrize(
    ("text", "base", "levels"),
    [
        # UAX 9: numbers in a right-to-left run stand a level higher (I1, I2)
        ("abc אבג ١٢ x", 0, "000011112200"),
        ("אבג abc 123", 1, "11112222222"),  # W7: a number behind Latin is Latin
        ("abc אבג 123", 0, "00001111222"),
        ("اب ١٢", 1, "11122"),
        ("اب 12", 1, "11122"),
        ("اب ١٢-١٣", 1, "11122122"),  # W4 has no say on Arabic numbers
        ("אב 1,2 ג", 1, "11122211"),  # W4: the comma between digits is theirs
        ("א-1", 1, "112"),  # W4 needs digits on both sides; W6
        ("a (ב) c", 0, "0001000"),  # N0: brackets take the outer direction
        ("ב (a b) ג", 1, "111222111"),
    ],
)
def test_levels_are_those_of_the_bidi_algorithm(text: str, base: int, levels: str) -> None:
    assert bidi.levels(text) == (base, [int(level) for level in levels])


@pytest.mark.parametrize(
    ("levels", "order"),
    [
        # The examples of rule L2, as indices: "car means CAR." and its kin
        ([0] * 10 + [1, 1, 1] + [0], [*range(10), 12, 11, 10, 13]),
        ([1, 1, 1, 2, 2, 2, 1], [6, 3, 4, 5, 2, 1, 0]),
        ([0, 0, 1, 1, 2, 2, 1, 0], [0, 1, 6, 4, 5, 3, 2, 7]),
        ([2, 1, 2], [2, 1, 0]),
        ([], []),
    ],
)
def test_a_line_is_reversed_from_its_highest_level_down(
    levels: list[int], order: list[int]
) -> None:
    assert bidi.visual(levels) == order


NAMES = [
    "1.2.3-rc.4", "v3.17.0-rc.4", "--no-x", "-f", "/etc/app.d/x.conf", "~/.config/x/", ".env",
    "../a/", "…/foo", "$HOME", "${HOME}", "$(pwd)", "@scope/pkg", "#4f7a", "C++", "C#", "*.py",
    "save()", "f(g(x))", "f(g(h(x)))", "f(x, y)", 'print("hello world")', "Dict[str, int]",
    "range(a, 5)", "COUNT(DISTINCT x)", "a[0]", "{id}", "{owner}/{repo}", "/{owner}/{repo}",
    "[a](b)", "a.b,c", "x=1,y=2", "<b>", "a→b", "a->b", "a<-b", "v1.2→v1.3", "⊘--force", "!ready",
    "!a && !b", "?a=1", "3fa-9c", "http://[::1]:80/a?b=c#d", "[a, b)", "(a, 5]", "x => y",
    "npm run build -- --fix", "git push -f", "`git push -f`", "'x'", "(make lint:q7f)",
]  # fmt: skip
NUMBERS = [
    "2026-11-30", "10-20", "-5", "+7", "5%", "$5", "12:30:05", "1_000", "+49-89-1", "#404",
    "1.2→1.3",     "[0, 5)", "(0..5]", "1,2", "192.168.0.1/24",
]  # fmt: skip


@pytest.mark.parametrize("name", [*NAMES, *NUMBERS])
def test_a_name_or_number_within_text_from_right_to_left_keeps_its_order(name: str) -> None:
    assert displayed(f"אבג {name} דהו") == f"והד {name} גבא"
    assert displayed(f"ابج {name} دهو") == f"وهد {name} جبا"
    assert displayed(f"אבג {name}") == f"{name} גבא"
    assert displayed(f"אבג ({name}), דהו") == f"והד ,({name}) גבא"
    assert displayed(f"אבג {name}. דהו") == f"והד .{name} גבא"


@pytest.mark.parametrize("name", NAMES)
def test_within_text_from_left_to_right_a_name_parts_what_stands_around_it(name: str) -> None:
    assert displayed(f"see אבג {name} דהו x") == f"see גבא {name} והד x"


@pytest.mark.parametrize("number", NUMBERS)
def test_there_a_number_is_part_of_it(number: str) -> None:
    assert displayed(f"see אבג {number} דהו x") == f"see והד {number} גבא x"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("אבג ב-2026-11-30", "2026-11-30-ב גבא"),  # the hyphen is the prefix's
        ("אבג: npm.", ".npm :גבא"),
        ("אבג «--force», דהו", "והד ,«--force» גבא"),
        ("אבג, npm! דהו", "והד !npm ,גבא"),
        ("ערך=12-13", "12-13=ךרע"),
        ("x→ערך", "x→ךרע"),  # the first letter decides
        ("ערך/a.txt/", "a.txt//ךרע"),
        # Arrows point where reading goes, whether or not a name is joined to them.
        ("שלב → v2", "v2 ← בלש"),
        ("שלב →v2", "v2← בלש"),
        ("v2→ שלב", "v2→ בלש"),
        ("שלב v2→ שלב", "בלש ←v2 בלש"),
        ("שלב ->v2", "v2<- בלש"),
        ("שלב ➡ שלב ➜ שלב", "בלש ← בלש ⬅ בלש"),
        ("שלב 1.2 → 1.3", "1.3 ← 1.2 בלש"),
        ("1, 2, 3 אבג", "גבא 3 ,2 ,1"),  # as Unicode has it
        ("המתן 187 ms ואז", "זאו 187 ms ןתמה"),  # a number and its unit are one
        ("המתן ms 187 ואז", "זאו ms 187 ןתמה"),
        # In a line that reads from right to left, what leads to what does so too.
        ("קובץ a.txt → b.txt → פלט → c.txt", "c.txt ← טלפ ← b.txt ← a.txt ץבוק"),
        ("טול 12:30-14:00 → main ← dev", "dev → main ← 12:30-14:00 לוט"),
        ("קובץ a.txt -> b.txt", "b.txt <- a.txt ץבוק"),
        # Quotes stay with the word that they are around.
        ('הרץ "make" ואז "test" "lint" ∵ CI', '"test" "lint" ∵ CI זאו "make" ץרה'),
        ("קובץ `timeout: 30` → 'retry = 3'", "'retry = 3' ← `timeout: 30` ץבוק"),
        ('קובץ /etc/app.conf → "main.toml"', '"main.toml" ← /etc/app.conf ץבוק'),
        ("שגיאה 404 דף", "ףד 404 האיגש"),
        ("UI text: שגיאה 404 דף", "UI text: ףד 404 האיגש"),
    ],
)
def test_what_is_the_sentence_s_goes_by_it(text: str, seen: str) -> None:
    assert displayed(text) == seen


@given(st.text(st.sampled_from("א1a-.,()[]{}'/→ "), max_size=16))
def test_letters_keep_their_direction_in_any_text(text: str) -> None:
    found = bidi.levels("א " + text)
    assert found is not None
    for char, level in zip("א " + text, found[1], strict=True):
        if char in "א1a":
            assert level % 2 == (char == "א")


def test_texts_as_they_are_seen() -> None:
    assert displayed("car means אבג.") == "car means גבא."
    assert displayed("אבג means CAR") == "means CAR גבא"  # the first strong letter decides
    assert displayed("שלום 123 עולם") == "םלוע 123 םולש"
    assert displayed("port 80") == "port 80"


@given(st.text(st.sampled_from("aב١1 -(),ا日"), max_size=30))
def test_the_order_of_a_line_is_a_permutation(text: str) -> None:
    found = bidi.levels(text)
    assert found is None or sorted(bidi.visual(found[1])) == list(range(len(text)))


def test_text_from_left_to_right_needs_no_levels() -> None:
    assert bidi.levels("plain → 日本 ก้ क्षि") is None


@given(st.text(max_size=30))
def test_each_character_has_a_level(text: str) -> None:
    found = bidi.levels(text)
    assert found is None or len(found[1]) == len(text)


def test_whatever_runs_from_right_to_left_is_shaped_and_has_a_level() -> None:
    codes = (chr(code) for code in range(0x110000))
    strong = [char for char in codes if bidirectional(char) in ("R", "AL", "AN")]
    kept = [char for char in strong if clean(f"a{char}a")[1] == 0]
    assert [char for char in kept if not scripts.shaped(char)] == []
    assert [char for char in kept if bidi.levels(f"a{char}a") is None] == []


def test_arrows_are_turned_in_pairs() -> None:
    assert bidi.turned("a → b ⟸ c ⇒ ↑ ↔ ➡ ➜") == "a ← b ⟹ c ⇐ ↑ ↔ ⬅ ←"
    assert bidi.turned(bidi.turned("←→⇐⇒↤↦⇠⇢⇦⇨⟵⟶⟸⟹")) == "←→⇐⇒↤↦⇠⇢⇦⇨⟵⟶⟸⟹"
