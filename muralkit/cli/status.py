"""`muralkit status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.options import JSON, emit
from muralkit.cli.projects import Place, with_place

if TYPE_CHECKING:
    from muralkit.model import Canvas
    from muralkit.survey import Survey


@click.command()
@JSON
@with_place
def status(as_json: bool, place: Place) -> None:
    """Tell where the project stands: memories, budget, cues, gate, and the mural's price.

    \b
    Examples:
      muralkit status
      muralkit status --json
    """
    from muralkit import survey as surveys

    found = surveys.survey(place.store, place.loaded.config)
    canvas = surveys.canvas(found, place.loaded.config.mural.theme)
    report = _report(place, found, canvas)
    if as_json:
        emit(report)
        return
    cues, text = report["cues"], report["text"]
    click.echo(f"project   {report['project']}")
    click.echo(f"pool      {report['pool']:,} active and permanent memories")
    click.echo(
        f"text      {text['memories']:,} of them, {text['tokens']:,} of {text['budget']:,} tokens"
    )
    click.echo(f"overflow  {report['overflow']:,}, of which {report['drawable']:,} can be drawn")
    counts = ", ".join(f"{cues[kind]:,} {kind}" for kind in ("current", "stale", "missing"))
    click.echo(f"cues      {counts}")
    word, colour = ("open", "green") if found.verdict.open else ("closed", "yellow")
    click.echo(f"gate      {click.style(word, fg=colour)}: {found.verdict.reason}")
    if canvas is None:
        return
    click.echo(f"mural     {canvas.width} x {canvas.height} px")
    whole = report["overflow_tokens"]
    click.echo(f"\nTokens of the mural, beside {whole:,} of the same memories as text:")
    for name, price in report["prices"].items():
        pays = "pays" if price < whole else click.style("does not pay", fg="yellow")
        click.echo(f"  {name:<28}{price:>8,}  {price / whole:>6.0%}  {pays}")


def _report(place: Place, found: Survey, canvas: Canvas | None) -> dict[str, Any]:
    from muralkit.pricing import FAMILIES, text_tokens

    report: dict[str, Any] = {
        "project": place.store.project,
        "pool": len(found.pool),
        "text": {
            "memories": len(found.selection.inline),
            "tokens": found.selection.tokens,
            "budget": found.budget,
        },
        "overflow": len(found.selection.overflow),
        "drawable": len(found.drawable),
        "cues": {"current": found.current, "stale": found.stale, "missing": found.missing},
        "gate": {"open": found.verdict.open, "reason": found.verdict.reason},
        "mural": None,
        "overflow_tokens": text_tokens(found.overflow_text) if found.drawable else 0,
        "prices": {},
    }
    if canvas is not None:
        report["mural"] = {"width": canvas.width, "height": canvas.height, "tokens": canvas.tokens}
        report["prices"] = {
            family.name: family.tokens(canvas.width, canvas.height) for family in FAMILIES
        }
    return report
