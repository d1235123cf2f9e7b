"""Each thing that pydantic may find wrong is told as a person would say it."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from muralkit import wording


class Inner(BaseModel):
    model_config = ConfigDict(strict=True)
    text: str


class Outer(BaseModel):
    model_config = ConfigDict(strict=True)
    flag: bool = False
    whole: Annotated[int, Field(ge=2, le=20_000)] = 2
    size: Annotated[float, Field(gt=0.5, lt=3, allow_inf_nan=False)] = 1.0
    name: Annotated[str, Field(min_length=1, max_length=4)] = "x"
    code: Annotated[str, Field(min_length=2)] = "xx"
    many: tuple[str, ...] = ()
    listed: list[int] = []
    two: Annotated[tuple[int, ...], Field(min_length=2, max_length=3)] = (1, 2)
    table: dict[str, str] = {}
    inner: Inner | None = None
    width: int | Literal["fit"] = 1
    kind: Literal["a", "b"] = "a"


@pytest.mark.parametrize(
    ("data", "key", "what"),
    [
        ({"flag": "yes"}, "flag", "must be true or false"),
        ({"whole": "2"}, "whole", "must be a whole number"),
        ({"whole": 2.5}, "whole", "must be a whole number"),
        ({"whole": 1}, "whole", "must be 2 or more"),
        ({"whole": 20_001}, "whole", "must be 20000 or less"),
        ({"size": "1"}, "size", "must be a number"),
        ({"size": float("inf")}, "size", "must be a finite number"),
        ({"size": 0.5}, "size", "must be more than 0.5"),
        ({"size": float("nan")}, "size", "must be a finite number"),
        ({"name": ""}, "name", "must not be empty"),
        ({"name": "abcde"}, "name", "must have 4 or fewer characters"),
        ({"name": 5}, "name", "must be text"),
        ({"code": "x"}, "code", "must have 2 or more characters"),
        ({"many": 5}, "many", "must be a list"),
        ({"listed": "x"}, "listed", "must be a list"),
        ({"listed": [1, "x"]}, "listed.1", "must be a whole number"),
        ({"two": (1,)}, "two", "must have 2 or more items"),
        ({"two": (1, 2, 3, 4)}, "two", "must have 3 or fewer items"),
        ({"table": 5}, "table", "must have keys and values"),
        ({"inner": 5}, "inner", "must have keys and values"),
        ({"inner": {}}, "inner.text", "must be given"),
        ({"width": "auto"}, "width", "must be a whole number or 'fit'"),
        ({"kind": "c"}, "kind", "must be 'a' or 'b'"),
    ],
)
def test_a_fault_is_told_in_plain_words(data: object, key: str, what: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(data)
    assert wording.faults(caught.value)[0] == (key.split("."), what)
