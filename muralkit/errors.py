"""What can go wrong, as one tree.

Every error says what is wrong, where, and (in `hint`) what to do next.

    MuralkitError
    ├── InputError          the cues: not JSON, a missing or wrong field, duplicate ids
    ├── ThemeError          a manifest, template or setting of a theme
    │   └── TemplateError   a template that raises, reaches outside or emits bad SVG
    ├── StoreError          the memory store: not ours, damaged, newer, locked, full
    ├── ConfigError         a configuration file that can't be read
    ├── FontError           a face that is missing, damaged, unpinned or not a font
    ├── EnvironmentProblem  a system library that is missing
    ├── OutputError         a path that can't be written
    └── GoldenError         a golden case that is missing or malformed
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "EnvironmentProblem",
    "FontError",
    "GoldenError",
    "InputError",
    "MuralkitError",
    "OutputError",
    "StoreError",
    "TemplateError",
    "ThemeError",
]


class MuralkitError(Exception):
    """The root of the tree; `what` and `hint` are whole sentences for a person.

    `where` is a file, a line or an entry, as the person would look for it.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n{self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_restore, (type(self), self.what, self.where, self.hint))


def _restore(kind: type[MuralkitError], what: str, where: str, hint: str) -> MuralkitError:
    return kind(what, where=where, hint=hint)


class InputError(MuralkitError):
    """The cues can't be read."""


class ThemeError(MuralkitError):
    """A theme can't be used."""


class TemplateError(ThemeError):
    """A template raised, reached outside, or emitted SVG that can't be drawn."""


class StoreError(MuralkitError):
    """The store can't be used; what it holds is as it was."""


class ConfigError(MuralkitError):
    """A configuration can't be used."""


class FontError(MuralkitError):
    """A face can't be used."""


class EnvironmentProblem(MuralkitError):
    """Something that the system must provide is missing."""


class OutputError(MuralkitError):
    """A file can't be written; what stood there before is intact."""


class GoldenError(MuralkitError):
    """A golden case can't be read."""
