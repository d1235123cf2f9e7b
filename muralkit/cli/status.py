"""`muralkit status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.options import JSON, counted, emit, plain
from muralkit.cli.projects import with_place

if TYPE_CHECKING:
    from muralkit.model import Layout
    from muralkit.place import Place
    from muralkit.survey import Survey


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
    sight, theme = None, mural.theme
    if model is not None:
        sight = vision.look(model, harness=harness or "", table=mural.vision)
        theme = vision.theme_for(model, mural.readers, mural.theme)
    found = surveys.survey(
        place.store, place.loaded.config, vision=None if sight is None else sight.images
    )
    page, trouble = _page(found, theme)
    report = _report(place, found, page)
    report["theme"] = theme
    if sight is not None:
        report["vision"] = {"images": sight.images, "source": sight.source or None}
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
        word = "accepts images" if sight.images else "no images"
        click.echo(f"model     {plain(str(model))}: {word}, by {sight.source or 'nobody'}")
    word, colour = ("open", "green") if found.verdict.open else ("closed", "yellow")
    click.echo(f"gate      {click.style(word, fg=colour)}: {found.verdict.reason}")
    for remark in place.loaded.remarks:
        click.echo(plain(f"{remark.where}: {remark.key} {remark.what}"), err=True)
    if trouble:
        click.echo(f"mural     {click.style('none', fg='red')}: {plain(trouble)}")
    if page is None:
        return
    left = f", and {len(page.dropped):,} are left out" if page.dropped else ""
    size = f"{page.canvas.width} x {page.canvas.height} px"
    click.echo(f"mural     {size}: {counted(len(page.shown), 'cue', 'cues')}{left}")
    whole = report["overflow_tokens"]
    click.echo(f"\nTokens of the mural, beside {whole:,} of the same memories as text:")
    for name, price in report["prices"].items():
        pays = "pays" if price < whole else click.style("does not pay", fg="yellow")
        click.echo(f"  {name:<28}{price:>8,}  {price / whole:>6.0%}  {pays}")


def _page(found: Survey, theme: str) -> tuple[Layout | None, str]:
    """The mural's page, or what keeps it from being set."""
    from muralkit import survey as surveys
    from muralkit.errors import FontError, ThemeError

    try:
        return surveys.page(found, theme), ""
    except (ThemeError, FontError) as error:
        return None, str(error).replace("\n", " ")


def _report(place: Place, found: Survey, page: Layout | None) -> dict[str, Any]:
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
        "overflow_tokens": text_tokens(found.overflow_text(page.shown)) if page else 0,
        "prices": {},
    }
    if page is not None:
        canvas = page.canvas
        report["mural"] = {
            "width": canvas.width,
            "height": canvas.height,
            "tokens": canvas.tokens,
            "shown": len(page.shown),
            "dropped": len(page.dropped),
        }
        report["prices"] = {
            family.name: family.tokens(canvas.width, canvas.height) for family in FAMILIES
        }
    return report
