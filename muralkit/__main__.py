"""`python -m muralkit`, and the `muralkit` command."""

import gc
import signal
import sys


def run() -> int:
    """The command line; an interrupt while it is still being imported is a quiet one."""
    # By default Python looks for cycles every 700 objects, and the imports of a cold
    # render make two hundred thousand that live to the end: a tenth of its time.
    gc.set_threshold(100_000, 20, 50)
    try:
        from muralkit.cli import main

        return main()
    except KeyboardInterrupt:
        return 130
    finally:  # done: an interrupt has nothing left to stop, and would only be a traceback
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(run())
