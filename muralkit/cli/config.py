"""`muralkit config`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muralkit.cli.options import JSON, emit, plain
from muralkit.cli.projects import PROJECT


@click.group("config")
def config_group() -> None:
    """Look at the configuration, and change it.

    \b
    Examples:
      muralkit config show
      muralkit config set mural.enabled true
    """


@config_group.command("show")
@PROJECT
@JSON
def config_show(project: Path, as_json: bool) -> None:
    """Print the merged configuration, and the file that each value came from.

    \b
    Examples:
      muralkit config show
      muralkit config show --json
    """
    from muralkit import config
    from muralkit import project as projects

    loaded = config.load(projects.root(project))
    values = dict(_flat(loaded.config.model_dump(mode="json", by_alias=True)))
    if as_json:
        report = {
            "values": {
                key: {"value": value, "file": _file(loaded.origins.get(key))}
                for key, value in values.items()
            },
            "files": [str(path) for path in loaded.files],
            "remarks": [
                {"file": str(remark.where), "key": remark.key, "what": remark.what}
                for remark in loaded.remarks
            ],
        }
        emit(report)
        return
    for key, value in values.items():
        origin = _file(loaded.origins.get(key))
        if value is None and origin is None:
            continue
        source = origin or "default"
        click.echo(f"{click.style(plain(key), bold=True)} = {json.dumps(value)}  ({source})")
    for remark in loaded.remarks:
        click.echo(plain(f"{remark.where}: {remark.key} {remark.what}"), err=True)


@config_group.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of a configuration file, for editors.

    \b
    Example:
      muralkit config schema > muralkit.schema.json
    """
    from muralkit import config

    emit(config.schema(), indent=2)


def _file(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _flat(values: dict[str, Any], at: str = "") -> list[tuple[str, Any]]:
    """Dotted keys and their values; an object without keys is a value."""
    found: list[tuple[str, Any]] = []
    for key, value in values.items():
        if isinstance(value, dict) and value:
            found += _flat(value, f"{at}{key}.")
        else:
            found.append((f"{at}{key}", value))
    return found


USER = click.option(
    "--user/--project", "user", default=True, help="The user's own file, or this project's."
)


@config_group.command("set")
@click.argument("key")
@click.argument("value")
@USER
def config_set(key: str, value: str, user: bool) -> None:
    """Set a key in a configuration file; comments and all else in it stay as they are.

    The value is JSON, or else a text.

    \b
    Examples:
      muralkit config set mural.enabled true
      muralkit config set mural.theme dense --project
    """
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    _write(key, user, parsed)


@config_group.command("unset")
@click.argument("key")
@USER
def config_unset(key: str, user: bool) -> None:
    """Remove a key from a configuration file.

    \b
    Example:
      muralkit config unset mural.theme
    """
    _write(key, user, None, remove=True)


def _write(key: str, user: bool, value: Any, *, remove: bool = False) -> None:
    from muralkit import config, configfile, output
    from muralkit import project as projects
    from muralkit.errors import OutputError

    layer = configfile.own(projects.root(Path()), user)
    text = config.edited(layer, key, value, remove=remove)
    try:
        layer.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The folder can't be made: {error.strerror}.", where=str(layer.path.parent)
        ) from error
    output.write(layer.path, text.encode(), 0o644)
    click.echo(f"{plain(str(layer.path))}: {plain(key)} is {'removed' if remove else 'set'}.")
