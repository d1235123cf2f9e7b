"""What pydantic finds wrong with a person's settings, as a person would say it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

_WORDS = {
    "missing": "must be given",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must have keys and values",
    "model_type": "must have keys and values",
    "string_pattern_mismatch": "must be words without commas and quotes",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have {max_length} or fewer characters",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have {max_length} or fewer items",
}

_BRANCHES = ("int", "str", "ModelChoice")
_KINDS_OF_BRANCH = ("literal[", "function-", "tuple[")
"""How pydantic calls the branches of a union, within the place of an error."""


def faults(error: ValidationError) -> list[tuple[list[str], str]]:
    """Each place that is wrong, as its keys, and what it must be; in the order found."""
    found: dict[tuple[str, ...], list[str]] = {}
    for item in error.errors(include_url=False, include_input=False):
        place = tuple(str(part) for part in item["loc"] if not _is_branch(part))
        found.setdefault(place, []).append(_words(item))
    return [(list(place), _either(words)) for place, words in found.items()]


def _is_branch(part: int | str) -> bool:
    return isinstance(part, str) and (part in _BRANCHES or part.startswith(_KINDS_OF_BRANCH))


def _words(item: Any) -> str:
    words, context = _WORDS.get(item["type"]), item.get("ctx", {})
    if words is None:
        return str(item["msg"]).removeprefix("Value error, ")
    if context.get("min_length") == 1:
        return "must not be empty"
    numbers = {key: f"{value:g}" for key, value in context.items() if isinstance(value, float)}
    return words.format(**{**context, **numbers})


def _either(words: list[str]) -> str:
    first, *others = dict.fromkeys(words)
    return " or ".join(
        [first, *(word.removeprefix("must ").removeprefix("be ") for word in others)]
    )
