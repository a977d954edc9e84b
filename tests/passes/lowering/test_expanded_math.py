"""Functions of floats in MLIR handed on with `expand_math`, lowered and run: the bits of C and of the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects.math import FLOAT_UNARY
from affdsl.ir.interpreter import run
from affdsl.ir.numeric import quiet
from affdsl.ir.verifier import verify
from affdsl.passes.lowering.expanded_math import expanded_math
from affdsl.passes.lowering.handed_on import handed_on
from affdsl.passes.lowering.in_doubles import KINDS
from benchmarks.layers import attention, gelu
from tests.effort import TRIES_ALL
from tests.every_float.program import FLOATS
from tests.every_float.test_every_float import HARD, SPECIAL
from tests.oracles import run_mlir

M, N = af.symbols("M N")
DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2"}
LANES = 8
CASES = [(type, lanes) for type in DTYPES for lanes in (True, False) if TRIES_ALL or (lanes and type != "f16")]


def functions(type: str, lanes: bool) -> str:
    """Every function of the numbers of an array, and of pairs."""
    shown = f"vector<{LANES}x{type}>" if lanes else type
    array = f"memref<?x{type}>"
    accessed, kind = (f"{array}, {shown}", "vector_") if lanes else (array, "")
    operations = [f"math.{name} %x : {shown}" for name in FLOAT_UNARY]
    operations += [f"math.{name} %x, %y : {shown}" for name in ("atan2", "powf", "copysign")]
    outputs = "".join(f", %o{k}: {array}" for k in range(len(operations)))
    lines = [f"func.func @f(%n: index, %a: {array}, %b: {array}{outputs}) {{"]
    lines += [f"affine.for %i = 0 to %n step {LANES if lanes else 1} {{"]
    lines += [f"%{x} = affine.{kind}load %{a}[%i] : {accessed}" for x, a in (("x", "a"), ("y", "b"))]
    for k, operation in enumerate(operations):
        lines += [f"%r{k} = {operation}", f"affine.{kind}store %r{k}, %o{k}[%i] : {accessed}"]
    return "\n".join([*lines, "}", "return", "}"])


def arguments(type: str) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    ends = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 88.7, 89.0, -104.0, 710.0, 1e22]
    numbers = np.concatenate([rng.uniform(-1, 1, 99), rng.uniform(-20, 20, 99), 10 ** rng.uniform(-20, 20, 53), ends])
    with quiet():
        x = np.resize(numbers, 33 * LANES).astype(DTYPES[type])
    if type == "f32":
        hard = [float.fromhex(text) for texts in HARD.values() for text in texts]
        all_over = np.arange(0, FLOATS, 400_009 if TRIES_ALL else 4_000_037).astype("u4").view("f4")
        x = np.concatenate([x, all_over, np.float32([*hard, *SPECIAL])])
        x = np.resize(x, -(-x.size // LANES) * LANES)
    return [x, np.roll(x, 7), *(np.zeros_like(x) for _ in range(len(FLOAT_UNARY) + 3))]


@pytest.mark.parametrize(("type", "lanes"), CASES)
def test_every_function_of_floats_gives_the_same_bits_once_lowered(type: str, lanes: bool) -> None:
    module = af.parse(functions(type, lanes))
    text = str(handed_on(expanded_math(module)))
    wanted, found = arguments(type), arguments(type)
    run(module.functions[0], len(wanted[0]), *wanted, module=module)
    run_mlir(text, "f", [len(found[0]), *found])
    for name, a, b in zip((*FLOAT_UNARY, "atan2", "powf", "copysign"), wanted[2:], found[2:], strict=True):
        bits = f"u{a.itemsize}"
        differ = (a.view(bits) != b.view(bits)) & ~(np.isnan(a) & np.isnan(b))
        assert not differ.any(), (name, wanted[0][differ][:3], a[differ][:3], b[differ][:3])
    assert str(af.parse(text)) == text
    verify(af.parse(text))


def test_the_interpreter_has_the_same_of_what_calls_nothing() -> None:
    kinds = [kind for kind in KINDS if kind not in ("expm1", "log1p")]  # calls in the dialect of LLVM
    lines = [
        f"""%{kind} = math.{kind} %x : vector<16xf32>
        affine.vector_store %{kind}, %y[{k}, 0] : memref<{len(kinds)}x16xf32>, vector<16xf32>"""
        for k, kind in enumerate(kinds)
    ]
    plain = af.parse(f"""func.func @f(%a: memref<16xf32>, %y: memref<{len(kinds)}x16xf32>) {{
        %x = affine.vector_load %a[0] : memref<16xf32>, vector<16xf32>
        {" ".join(lines)}
        return }}""")
    expanded = expanded_math(plain)
    verify(expanded)
    x, wanted, found = np.resize(np.float32(SPECIAL), 16), *np.zeros((2, len(kinds), 16), np.float32)
    run(plain.functions[0], x, wanted, module=plain)
    run(expanded.functions[0], x, found, module=expanded)
    np.testing.assert_array_equal(found, wanted)


@af.kernel
def softmax(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i:
        with af.for_(N, iter_args=[af.f32(-np.inf)]) as (j, largest):
            af.yield_(af.max(largest, x[i, j]))
        with af.for_(N, iter_args=[af.f32(0)]) as (j, total):
            y[i, j] = af.exp(x[i, j] - largest)
            af.yield_(total + y[i, j])
        with af.for_(N) as j:
            y[i, j] /= total


def test_an_optimized_softmax_handed_on_with_expand_math_gives_the_bits_of_c() -> None:
    fast = softmax.optimize(target="avx2", threads=1)
    x = np.random.default_rng(3).normal(0, 3, (9, 37)).astype("f4")
    called, lowered = np.zeros_like(x), np.zeros_like(x)
    fast(x, called)
    expanded = fast.mlir(expand_math=True)
    run_mlir(expanded, "softmax", [*x.shape, x, lowered])
    np.testing.assert_array_equal(called.view("u4"), lowered.view("u4"))
    assert "math.exp" in fast.mlir()
    assert "arith.truncf" not in fast.mlir()
    assert not [line for line in expanded.splitlines() if "math.exp" in line and "vector" in line]


@pytest.mark.parametrize("name", ["gelu", "attention"])
def test_optimized_layers_handed_on_with_expand_math_give_the_bits_of_c(name: str) -> None:
    kernel, shapes, sizes = {
        "gelu": (gelu, [(99,)] * 2, [99]),
        "attention": (attention, [*[(37, 21)] * 3, (37, 37), (37, 21)], [37, 21]),
    }[name]
    fast = kernel.optimize(target="avx2", threads=1)
    called = [np.random.default_rng(k).normal(size=shape).astype("f4") for k, shape in enumerate(shapes)]
    lowered = [array.copy() for array in called]
    fast(*called)
    run_mlir(fast.mlir(expand_math=True), kernel.name, [*sizes, *lowered])
    for a, b in zip(called, lowered, strict=True):
        np.testing.assert_array_equal(a.view("u4"), b.view("u4"))
