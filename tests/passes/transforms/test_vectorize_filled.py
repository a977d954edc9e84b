"""Elements that data chooses under a condition: loaded without one where their array has a first element."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref, scf
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from tests.passes.transforms.lanes import wide

N, M = af.symbols("N M")


def by_index(a: af.f32[N], b: af.f32[N], k: af.i64[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            a[i] = b[k[i]] + 1.0


def in_both_branches(a: af.f32[N], b: af.f32[7], k: af.i64[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            a[i] = b[k[i]]
        with af.elif_(a[i] < -1.0):
            a[i] = b[-k[i]] - a[i]


def of_a_matrix(a: af.f32[N], b: af.f32[3, N + 1], k: af.i64[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            a[i] = b[k[i] % 3, k[i]]


def of_an_array_that_may_be_empty(a: af.f32[N], b: af.f32[M], k: af.i64[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            a[i] = b[k[i]] + 1.0


def of_an_array_that_changes(a: af.f32[N], b: af.f32[N], k: af.i64[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            a[i] = b[k[i]] + 1.0
    with af.if_(N > 0):
        b[0] = 1.0


def arguments(kernel: af.Kernel, n: int) -> list[np.ndarray]:
    """Numbers of elements lie outside of their array where the condition does not hold."""
    random = np.random.default_rng(n)
    a = np.round(random.normal(0, 1, n), 2).astype(np.float32)
    m = {"in_both_branches": 7, "of_an_array_that_may_be_empty": 5}.get(kernel.name, n)
    shape = (3, n + 1) if kernel.name == "of_a_matrix" else m
    k = np.where(a > 0, random.integers(0, max(m, 1), n), 10**12 + n)
    if kernel.name == "in_both_branches":
        k[a < -1] = -random.integers(0, m, n)[a < -1]
    return [a, random.normal(0, 1, shape).astype(np.float32), k]


@pytest.mark.parametrize(
    ("function", "guarded"),
    [
        (by_index, False),
        (in_both_branches, False),
        (of_a_matrix, False),
        (of_an_array_that_may_be_empty, True),
    ],
)
def test_what_is_chosen_under_a_condition(function, guarded):
    kernel = af.kernel(function)
    for width, tail in ((8, "masked"), (4, "folded"), (16, "scalar")):
        s = af.Schedule(kernel)
        s.vectorize("i", width, tail=tail)
        made = s.kernel()
        branches = [op for op in walk(made.func) if isinstance(op, scf.If) and op.results]
        loads = [op for op in walk(made.func) if isinstance(op, memref.Load)]
        assert len(loads) >= width
        assert bool(branches) == guarded
        for n in (0, 1, 5, 8, 37):
            wanted, *found = (arguments(kernel, n) for _ in range(3))
            kernel.interpret(*wanted)
            for run, each in zip((made.interpret, made)[: 1 + (tail == "masked")], found, strict=False):
                run(*each)
                assert each[0].tobytes() == wanted[0].tobytes()


def test_an_array_that_other_threads_may_change_is_loaded_where_its_elements_are_needed():
    kernel = af.kernel(of_an_array_that_changes)
    made = wide(parse(kernel.mlir()), 8, "masked")
    assert any(isinstance(op, scf.If) and op.results for op in walk(made))
