"""The command line as a process: what `python -m affdsl` runs, and the command `affdsl`."""

import gc
import sys
from importlib import import_module

BETWEEN_COLLECTIONS = 500_000
"""How many more objects there are before Python looks for cycles among them: IR has none, but is many objects."""


def main() -> int:
    """Run the command line; the exit status."""
    gc.set_threshold(BETWEEN_COLLECTIONS)  # before anything is imported: that makes many objects, too
    status: int = import_module("affdsl.cli").main()
    gc.freeze()  # the process ends: Python need not look through all objects, as it would several times
    return status


if __name__ == "__main__":
    sys.exit(main())
