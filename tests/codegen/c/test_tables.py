"""Every kind of arith, math and reduction in C against the tables of affdsl.ir.semantics, at and between the edges."""

import ctypes
import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit_jit
from affdsl.ir import semantics
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Value
from affdsl.ir.numeric import Number, dtype, from_bits, quiet, to_bits
from affdsl.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    FloatType,
    IntegerType,
    MemRefType,
    ScalarType,
)  # fmt: skip
from tests.codegen.c.build import Builder, module
from tests.codegen.c.compare import call, compile_silently
from tests.effort import TRIES_ALL, some
from tests.oracles import require

Case = tuple[str, ScalarType, Callable[[Builder, tuple[Value, ...]], Value], Callable[..., Number]]
CHECKED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover", "-fno-math-errno")
JIT = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math")
EVERY = [
    ("gcc", CHECKED), ("clang-22", ("-O1",)), ("gcc", ("-O0",)), ("gcc", ("-O2",)), ("gcc", ("-Os",)), ("gcc", JIT),
    ("clang-22", ("-O2",)), ("clang-22", ("-Os",)), ("clang-22", JIT),
]  # fmt: skip
INTEGERS = [I1, I8, IntegerType(7), I16, I32, IntegerType(33), I64, INDEX]
FLOATS = [F16, BF16, F32, F64]


