"""The command line: `affdsl opt`, `affdsl translate`, `affdsl run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from affdsl.cli import opt, run, translate
from affdsl.cli.files import complain
from affdsl.cli.flags import UsageError
from passes.options import nearest

HELP = """usage: affdsl <command> [flags] [file]

Affine loop nests as MLIR text: transform them, turn them into C, run them.

commands:
  opt        run passes on MLIR text and print the result, with the flags of mlir-opt
  translate  turn a function into C
  run        call a function on numbers and arrays

examples:
  affdsl opt --canonicalize --cse kernel.mlir
  affdsl translate --to=c kernel.mlir --entry matmul -o matmul.c --header matmul.h
  affdsl run kernel.mlir --entry matmul 64x64=random:1 64x64=random:2 64x64=zeros

affdsl <command> --help tells more."""

COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "opt": opt.main,
    "translate": translate.main,
    "run": run.main,
}

DEPTH = 10_000
"""Calls of Python inside each other: passes recurse into loops, a few calls for each level."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0, or 1 where something went wrong, which is said on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "-help", "--help"):
        print(HELP)
        return 0
    command = COMMANDS.get(given[0])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        if command is None:
            raise UsageError(
                f"affdsl: there is no command '{given[0]}'{nearest(given[0], [*COMMANDS])}: "
                f"choose {', '.join(COMMANDS)}; affdsl --help tells more"
            )
        status = command(given[1:])
        sys.stdout.flush()
        return status
    except UsageError as error:
        complain(str(error))
    except RecursionError:
        complain(f"affdsl {given[0]}: the text is nested too deeply")
    except BrokenPipeError:  # who read the output has enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        sys.setrecursionlimit(limit)
    return 1
