"""Input and output of the commands: files by their names, `-` for the standard streams."""

from __future__ import annotations

import sys
from contextlib import suppress

from affdsl.cli.flags import UsageError


def read_input(name: str) -> tuple[str, str]:
    """The text of a file and what messages call the file. Raises UsageError where it cannot be read."""
    if name == "-":
        if sys.stdin is None:
            raise UsageError("cannot read the standard input: it is closed")
        return _decoded(sys.stdin.buffer.read()), "<stdin>"
    try:
        with open(name, "rb") as file:
            return _decoded(file.read()), name
    except OSError as error:
        raise UsageError(f"cannot open input file '{name}': {error.strerror}") from None


def complain(message: str) -> None:
    """Print a message on the standard error output, whatever bytes it quotes; nothing where that cannot be written."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(message.encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)


def _decoded(data: bytes) -> str:
    """Bytes that are no UTF-8 come out as they went in, where strings and comments have them."""
    return data.decode("utf-8", "surrogateescape")


def write_output(name: str, text: str) -> None:
    """Write text to a file, or to the standard output for `-`. Raises UsageError where it cannot be written."""
    data = text.encode("utf-8", "surrogateescape")
    if name == "-":
        if sys.stdout is None:
            return  # which the command line says at its end
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        with open(name, "wb") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"cannot open output file '{name}': {error.strerror}") from None
