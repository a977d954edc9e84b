"""Kernels as people write them, vectorized, and run for each instruction set: they leave what their loops do."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import affdsl as af
import examples
from affdsl.codegen.arguments import ArrayResult
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.jit import check_sizes, signature_of
from affdsl.codegen.targets.target import LANE_BITS
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, math
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import FloatType, IntegerType, MemRefType
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import Tail, vectorize
from benchmarks.polybench.benchmark import Benchmark
from benchmarks.polybench.suite import SUITE
from tests.harness.batch import UNREACHABLE, C, Case, build, execute
from tests.harness.judges import same_but_nan
from tests.harness.machines import MACHINES, optimized
from tests.harness.reading import loops

WAYS = {
    name: tuple(replace(c, flags=tuple(flag for flag in c.flags if flag not in UNREACHABLE)) for c in compilers)
    for name, compilers in {"c11": MACHINES["baseline"], **MACHINES}.items()
}
"""The instruction sets, and C11 without vector types; no warning is left out."""
WIDTHS = {"avx512": 512, "avx512vnni": 512, "avx512vbmi": 512, "avx512fp16": 512, "avx2": 256}
"""The bits of a register, into which vectors are split; else 128."""
EXACT = ("sqrt", "absf", "copysign", "floor", "ceil", "trunc", "round", "roundeven")
"""Functions that every C library rounds in the same way."""
ULPS = 32
"""How far libraries are apart in what kernels compute with the other functions."""
BATCH = 16
"""So many kernels are compiled by one run of a compiler."""

HERE = "<" if sys.byteorder == "little" else ">"
"""The order of bytes of this machine."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Subject:
    """A kernel, and arguments for calls of it."""

    name: str
    kernel: af.Kernel
    calls: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Prepared:
    """A subject with its loops on vectors, and what it must leave by call."""

    subject: Subject
    module: Module
    cases: tuple[Case, ...]
    types: tuple[np.dtype[Any], ...]
    """Of the elements of each buffer."""
    wanted: tuple[Sequence[bytes], ...]


@dataclass
class Report:
    """How many innermost loops there were, how many nests run on vectors, what ran where, and what was wrong."""

    kernels: int = 0
    innermost: int = 0
    vectorized: int = 0
    outer: int = 0
    plain: list[str] = field(default_factory=list)
    """Kernels without a loop on vectors, each with the reason for the last of its loops."""
    last: str = ""
    """Why the last loop was refused."""
    ran: dict[str, int] = field(default_factory=dict)
    wrong: list[tuple[str, str]] = field(default_factory=list)


def subjects(seed: int) -> Iterator[Subject]:
    """All examples with their own cases, and all of PolyBench with its smallest input and random ones of odd sizes."""
    names = sorted(m.name for m in pkgutil.iter_modules(examples.__path__) if m.name not in ("case", "demo"))
    for name in names:
        found: dict[int, tuple[af.Kernel, list[tuple[object, ...]]]] = {}
        for case in importlib.import_module(f"examples.{name}").cases():
            found.setdefault(id(case.kernel), (case.kernel, []))[1].append(case.arguments)
        for n, (kernel, calls) in enumerate(found.values()):
            yield Subject(f"{name}.{kernel.name}{f'.{n}' if kernel.name == name and n else ''}", kernel, tuple(calls))
    random = np.random.default_rng(seed)
    for benchmark in SUITE:
        yield Subject(benchmark.name, benchmark.kernel, tuple(_calls(benchmark, random)))


def _calls(benchmark: Benchmark, random: np.random.Generator) -> Iterator[tuple[object, ...]]:
    mini = benchmark.sizes["MINI"]
    yield tuple(benchmark.arrays(mini).values())
    for low, high in ((1, 4), (7, 20)):
        sizes = {name: max(int(random.integers(low, high)), benchmark.least.get(name, 1)) for name in mini}
        yield tuple(benchmark.random_arguments(sizes, random).values())


