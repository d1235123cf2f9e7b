"""Configuration files in, one frozen Config out, with where each value came from.

Four JSONC files are read, and each later one wins, key by key: the user's and
the project's magic-context.jsonc, whose users need change nothing, then our own
two. Arrays and single values replace, objects are merged. A project's files may
not set what only the user may: that would let a cloned repository decide where
memories are kept and what is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from muralkit import configfile, files, jsonc, wording
from muralkit.checking import tuples
from muralkit.configfile import Layer
from muralkit.errors import ConfigError, InputError, MuralkitError
from muralkit.readers import AUTO
from muralkit.sections import Config

USER_ONLY = ("store", "cache", "fonts", "dreamer.endpoint", "dreamer.in_session")
"""Keys that a project's file may not set."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something in a file that was ignored, and what to do about it."""

    where: Path
    key: str
    what: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The merged configuration; `origins` has the file of each value by its dotted key."""

    config: Config
    origins: Mapping[str, Path] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    files: tuple[Path, ...] = ()


def load(root: Path, environment: Mapping[str, str] = os.environ) -> Loaded:
    """The configuration of a project's folder.

    Raises ConfigError, with file and key, where a file can't be read or a value is
    wrong; what is merely unknown or not allowed is a remark.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, Path] = {}
    remarks: list[Remark] = []
    present: list[Path] = []
    for layer in configfile.layers(root, environment):
        try:
            data = configfile.read(layer.path)
        except ConfigError as error:
            if not layer.foreign:
                raise
            remarks.append(Remark(layer.path, "all of it", f"ignored: {error.what}"))
            continue
        if data is None:
            continue
        present.append(layer.path)
        data, found = _allowed(data, layer, root)
        remarks += found
        data = tuples(_known(data, Config))
        if layer.foreign:
            remarks += _without_faults(data, layer.path)
        else:
            _check(data, layer.path)
        _merge(merged, origins, data, layer.path)
    return Loaded(Config.model_validate(merged), origins, tuple(remarks), tuple(present))


def _check(data: dict[str, Any], path: Path) -> None:
    try:
        Config.model_validate(data)
    except ValidationError as error:
        place, what = wording.faults(error)[0]
        raise ConfigError(
            f"{'.'.join(place)}: {what}.",
            where=str(path),
            hint="`muralkit config schema` prints every key with its meaning.",
        ) from error


def _without_faults(data: dict[str, Any], path: Path) -> list[Remark]:
    """Take from another program's file what is wrong by our rules: it may be right by its
    own, and must not stop ours.
    """
    remarks: list[Remark] = []
    while True:
        try:
            Config.model_validate(data)
        except ValidationError as error:
            place, what = wording.faults(error)[0]
            remarks.append(Remark(path, ".".join(place), f"ignored: {what}"))
            section: Any = data
            for part in place[:-1]:
                if not isinstance(section.get(part), dict):
                    break
                section = section[part]
            section.pop(next((part for part in reversed(place) if part in section), None), None)
        else:
            return remarks


def _known(data: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The data without the keys that a model doesn't have; they are remarks by now."""
    sections = {item.alias or name: item.annotation for name, item in model.model_fields.items()}
    kept = {key: value for key, value in data.items() if key in sections}
    for key, value in kept.items():
        section = sections[key]
        if (
            isinstance(value, Mapping)
            and isinstance(section, type)
            and issubclass(section, BaseModel)
        ):
            kept[key] = _known(value, section)
    return kept


def _allowed(data: dict[str, Any], layer: Layer, root: Path) -> tuple[dict[str, Any], list[Remark]]:
    """What of a file counts, and remarks on the rest."""
    remarks = [
        Remark(layer.path, key, what)
        for key, what in unknown_keys(data, Config)
        # another program's file has keys of its own, but mural is ours in both
        if not layer.foreign or key.startswith("mural.")
    ]
    kept = dict(data)
    mural = kept.get("mural")
    if isinstance(mural, dict) and "model" in mural:
        advice = "it is ignored; name a model in dreamer.<harness>.tasks.compress-cues.model"
        remarks.append(Remark(layer.path, "mural.model", f"deprecated: {advice}, and remove it"))
    if isinstance(mural, dict):
        kept["mural"], found = _with_themes(mural, layer, root)
        remarks += found
    if layer.project:
        for key in USER_ONLY:
            if _without(kept, key):
                what = "ignored: only the user's own files may set it"
                remarks.append(Remark(layer.path, key, what))
    else:
        _make_whole(kept, layer)
    return kept, remarks


def _make_whole(data: dict[str, Any], layer: Layer) -> None:
    """The paths of a user's file, which start beside it."""

    def whole(value: Any, key: str) -> Any:
        if not isinstance(value, str) or not value:
            return value
        return str(_path(value, layer.path.parent, key, layer))

    for section, keys in (("store", ("path", "magic_context")), ("fonts", ("extra",))):
        if not isinstance(data.get(section), dict):
            continue
        data[section] = dict(data[section])
        for key in data[section].keys() & set(keys):
            value, place = data[section][key], f"{section}.{key}"
            many = isinstance(value, list)
            data[section][key] = [whole(v, place) for v in value] if many else whole(value, place)


def _without(data: dict[str, Any], key: str) -> bool:
    """Take a dotted key away; whether it was there."""
    name, _, rest = key.partition(".")
    if not rest:
        return data.pop(name, None) is not None
    section = data.get(name)
    if not isinstance(section, dict):
        return False
    data[name] = dict(section)
    return _without(data[name], rest)


def _path(text: str, base: Path, key: str, layer: Layer) -> Path:
    """A configured path, whole: a relative one starts at `base`."""
    if "\0" in text:
        raise ConfigError(f"{key}: a path can't have a null character.", where=str(layer.path))
    try:
        return (base / files.expanded(text)).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"{key}: {reason}.", where=str(layer.path)) from error


