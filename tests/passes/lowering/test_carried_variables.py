"""Variables of text that is handed on are values; each program is lowered and run, also on two threads of OpenMP."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.passes.lowering.carried_variables import carried_variables
from tests.handed_on.test_openmp import agree
from tests.oracles import run_mlir

M, N = af.symbols("M N")


@af.kernel
def of_all_kinds(x: af.f32[M, N], n: af.i32[M], y: af.f32[M, 4], z: af.c64[M], least: af.index):
    """Variables of threads in loops, branches and while loops, in loops over data, and in those that end early."""
    with af.parallel(M) as i:
        total, count, above = af.var(af.f32(0)), af.var(af.i64(0)), af.var(af.bool_(False))
        rotated, where = af.var(af.complex(af.f32(1), 0.0)), af.var(least)
        with af.for_(N) as j:
            own = af.var(x[i, j])
            with af.for_(n[i]) as k:
                own *= 0.5
                with af.if_(own < 0.01):
                    own.set(af.f32(k))
                    count += 1
            with af.if_(x[i, j] > total):
                total += own
                where.set(j)
            with af.elif_(x[i, j] < -1):
                above.set(True)
                with af.for_(j):
                    total -= 0.25
            rotated *= af.complex(af.f32(0.5), 0.25)
        left = af.var(af.i64(7))
        with af.while_(lambda: left > count):
            left -= 2
        with af.for_(N) as j, af.if_(x[i, j] > 1):
            total += x[i, j]
            af.break_()
        y[i, 0] = total
        y[i, 1] = af.f32(count)
        y[i, 2] = af.select(above, af.f32(left), -1)
        y[i, 3] = x[i, where]
        z[i] = rotated


@af.kernel
def read_by_threads(x: af.f32[N], y: af.f32[N]):
    factor = af.var(af.f32(1))
    with af.for_(N) as i:
        factor.set(af.max(factor, x[i]))
    with af.parallel(N) as i:
        y[i] = factor * x[i]


@af.kernel
def in_short_arrays(x: af.f32[N, 4], y: af.f32[N]):
    """One with known subscripts, which is numbers, and one that is not, which stays on the stack of the thread."""
    with af.parallel(N) as i:
        known, other = af.alloca(af.f32[2, 2]), af.alloca(af.f32[4])
        known[0, 0] = x[i, 0]
        with af.if_(x[i, 1] > 0):
            known[1, 1] = x[i, 1]
        with af.else_():
            known[1, 1] = 0.0
        with af.for_(4) as j:
            other[3 - j] = 2 * x[i, j]
            known[0, 0] += other[3 - j]
        with af.for_(4) as j:
            known[1, 1] -= other[j]
        y[i] = known[0, 0] * known[1, 1]


KERNELS: dict[str, tuple[af.Kernel, Callable[[np.random.Generator], tuple[object, ...]], int]] = {
    "of all kinds": (
        of_all_kinds,
        lambda rng: (
            rng.normal(size=(9, 13)).astype("f4"), rng.integers(0, 9, 9).astype("i4"), np.zeros((9, 4), "f4"),
            np.zeros(9, "c8"), 2,
        ),
        0,
    ),
    "read by threads": (read_by_threads, lambda rng: (rng.normal(size=11).astype("f4"), np.zeros(11, "f4")), 0),
    "in short arrays": (
        in_short_arrays, lambda rng: (rng.normal(size=(11, 4)).astype("f4"), np.zeros(11, "f4")), 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_variables_are_values_and_all_ways_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, drawn, arrays = KERNELS[name]
    text = kernel.mlir()
    assert text.count("memref.alloca") == arrays < str(kernel.module).count("memref.alloca")
    assert str(af.parse(text)) == text
    arguments = drawn(np.random.default_rng(5))
    agree(kernel, arguments, monkeypatch)
    called = drawn(np.random.default_rng(5))
    kernel(*called)
    kernel.interpret(*arguments)
    for a, b in zip(called, arguments, strict=True):
        np.testing.assert_array_equal(a, b)


HEAD = "func.func @f(%A: memref<8xf32>, %x: f32, %k: index, %c: i1) -> f32 {"
STAYING = {
    "a subscript that is not known": """%s = memref.alloca() : memref<4xf32>
        affine.store %x, %s[symbol(%k)] : memref<4xf32> %y = affine.load %s[0] : memref<4xf32>""",
    "an array that is long": """%s = memref.alloca() : memref<65xf32>
        affine.store %x, %s[0] : memref<65xf32> %y = affine.load %s[0] : memref<65xf32>""",
    "a memory of its own": """%s = memref.alloca() : memref<f32, 3>
        affine.store %x, %s[] : memref<f32, 3> %y = affine.load %s[] : memref<f32, 3>""",
    "something else that uses it": """%s = memref.alloca() : memref<f32>
        affine.store %x, %s[] : memref<f32> "mine.use"(%s) : (memref<f32>) -> ()
        %y = affine.load %s[] : memref<f32>""",
    "a store in iterations that run at once": """%s = memref.alloca() : memref<f32>
        affine.store %x, %s[] : memref<f32>
        affine.parallel (%i) = (0) to (8) { affine.store %x, %s[] : memref<f32> }
        %y = affine.load %s[] : memref<f32>""",
    "a vector of which nobody says what it is at first": """%s = memref.alloca() : memref<vector<4xf32>>
        %v = affine.load %s[] : memref<vector<4xf32>> %y = vector.extract %v[0] : f32 from vector<4xf32>""",
}


@pytest.mark.parametrize("why", STAYING)
def test_what_cannot_be_values_stays(why: str) -> None:
    module = af.parse(f"{HEAD} {STAYING[why]} return %y : f32 }}", allow_unregistered=True)
    assert carried_variables(module) is module


def test_what_nobody_has_set_is_some_number() -> None:
    """In a branch that does not set it, the variable keeps what it was: nothing that was set."""
    module = af.parse(f"""{HEAD}
        %s = memref.alloca() : memref<f32>
        scf.if %c {{ affine.store %x, %s[] : memref<f32> }}
        %y = memref.load %s[] : memref<f32>
        %t = memref.alloca() : memref<1xvector<4xf32>>
        %v = vector.broadcast %y : f32 to vector<4xf32>
        affine.store %v, %t[0] : memref<1xvector<4xf32>>
        %w = affine.load %t[0] : memref<1xvector<4xf32>>
        %z = vector.extract %w[3] : f32 from vector<4xf32>
        return %z : f32 }}""")
    made = carried_variables(module)
    verify(made)
    assert "alloca" not in str(made)
    for condition, wanted in ((True, 2.5), (False, 0.0)):
        A = np.zeros(8, "f4")
        assert run(made.functions[0], A, np.float32(2.5), 0, condition, module=made) == (wanted,)
        assert run_mlir(str(made), "f", [A, np.float32(2.5), 0, condition]) == wanted
