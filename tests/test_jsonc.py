"""One member changes; every other character stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.errors import InputError
from muralkit.jsonc import read, with_member, without_member

NOTED = """\
// my settings
{
    "a": 1, // one
    /* two */ "b": {
        "c": [1, 2,], // a comma that JSON has not
    },
    "d": "x" // the last
}
"""

SET: list[tuple[str, list[str], Any, str]] = [
    ("", ["a"], 1, '{\n  "a": 1\n}\n'),
    ("// note\n", ["a", "b"], 1, '// note\n{\n  "a": {\n    "b": 1\n  }\n}\n'),
    ("{}", ["a"], 1, '{\n  "a": 1\n}'),
    ('{"a": 1}', ["b"], [2], '{"a": 1, "b": [2]}'),
    ('{"a": 1,}', ["b"], 2, '{"a": 1, "b": 2}'),
    ('{"a": 1}', ["a"], True, '{"a": true}'),
    ('{\r\n\t"a": 1\r\n}\r\n', ["b"], 2, '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n'),
    ("{a: {'b': 1}}", ["a", "b"], 2, "{a: {'b': 2}}"),
    (NOTED, ["a"], 5, NOTED.replace('"a": 1,', '"a": 5,')),
    (
        NOTED,
        ["b", "e"],
        {"f": None},
        NOTED.replace(
            "has not\n", 'has not\n        "e": {\n            "f": null\n        }\n'
        ),
    ),
    (NOTED, ["e"], 1, NOTED.replace('"x" // the last\n', '"x", // the last\n    "e": 1\n')),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "value", "expected"), SET)
def test_a_member_is_set(text: str, path: list[str], value: Any, expected: str) -> None:
    assert with_member(text, path, value) == expected
    assert with_member(expected, path, value) == expected


GONE: list[tuple[str, list[str], str]] = [
    ('{"a": 1}', ["a"], "{}"),
    ('{"a": 1, "b": 2}', ["a"], '{"b": 2}'),
    ('{"a": 1, "b": 2}', ["b"], '{"a": 1}'),
    ('{\n  "a": 1,\n  "b": 2\n}\n', ["b"], '{\n  "a": 1\n}\n'),
    ('{\n  "a": 1,\n  "b": 2\n}\n', ["a"], '{\n  "b": 2\n}\n'),
    ('{"a": 1, "a": 2}', ["a"], "{}"),
    ('{"a": 1}', ["b"], '{"a": 1}'),
    ('{"a": 1}', ["a", "b"], '{"a": 1}'),
    (
        NOTED,
        ["d"],
        NOTED.replace('"d": "x" // the last', "// the last").replace("},\n", "}\n"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "expected"), GONE)
def test_a_member_is_removed(text: str, path: list[str], expected: str) -> None:
    assert without_member(text, path) == expected
    assert without_member(expected, path) == expected


@pytest.mark.parametrize("text", ["{", "[1", '{"a" 1}', "{]}", "\ud800"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        with_member(text, ["a"], 1)


@pytest.mark.parametrize("text", ["[]", "1", '{"a": 1}', '{"a": [1]}'])
def test_something_else_in_the_way_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="something else than an object"):
        with_member(text, ["a", "b"], 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NOISE = st.sampled_from(["", " ", "\n", '// x } " ,\n', "/* } */", "\t"])


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An object, written with white space and comments between whatever may have them."""
    data = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=4))

    def write(value: Any) -> str:
        def space() -> str:
            return draw(NOISE)

        if isinstance(value, dict):
            entries = [f"{space()}{json.dumps(k)}{space()}:{write(v)}" for k, v in value.items()]
            comma = "," if entries and draw(st.sampled_from([0, 1])) else ""
            return f"{space()}{{{','.join(entries)}{comma}{space()}}}{space()}"
        if isinstance(value, list):
            return f"{space()}[{','.join(map(write, value))}{space()}]{space()}"
        plain = json.dumps(value, ensure_ascii=draw(st.sampled_from([False, True])))
        return f"{space()}{plain}{space()}"

    return write(data), data


@given(texts(), st.lists(st.text(max_size=3), min_size=1, max_size=2), VALUES)
def test_an_edit_is_what_it_says_and_nothing_else(
    written: tuple[str, dict[str, Any]], path: list[str], value: Any
) -> None:
    text, data = written
    assert read(text) == data
    try:
        made = with_member(text, path, value)
    except InputError:
        assert len(path) == 2 and not isinstance(data.get(path[0], {}), dict)
        return
    section = read(made)
    for key in path:
        section = section[key]
    assert section == value
    if path[0] not in data:
        assert made.count("//") >= text.count("//")
    gone = read(without_member(made, path))
    for key in path[:-1]:
        gone = gone[key]
    assert path[-1] not in gone
