"""`muralkit dream`."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.options import JSON, counted, emit, plain
from muralkit.cli.projects import PROJECT, STORE

if TYPE_CHECKING:
    from muralkit.config import Loaded
    from muralkit.dreamer import Report
    from muralkit.store import Store

UNFINISHED, INTERRUPTED = 1, 130
INTERRUPT = "interrupted"
HARNESSES = ["opencode", "pi", "omp"]
CHARACTERS_A_CUE = 60  # of a reply, with its number


@click.command()
@click.option(
    "--harness",
    type=click.Choice(HARNESSES),
    help="Whose model makes the cues; else the first one that has a model configured.",
)
@click.option(
    "--model", metavar="NAME", help="A model instead of the configured one; rules for none."
)
@click.option("--limit", type=click.IntRange(1), help="At most so many memories.")
@click.option("--all-projects", is_flag=True, help="Every project of the store.")
@click.option("--dry-run", is_flag=True, help="Only tell what it would take.")
@click.option("--watch", is_flag=True, help="Stay, and run on the configured schedule.")
@click.option("--force", is_flag=True, help="Run though mural.enabled is false.")
@click.option("-v", "--verbose", is_flag=True, help="Print each cue; else none is shown.")
@PROJECT
@STORE
@JSON
def dream(
    harness: str | None,
    model: str | None,
    limit: int | None,
    all_projects: bool,
    dry_run: bool,
    watch: bool,
    force: bool,
    verbose: bool,
    project: Path,
    store_path: Path | None,
    as_json: bool,
) -> None:
    """Make the cues that are missing or stale, with the configured model or without any.

    Each memory is one prompt to the harness's own command line (or to dreamer.endpoint);
    without a model, rules make the cues, offline, and a model's may replace them later.
    Finished cues are kept whatever happens. The exit code is 1 where some are left.

    \b
    Examples:
      muralkit dream
      muralkit dream --dry-run
      muralkit dream --harness opencode --limit 20
      muralkit dream --model rules --force
      muralkit dream --watch
    """
    if watch and (dry_run or as_json):
        raise click.UsageError("--watch goes with neither --dry-run nor --json.")

    def once() -> list[Report | dict[str, Any]]:
        done: list[Report | dict[str, Any]] = []
        for loaded, store in _stores(project, store_path, all_projects):
            if not (loaded.config.mural.enabled or force or dry_run):
                click.echo(
                    "The mural is switched off (mural.enabled is false): no cue was made. "
                    "--force makes them all the same.",
                    err=True,
                )
                continue
            if dry_run:
                done.append(_plan(loaded, store, harness, model, limit))
            else:
                report = _run(loaded, store, harness, model, limit, as_json, verbose)
                done.append(report)
                if report.stopped == INTERRUPT:
                    break
        return done

    signal.signal(signal.SIGTERM, _interrupt)

    if watch:
        _watch(project, once)
        return
    results = once()
    rows = [row if isinstance(row, dict) else {**asdict(row), "left": row.left} for row in results]
    if as_json:
        emit(rows)
    else:
        for row in results:
            if all_projects:
                name = row["project"] if isinstance(row, dict) else row.project
                click.echo(click.style(plain(name), bold=True))
            _tell_plan(row) if isinstance(row, dict) else _tell(row)
    reports = [row for row in results if not isinstance(row, dict)]
    if any(report.stopped == INTERRUPT for report in reports):
        raise click.exceptions.Exit(INTERRUPTED)
    if any(report.stopped or report.failed or report.stale for report in reports):
        raise click.exceptions.Exit(UNFINISHED)


def _interrupt(*_: object) -> None:
    """An end that is asked for politely is one as by Ctrl-C: nothing is left running."""
    raise KeyboardInterrupt


def _stores(
    project: Path, store_path: Path | None, all_projects: bool
) -> Iterator[tuple[Loaded, Store]]:
    """The project's configuration and memories, or those of every project."""
    from muralkit import config
    from muralkit import project as projects
    from muralkit.place import open_own, open_place, open_source
    from muralkit.store.sqlite import SqliteStore

    if not all_projects:
        with open_place(project, store_path) as place:
            yield place.loaded, place.store
        return

    loaded = config.load(Path("/nonexistent"))  # the user's own files: other folders are unknown
    with open_own(projects.identity(project), store_path, loaded) as own:
        path, source = own.path, own.source
        with open_source(own, loaded) as live:
            names = live.projects() if live else own.projects()
    for name in names:
        with (
            SqliteStore(path, name, source=source) as store,
            open_source(store, loaded) as live,
        ):
            yield loaded, live or store


