"""Strided arrays in Fortran order: optimized kernels run loops that are made for them, and leave the same."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit_jit
from affdsl.lang.turned import is_turned, turned
from affdsl.optimize import optimized
from tests.codegen.c.compare import compile_silently
from tests.effort import TRIES_ALL
from tests.oracles import call_by, require
from tests.strided.kernels import CASES, Case

M, N = af.symbols("M N")
TURNED = [case for case in CASES if any(map(is_turned, case.kernel.program.parameters))]
MADE = [case for case in TURNED if turned(case.kernel.program) is not None]
DAILY = ("smooth", "batched", "transpose_f64")


@af.kernel
def clipped(a: af.strided(af.f64[M, N]), out: af.strided(af.f64[M, N])):
    with af.for_(M) as i, af.for_(N) as j:
        out[i, j] = af.min(af.max(a[i, j], 0.0), 1.0)


@pytest.fixture
def decided(monkeypatch):
    """The kernels that recipes were asked about."""
    found: list[af.Kernel] = []
    decide = optimized.decide

    def noted(kernel, options):
        found.append(kernel)
        return decide(kernel, options)

    monkeypatch.setattr(optimized, "decide", noted)
    return found


def in_order(case: Case, order: str, seed: int, size: int) -> list[object]:
    """The arguments of a case, with the arrays that may be turned in one order."""
    parameters = case.kernel.program.parameters
    given = case.arguments(np.random.default_rng(seed), size)
    pairs = zip(parameters, given, strict=True)
    return [
        np.array(x, order=order) if is_turned(p) else np.array(x) if isinstance(x, np.ndarray) else x for p, x in pairs
    ]


@pytest.mark.parametrize("case", [case for case in MADE if TRIES_ALL or case.kernel.name in DAILY], ids=str)
def test_the_same_is_left_in_both_orders(case: Case, decided) -> None:
    fast = case.kernel.optimize(threads=1)
    for order, made in (("C", 1), ("F", 2)):
        for size in (0, 1, 2, 7, 13, 40):
            given, wanted = (in_order(case, order, size, size) for _ in range(2))
            result, expected = fast(*given), case.wanted(*wanted)
            for a, b in zip(given, wanted, strict=True):
                np.testing.assert_array_equal(a, b)
            if expected is not None:
                np.testing.assert_array_equal(result, expected)
        assert len(decided) == made


@pytest.mark.parametrize("case", TURNED, ids=str)
def test_what_is_turned_twice_is_what_it_was(case: Case) -> None:
    once = turned(case.kernel.program)
    if once is not None:
        assert [p.type.shape[::-1] for p in once.parameters if is_turned(p)] == [
            p.type.shape for p in case.kernel.program.parameters if is_turned(p)
        ]
        twice = turned(once)
        assert twice is not None
        assert str(twice.module) == case.kernel.mlir()
        assert str(once.module) != case.kernel.mlir()


def test_loops_go_along_the_memory_and_explain_says_so(decided) -> None:
    fast = clipped.optimize("avx2", threads=1)
    assert "all strided arrays of a call lie in Fortran order" in fast.explain()
    a = np.asfortranarray(np.random.default_rng(0).normal(size=(50, 70)))
    out = np.zeros_like(a)
    fast(a, out)
    np.testing.assert_array_equal(out, a.clip(0, 1))
    _, other = decided
    assert "i runs innermost" in other.optimize("avx2", threads=1).explain()


@pytest.mark.parametrize(("a", "out", "made"), [
    (np.ones((9, 7), order="F"), np.ones((9, 7)), 1),  # one of each
    (np.ones((18, 7), order="F")[::2], np.ones((9, 14), order="F")[:, ::-2], 2),
    (np.ones((7, 9))[::-1].T, np.ones((7, 9)).T[::-1], 2),
    (np.ones((9, 7))[::-1], np.ones((9, 7))[:, ::-1], 1),
    (np.ones((9, 1)), np.ones((9, 1)), 1),
])  # fmt: skip
def test_all_arrays_have_to_lie_so_whatever_their_steps_are(a, out, made, decided) -> None:
    fast = clipped.optimize(threads=1)
    a[:] = np.random.default_rng(1).normal(size=a.shape)
    fast(out=out, a=a)
    np.testing.assert_array_equal(out, a.clip(0, 1))
    assert len(decided) == made


def test_later_calls_ask_no_python(monkeypatch) -> None:
    call_by("compiled", monkeypatch)  # the caller by ctypes asks Python each time
    fast = clipped.optimize(threads=1)
    random = np.random.default_rng(2)

    def call(*shape: int) -> None:
        a, out = np.asfortranarray(random.normal(size=shape)), np.zeros(shape, order="F")
        assert fast(out=out, a=a[::-1]) is None
        np.testing.assert_array_equal(out, a[::-1].clip(0, 1))

    call(40, 50)
    call(3, 2)  # which small loops were left out for
    monkeypatch.setattr(optimized.np, "transpose", None)
    for shape in ((40, 50), (50, 40), (3, 2), (1, 9), (0, 4), (300, 7)):
        call(*shape)
        a = random.normal(size=shape)
        fast(a, out := np.zeros(shape))
        np.testing.assert_array_equal(out, a.clip(0, 1))


def test_mistakes_are_told_in_the_order_of_the_kernel() -> None:
    fast = clipped.optimize(threads=1)
    fast(np.ones((3, 5), order="F"), np.ones((3, 5), order="F"))
    with pytest.raises(af.SizeError, match=r"dimension 1 of argument 'out' must be N = 5 .*, got 4"):
        fast(np.ones((3, 5), order="F"), np.ones((3, 4), order="F"))
    a = np.ones((4, 4), order="F")
    with pytest.raises(af.OverlapError):
        fast(a, a[::-1])


def test_what_is_not_only_accessed_is_not_turned() -> None:
    @af.kernel
    def called(a: af.strided(af.f64[M, N]), out: af.strided(af.f64[M, N])):
        clipped(a, out)

    @af.kernel
    def in_rows(a: af.f64[M, N], x: af.strided(af.f64[N])):
        with af.for_(M) as i, af.for_(N) as j:
            a[i, j] = x[j]

    assert turned(called.program) is None
    assert turned(in_rows.program) is None


def test_where_accesses_are_checked_nothing_is_turned(monkeypatch, decided) -> None:
    monkeypatch.setenv("AFFDSL_BOUNDSCHECK", "1")
    a = np.ones((5, 6), order="F")
    clipped.optimize(threads=1)(a, np.zeros_like(a))
    assert len(decided) == 1


def test_the_entry_compiles_silently(tmp_path) -> None:
    text = emit_jit(clipped.module, clipped.name, sizes=2, has_turned=True)
    compile_silently(text, tmp_path, require("gcc"), "-O1")
