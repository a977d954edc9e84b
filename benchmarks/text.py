"""How fast MLIR text is read and printed, next to mlir-opt and xDSL.

    python -m benchmarks.text [operations]

Each round makes a new module of about 20,000 operations, so that nothing can be kept from one round to the next: loop
nests with subscripts, maps and values carried along, conditions, arithmetic, buffers and calls. Every tool reads the
same text and prints it, in custom form and in generic form; the tools take turns, and medians over the rounds are
compared: the machine may be busy, the ratio holds. Conditions and casts (affine.if, memref.cast) stand in generic form
in both, because xDSL reads no other.

xDSL is the peer that is written in Python too, which is why it is among the packages of the `bench` extra. It and
affdsl are timed inside this process, start-up and the loading of dialects left out. mlir-opt is C++ and a process of
its own: its figure is the whole process less one that is given an empty module. It verifies what it reads, the other
two do not. Where xDSL or mlir-opt is missing, a line says so and the others are measured.
"""

from __future__ import annotations

import gc
import io
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op

try:
    from xdsl.context import Context
    from xdsl.dialects.affine import Affine
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.dialects.memref import MemRef
    from xdsl.parser import Parser
    from xdsl.printer import Printer
except ModuleNotFoundError:
    Context = None

ROUNDS = 5
OPERATIONS = 20_000
MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")

FUNCTION = """\
func.func @f{f}(%{a}: memref<?x{n}x{t}>, %{b}: memref<{m}x{n}x{t}>, %{x}: {t}, %{s}: index) -> {t} {{
  %c0 = arith.constant 0 : index
  %bound = arith.constant {k} : index
  %zero = arith.constant 0.000000e+00 : {t}
  %half = arith.constant {k}.500000e+00 : {t}
  %size = memref.dim %{a}, %c0 : memref<?x{n}x{t}>
  %wide = "memref.cast"(%{b}) : (memref<{m}x{n}x{t}>) -> memref<?x{n}x{t}>
  %local = memref.alloc() : memref<{n}x{t}>
  affine.for %{i} = 0 to %size {{
    affine.for %{j} = {k} to {n} step {step} {{
      %0 = affine.load %{a}[%{i}, %{j}] : memref<?x{n}x{t}>
      %1 = affine.load %{a}[%{i}, %{j} - {k}] : memref<?x{n}x{t}>
      %2 = arith.mulf %0, %half : {t}
      %3 = arith.addf %1, %2 : {t}
      affine.store %3, %wide[%{i}, %{j}] : memref<?x{n}x{t}>
    }}
  }}
  %sum = affine.for %{i} = 0 to {m} iter_args(%so_far = %zero) -> ({t}) {{
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 * {step} + s0 + {k})>(%{i})[%{s}]
    %1 = affine.min affine_map<(d0)[s0] -> (d0 + {n}, s0)>(%{i})[%size]
    %2 = arith.subi %1, %0 : index
    %3 = arith.index_cast %2 : index to i64
    %4 = arith.sitofp %3 : i64 to {t}
    %5 = affine.load %{b}[%{i}, {k}] : memref<{m}x{n}x{t}>
    %6 = arith.cmpf olt, %4, %5 : {t}
    %7 = arith.select %6, %4, %5 : {t}
    %8 = arith.addf %so_far, %7 : {t}
    affine.yield %8 : {t}
  }}
  affine.for %{i} = 0 to {m} {{
    affine.for %{j} = 0 to affine_map<(d0) -> (d0 + 1)>(%{i}) {{
      "affine.if"(%{i}, %{j}, %{s}) <{{condition = affine_set<(d0, d1)[s0] : (d0 - d1 - {k} >= 0, s0 - d0 >= 0)>}}> ({{
        %0 = affine.load %local[%{i} * 2 + %{j} floordiv {step} + {k}] : memref<{n}x{t}>
        %1 = arith.divf %0, %{x} : {t}
        %2 = arith.maximumf %1, %sum : {t}
        affine.store %2, %local[%{j}] : memref<{n}x{t}>
        "affine.yield"() : () -> ()
      }}, {{
      }}) : (index, index, index) -> ()
      %3 = arith.addi %{i}, %{j} : index
      %4 = arith.cmpi slt, %3, %bound : index
      %5 = memref.load %local[%{j}] : memref<{n}x{t}>
      %6 = arith.subf %5, %zero : {t}
      %7 = arith.select %4, %5, %6 : {t}
      memref.store %7, %local[%{i}] : memref<{n}x{t}>
    }}
  }}
  %last = func.call @f{f}(%wide, %{b}, %sum, %size) : (memref<?x{n}x{t}>, memref<{m}x{n}x{t}>, {t}, index) -> {t}
  memref.dealloc %local : memref<{n}x{t}>
  func.return %last : {t}
}}
"""
OPERATIONS_OF_ONE = 42
NAMES = "row col lane point tile block cell pixel".split()


