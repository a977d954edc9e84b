"""The programs that other compilers get wrong: what each must print, and what it prints by each way to run it.

A program is a file of MLIR whose first lines say what others make of it: `// pass:` the pipeline under which they go
wrong, `// prints:` what its @main prints, before and after any pass, or `// absent after the pass:` an operation that
the pipeline must not leave.
"""

from __future__ import annotations

import io
import math
import re
import subprocess
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from affdsl.cli.sizes import with_sizes
from affdsl.codegen.c.emit import emit
from affdsl.ir.dialects import func
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.oracles import TIMEOUT, compile_c, run_mlir

PRINT = "printMemrefI64"

# What calls the programs that have no @main: %A is 0, 1, ... 15, and the second argument 3.
MAIN = """
func.func private @printMemrefI64(memref<*xi64>)
func.func @main() {{
  %A = memref.alloc() : memref<16xi64>
  affine.for %i = 0 to 16 {{
    %x = arith.index_cast %i : index to i64
    affine.store %x, %A[%i] : memref<16xi64>
  }}
  %c3 = arith.constant 3 : index
  {call}
  %A_u = memref.cast %A : memref<16xi64> to memref<*xi64>
  call @printMemrefI64(%A_u) : (memref<*xi64>) -> ()
  return
}}
"""
WITHOUT_MAIN = {
    "50-parallelize-vector-overlap": (
        "call @k(%A) : (memref<16xi64>) -> ()",
        "[0,  1,  2,  3,  4,  5,  6,  7,  7,  7,  7,  11,  12,  13,  14,  15]",
    ),
    "51-parallelize-nonaffine-store": (
        "call @k(%A, %c3) : (memref<16xi64>, index) -> ()",
        "[0,  1,  2,  7,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  14,  15]",
    ),
    "52-parallelize-semi-affine": (
        "call @k(%A, %c3) : (memref<16xi64>, index) -> ()",
        "[0,  8,  8,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  14,  15]",
    ),
}

DRIVER = """#include "{header}"
#include <inttypes.h>
#include <stdio.h>

static int64_t out[{size}];

int main(void)
{{
    const int32_t status = {function}(out);
    for (int k = 0; k < {size}; ++k)
        printf("%" PRId64 "\\n", out[k]);
    return (int)status;
}}
"""


