"""Cues from outside: what is wrong is named by entry or line, and field."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.cuefile import checked, read
from muralkit.errors import InputError
from muralkit.model import Cue

GOOD = {"id": 1, "category": "NAMING", "importance": 60, "cue": "a → b"}


def fault(data: object) -> InputError:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(InputError) as caught:
        read(raw, "cues.json")
    return caught.value


def test_an_array_and_lines_are_the_same() -> None:
    other = {**GOOD, "id": "two", "importance": None, "more": [1]}
    expected = [Cue(1, "NAMING", 60, "a → b"), Cue("two", "NAMING", 50, "a → b")]
    assert read(json.dumps([GOOD, other]).encode(), "x") == expected
    lines = f"\ufeff{json.dumps(GOOD)}\r\n\n{json.dumps(other)}\n"
    assert read(lines.encode(), "x") == expected


@pytest.mark.parametrize("data", [b"", b"\n \n", b"[]"])
def test_nothing_is_no_cues(data: bytes) -> None:
    assert read(data, "x") == []


@pytest.mark.parametrize("field", ["id", "category", "importance", "cue"])
def test_a_missing_field_is_named_with_its_entry(field: str) -> None:
    broken = {name: value for name, value in GOOD.items() if name != field}
    error = fault([GOOD, {**broken, **({"id": 2} if field != "id" else {})}])
    assert error.where == "cues.json, entry 2"
    assert error.what == f"The field {field!r} is missing."
    assert '"importance": 60' in error.hint


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("id", "", "a whole number (of 64 bits)"),
        ("id", 1.5, "a whole number (of 64 bits)"),
        ("id", True, "a whole number (of 64 bits)"),
        ("id", None, "a whole number (of 64 bits)"),
        ("id", [1], "a whole number (of 64 bits)"),
        ("category", "", "not blank"),
        ("category", " \n", "not blank"),
        ("category", 3, "not blank"),
        ("importance", 0, "from 1 to 100"),
        ("importance", 101, "from 1 to 100"),
        ("importance", 50.0, "from 1 to 100"),
        ("importance", "50", "from 1 to 100"),
        ("importance", True, "from 1 to 100"),
        ("cue", None, "must be a text"),
        ("cue", ["x"], "must be a text"),
    ],
)
def test_a_wrong_field_is_named_with_its_value(field: str, value: object, rule: str) -> None:
    error = fault([{**GOOD, field: value}])
    assert error.where == "cues.json, entry 1"
    assert rule in error.what and f"{field!r}" in error.what
    assert ascii(value) in error.what


def test_a_long_value_is_shortened() -> None:
    assert len(fault([{**GOOD, "importance": "x" * 9999}]).what) < 200


def test_duplicate_ids_name_both_places() -> None:
    error = fault([GOOD, {**GOOD, "id": 2}, {**GOOD, "cue": "other"}])
    assert error.where == "cues.json, entry 3"
    assert error.what == "The id 1 was given before (cues.json, entry 1)."


def test_a_number_and_a_text_are_different_ids() -> None:
    assert len(checked([GOOD, {**GOOD, "id": "1"}])) == 2


def test_in_lines_the_line_is_named() -> None:
    lines = f"{json.dumps(GOOD)}\n\n{json.dumps({**GOOD, 'id': 2, 'importance': 0})}\n"
    assert fault(lines.encode()).where == "cues.json, line 3"
    assert fault(f"{json.dumps(GOOD)}\nnope\n".encode()).where == "cues.json, line 2"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"{", "Not JSON"),
        (b"[1,", "Not JSON"),
        (b"hello", "Not JSON: Expecting value (column 1)."),
        (b"\xff\xfe[\x00", "not UTF-8 text (byte 0)"),
        (b"[" * 100_000, "can't be read"),
        (b'[{"id": ' + b"9" * 5000 + b"}]", "can't be read"),
        (b"[3]", "An entry is an object, not int."),
        (b"[[]]", "An entry is an object, not list."),
        (b'"text"', "An entry is an object, not str."),
        (b"[NaN]", "An entry is an object, not float."),
    ],
)
def test_what_is_no_list_of_cues(data: bytes, expected: str) -> None:
    assert expected in fault(data).what


def test_a_json_error_in_an_array_has_its_line() -> None:
    error = fault(b'[\n{"id": 1},\n{"id" 2}\n]')
    assert (error.where, error.what) == (
        "cues.json, line 3",
        "Not JSON: Expecting ':' delimiter (column 7).",
    )


def test_a_lone_surrogate_is_read_and_not_fatal() -> None:
    [entry] = read(b'[{"id": 1, "category": "A", "importance": 1, "cue": "x\\ud800y"}]', "x")
    assert entry.text == "x\ud800y"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["id", "category", "importance", "cue"]), inner)
        ),
    )
)
def test_any_json_is_cues_or_an_error(data: object) -> None:
    try:
        read(json.dumps(data).encode(), "x")
    except InputError as error:
        assert error.what


@given(st.binary())
def test_any_bytes_are_cues_or_an_error(data: bytes) -> None:
    try:
        read(data, "x")
    except InputError as error:
        assert error.what and error.where.startswith("x")


@pytest.mark.parametrize("entries", [5, None, "text", b"bytes", {"id": 1}])
def test_what_is_no_list_is_an_error(entries: object) -> None:
    with pytest.raises(InputError, match="The cues are a list of entries, not"):
        checked(entries)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["id", "importance", "cue", "category"])
def test_a_number_too_large_to_print_is_an_error(field: str) -> None:
    with pytest.raises(InputError, match=r"an? int too large to show|it is 1000"):
        checked([{**GOOD, field: 10**9999}])
    assert checked([{**GOOD, "id": 2**63 - 1}, {**GOOD, "id": -(2**63)}])


def test_a_misspelt_field_is_pointed_to() -> None:
    wrong = {"categroy" if key == "category" else key: value for key, value in GOOD.items()}
    error = fault([wrong])
    assert error.what == "The field 'category' is missing."
    assert error.hint.startswith("There is a field 'categroy': is it that one?")