def module_text(seed: int, operations: int) -> str:
    """A module in custom form: sizes, names, steps and types are drawn anew for each function."""
    draw = random.Random(seed)
    functions = []
    for f in range(max(1, operations // OPERATIONS_OF_ONE)):
        i, j = draw.sample(NAMES, 2)
        names = {"f": f, "a": f"A{seed}", "b": f"B{draw.randrange(99)}", "x": f"x{draw.randrange(99)}", "s": f"n{seed}"}
        sizes = {"m": draw.randrange(8, 999), "n": draw.randrange(8, 999)}
        numbers = {"k": draw.randrange(1, 8), "step": draw.randrange(2, 9), "t": draw.choice(["f32", "f64"])}
        functions.append(FUNCTION.format(i=i, j=j, **names, **sizes, **numbers))
    return f"builtin.module {{\n{''.join(functions)}}}\n"


def affdsl_times(text: str, generic: bool) -> Iterator[float]:
    """Seconds to read a text, and to print it."""
    gc.collect()
    start = perf_counter()
    module = parse(text)
    yield perf_counter() - start
    gc.collect()
    start = perf_counter()
    print_op(module, generic=generic)
    yield perf_counter() - start


def xdsl_times(text: str, generic: bool) -> Iterator[float]:
    """Seconds to read a text, and to print it."""
    context = Context()
    for dialect in (Builtin, Affine, Arith, Func, MemRef):
        context.load_dialect(dialect)
    gc.collect()
    start = perf_counter()
    module = Parser(context, text).parse_module()
    yield perf_counter() - start
    gc.collect()
    start = perf_counter()
    Printer(io.StringIO(), print_generic_format=generic).print_op(module)
    yield perf_counter() - start


def mlir_opt_times(text: str, generic: bool) -> Iterator[float]:
    """Seconds for mlir-opt with an empty module, and how many more it takes to read and print a text."""
    command = [str(MLIR_OPT), *(["--mlir-print-op-generic"] if generic else []), "-o", "/dev/null"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.mlir"
        path.write_text("builtin.module {}\n", encoding="utf-8")
        start = perf_counter()
        subprocess.run([*command, str(path)], check=True)
        start_up = perf_counter() - start
        path.write_text(text, encoding="utf-8")
        start = perf_counter()
        subprocess.run([*command, str(path)], check=True)
        yield start_up
        yield perf_counter() - start - start_up


def check(text: str, generic: bool) -> None:
    """Fail where what affdsl prints is another program to mlir-opt than what it read."""
    before, after = (
        subprocess.run([str(MLIR_OPT), "-"], input=shown, capture_output=True, check=True, text=True).stdout
        for shown in (text, print_op(parse(text), generic=generic))
    )
    if before != after:
        sys.exit("affdsl prints another program than it read")


def main() -> None:
    """Measure and print."""
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else OPERATIONS
    tools: dict[str, Callable[[str, bool], Iterator[float]]] = {"affdsl": affdsl_times}
    if Context is not None:
        tools["xDSL"] = xdsl_times
    else:
        print("xDSL     not installed, not measured: pip install 'affdsl[bench]'")
    if MLIR_OPT is not None:
        tools["mlir-opt"] = mlir_opt_times
    else:
        print("mlir-opt not on PATH, not measured")
    for generic in (False, True):
        seconds: dict[str, list[tuple[float, ...]]] = {name: [] for name in tools}
        for seed in range(ROUNDS + 1):
            text = module_text(seed, operations)
            if generic:
                text = print_op(parse(text), generic=True)
            if seed == 0:  # a round to warm up
                count = sum(1 for _ in walk(parse(text)))
                form = "generic" if generic else "custom"
                size = f"{count} operations, {len(text) / 1e6:.1f} MB of text"
                print(f"{form} form, {size}, medians of {ROUNDS} rounds:", flush=True)
                if MLIR_OPT is not None:
                    check(text, generic)
            for name, times in tools.items():
                measured = tuple(times(text, generic))
                if seed:
                    seconds[name].append(measured)
        report(seconds)


def report(seconds: dict[str, list[tuple[float, ...]]]) -> None:
    """Print the medians of each tool, and the ratios."""
    for name, rounds in seconds.items():
        first, second = (median(part) * 1e3 for part in zip(*rounds, strict=True))
        if name == "mlir-opt":
            print(f"  {name:8} {second:23.0f} ms to read, verify and print, after {first:.0f} ms of start-up")
        else:
            print(f"  {name:8} {first:6.0f} ms to read {second:6.0f} ms to print")
    ours = seconds["affdsl"]
    for name, rounds in seconds.items():
        pairs = list(zip(rounds, ours, strict=True))
        if name == "xDSL":
            read, shown, both = (
                median(of(theirs) / of(mine) for theirs, mine in pairs)
                for of in (lambda times: times[0], lambda times: times[1], sum)
            )
            print(
                f"  ratio    {read:.2f} read, {shown:.2f} print, {both:.2f} both: xDSL / affdsl, medians of the pairs"
            )
        elif name == "mlir-opt":
            print(f"  ratio    {median(sum(mine) / theirs[1] for theirs, mine in pairs):.1f}: affdsl / mlir-opt")


if __name__ == "__main__":
    main()
