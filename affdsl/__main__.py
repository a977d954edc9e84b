"""`python -m affdsl` is the command line."""

import atexit
import os
import sys
from typing import NoReturn

from affdsl.cli import main


def run() -> NoReturn:
    """Run the command line and end the process at once: to take apart what is in memory takes a while, for nothing."""
    status = main()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