def _run(
    loaded: Loaded,
    store: Store,
    harness: str | None,
    model: str | None,
    limit: int | None,
    quiet: bool,
    verbose: bool,
) -> Report:
    from muralkit import dreamer
    from muralkit.completers import configured

    chosen = loaded.config.dreamer
    completer = configured.completer(loaded.config, harness, model)
    settings = dreamer.Settings(
        concurrency=chosen.concurrency,
        batch_size=chosen.batch_size,
        seconds=configured.seconds(chosen, configured.harness_of(loaded.config, harness)),
        limit=limit,
    )
    before = store.cues() if verbose else {}
    with _progress(quiet) as show:
        try:
            report = dreamer.run(store, completer, settings, show)
        except dreamer.Busy:
            click.echo("Another process is making this project's cues.", err=True)
            return dreamer.Report(store.project, stopped="another process is at it")
    if verbose:
        for number, cue in store.cues().items():
            if cue.text and cue != before.get(number):
                click.echo(plain(f"{number:>6}  {cue.text}"), err=True)
    return report


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Report], None]]:
    """On a terminal, a bar with the rate and the time left."""
    if quiet or not sys.stderr.isatty():
        yield lambda report: None
        return
    started = time.monotonic()
    bar: Any = None

    def show(report: Report) -> None:
        nonlocal bar
        if bar is None and report.pending:
            bar = click.progressbar(
                length=report.pending,
                label="Dreaming",
                file=sys.stderr,
                item_show_func=lambda rate: str(rate or ""),
            )
            bar.__enter__()
        done = report.pending - report.left + report.failed
        if bar is not None and done > bar.pos:
            rate = done / max(time.monotonic() - started, 0.001)
            bar.update(done - bar.pos, f"{rate:.1f} a second")

    try:
        yield show
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)


def _tell(report: Report) -> None:
    rows = [
        ("made", report.made),
        ("refused", report.refused),
        ("fallback", report.fallback),
        ("failed", report.failed),
        ("left", report.left),
    ]
    if report.stopped and not report.pending:
        click.echo(f"No cue was made: {plain(report.stopped)}.")
        return
    if not report.pending:
        click.echo("Every memory has its cue.")
        return
    click.echo(f"Cues of {counted(report.pending)}, by {plain(report.model)}:")
    for label, number in rows:
        click.echo(f"  {label:<9}{number:>7,}")
    for why, times in sorted(report.why.items(), key=lambda item: -item[1])[:3]:
        click.echo(f"  failed {counted(times, 'time', 'times')}: {plain(why)}")
    if report.stale:
        click.echo(f"  {counted(report.stale)} changed meanwhile, and got no cue.")
    if report.stopped:
        click.echo(f"  It ended early: {plain(report.stopped)}.")


def _plan(
    loaded: Loaded, store: Store, harness: str | None, model: str | None, limit: int | None
) -> dict[str, Any]:
    """What a run would take: prompts, tokens by estimate, dollars where the price is known."""
    from muralkit import dreamer, modelsdev
    from muralkit.completers import configured
    from muralkit.cues import prompt
    from muralkit.pricing import text_tokens

    completer = configured.completer(loaded.config, harness, model)
    found = dreamer.pending(store, model=completer is not None, limit=limit)
    plan: dict[str, Any] = {"project": store.project, "memories": len(found), "model": "rules"}
    if completer is None:
        return {**plan, "prompts": 0, "tokens_in": 0, "tokens_out": 0, "dollars": 0.0}
    size = loaded.config.dreamer.batch_size
    batches = [found[start : start + size] for start in range(0, len(found), size)]
    tokens_in = sum(text_tokens(prompt.ask(batch)) for batch in batches)
    tokens_out = len(found) * text_tokens("x" * CHARACTERS_A_CUE)
    price = modelsdev.price(completer.name)
    dollars = (tokens_in * price[0] + tokens_out * price[1]) / 1e6 if price else None
    return {
        **plan,
        "model": completer.name,
        "prompts": len(batches),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "dollars": dollars,
    }


def _tell_plan(plan: dict[str, Any]) -> None:
    prompts = counted(plan["prompts"], "prompt", "prompts")
    click.echo(f"{counted(plan['memories'])} to be compressed by {plain(plan['model'])}: {prompts}")
    if plan["prompts"]:
        cost = "unknown" if plan["dollars"] is None else f"${plan['dollars']:.4f}"
        click.echo(f"  tokens   {plan['tokens_in']:,} in, {plan['tokens_out']:,} out (estimated)")
        click.echo(f"  cost     {cost}")


def _watch(project: Path, once: Callable[[], Any]) -> None:
    """Run on the schedule until somebody ends it; a run that fails is told, and the next waits."""
    from cronsim import CronSim

    from muralkit import config
    from muralkit import project as projects
    from muralkit.errors import MuralkitError

    while True:
        schedule = config.load(projects.root(project)).config.dreamer.tasks.compress_cues.schedule
        at = next(CronSim(schedule, datetime.now().astimezone()))
        click.echo(f"The next run is at {at:%Y-%m-%d %H:%M}.", err=True)
        while (left := at.timestamp() - time.time()) > 0:
            time.sleep(min(left, 60.0))  # a machine that slept wakes up late, not never
        try:
            for report in once():
                _tell(report)
                if report.stopped == INTERRUPT:
                    raise click.exceptions.Exit(INTERRUPTED)
        except MuralkitError as error:
            click.echo(plain(f"Error: {error}"), err=True)