@dataclass(frozen=True)
class Program:
    """A program: its text with a @main, the pipeline that others get wrong, and what it must print, or not become."""

    name: str
    text: str
    pipeline: str
    prints: str
    absent: str | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the buffer that it prints."""
        return np.array(literal_eval(self.prints)).shape


def _program(path: Path) -> Program:
    text = path.read_text(encoding="utf-8")
    asked = dict(re.findall(r"^// ([\w ]+): (.*)$", text, re.M))
    absent = asked.get("absent after the pass")
    if "prints" not in asked:
        call, asked["prints"] = WITHOUT_MAIN[path.stem]
        text += MAIN.format(call=call)
    return Program(path.stem, text, asked["pass"], asked["prints"], absent)


PROGRAMS = {path.stem: _program(path) for path in sorted(Path(__file__).parent.glob("*.mlir"))}

Modules = Mapping[str, func.Module]
"""What some pipeline made of programs, by their names."""


def shown(output: str) -> list[str]:
    """What each call of the print function printed, on one line as `// prints:` has it."""
    buffers = re.split(r"Unranked Memref .*? data = ", re.sub(r"\s*\n\s*", " ", output))
    assert not buffers[0].strip(), f"printed before the first buffer: {buffers[0]}"
    return [buffer.strip() for buffer in buffers[1:]]


def interpreted(module: func.Module) -> list[str]:
    """What @main prints by the interpreter, which checks each access."""
    main = next(f for f in module.functions if f.symbol == "main")
    with redirect_stdout(io.StringIO()) as output:
        run(main, module=module)
    return shown(output.getvalue())


def lowered(modules: Modules, output: Callable[[], str]) -> list[str]:
    """What the programs print when our text of them is lowered by mlir-opt and compiled by LLVM.

    `output` gives what was written to the standard output since it was asked last.
    """
    calls = "\n".join(f"  call @p{k}_main() : () -> ()" for k in range(len(modules)))
    declared = f"func.func private @{PRINT}(memref<*xi64>)"
    texts = [_renamed(text_of(module).replace(declared, ""), k) for k, module in enumerate(modules.values())]
    output()
    run_mlir("\n".join([declared, *texts, f"func.func @all() {{\n{calls}\n  return\n}}\n"]), "all")
    return shown(output())


def compiled(modules: Modules, flags: Sequence[str] = ()) -> list[str]:
    """What the programs leave, as emitted C, in the buffers that they print: C knows no buffer of unknown rank."""
    sizes = [math.prod(PROGRAMS[name].shape) for name in modules]
    places = [sum(sizes[:k]) for k in range(len(sizes))]
    out = f"memref<{sum(sizes)}xi64>"
    calls = "\n".join(f"  call @p{k}_main(%out) : ({out}) -> ()" for k in range(len(modules)))
    texts = [
        _renamed(_with_output(text_of(module), PROGRAMS[name].shape, out, place), k)
        for k, (place, (name, module)) in enumerate(zip(places, modules.items(), strict=True))
    ]
    whole = parse("\n".join([*texts, f"func.func @all(%out: {out}) {{\n{calls}\n  return\n}}\n"]))
    verify(whole)
    made = emit(with_sizes(whole)[0], "all")
    driver = DRIVER.format(header=f"{made.name}.h", function=made.name, size=sum(sizes))
    sources = {f"{made.name}.c": made.source, f"{made.name}.h": made.header, "driver.c": driver}
    binary = compile_c(sources, "gcc", ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", *flags), shared=False)
    done = subprocess.run([binary], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[:2000]}"
    numbers = done.stdout.split()
    return [
        _bracketed(numbers[place : place + size], PROGRAMS[name].shape)
        for name, place, size in zip(modules, places, sizes, strict=True)
    ]


def text_of(module: func.Module) -> str:
    """A module as text that may stand beside others: maps where they are used, no `module {`."""
    return "\n".join(print_op(op) for op in module.body)


def _renamed(text: str, number: int) -> str:
    return re.sub(rf"@(?!{PRINT}\b)(\w+)", rf"@p{number}_\1", text)


def _with_output(text: str, shape: Sequence[int], out: str, place: int) -> str:
    """The text of a program whose @main copies what it printed to a place of an argument."""
    (cast, printed, source, source_type) = _once(r"\n *(%\w+) = memref.cast (%\w+) : (.*) to memref<\*xi64>", text)
    (call,) = _once(rf"(?:func\.)?call @{PRINT}\({printed}\) : \(memref<\*xi64>\) -> \(\)", text)
    (declared,) = _once(rf"func\.func private @{PRINT}\(memref<\*xi64>\)", text)
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    layout = f"strided<{strides}, offset: {place}>"
    view_type = f"memref<{'x'.join(map(str, shape))}xi64, {layout}>"
    copy = (
        f"%out_view = memref.reinterpret_cast %out to offset: [{place}], sizes: {[*shape]}, strides: {strides} "
        f": {out} to {view_type}\n    memref.copy {source}, %out_view : {source_type} to {view_type}"
    )
    text = text.replace(cast, "").replace(call, copy).replace(declared, "")
    (head,) = _once(r"func\.func @main\(\)", text)
    return text.replace(head, f"func.func @main(%out: {out})")


def _once(pattern: str, text: str) -> tuple[str, ...]:
    """The only match of a pattern, and its groups."""
    found = list(re.finditer(pattern, text))
    assert len(found) == 1, f"{len(found)} matches of {pattern} in\n{text}"
    return (found[0][0], *found[0].groups())


def _bracketed(numbers: Sequence[str], shape: Sequence[int]) -> str:
    """Numbers as the runner prints a buffer of them, on one line."""
    if len(shape) == 1:
        return f"[{',  '.join(numbers)}]"
    step = len(numbers) // shape[0]
    rows = [",   ".join(numbers[k : k + step]) for k in range(0, len(numbers), step)]
    return f"[[{'], ['.join(rows)}]]"