def vectorized(function: Func, module: Module, report: Report) -> Func:
    """function with its loops on vectors: the innermost ones, and where one is refused the next loop around it."""
    first = function

    def take(loop: affine.For, tail: Tail) -> bool:
        nonlocal function
        inside = _inner(loop)
        if not inside:
            report.innermost += 1
        taken = [take(each, tail) for each in inside]
        if any(taken):
            return True
        if not any(each.iv is loop.iv for each in loops(function)):
            return False
        now = with_fields(module, body=tuple(function if op is first else op for op in module.body))
        try:
            function = vectorize(function, loop.iv, _lanes(loop), tail=tail, module=now)
        except IllegalTransform as error:
            report.last = " ".join(str(error).splitlines()[1].split())
            return False
        report.vectorized += 1
        report.outer += bool(inside)
        return True

    for k, loop in enumerate(_inner(first)):
        take(loop, ("scalar", "masked")[k % 2])
    return function


def in_a_row(op: Op) -> Op | None:
    """A parallel loop that combines nothing as loops of which any order is right, so that of the text, too."""
    if not isinstance(op, affine.Parallel) or op.reductions:
        return None
    body = op.body
    for iv, lower, upper, step in reversed([*zip(op.ivs, op.lower, op.upper, op.steps, strict=True)]):
        body = (affine.For(iv, lower, upper, body, step),)
    return body[0]


def _inner(root: Func | affine.For) -> list[affine.For]:
    """The loops in an operation that are in no other loop there."""
    found = [loop for loop in loops(root) if loop is not root]
    nested = {id(inner) for loop in found for inner in loops(loop) if inner is not loop}
    return [loop for loop in found if id(loop) not in nested]


def _lanes(loop: affine.For) -> int:
    """How many of the widest numbers that a loop handles a register of 512 bits has."""
    kinds = [_element(value) for op in walk(loop) for value in (*op.reads(), *op.defines())]
    return 512 // max((LANE_BITS.get(kind, 8) for kind in kinds), default=64)


def _element(value: Value) -> str:
    kind = value.type.element if isinstance(value.type, MemRefType) else value.type
    return str(kind) if isinstance(kind, FloatType | IntegerType) else ""


def prepared(subject: Subject, report: Report) -> Prepared:
    """A subject with its loops on vectors; what it must leave is what its loops as written leave, in C11."""
    report.kernels += 1
    report.last = "there is no affine loop"
    program, before = subject.kernel.program, report.vectorized
    module = program.module
    for function in module.functions:
        if function.body:
            plain = rewrite(function, in_a_row)
            module = with_fields(module, body=tuple(plain if op is function else op for op in module.body))
            new = vectorized(plain, module, report)
            module = with_fields(module, body=tuple(new if op is plain else op for op in module.body))
    verify(module)
    if report.vectorized == before:
        report.plain.append(f"{subject.name}: {report.last}")
    types: list[np.dtype[Any]] = []
    cases = []
    for arguments in subject.calls:
        types, case = _case(subject, arguments)
        cases.append(case)
    made = Prepared(subject, module, tuple(cases), tuple(types), ())
    plain = _text(program.module, len(program.sizes), vector_types=False, register_bits=None)
    (answers,) = _answers([made], [plain], optimized(WAYS["c11"][0], "-O1"))
    assert not isinstance(answers, str), answers
    return replace(made, wanted=tuple(answers))


def _case(subject: Subject, arguments: tuple[object, ...]) -> tuple[list[np.dtype[Any]], Case]:
    program = subject.kernel.program
    signature = signature_of(program)
    given = [np.asarray(x, type.dtype) for x, type in zip(arguments, signature.arguments, strict=True)]
    shapes = tuple(x.shape for x in arguments if isinstance(x, np.ndarray))
    known = check_sizes(program, shapes, tuple(x for x in arguments if not isinstance(x, np.ndarray)))
    results = []
    for type, kind in zip(program.results, signature.results, strict=True):
        shape = [e.evaluate(known) for e in type.shape] if hasattr(type, "shape") else []
        results.append(np.zeros(shape, kind.dtype))
    of_results = [
        n for x, kind in zip(results, signature.results, strict=True) if isinstance(kind, ArrayResult) for n in x.shape
    ]
    buffers = [*given, *results]
    sizes = [n for shape in shapes for n in shape]
    return [x.dtype for x in buffers], Case(0, [x.tobytes() for x in buffers], sizes, of_results)


