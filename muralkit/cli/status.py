"""`muralkit status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muralkit.cli.options import JSON, counted, emit, plain
from muralkit.cli.projects import with_place

if TYPE_CHECKING:
    from muralkit.place import Place
    from muralkit.vision import Sight


@click.command()
@click.option("--model", metavar="NAME", help="For an agent with this model: PROVIDER/MODEL.")
@click.option(
    "--harness", type=click.Choice(["opencode", "pi", "omp"]), help="Whose list of models to ask."
)
@JSON
@with_place
def status(model: str | None, harness: str | None, as_json: bool, place: Place) -> None:
    """Tell where the project stands: memories, budget, cues, gate, and the mural's price.

    With a model, the gate asks whether it is known to accept images, and the theme is
    the one for that reader.

    \b
    Examples:
      muralkit status
      muralkit status --json
      muralkit status --model anthropic/claude-opus-4-8 --harness opencode
    """
    from muralkit import survey as surveys
    from muralkit import vision

    mural = place.loaded.config.mural
    sight, theme = None, vision.theme_for("", {}, mural.theme)
    if model is not None:
        sight = vision.look(model, harness=harness or "", table=mural.vision)
        theme = vision.theme_for(model, mural.readers, mural.theme)
    report = surveys.report(place.store, place.loaded.config, theme, sight)
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
    if sight is not None:
        click.echo(f"model     {plain(str(model))}: {_accepts(sight)}")
    gate, page = report["gate"], report["mural"]
    word, colour = ("open", "green") if gate["open"] else ("closed", "yellow")
    click.echo(f"gate      {click.style(word, fg=colour)}: {gate['reason']}")
    for remark in place.loaded.remarks:
        click.echo(plain(f"{remark.where}: {remark.key} {remark.what}"), err=True)
    if report["trouble"]:
        click.echo(f"mural     {click.style('none', fg='red')}: {plain(report['trouble'])}")
    if page is None:
        return
    left = f", and {page['dropped']:,} are left out" if page["dropped"] else ""
    size = f"{page['width']} x {page['height']} px"
    for_model = ", for this model" if model else ", where the model is not known"
    chosen = for_model if theme != mural.theme else ""
    click.echo(f"theme     {plain(theme)}{chosen}")
    click.echo(f"mural     {size}: {counted(page['shown'], 'cue', 'cues')}{left}")
    whole = report["overflow_tokens"]
    click.echo(f"\nTokens of the mural, beside {whole:,} of the same memories as text:")
    for name, price in report["prices"].items():
        pays = "pays" if price < whole else click.style("does not pay", fg="yellow")
        click.echo(f"  {name:<28}{price:>8,}  {price / whole:>6.0%}  {pays}")


def _accepts(sight: Sight) -> str:
    if not sight.source:
        return "not known to accept images, so it gets text alone"
    said = "it accepts images" if sight.images else "it takes no images"
    return f"{said}, by {sight.source}"
