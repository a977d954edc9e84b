"""Runs many functions at once, as one program of C, or of MLIR through LLVM: what each leaves in its arguments."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from affdsl.codegen.c.emit import emit_jit
from affdsl.ir.dialects.func import Call, Func, Module, Return, Shapes
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import MemRefType
from affdsl.mlir.writers import print_op
from tests.harness.batch import GCC, RED_ZONE, TIME_LIMIT, C, Case, build, execute, link
from tests.oracles import LOWERING, require

Arguments: TypeAlias = Sequence[Any]
"""What a function takes: arrays, and numbers of type index."""
Left: TypeAlias = list[np.ndarray[Any, Any]] | str
"""What a function leaves of its arguments, each as an array, or what went wrong."""


def joined(functions: Sequence[Func]) -> Module:
    """A module whose function @all calls them one after the other, each with arguments of its own."""
    renamed = [with_fields(f, symbol=f"f{k}", private=True) for k, f in enumerate(functions)]
    args = [tuple(Value(v.type, f"a{k}_{n}") for n, v in enumerate(f.args)) for k, f in enumerate(functions)]
    calls = [Call((), f.symbol, own) for f, own in zip(renamed, args, strict=True)]
    shapes = [shape for f, own in zip(functions, args, strict=True) for shape in _shapes(f, own)]
    entry = Func("all", tuple(v for own in args for v in own), (*calls, Return(())), shapes=tuple(shapes))
    return Module((*renamed, entry))


def _shapes(f: Func, args: Sequence[Value]) -> Shapes:
    """What a function says of the sizes of its arrays, of other arguments."""
    new: dict[Value, Term] = dict(zip(f.args, args, strict=True))
    shapes = f.shapes or (None,) * len(args)
    return tuple(None if shape is None else tuple(e.substitute(new) for e in shape) for shape in shapes)


def by_c(
    functions: Sequence[Func], runs: Sequence[Sequence[Arguments]], way: C, *, register_bits: int | None = None,
    guard: str = "",
) -> list[list[Left]]:  # fmt: skip
    """By function and run what C leaves; each of them has as many runs as the others. `guard` as in `execute`."""

    def make(functions: Sequence[Func], folder: Path) -> str:
        text = _emitted(tuple(functions), register_bits)
        return build(folder, [text], [way]).get(0, "")

    return _left(functions, runs, make, guard, way)


@lru_cache(maxsize=4)
def _emitted(functions: tuple[Func, ...], register_bits: int | None) -> str:
    """C of functions, which serves all instruction sets with registers of so many bits."""
    return emit_jit(joined(functions), "all", register_bits=register_bits)


def by_mlir(functions: Sequence[Func], runs: Sequence[Sequence[Arguments]], *passes: str) -> list[list[Left]]:
    """By function and run what our text, lowered by mlir-opt, leaves; `passes` of mlir-opt come first."""

    def make(functions: Sequence[Func], folder: Path) -> str:
        module = joined(functions)
        try:
            _lowered(print_op(module), folder / "code.o", passes)
        except subprocess.CalledProcessError as problem:
            return f"mlir: {problem.stderr.decode(errors='replace')[:1500]}"
        except subprocess.TimeoutExpired:
            return "mlir: it takes too long"
        (folder / "stubs.c").write_text(_stub(module.functions[-1], runs[0]))
        link(folder, ["stubs.c", "code.o"], {"entry": ["entry_0"], "results": [None]})
        return ""

    return _left(functions, runs, make, "", GCC)


def _lowered(text: str, output: Path, passes: Sequence[str]) -> None:
    given = text.encode()
    if passes:
        given = _tool(["mlir-opt-22", *passes, "-"], given)
    lowered = _tool(["mlir-opt-22", f"--pass-pipeline={LOWERING}", "-"], given)
    llvm = _tool(["mlir-translate-22", "--mlir-to-llvmir"], lowered)
    _tool(["llc-22", "-O0", "-filetype=obj", "-relocation-model=pic", "-o", str(output)], llvm)


def _tool(command: Sequence[str], given: bytes) -> bytes:
    command = [require(command[0]), *command[1:]]
    return subprocess.run(command, input=given, capture_output=True, timeout=TIME_LIMIT, check=True).stdout


def _left(
    functions: Sequence[Func],
    runs: Sequence[Sequence[Arguments]],
    make: Callable[[Sequence[Func], Path], str],
    guard: str,
    way: C,
) -> list[list[Left]]:
    """What functions leave; where something goes wrong with all of them, the halves are tried."""
    with tempfile.TemporaryDirectory(prefix="vectors-") as name:
        said = make(functions, Path(name))
        if not said:
            cases = [_case([of[k] for of in runs]) for k in range(len(runs[0]))]
            answers = execute(Path(name), cases, RED_ZONE, guard, way)
            bad = next((a for a in answers if a.crash or a.status or a.spoilt), None)
            if bad is None:
                found = [_taken(answer.buffers, [of[k] for of in runs]) for k, answer in enumerate(answers)]
                return [[left[k] for left in found] for k in range(len(functions))]
            said = bad.crash or (f"status {bad.status}" if bad.status else f"written outside of {bad.spoilt}")
    if len(functions) == 1:
        return [[said] * len(runs[0])]
    half = len(functions) // 2
    return [
        *_left(functions[:half], runs[:half], make, guard, way),
        *_left(functions[half:], runs[half:], make, guard, way),
    ]


def _case(arguments: Sequence[Arguments]) -> Case:
    arrays = [np.asarray(x) for given in arguments for x in given]
    return Case(0, [a.tobytes() for a in arrays], [n for a in arrays for n in a.shape])


def _taken(buffers: Sequence[bytes], arguments: Sequence[Arguments]) -> list[Left]:
    waiting = iter(buffers)
    found: list[Left] = []
    for given in arguments:
        arrays = [np.asarray(x) for x in given]
        found.append([np.frombuffer(next(waiting), a.dtype).reshape(a.shape) for a in arrays])
    return found


def _stub(entry: Func, runs: Sequence[Sequence[Arguments]]) -> str:
    """C that calls a lowered function with memref descriptors of the buffers."""
    lines, given, types, place = list[str](), list[str](), list[str](), 0
    for k, value in enumerate(entry.args):
        if not isinstance(value.type, MemRefType):
            given.append(f"*(const int64_t *)pointers[{k}]")
            types.append("int64_t")
            continue
        rank = len(value.type.shape)
        sizes = [f"sizes[{place + d}]" for d in range(rank)]
        strides = [" * ".join(sizes[d + 1 :]) or "1" for d in range(rank)]
        address = f"(int64_t)(intptr_t)pointers[{k}]"
        lines.append(f"    int64_t d{k}[] = {{{', '.join([address, address, '0', *sizes, *strides])}}};")
        given.append(f"d{k}")
        types.append("int64_t *")
        place += rank
    head = "int32_t entry_0(void *const *pointers, const int64_t *sizes)"
    wrapper = f"_mlir_ciface_{entry.symbol}"
    body = "\n".join([*lines, f"    {wrapper}({', '.join(given)});", "    (void)sizes;", "    return 0;"])
    return f"#include <stdint.h>\nvoid {wrapper}({', '.join(types)});\n{head};\n{head}\n{{\n{body}\n}}\n"
