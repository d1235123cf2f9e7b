"""`muralkit completion`."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      muralkit completion bash >> ~/.bashrc
      muralkit completion fish > ~/.config/fish/completions/muralkit.fish
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    made = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
    click.echo(made(context.find_root().command, {}, "muralkit", "_MURALKIT_COMPLETE").source())
