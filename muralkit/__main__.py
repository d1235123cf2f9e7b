"""`python -m muralkit`, and the `muralkit` command."""

import sys


def run() -> int:
    """The command line; an interrupt while it is still being imported is a quiet one."""
    try:
        from muralkit.cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
