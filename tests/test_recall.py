"""A misread name still leads to its memory, and only what stands there is exact."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.cues.validate import identifiers, stands
from muralkit.glyphs.clean import clean
from muralkit.model import Memory, Status
from muralkit.recall import Certainty, Match, confusable, find, rank
from muralkit.sections import MuralSection
from muralkit.store import Changes, Draft, Store
from muralkit.store.magic import SOURCE, MagicStore
from muralkit.store.sqlite import SqliteStore
from tests.conftest import DATA
from tests.store.test_magic import NEW, make
from tests.test_cli import run
from tests.test_cli_memory import memory


def made(*contents: str) -> list[Memory]:
    return [Memory(number, "A", 50, Status.ACTIVE, text) for number, text in enumerate(contents, 1)]


def first(query: str, *contents: str) -> Match:
    return rank(query, made(*contents))[0]


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("a3f8e5", "Fixed in a3f8e5."),
        ("src/app.py", "See `src/app.py`, please"),
        ("ledger port", "the ledger port is 17774"),
        ("8080", "(8080)"),
    ],
)
def test_what_stands_there_is_exact(query: str, content: str) -> None:
    match = first(query, "something else a3f8", content)
    assert (match.certainty, match.memory.content) == (Certainty.EXACT, content)
    assert match.likeness == 1.0 and match.found == query


@pytest.mark.parametrize("query", ["7", "000", "5", "O", "Brien", "7,0"])
def test_a_part_of_a_number_or_a_name_is_not_exact(query: str) -> None:
    found = rank(query, made("It has 7,000 rows, the offset is −5, and O'Brien knows."))
    assert all(match.certainty is not Certainty.EXACT for match in found)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("lock.toml", "a/b/c/lock.toml"),
        ("foo-bar", "foo-bar-baz"),
        ("parcel", "parcel_id"),
        ("db-1", "db-1.internal:5432"),
        ("internal", "db-1.internal:5432"),
        ("max", "max_conn=200"),
    ],
)
def test_a_part_of_a_name_leads_to_it(tmp_path: Path, query: str, name: str) -> None:
    with SqliteStore(tmp_path / "m.db", "p") as store:
        store.add([Draft("A", f"See {name} first."), Draft("A", "Another memory altogether.")])
        match = find(store, query)[0]
    assert name in match.memory.content and match.certainty is not Certainty.EXACT


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("a3f8e5", "Fixed in a3f8e51."),
        ("app.py", "src/app.py"),
        ("80", "8080"),
        ("1.2", "v1.2.3"),
        ("a3f8e5", "Fixed in A3F8E5."),
        ("ledger port", "the ledger ports"),
    ],
)
def test_a_part_or_another_case_is_never_exact(query: str, content: str) -> None:
    assert all(m.certainty is not Certainty.EXACT for m in rank(query, made(content)))


@pytest.mark.parametrize(
    ("misread", "truth"),
    [
        ("a8f8e5", "a3f8e5"),
        ("ERR_24l7", "ERR_2417"),
        ("O2_INDEX", "02_INDEX"),
        ("rnodern_api", "modern_api"),
        ("SnapshotZ9Prohe", "SnapshotZ9Probe"),
        ("lib/packet-d61.ts", "lib/packet_d61.ts"),
        ("v1,2,3-rc1", "v1.2.3-rc1"),
        ("5ettings.yaml", "Settings.yaml"),
    ],
)
def test_a_misread_name_is_likely_and_not_exact(misread: str, truth: str) -> None:
    match = first(misread, "nothing of the kind", f"It is {truth} here", "b7c9d1 is another")
    assert (match.certainty, match.found) == (Certainty.LIKELY, truth)
    assert 0.8 <= match.likeness < 1


def test_of_two_that_are_as_alike_none_is_likely() -> None:
    matches = rank("a8f8e5", made("x a3f8e5 y", "x aBf8e5 y"))
    assert [m.certainty for m in matches] == [Certainty.POSSIBLE] * 2


def test_what_is_unlike_is_not_found() -> None:
    assert rank("zzzzzz", made("a3f8e5", "plain words")) == []
    assert rank("", made("x")) == rank("  ", made("x")) == []


def test_words_are_found_by_how_many_stand_there() -> None:
    matches = rank("retry budget ledger", made("the retry limit", "ledger: a retry budget of 5"))
    assert [m.memory.id for m in matches] == [2, 1] and matches[0].found == "retry budget ledger"


@given(st.text(max_size=40), st.lists(st.text(max_size=60), max_size=4))
def test_any_query_has_an_answer_or_none(query: str, contents: list[str]) -> None:
    for match in rank(query, made(*contents)):
        assert 0 < match.likeness <= 1
        if match.certainty is Certainty.EXACT:
            assert match.found in clean(match.memory.content)[0]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "m.db", "p") as opened:
        yield opened


def found(store: Store, query: str) -> list[int]:
    return [match.memory.id for match in find(store, query)]


def test_the_index_follows_the_memories(store: SqliteStore, tmp_path: Path) -> None:
    store.add([Draft("A", "first a3f8e5"), Draft("A", 'it says "quoted" OR 日本語テキスト')])
    assert found(store, "a3f8e5") == [1] and found(store, "日本語テキスト") == [2]
    assert found(store, '"quoted"') == [2] and found(store, "a3") == []
    store.edit(1, Changes(content="now b7c9d1"))
    assert found(store, "a3f8e5") == [] and found(store, "b7c9d1") == [1]
    store.edit(1, Changes(status=Status.ARCHIVED))
    assert found(store, "b7c9d1") == [1] and found(store, "b7c9dl") == [1]
    with SqliteStore(tmp_path / "m.db", "q") as other:
        assert found(other, "b7c9d1") == found(other, "b7c9dl") == found(other, "OR") == []
        other.add([Draft("A", "theirs c0ffee1")])
        assert found(other, "c0ffeel") == [3]
    assert found(store, "c0ffee1") == found(store, "c0ffeel") == []
    assert store.damage() == []


def test_a_live_source_is_searched_too(tmp_path: Path) -> None:
    path = tmp_path / "context.db"
    rows: list[dict[str, object]] = [
        {"id": 4, "content": "fixed in a3f8e5, see the ledger"},
        {"id": 5, "content": "the ledger is 7 m", "importance": 90, "status": "archived"},
        {"id": 6, "content": "a3f8e7 is theirs", "project_path": "git:b"},
    ]
    make(path, NEW, *rows)
    with (
        SqliteStore(tmp_path / "own.db", "git:a", source=SOURCE) as own,
        MagicStore(path, own) as live,
    ):
        assert found(live, "a8f8e5") == found(live, "a3f8e7") == [4]
        assert found(live, "the ledger") == [5, 4] and found(live, "m") == [5]
        assert [m.certainty for m in find(live, "the ledger")] == [Certainty.EXACT] * 2
        with closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE memories SET content = 'now b7c9d1' WHERE id = 4")
            db.commit()
        assert found(live, "a8f8e5") == [] and found(live, "b7c9dl") == [4]


@pytest.mark.parametrize("query", ["m", "80", "日", "→", "-v", "#7"])
def test_a_short_word_is_found_where_it_stands_by_itself(store: SqliteStore, query: str) -> None:
    longer = "".join(f"x{query}y{number} " for number in range(3))
    store.add([Draft("A", f"{longer} {number}") for number in range(60)])
    store.add([Draft("A", f"it is {query}, here", importance=1)])
    match = find(store, query)[0]
    assert (match.certainty, match.memory.id) == (Certainty.EXACT, 61)


def test_what_stands_there_is_first_however_many_are_like_it(store: SqliteStore) -> None:
    like = [Draft("A", f"a3f8e5{number:02}x and xa3f8e5", importance=99) for number in range(90)]
    store.add([*like, Draft("A", "a3f8e5", importance=1)])
    first, *others = find(store, "a3f8e5")
    assert (first.certainty, first.memory.id) == (Certainty.EXACT, 91)
    assert others and all(match.certainty is Certainty.POSSIBLE for match in others)


NAMES = st.text("aA0O8BlI1.-_/:#rnm", min_size=1, max_size=12)
ODD = [
    *('"', "'", '""a', "AND", "a OR b", "NEAR(a b)", "a*", "-a", "^a", "content:a3f", "{a}", "("),
    *("%", "_", "[a-z]*", "\\", "\0", "a\0b", "\ud800", "a3f8e5\udc00", "\u200b", "e\u0301"),
    *("ﬀ", "İ", "ß"),
]


@given(st.lists(NAMES, min_size=1, max_size=8, unique_by=str.casefold), st.data())
def test_a_name_that_stands_there_is_first_and_exact(names: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "m", "p") as store:
        store.add([Draft("A", f"see `{name}`, it is so") for name in names])
        asked = data.draw(st.sampled_from([n for n in names if n.strip(".:")] or ["see"]))
        match = find(store, asked)[0]
        assert match.certainty is Certainty.EXACT
        assert stands(asked, match.memory.content)


@given(st.one_of(NAMES, st.text(max_size=30), st.sampled_from(ODD)))
def test_nothing_else_is_exact_and_nothing_is_an_error(query: str) -> None:
    contents = ["a3f8e5 and O8B", "rn/m.l1 -a", 'the "content" of İ, ß and ﬀ', "éa OR b"]
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "m", "p") as store:
        store.add([Draft("A", content) for content in contents])
        for match in find(store, query):
            exact = stands(clean(query)[0], clean(match.memory.content)[0])
            assert (match.certainty is Certainty.EXACT) == exact


@pytest.mark.parametrize("query", ODD)
def test_signs_of_a_search_are_only_signs(store: SqliteStore, query: str) -> None:
    store.add([Draft("A", "plain words")])
    assert find(store, query) == []


@pytest.mark.parametrize("unit", ["a", "a3f8e5 ", "the ledger is ", "日本", ". ", "x_%d/y "])
def test_a_very_long_query_takes_no_longer(store: SqliteStore, unit: str) -> None:
    store.add(
        [Draft("A", f"the ledger is {number} a3f8e5 {'a' * number}") for number in range(300)]
    )
    if "%d" in unit:
        query = "".join(unit % number for number in range(10_000))
    else:
        query = unit * (100_000 // len(unit))
    start = time.perf_counter()
    assert all(match.certainty is not Certainty.EXACT for match in find(store, query))
    assert time.perf_counter() - start < 3  # 0.3 s on a free machine


def test_a_long_text_is_found_though_a_character_is_wrong(store: SqliteStore) -> None:
    text = " ".join(f"word{number} of a3f8e{number}" for number in range(20))
    store.add([Draft("A", text), Draft("A", "word1 of a3f8e1")])
    assert (find(store, text)[0].certainty, found(store, text)[0]) == (Certainty.EXACT, 1)
    match = find(store, text.replace("a3f8e7", "a8f8e7"))[0]
    assert (match.certainty, match.memory.id) == (Certainty.LIKELY, 1)


@pytest.mark.parametrize(("wrong", "least"), [(1, 0.96), (2, 0.9)])
def test_wrong_characters_in_a_real_project(store: SqliteStore, wrong: int, least: float) -> None:
    """Any other character in the place of one or two of a name of seven or more."""
    lines = (DATA / "memories_600.jsonl").read_text("utf-8").splitlines()
    store.add([Draft("A", json.loads(line)["content"]) for line in lines])
    owners: dict[str, set[int]] = defaultdict(set)
    for entry in store.memories():
        for name in set(identifiers(entry.content)):
            if len(name) >= 7:
                owners[name].add(entry.id)
    names = sorted(name for name, where in owners.items() if len(where) == 1)
    rng, right = random.Random(7), 0
    for _ in range(200):
        name = rng.choice(names)
        letters = list(name)
        for at in rng.sample(range(len(name)), wrong):
            letters[at] = rng.choice("abcdefghijklmnopqrstuvwxyz0123456789_-./ABCXYZ")
        hits = found(store, "".join(letters))
        right += bool(hits) and hits[0] in owners[name]
    assert right / 200 >= least


def test_a_theme_says_what_its_face_makes_alike(tmp_path: Path) -> None:
    theme, broken = tmp_path / "theme.toml", tmp_path / "broken.toml"
    theme.write_text('inherits = "pixel"\n[recall]\nconfusable = ["xk", "ri=n"]\n', "utf-8")
    broken.write_text("[recall]\nconfusable = 3\n", "utf-8")
    readers = {"a": str(theme), "b": str(broken), "c": str(tmp_path / "none.toml"), "d": "dense"}
    mural = MuralSection(theme="standard", readers=readers)
    assert confusable(mural) == ("xk", "ri=n")
    assert "lt" in confusable(MuralSection(theme="pixel"))
    [match] = rank("kkab7", made("xxab7"), confusable=confusable(mural))
    assert (match.likeness, match.certainty) == (0.9, Certainty.LIKELY)
    [match] = rank("kkab7", made("xxab7"))
    assert (match.likeness, match.certainty) == (0.6, Certainty.POSSIBLE)


def test_the_command_line_knows_the_configured_theme(tmp_path: Path) -> None:
    (tmp_path / ".muralkit").mkdir()
    theme, settings = tmp_path / "own.toml", tmp_path / ".muralkit/muralkit.jsonc"
    memory("add", "It is kkax7kk.", cwd=tmp_path)
    assert run("recall", "xxqx7kk", cwd=tmp_path).stdout.startswith(b"possible")
    theme.write_text('[recall]\nconfusable = ["xk", "qa"]\n', "utf-8")
    settings.write_text('{"mural": {"theme": "own.toml"}}', "utf-8")
    assert run("recall", "xxqx7kk", cwd=tmp_path).stdout.startswith(b"likely")
    theme.write_text("[recall\n", "utf-8")
    assert run("recall", "kkax7kx", cwd=tmp_path).stdout.startswith(b"likely")


def test_recall_on_the_command_line() -> None:
    memory("add", "The fix is a3f8e5.")
    done = run("recall", "a8f8e5")
    assert done.stdout.startswith(b"likely        1  PROJECT_RULES  The fix is a3f8e5.")
    [row] = json.loads(run("recall", "a3f8e5", "--json").stdout)
    assert (row["certainty"], row["memory"]["id"]) == ("exact", 1)
    done = run("recall", "zzzzzz")
    assert done.returncode == 1 and b"Nothing is like it" in done.stderr