def check(ready: Sequence[Prepared], name: str, which: int, report: Report, *, level: str = "-O2") -> None:
    """Compile and run kernels in one way for an instruction set; with gcc vectors are split as registers are."""
    bits = WIDTHS.get(name, 128) if which == 0 and name != "c11" else None
    way = optimized(WAYS[name][which], level)
    check_in(ready, name, way, report, vector_types=name != "c11", register_bits=bits)


def check_in(
    ready: Sequence[Prepared],
    name: str,
    way: C,
    report: Report,
    *,
    vector_types: bool = True,
    register_bits: int | None = None,
) -> None:
    """Compile and run kernels in a way, which the report calls `name`; vectors are split where bits are given."""
    for k in range(0, len(ready), BATCH):
        share = ready[k : k + BATCH]
        texts = [_text(m.module, len(m.subject.kernel.program.sizes), vector_types, register_bits) for m in share]
        for made, answers in zip(share, _answers(share, texts, way), strict=True):
            report.ran[name] = report.ran.get(name, 0) + 1
            said = answers if isinstance(answers, str) else _difference(made, answers, exact=not way.runner)
            if said:
                report.wrong.append((made.subject.name, f"{name}: {way}: {said}"))


def _answers(share: Sequence[Prepared], texts: Sequence[str], way: C) -> list[list[Sequence[bytes]] | str]:
    """What kernels leave, in the order of bytes of this machine, or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="targets-") as folder:
        refused = build(Path(folder), texts, [way])
        cases = [
            Case(k, _in_order(case.buffers, made.types, way), case.sizes, case.results)
            for k, made in enumerate(share)
            if k not in refused
            for case in made.cases
        ]
        answers = iter(execute(Path(folder), cases, guard="end", way=way))
    found: list[list[Sequence[bytes]] | str] = []
    for k, made in enumerate(share):
        own = [] if k in refused else [next(answers) for _ in made.cases]
        bad = next((a for a in own if a.crash or a.status), None)
        said = refused.get(k) or (bad and (bad.crash or f"status {bad.status}"))
        found.append(said or [_in_order(answer.buffers, made.types, way) for answer in own])
    return found


def _in_order(buffers: Sequence[bytes], types: Sequence[np.dtype[Any]], way: C) -> Sequence[bytes]:
    """Buffers of one machine as the other one has them."""
    if way.order == HERE:
        return buffers
    return [np.frombuffer(data, type).byteswap().tobytes() for data, type in zip(buffers, types, strict=True)]


@lru_cache(maxsize=512)
def _text(module: Module, sizes: int, vector_types: bool, register_bits: int | None) -> str:
    symbol = module.functions[-1].symbol
    return emit_jit(module, symbol, sizes=sizes, vector_types=vector_types, register_bits=register_bits)


def _difference(made: Prepared, answers: Sequence[Sequence[bytes]], *, exact: bool) -> str:
    """Where calls leave something else; another machine's C library may round its functions differently."""
    exact = exact or not _has_rounding(made.module)
    for n, (wanted, found) in enumerate(zip(made.wanted, answers, strict=True)):
        for k, (type, x, y) in enumerate(zip(made.types, wanted, found, strict=True)):
            a, b = np.frombuffer(x, type), np.frombuffer(y, type)
            if not same_but_nan(a, b) and (exact or not _is_near(a, b)):
                at = int(np.flatnonzero(~((a == b) | ((a != a) & (b != b))))[0]) if not exact or a.size else 0
                return f"call {n}: buffer {k} has {b[at]} instead of {a[at]} at {at}"
    return ""


def _has_rounding(module: Module) -> bool:
    return any(isinstance(op, math.Unary | math.Binary) and op.kind not in EXACT for op in walk(module))


def _is_near(a: Array, b: Array) -> bool:
    if a.dtype.kind != "f":
        return False
    largest = max((float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x))) for x in (a, b)), default=0.0)
    return bool(np.allclose(a, b, rtol=0.0, atol=ULPS * float(np.finfo(a.dtype).eps) * largest, equal_nan=True))
