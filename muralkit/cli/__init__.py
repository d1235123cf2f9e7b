"""The command line: arguments in, printing out. What it does, other modules do.

Results go to standard output, talk to standard error. Exit codes: 0 done, 1 a
check failed, 2 wrong usage or bad input, 3 the system lacks something, 4 a file
can't be written, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module

import click

from muralkit import __version__
from muralkit.cli.options import plain
from muralkit.errors import EnvironmentProblem, MuralkitError, OutputError

BAD_INPUT, LACKS, UNWRITABLE, INTERRUPTED = 2, 3, 4, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    # pydantic asks every installed package for plug-ins: 20 ms, and none is ours.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        code = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="muralkit",
            standalone_mode=False,
            color=_colour(),
        )
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader has gone, as in `muralkit theme list | head -1`; click exits by itself.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        _complain(EnvironmentProblem("There is not enough memory for this."))
        return LACKS
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)  # the working folder was removed
        place = str(error.filename or ("the current folder" if gone else "standard output"))
        _complain(OutputError(f"The system says: {error.strerror}.", where=place))
        return UNWRITABLE
    except MuralkitError as error:
        _complain(error)
        if isinstance(error, EnvironmentProblem):
            return LACKS
        return UNWRITABLE if isinstance(error, OutputError) else BAD_INPUT
    return code if isinstance(code, int) else 0  # click hands on what Exit was raised with


def _colour() -> bool | None:
    """What click takes: never, or where it is a terminal. See https://no-color.org."""
    return False if os.environ.get("NO_COLOR") else None


def _complain(error: MuralkitError) -> None:
    place = f"{error.where}: " if error.where else ""
    label = click.style("Error: ", fg="red", bold=True)
    click.echo(label + plain(place + error.what), err=True, color=_colour())
    if error.hint:
        click.echo(plain(error.hint), err=True)


class _Commands(click.Group):
    """Commands that are imported when they are named: `render` needs no other's imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], _COMMANDS, n=1)
            advice = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{advice}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"muralkit.cli.{module}"), name)
        return command


_COMMANDS = {
    "render": "draw:render",
    "demo": "draw:demo",
    "preview": "preview:preview",
    "memory": "memory:memory_group",
    "dream": "dream:dream",
    "recall": "recall:recall",
    "status": "status:status",
    "baseline": "sessions:baseline",
    "fold": "sessions:fold",
    "sessions": "sessions:sessions",
    "serve": "serve:serve",
    "mcp": "mcp:mcp",
    "doctor": "doctor:doctor",
    "install": "install:install",
    "uninstall": "install:uninstall",
    "config": "config:config_group",
    "theme": "themes:theme_group",
    "golden": "goldens:golden_group",
    "completion": "completion:completion",
}


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="muralkit")
def cli() -> None:
    """Draw a project's memories as one PNG that vision models read.

    \b
    Try it:
      muralkit demo
      muralkit render cues.jsonl -o mural.png
    """
