"""A name and a theme to start from in, the files of a new theme out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from muralkit import checking, output, themefile
from muralkit import theme as themes
from muralkit.errors import OutputError, ThemeError
from muralkit.manifest import SECTIONS, Manifest
from muralkit.readers import AUTO

FILE_MODE = 0o644  # a theme is for others, unlike a picture
COLUMN = 40  # where comments begin


def create(name: str, base: str, folder: Path, template: bool) -> list[Path]:
    """Write the folder `name` with a theme.toml that inherits from `base`, and a copy of
    its template if asked for; the files that were written.

    Raises ThemeError for a name or base that won't do, OutputError where the folder is
    there already or can't be written.
    """
    _check_name(name)
    file = themefile.find(base)
    theme = themes.check(file)
    made = folder / name
    # As it is written: a checked Theme has no two inks of one colour.
    said = checking.manifest(file.data, str(file.path))
    drawing = f"{name}.svg.j2" if template else said.template
    text = _manifest(said, theme.name, _inherits(file, made), drawing)
    results = [(made / "theme.toml", text.encode())]
    if template:
        source = theme.templates.get(theme.manifest.template)
        if source is None or source.problem:
            raise ThemeError(
                f"The template {theme.manifest.template!r} of {base!r} can't be copied.",
                where=str(theme.path),
                hint="Leave --template out, or start from a bundled theme.",
            )
        results.append((made / drawing, source.data))
    try:
        made.mkdir(parents=True)
    except FileExistsError as error:
        raise OutputError(
            "It is there already, and nothing was written.",
            where=str(made),
            hint="Give another name, or another place with -o FOLDER.",
        ) from error
    except OSError as error:
        raise OutputError(
            f"The folder can't be made: {error.strerror}.",
            where=str(made),
            hint="Give another place with -o FOLDER.",
        ) from error
    try:
        output.write_all(results, FILE_MODE)
    except OutputError:
        with suppress(OSError):
            made.rmdir()  # or the next try would find it there
        raise
    return [path for path, _ in results]


def _check_name(name: str) -> None:
    unfit = any(char in '/\\"' or not char.isprintable() for char in name)
    if unfit or not name.strip(". ") or name.startswith("-"):
        raise ThemeError(
            f"{name!r} can't be a theme's name.",
            hint="It names a folder: letters, digits, - and _ are fine. -o FOLDER says where.",
        )
    if name in (AUTO, *themefile.names()):
        raise ThemeError(
            f"{name!r} means something already, and would win over a folder of that name.",
            hint=f"Give a name of its own, such as my-{name}.",
        )


def _inherits(file: themefile.ThemeFile, folder: Path) -> str:
    """What the new manifest calls its base: a name, or a path from itself."""
    if file.bundled and file.path.stem in themefile.names():
        return file.path.stem
    return Path(os.path.relpath(file.path, folder.resolve())).as_posix()


def _manifest(base: Manifest, called: str, inherits: str, template: str) -> str:
    """A manifest that says nothing yet: every key is there, in a comment with its meaning.

    It only says which template draws, where that is not the base's.
    """
    return "\n".join([*_head(base, called, inherits, template), *_sections(base), *_FACE])


def _head(base: Manifest, called: str, inherits: str, template: str) -> Iterator[str]:
    yield "# What a theme does not say, it inherits. Take the # away from what you change; the"
    yield f"# values are those of {called!r}. Colours are #rrggbb, lengths are pixels."
    yield "#"
    yield "#   muralkit preview --theme FOLDER       shows it while you edit"
    yield "#   muralkit theme check FOLDER           contrast, look-alikes, tokens"
    yield ""
    yield f"inherits = {_toml(inherits)}"
    yield _line('# description = ""', "one line for `muralkit theme list`")
    own = template != base.template
    meaning = "beside this file" if own else "a Jinja file beside this one"
    yield _line(f"{'' if own else '# '}template = {_toml(template)}", meaning)


def _sections(base: Manifest) -> Iterator[str]:
    for name, kind in SECTIONS.items():
        values = getattr(base, name)
        yield ""
        yield f"# {(kind.__doc__ or '').splitlines()[0]}"
        yield f"[{name}]"
        for item in fields(kind):
            value = _toml(getattr(values, item.name))
            yield _line(f"# {item.name} = {value}", item.metadata["description"])


_FACE = (
    "",
    "# A face of your own; its file lies beside this one.",
    "# [[face]]",
    '# name = "Mine"',
    '# file = "mine.ttf"',
    "",
)


def _line(setting: str, meaning: str) -> str:
    return f"{setting.ljust(COLUMN)}# {meaning}"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
