"""`python -m affdsl` is the command line."""

import sys

from affdsl.cli import main

if __name__ == "__main__":
    sys.exit(main())