def _with_themes(
    mural: dict[str, Any], layer: Layer, root: Path
) -> tuple[dict[str, Any], list[Remark]]:
    """The section with its themes' paths made whole; a project's may not lead out of it."""
    remarks: list[Remark] = []

    def whole(themes: dict[str, Any], at: str) -> dict[str, Any]:
        made = {name: _theme(theme, layer, root, at + name) for name, theme in themes.items()}
        what = "ignored: a project's theme must be a bundled one or lie in the project"
        remarks.extend(
            Remark(layer.path, at + name, what)
            for name, theme in made.items()
            if theme is None and themes[name] is not None
        )
        return {name: theme for name, theme in made.items() if theme is not None}

    kept = dict(mural)
    if "theme" in kept:
        theme = {"theme": kept.pop("theme")}
        kept |= whole(theme, "mural.")
    if isinstance(kept.get("readers"), dict):
        kept["readers"] = whole(kept["readers"], "mural.readers.")
    return kept, remarks


def _theme(theme: object, layer: Layer, root: Path, key: str) -> object:
    """A bundled theme's name as it is; a path beside the file, or in the project, whole.

    None where a project's leads out of it.
    """
    from muralkit import themefile

    if not isinstance(theme, str) or not theme or theme in (AUTO, *themefile.names()):
        return theme
    path = _path(theme, root if layer.project else layer.path.parent, key, layer)
    if layer.project and not _within(path, root.resolve()):
        return None
    return str(path)


def _within(path: Path, root: Path) -> bool:
    """Whether a project's theme, and all that it inherits and draws with, lies in the project."""
    from muralkit import assets, themefile

    if not path.is_relative_to(root):
        return False
    try:
        sources = [source.resolve() for source in themefile.find(path).sources()]
    except (MuralkitError, OSError, RuntimeError):
        return True  # it can't be used anyway, which is said where it is used
    inside = (root, assets.folder("templates").resolve())
    return all(any(source.is_relative_to(folder) for folder in inside) for source in sources)


def unknown_keys(
    data: Mapping[str, Any], model: type[BaseModel], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Each dotted key that a model doesn't have, with the nearest one that it has."""
    known = {item.alias or name: item.annotation for name, item in model.model_fields.items()}
    for key, value in data.items():
        if key not in known and key != "$schema":
            near = get_close_matches(key, known, n=1)
            advice = f"did you mean {near[0]!r}?" if near else "it is not a key of muralkit"
            yield f"{prefix}{key}", f"unknown: {advice}"
        section = known.get(key)
        if (
            isinstance(value, Mapping)
            and isinstance(section, type)
            and issubclass(section, BaseModel)
        ):
            yield from unknown_keys(value, section, f"{prefix}{key}.")


def _merge(
    into: dict[str, Any],
    origins: dict[str, Path],
    data: Mapping[str, Any],
    path: Path,
    at: str = "",
) -> None:
    for key, value in data.items():
        place = f"{at}{key}"
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], origins, value, path, f"{place}.")
            continue
        for old in [name for name in origins if name == place or name.startswith(f"{place}.")]:
            del origins[old]
        if isinstance(value, Mapping):
            into[key] = {}
            _merge(into[key], origins, value, path, f"{place}.")
        else:
            into[key] = value
            origins[place] = path


def edited(layer: Layer, key: str, value: Any = None, *, remove: bool = False) -> str:
    """A file's text with a dotted key set or removed, and all else as it is.

    Raises InputError for a key that there is not, or ConfigError for a value that is wrong.
    """
    path = key.split(".")
    nested: Any = value
    for part in reversed(path):
        nested = {part: nested}
    for wrong, what in unknown_keys(nested, Config):
        hint = "`muralkit config schema` prints every key with its meaning."
        raise InputError(f"{what}.", where=wrong, hint=hint)
    if layer.project and any(key == own or key.startswith(f"{own}.") for own in USER_ONLY):
        raise InputError("Only the user's own file may set it.", where=key, hint="Give --user.")
    try:
        text = files.read(layer.path, configfile.MOST).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("The file can't be read.", where=str(layer.path)) from error
    try:
        made = jsonc.without_member(text, path) if remove else jsonc.with_member(text, path, value)
    except InputError as error:
        raise ConfigError(error.what, where=str(layer.path)) from error
    _check(tuples(_known(jsonc.read(made), Config)), layer.path)
    return made


def schema() -> dict[str, Any]:
    """The JSON Schema of a configuration file, for editors."""
    made = Config.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
