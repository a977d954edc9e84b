"""Runs our command line in this process, and mlir-opt beside it."""

import io
import subprocess
import sys
from dataclasses import dataclass

from affdsl.cli import main
from tests import oracles


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


class CommandLine:
    """`cli("opt", "-", text=...)`: the outcome of our command."""

    def __init__(self, capsys, monkeypatch):
        self.capsys = capsys
        self.monkeypatch = monkeypatch

    def __call__(self, *arguments, text=""):
        self.capsys.readouterr()
        data = text if isinstance(text, bytes) else text.encode()
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = main([str(a) for a in arguments])
        printed = self.capsys.readouterr()
        return Outcome(status, printed.out, printed.err)


def mlir_opt(*arguments, text=""):
    """The outcome of mlir-opt, which may fail."""
    command = [oracles.require("mlir-opt-22"), *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=oracles.TIMEOUT)
    return Outcome(done.returncode, done.stdout, done.stderr)
