"""`affdsl report`: one page that says of each loop of a kernel why it is as fast as it is, and what to try next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from affdsl.cli.build import optimizing
from affdsl.cli.files import complain
from affdsl.cli.flags import CommandLine, Flag, UsageError
from affdsl.cli.kernels import kernel_of
from affdsl.errors import AffdslError
from affdsl.kernel import Kernel
from affdsl.optimize.trial import require_runs, trial
from affdsl.report.report import report

HELP = """usage: affdsl report [flags] module:kernel

Writes one page, in one file that needs no network: the loops of a kernel with why they are as fast as they are, what to
try next, and Python, affine IR, C and assembly beside each other. MODULE:KERNEL imports a Python module, as `python -m`
does, and takes a kernel of it. It needs affdsl[report].

  affdsl report examples.gemm:gemm --sizes=M=300,N=300,K=300 --run -o gemm.html
  affdsl report examples.softmax:softmax --optimize=reassociate"""
FLAGS = (
    Flag("o", "value", "The file to write (default: as the kernel is called, and .html)", "file"),
    Flag("sizes", "list", "Numbers for the sizes of the kernel (default: 1000)", "name=number"),
    Flag("run", "switch", "Make arrays of these sizes, and measure on them; without it nothing runs"),
    Flag("optimize", "optional", "Of the optimized kernel: threads=4, contract, reassociate, reciprocal", "options"),
    Flag("seconds", "value", "How long things are tried, about (default: 60)", "number"),
)


def main(line: CommandLine) -> int:
    """Run the command; the exit status. Raises UsageError for a command line that means nothing."""
    if not line.words:
        raise UsageError("affdsl report: needs MODULE:KERNEL, as in examples.gemm:gemm")
    word = line.only_word()
    try:
        kernel, sizes, seconds = kernel_of(word), dict(_sizes(line)), _seconds(line)
        path = line.given("o") or f"{kernel.name}.html"
        options = optimizing(line.given("optimize"))
        if options is not False:
            kernel = _optimized(kernel, {} if options is True else options)
        given = _arrays(kernel, sizes) if line.on("run") else ()
        print(report(kernel, path, given, {} if given else sizes, seconds))
    except UsageError as error:
        raise UsageError(f"affdsl report: {error}") from None
    except AffdslError as error:
        complain(f"affdsl report: {error}")
        return 1
    return 0


def _optimized(kernel: Kernel, options: Mapping[str, int]) -> Kernel:
    return kernel.optimize(
        threads=options.get("threads"),
        contract="contract" in options,
        reassociate="reassociate" in options,
        reciprocal="reciprocal" in options,
    )


def _arrays(kernel: Kernel, sizes: dict[str, int]) -> tuple[object, ...]:
    """Arguments of some sizes: numbers near 1, and zeros where they are whole."""
    made = trial(kernel, sizes)
    require_runs(kernel, made)
    return made.arguments()


def _sizes(line: CommandLine) -> Iterator[tuple[str, int]]:
    for word in line.listed("sizes"):
        name, _, number = word.partition("=")
        if not name or not re.fullmatch(r"\d{1,18}", number, re.ASCII):
            raise UsageError(f"--sizes takes names with numbers, as in --sizes=N=1000, got '{word}'")
        yield name, int(number)


def _seconds(line: CommandLine) -> float:
    given = line.given("seconds") or "60"
    if not re.fullmatch(r"\d{1,6}(\.\d{1,3})?", given, re.ASCII):
        raise UsageError(f"--seconds takes a number, got '{given}'")
    return float(given)
