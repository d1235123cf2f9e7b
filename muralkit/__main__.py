"""`python -m muralkit`."""

import sys

from muralkit.cli import main

sys.exit(main())
