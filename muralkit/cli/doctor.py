"""`muralkit doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from muralkit.cli.options import JSON, emit, plain
from muralkit.cli.projects import PROJECT, STORE

if TYPE_CHECKING:
    from muralkit.doctor import Finding

COLOURS = {"fine": "green", "warning": "yellow", "error": "red"}


@click.command()
@PROJECT
@STORE
@JSON
def doctor(project: Path, store_path: Path | None, as_json: bool) -> None:
    """Check the install, the configuration, the store and the cues of a project.

    The exit code is 0 where all is fine, 1 with a warning, 2 with an error.

    \b
    Examples:
      muralkit doctor
      muralkit doctor --json
    """
    from muralkit.doctor import Severity

    findings = _findings(project, store_path)
    worst = max((finding.severity for finding in findings), default=Severity.FINE)
    if as_json:
        rows = [
            {
                "severity": finding.severity.name.lower(),
                "area": finding.area,
                "what": finding.what,
                "hint": finding.hint,
            }
            for finding in findings
        ]
        emit(rows)
    else:
        for finding in findings:
            name = finding.severity.name.lower()
            label = click.style(name.ljust(7), fg=COLOURS[name])
            click.echo(f"{label}  {finding.area:<9} {plain(finding.what)}")
            if finding.hint:
                click.echo(f"{'':9}{'':9} {plain(finding.hint)}")
    if worst:
        raise click.exceptions.Exit(int(worst))


def _findings(project: Path, store_path: Path | None) -> list[Finding]:
    from muralkit import config, sections
    from muralkit import doctor as checks
    from muralkit import project as projects
    from muralkit.errors import MuralkitError
    from muralkit.paths import cache_folder
    from muralkit.place import open_own, open_source

    found = checks.guarded("libcairo", checks.libcairo)
    found += checks.guarded("fonts", checks.fonts)
    found += checks.guarded("cache", lambda: checks.cache(cache_folder()))
    loaded = config.Loaded(sections.Config())  # the defaults, where the files can't be read
    try:
        loaded = config.load(projects.root(project))
        found += checks.guarded("config", lambda: checks.configuration(loaded))
    except MuralkitError as error:
        found.append(checks.failed("config", error))
    found += checks.guarded("project", lambda: checks.project(project))
    found += checks.guarded("harness", lambda: checks.harnesses(projects.root(project)))
    settings = loaded.config
    found += checks.guarded("theme", lambda: checks.themes(settings.mural, settings.fonts.extra))
    try:
        own = open_own(projects.identity(project), store_path, loaded)
    except MuralkitError as error:
        return [*found, checks.failed("store", error)]
    with own:
        found += checks.guarded("store", lambda: checks.store(own.path, own.damage()))
        found += checks.guarded("sessions", lambda: checks.sessions(own))
        try:
            with open_source(own, loaded) as source:
                if source is not None:
                    found += checks.guarded("source", lambda: checks.source(source))
                found += checks.guarded("cues", lambda: checks.cues(source or own))
        except MuralkitError as error:
            found.append(checks.failed("source", error))
    return found
