"""The command line: `affdsl opt`, `affdsl translate`, `affdsl run`, `affdsl graph`, `affdsl report`, `affdsl build`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from affdsl import __version__
from affdsl.cli.files import complain
from affdsl.cli.flags import Flag, UsageError, describe, read_command_line
from affdsl.ir.messages import nearest

HELP = """usage: affdsl <command> [flags] [file]

Affine loop nests as MLIR text: transform them, turn them into C, run them. Kernels of Python modules as libraries.

commands:
  opt        run passes on MLIR text and print the result, with the flags of mlir-opt
  translate  turn a function into C
  run        call a function on numbers and arrays
  graph      draw the dependences between the loop nests of a function
  report     write a page that says why a kernel is as fast as it is, and what to try next
  build      make a library of kernels, for C, C++ and Python

examples:
  affdsl opt --canonicalize --cse kernel.mlir
  affdsl translate --to=c kernel.mlir --entry matmul -o matmul.c --header matmul.h
  affdsl run kernel.mlir --entry matmul 64x64=random:1 64x64=random:2 64x64=zeros
  affdsl graph kernel.mlir -o graph.svg
  affdsl report examples.gemm:gemm --sizes=M=300,N=300,K=300 --run -o gemm.html
  affdsl build examples.gemm:gemm -o out

affdsl <command> --help tells more, affdsl --version which version this is."""

COMMANDS = ("opt", "translate", "run", "graph", "report", "build")
"""Each is a module beside this one, imported where it is asked for: a compiler is not what `affdsl opt` waits for."""

DEPTH = 10_000
"""Calls of Python inside each other: passes recurse into loops, a few calls for each level."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0, or 1 where something went wrong, which is said on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = given[0] if given else "--help"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        status = _run(name, given[1:])
        if sys.stdout is None:
            raise UsageError("cannot write to the standard output: it is closed")
        sys.stdout.flush()
        return status
    except UsageError as error:
        complain(str(error))
    except RecursionError:
        complain(f"affdsl {name}: the text is nested too deeply")
    except BrokenPipeError:  # who read the output has enough of it
        _write_no_more()
    except OSError as error:
        complain(f"affdsl {name}: cannot write to the standard output: {error.strerror}")
        _write_no_more()
    finally:
        sys.setrecursionlimit(limit)
    return 1


def _run(name: str, arguments: Sequence[str]) -> int:
    if name in ("-h", "-help", "--help"):
        print(HELP)
        return 0
    if name == "--version" or [*arguments] == ["--version"]:
        print(f"affdsl {__version__}")
        return 0
    if name not in COMMANDS:
        raise UsageError(
            f"affdsl: there is no command '{name}'{nearest(name, COMMANDS)}: "
            f"choose {', '.join(COMMANDS)}; affdsl --help tells more"
        )
    command = import_module(f"affdsl.cli.{name}")
    known = (*command.FLAGS, Flag("help", "switch", "Print this, and exit"))
    line = read_command_line(name, known, arguments)
    if line.on("help"):
        flags = describe([(flag.spelled, flag.summary) for flag in known if flag.kind != "pass"])
        passes = f"\n\n{command.passes_text()}" if name == "opt" else ""
        print(f"{command.HELP}\n\nflags:\n{flags}{passes}")
        return 0
    status: int = command.main(line)
    return status


def _write_no_more() -> None:
    """What Python still holds for the standard output, and writes when the process ends, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
