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
    """Look at the configuration.

    \b
    Example:
      muralkit config show
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
