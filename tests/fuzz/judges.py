"""The ways to run a random program that must all give what its reference gives: interpreter, C, MLIR through LLVM."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from affdsl.codegen.c.emit import emit_jit
from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.interpreter import Order, run
from affdsl.ir.traverse import walk
from affdsl.mlir.writers import print_op
from tests.fuzz.elsewhere import probes
from tests.fuzz.mlir import entry_name
from tests.fuzz.native import Contents, arguments, judged, mismatch
from tests.fuzz.program import Program
from tests.harness.batch import LEVELS, TIME_LIMIT, C, build, link
from tests.harness.limit import limited
from tests.oracles import LOWERING, require


@dataclass(frozen=True)
class Item:
    """A program, the module that some passes made of it, and what the module must do."""

    program: Program
    module: func.Module
    expected: Contents

    @property
    def entry(self) -> func.Func:
        return next(f for f in self.module.functions if f.symbol == entry_name(self.program))


Judge = Callable[[Sequence[Item]], list[str]]
"""What is wrong with each item, as `kind: details`, or an empty text."""


def by_interpreter(items: Sequence[Item]) -> list[str]:
    """Run the modules by the interpreter."""
    return [_interpreted(item, "forward") for item in items]


def backwards(items: Sequence[Item]) -> list[str]:
    """Run the modules by the interpreter, parallel loops from the last iteration to the first."""
    return [_interpreted(item, "reverse") for item in items]


def _interpreted(item: Item, order: Order) -> str:
    for n in range(len(item.program.valuations)):
        given = arguments(item.program, n)
        if said := _refused(item, given, order) or mismatch(item.program, n, given, item.expected):
            return said
    return ""


def elsewhere(items: Sequence[Item]) -> list[str]:
    """Run the modules by the interpreter with other data and sizes, wherever their programs run with these."""
    return [_elsewhere(item) for item in items]


def _elsewhere(item: Item) -> str:
    orders: tuple[Order, ...] = ("forward", "shuffled") if has_parallel(item.module) else ("forward",)
    for probe in probes(item.program):
        for order in orders:
            given = probe.arguments
            if said := _refused(item, given, order):
                return f"{said} where {probe.program.symbols} = {probe.program.valuations[0]}"
            if said := mismatch(probe.program, 0, given, probe.expected):
                return said
    return ""


def _refused(item: Item, given: Sequence[np.ndarray | int], order: Order) -> str:
    """What the interpreter says against running the module with some arguments, which it changes."""
    try:
        with limited(TIME_LIMIT):
            run(item.entry, *given, module=item.module, order=order)
    except AffdslError as problem:
        return f"refused: {type(problem).__name__}: {problem}"
    except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
        return f"raised: {type(problem).__name__}: {problem}"
    return ""


def has_parallel(module: func.Module) -> bool:
    """Whether there are loops whose iterations may run in any order."""
    return any(isinstance(op, affine.Parallel) for op in walk(module))


def by_c(items: Sequence[Item], ways: Sequence[C] = LEVELS) -> list[str]:
    """Emit C, compile it in ways in turn with every warning an error, and run it. Equal texts are compiled once."""
    answers = [""] * len(items)
    numbers: dict[str, int] = {}
    texts: dict[int, int] = {}
    for k, item in enumerate(items):
        try:
            text = emit_jit(item.module, entry_name(item.program))
        except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
            answers[k] = f"not emitted: {type(problem).__name__}: {problem}"
        else:
            texts[k] = numbers.setdefault(text, len(numbers))
    with tempfile.TemporaryDirectory(prefix="fuzz-c-") as name:
        refused = build(Path(name), list(numbers), ways)
        ran = [k for k, n in texts.items() if n not in refused]
        runs = [(texts[k], items[k].program) for k in ran]
        found = dict(zip(ran, judged(Path(name), runs, [items[k].expected for k in ran]), strict=True))
    return [answers[k] or found.get(k) or refused.get(texts.get(k, -1), "") for k in range(len(items))]


def by_mlir(items: Sequence[Item]) -> list[str]:
    """Print the modules, lower them together with mlir-opt, compile with LLVM, and run.

    Where the tools refuse the whole, the halves are tried, until it is known which modules they refuse.
    """
    if not items:
        return []
    with tempfile.TemporaryDirectory(prefix="fuzz-mlir-") as name:
        folder = Path(name)
        try:
            _lowered(items, folder)
            entries = {"entry": [f"entry_{k}" for k in range(len(items))], "results": [None] * len(items)}
            link(folder, ["stubs.c", "code.o"], entries)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
            if len(items) == 1:
                said = problem.stderr or str(problem).encode()
                return [f"mlir: {said.decode(errors='replace')[:1500]}"]
            half = len(items) // 2
            return by_mlir(items[:half]) + by_mlir(items[half:])
        runs = list(enumerate(item.program for item in items))
        return judged(folder, runs, [item.expected for item in items])


def _lowered(items: Sequence[Item], folder: Path) -> None:
    """Make code.o of the modules, and stubs.c, whose functions call theirs."""
    texts, stubs = [], []
    for k, item in enumerate(items):
        symbol = entry_name(item.program)
        # Several items may come from one program: each has names of its own.
        texts += [re.sub(rf"@{symbol}(?=_|\b)", f"@v{k}_{symbol}", _without_aliases(op)) for op in item.module.body]
        stubs.append(_stub(k, f"v{k}_{symbol}", item.program))
    (folder / "stubs.c").write_text("#include <stdint.h>\n" + "\n".join(stubs))
    lowered = _tool(["mlir-opt-22", f"--pass-pipeline={LOWERING}", "-"], "\n".join(texts).encode())
    llvm = _tool(["mlir-translate-22", "--mlir-to-llvmir"], lowered)
    _tool(["llc-22", "-O0", "-filetype=obj", "-relocation-model=pic", "-o", str(folder / "code.o")], llvm)


def _without_aliases(op: Op) -> str:
    """An operation as text that may stand beside others."""
    text = print_op(op)
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    body = re.sub(r"^#\w+ = .*\n", "", text, flags=re.M)
    return re.sub(r"#\w+", lambda m: aliases.get(m[0], m[0]), body)


def _stub(number: int, symbol: str, program: Program) -> str:
    """C that calls a lowered function with memref descriptors of the buffers."""
    lines: list[str] = []
    names: list[str] = []
    place = 0
    for k, b in enumerate(program.arguments):
        sizes = [f"sizes[{place + d}]" for d in range(b.rank)]
        strides = [" * ".join(sizes[d + 1 :]) or "1" for d in range(b.rank)]
        address = f"(int64_t)(intptr_t)pointers[{k}]"
        words = ", ".join([address, address, "0", *sizes, *strides])
        lines.append(f"    int64_t {b.name}[] = {{{words}}};")
        names.append(b.name)
        place += b.rank
    first = len(names)
    names += [f"*(const int64_t *)pointers[{first + k}]" for k in range(len(program.sizes))]
    types = [*("int64_t *" for _ in program.arguments), *("int64_t" for _ in program.sizes)]
    head = f"int32_t entry_{number}(void *const *pointers, const int64_t *sizes)"
    wrapper = f"_mlir_ciface_{symbol}"
    body = [*lines, f"    {wrapper}({', '.join(names)});", "    (void)sizes;", "    return 0;"]
    return f"void {wrapper}({', '.join(types)});\n{head};\n{head}\n{{\n" + "\n".join(body) + "\n}\n"


def _tool(command: Sequence[str], given: bytes) -> bytes:
    path = require(command[0])
    done = subprocess.run([path, *command[1:]], input=given, capture_output=True, timeout=TIME_LIMIT, check=True)
    return done.stdout


JUDGES: dict[str, Judge] = {
    "interpreter": by_interpreter,
    "backwards": backwards,
    "elsewhere": elsewhere,
    "c": by_c,
    "mlir": by_mlir,
}