def numbers(type: ScalarType) -> list[Number]:
    if isinstance(type, FloatType):
        with quiet():
            made = [semantics.constant(x, type) for x in (
                0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.25, 1e-3, 1e-7, -1e-40, 5e-324, 100.0, 127.6, -128.7,
                255.9, 32768.0, 65519.0, 70000.0, 2.0**31, 2.0**53 + 2, -(2.0**63), 2.0**64, 3e38, -3e38, 1e300,
                float("inf"), float("-inf"), float("nan"), 0.1, 7.7, 257.0, -2049.0, 16777217.0,
            )]  # fmt: skip
            made += [from_bits(b, type) for b in (1, 3, (1 << type.width - 2) - 1, (1 << type.width - 2) + 12345 % 97)]
            infinity = to_bits(semantics.constant(float("inf"), type), type)
            made += [from_bits(b, type) for b in (infinity - 1, infinity + 1, infinity + 1 + (1 << type.width - 1))]
        return made
    bits = 64 if type == INDEX else type.width
    if bits <= 8:
        return [semantics.constant(n, type) for n in range(-(1 << bits - 1), 1 << bits - 1)]
    half = 1 << bits - 1
    near = (0, 1, 2, 3, 5, 7, bits - 1, bits, half // 2, half - 3, half - 2, half - 1, 1234567 % half)
    return [n for m in near for n in ({m, -m - 1, -m} if m else {0, -1})]


def of_first(meaning: Callable[[Number], Number]) -> Callable[..., Number]:
    """The meaning of what reads the first of two numbers only: asked for once for each."""
    known = functools.cache(meaning)
    return lambda x, y: known(x)


def of_first_float(meaning: Callable[[Number], Number]) -> Callable[..., Number]:
    """The same for floats, which are told apart as objects: both zeros are equal, and no NaN is equal to itself."""
    known: dict[int, tuple[Number, Number]] = {}

    def found(x: Number, _: Number) -> Number:
        if id(x) not in known:
            known[id(x)] = x, meaning(x)
        return known[id(x)][1]

    return found


def cases_of_integers(type: ScalarType) -> list[Case]:
    found: list[Case] = []

    def add(name: str, result: ScalarType, build: Callable, meaning: Callable) -> None:
        found.append((name, result, build, meaning))

    for kind in (*arith.INTEGER_BINARY, *(("ipowi",) if type != INDEX else ())):
        add(kind, type, lambda b, x, kind=kind: b.binary(kind, *x), semantics.binary(kind, type))
    for p in arith.INTEGER_PREDICATES:
        meaning = semantics.compare(p, type)
        add(p, I1, lambda b, x, p=p: b.compare(p, *x), semantics.compare(p, type))
        add(
            f"{p}_same",
            I1,
            lambda b, x, p=p: b.compare(p, x[0], x[0]),
            of_first(lambda x, f=meaning: f(x, x)),
        )
        add(f"{p}_zero", I1, lambda b, x, p=p: b.compare(p, x[0], b.constant(0, type)),
            of_first(lambda x, f=meaning: f(x, 0)))  # fmt: skip
    for kind in math.INTEGER_UNARY if type != INDEX else ():
        meaning = semantics.unary(kind, type)
        add(kind, type, lambda b, x, kind=kind: b.unary(kind, x[0]), of_first(meaning))
    for kind in arith.EXTENDED:
        for which in (0, 1):
            high = I1 if kind == "addui_extended" else type

            def build(
                b: Builder, x: tuple[Value, ...], kind: str = kind, which: int = which, high: ScalarType = high
            ) -> Value:
                both = Value(type), Value(high)
                b.add(arith.Extended(*both, kind, *x))
                return both[which]

            f = semantics.extended(kind, type)
            result = high if which else type
            add(
                f"{kind}{which}",
                result,
                build,
                lambda x, y, f=f, w=which, one=result == I1: f(x, y)[w] & (1 if one else -1),
            )
    for target in INTEGERS:
        bits, new = (64 if t == INDEX else t.width for t in (type, target))
        if (type == INDEX) != (target == INDEX):
            kinds = ["index_cast", "index_castui"]
        elif INDEX in (type, target) or bits == new:
            kinds = []
        else:
            kinds = ["trunci"] if new < bits else ["extsi", "extui"]
        for kind in kinds:
            f = semantics.cast(kind, type, target)
            add(f"{kind}_{target}", target, lambda b, x, k=kind, t=target: b.cast(k, x[0], t), of_first(f))
    for target in FLOATS if type != INDEX else ():
        for kind in ("sitofp", "uitofp", *(("bitcast",) if type.width == target.width else ())):
            f = semantics.cast(kind, type, target)
            add(f"{kind}_{target}", target, lambda b, x, k=kind, t=target: b.cast(k, x[0], t), of_first(f))
    select = lambda b, x: b.define(type, arith.Select, b.compare("slt", *x), x[1], x[0])  # noqa: E731
    add("select", type, select, semantics.binary("maxsi", type))
    return found


def cases_of_floats(type: FloatType) -> list[Case]:
    found: list[Case] = []
    for kind in (*arith.FLOAT_BINARY, *math.FLOAT_BINARY):
        found.append((kind, type, lambda b, x, k=kind: b.binary(k, *x), semantics.binary(kind, type)))
    for p in arith.FLOAT_PREDICATES:
        found.append((p, I1, lambda b, x, p=p: b.compare(p, *x), semantics.compare(p, type)))
    for kind in math.FLOAT_UNARY:
        meaning = of_first_float(semantics.unary(kind, type))
        found.append((kind, type, lambda b, x, k=kind: b.unary(k, x[0]), meaning))
    for kind in math.FLOAT_TESTS:
        meaning = of_first_float(semantics.unary(kind, type))
        found.append((kind, I1, lambda b, x, k=kind: b.unary(k, x[0]), meaning))
    found.append(("negf", type, lambda b, x: b.define(type, arith.Negate, x[0]), lambda x, y: -x))
    fma = semantics.fma(type)
    found.append(("fma", type, lambda b, x: b.define(type, math.Fma, x[0], x[1], x[1]), lambda x, y: fma(x, y, y)))
    found.append(("fma2", type, lambda b, x: b.define(type, math.Fma, x[0], x[0], x[1]), lambda x, y: fma(x, x, y)))
    for n in (0, 1, 3, 10, -2):
        found.append((f"fpowi{n}", type, lambda b, x, n=n: b.binary("fpowi", x[0], b.constant(n, I32)),
                      of_first_float(lambda x, n=n: semantics.binary("fpowi", type)(x, n))))  # fmt: skip
    for target in FLOATS:
        if target != type:
            kind = "extf" if target.width > type.width else "truncf"
            if target.width != type.width:
                for number, mode in enumerate(arith.ROUNDING if kind == "truncf" else ("",)):
                    f = semantics.cast(kind, type, target, mode) if mode else semantics.cast(kind, type, target)
                    found.append(
                        (
                            f"{kind}_{target}_{mode}",
                            target,
                            lambda b, x, k=kind, t=target, n=number: b.cast(k, x[0], t, rounding=n),
                            of_first_float(f),
                        )
                    )
    for target in INTEGERS[:-1]:
        for kind in ("fptosi", "fptoui", *(("bitcast",) if type.width == target.width else ())):
            f = semantics.cast(kind, type, target)
            found.append(
                (f"{kind}_{target}", target, lambda b, x, k=kind, t=target: b.cast(k, x[0], t), of_first_float(f))
            )
    return found


def stored(values: list[Number], type: ScalarType) -> np.ndarray:
    if not isinstance(type, FloatType) and type != I1:
        return np.array(values, dtype(type))
    bits = np.array([to_bits(v, type) for v in values], "uint64")
    return bits.astype(f"uint{type.width}").view(dtype(type)) if isinstance(type, FloatType) else bits.astype(bool)


def agree(name: str, type: ScalarType, expected: np.ndarray, got: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    if isinstance(type, FloatType):
        if type == BF16:
            expected, got = ((a.astype("uint32") << 16).view("float32") for a in (expected, got))
        wrong = ~((expected == got) & (np.signbit(expected) == np.signbit(got)) | np.isnan(expected) & np.isnan(got))
    else:
        wrong = expected != got
        if name == "bitcast_i16":  # a NaN of a narrow float is some NaN again, a quiet one
            quieted = (expected | 0x200 == got) | (expected | 0x40 == got)
            wrong &= ~((expected & 0x7FFF > 0x7C00) & quieted)
    where = np.flatnonzero(wrong)[:5]
    assert not where.size, f"{name}: {[(x[k], y[k], expected[k], got[k]) for k in where]}"


@pytest.mark.parametrize("way", some(range(len(EVERY)), 1))
@pytest.mark.parametrize("type", [*INTEGERS, *FLOATS], ids=str)
def test_every_kind(tmp_path: Path, type, way):
    """Each type with one of the ways to compile, and each number with itself and each third one; or with all."""
    compiler, flags = EVERY[(way + [*INTEGERS, *FLOATS].index(type)) % len(EVERY)]
    cases = cases_of_floats(type) if isinstance(type, FloatType) else cases_of_integers(type)
    known = list(enumerate(numbers(type)))
    pairs = [(x, y) for (m, x), (n, y) in itertools.product(known, repeat=2) if TRIES_ALL or (m - n) % 3 == 0]
    if compiler != "gcc" and len(pairs) > 10000:
        pairs = pairs[::17]
    b = Builder()
    N = b.index("N")
    inputs = [b.array("x", N, type=type), b.array("y", N, type=type)]
    outputs = []
    for name, result, build, _ in cases:
        out = b.array(f"out {name}", N, type=result)
        outputs.append(out)
        with b.loop("i", 0, N) as i:
            b.store(build(b, tuple(b.load(a, i.iv) for a in inputs)), out, i.iv)
    m = module(b.func())
    x, y = (stored([pair[k] for pair in pairs], type) for k in (0, 1))
    results = [np.zeros(len(pairs), dtype(out.type.element)) for out in outputs]
    source = emit_jit(m, "kernel", sizes=1)
    library = ctypes.CDLL(str(compile_silently(source, tmp_path, require(compiler, flags), *flags)))
    assert call(library, m, "kernel", [x, y, *results], sizes=1)[0] == 0
    for (name, result, _, meaning), got in zip(cases, results, strict=True):
        with quiet():
            expected = stored([meaning(a, c) for a, c in pairs], result)
        agree(name, result, expected, got, x, y)


REDUCTIONS = [(k, t) for t in (I1, I8, I32, I64, F16, BF16, F32, F64) for k in (
    ("addf", "mulf", "maximumf", "minimumf") if isinstance(t, FloatType)
    else ("addi", "muli", "andi", "ori", "maxs", "mins", "maxu", "minu")
)]  # fmt: skip


@pytest.mark.parametrize("flags", [("-O1",), ("-O1", "-fopenmp")], ids=["serial", "openmp"])
def test_reductions(tmp_path: Path, flags):
    """Small integers and powers of two, so that no order rounds differently; with zero, one and many iterations."""
    b = Builder()
    N = b.index("N")
    inputs = {t: b.array(f"x{t}", N, type=t) for t in dict.fromkeys(t for _, t in REDUCTIONS)}
    outputs = []
    for kind, type in REDUCTIONS:
        out = b.array(f"out {kind} {type}", type=type)
        outputs.append(out)
        with b.parallel("i", [0], [N], reductions=[kind], types=[type]) as band:
            b.yield_(b.load(inputs[type], band.ivs[0]))
        b.store(band.results[0], out)
    m = module(b.func())
    compiler = require("gcc", flags)
    library = ctypes.CDLL(str(compile_silently(emit_jit(m, "kernel", sizes=1), tmp_path, compiler, *flags)))
    for n in (0, 1, 9):
        with quiet():
            values = {t: [semantics.constant(v, t) for v in (2, 1, -1, 0.5, -2, 4, 1, 0.25, 1)[:n]] for t in inputs}
        results = [np.zeros((), dtype(t)) for _, t in REDUCTIONS]
        assert call(library, m, "kernel", [*(stored(values[t], t) for t in inputs), *results], sizes=1)[0] == 0
        for (kind, type), got in zip(REDUCTIONS, results, strict=True):
            with quiet():
                expected = semantics.neutral(kind, type)
                for v in values[type]:
                    expected = semantics.combine(kind, type)(expected, v)
            assert stored([expected], type)[0] == got, (kind, type, n)


def test_assign_and_nan_reductions(tmp_path: Path):
    b = Builder()
    N = b.index("N")
    x, out, last = b.array("x", N), b.array("out"), b.array("last")
    with b.parallel("i", [0], [N], reductions=["maximumf", "assign"], types=[F32, F32]) as band:
        value = b.load(x, band.ivs[0])
        b.yield_(value, value)
    b.store(band.results[0], out)
    b.store(band.results[1], last)
    m = module(b.func())
    compiler = require("gcc", ("-fopenmp",))
    library = ctypes.CDLL(str(compile_silently(emit_jit(m, "kernel", sizes=1), tmp_path, compiler, "-fopenmp")))
    out, last = np.zeros((), "float32"), np.zeros((), "float32")
    call(library, m, "kernel", [np.array([1, np.nan, 7], "float32"), out, last], sizes=1)
    assert np.isnan(out)
    assert last == 7


def test_buffers_hold_every_type(tmp_path: Path):
    b = Builder()
    total = b.array("total", type=I64)
    sum_ = b.constant(0, I64)
    for type in (I1, I8, I16, I32, I64):
        buffer = b.alloc(MemRefType((3,), type), name=f"buffer {type}")
        b.store(b.constant(-1, type), buffer, 2)
        value = b.load(buffer, 2)
        sum_ = b.binary("addi", sum_, value if type == I64 else b.cast("extsi", value, I64))
    b.store(sum_, total)
    m = module(b.func())
    library = ctypes.CDLL(str(compile_silently(emit_jit(m, "kernel"), tmp_path, require("gcc"))))
    total = np.zeros((), "int64")
    assert call(library, m, "kernel", [total])[0] == 0
    assert total == -5
