"""A kernel with versions for sizes is compiled for what a call needs, and does the same for all others."""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen import jit
from affdsl.codegen.needed import LEAST, needed_by
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from tests.oracles import call_by

M, N, K = af.symbols("M N K")


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@cache
def schedule_of(kernel):
    return kernel.optimize("avx2", threads=2).schedule


def optimized(kernel):
    """A kernel that nobody has called."""
    return schedule_of(kernel).kernel()


def arrays(m, n, k):
    numbers = np.random.default_rng(3)
    return tuple(numbers.normal(size=shape) for shape in ((m, k), (k, n), (m, n)))


@pytest.fixture
def compiled(monkeypatch):
    """The programs that are compiled, each as it was emitted."""
    found = []
    emit = jit.emit_jit

    def noted(module, *given, **named):
        found.append(module.functions[-1])
        return emit(module, *given, **named)

    monkeypatch.setattr(jit, "emit_jit", noted)
    return found


def length(function):
    return sum(1 for _ in walk(function))


@pytest.mark.parametrize("caller", ["compiled", "ctypes"])
def test_versions_are_compiled_when_a_call_has_their_sizes(caller, compiled, monkeypatch):
    call_by(caller, monkeypatch)
    fast = optimized(product)
    sizes = [(70, 90, 40), (64, 48, 9), (3, 5, 2), (3, 2000, 30), (70, 90, 40), (0, 7, 3), (64, 47, 9)]
    for k, (m, n, terms) in enumerate(sizes):
        a, b, c = arrays(m, n, terms)
        wanted = c.copy()
        product(a, b, wanted)
        if k == 0:
            compiled.clear()
        fast(a, b, c)
        np.testing.assert_array_equal(c, wanted)
        if k < 2:  # the version for large sizes, once
            assert [length(each) < length(fast.func) - LEAST for each in compiled] == [True]
    assert [length(each) == length(fast.func) for each in compiled] == [False, True]


def test_each_version_is_right_when_it_is_the_first():
    for m, n, terms in ((70, 90, 40), (3, 2000, 30), (30, 40, 5), (2, 3, 2)):
        fast = optimized(product)
        for sizes in ((m, n, terms), (50, 60, 10), (5, 4, 3)):
            a, b, c = arrays(*sizes)
            wanted = c.copy()
            product(a, b, wanted)
            fast(a, b, c)
            np.testing.assert_array_equal(c, wanted)


def test_what_is_wrong_is_told_of_the_kernel_and_not_of_the_version():
    fast = optimized(product)
    a, b, c = arrays(70, 90, 40)
    with pytest.raises(af.SizeError, match=r"dimension 0 of argument 'B' must be K = 40"):
        fast(a, b[1:], c)
    fast(a, b, c)
    with pytest.raises(af.SizeError, match=r"dimension 0 of argument 'B' must be K = 40"):
        fast(a, b[1:], c)
    with pytest.raises(af.SizeError, match=r"dimension 0 of argument 'B' must be K = 4 \(K = 4 from"):
        fast(a[:, :4].copy(), b[:3].copy(), c)
    with pytest.raises(af.ArgumentError, match="'C'"):
        fast(a, b, c.astype(np.float32))


def test_calls_from_several_threads_get_what_they_need():
    fast = optimized(product)
    wrong = []

    def work(m, n, terms):
        for _ in range(20):
            a, b, c = arrays(m, n, terms)
            wanted = c + 0
            product(a, b, wanted)
            fast(a, b, c)
            if not np.array_equal(c, wanted):
                wrong.append((m, n, terms))

    workers = [threading.Thread(target=work, args=sizes) for sizes in ((50, 60, 20), (5, 4, 3), (30, 20, 6))]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


def test_a_version_does_not_take_the_place_of_the_whole_that_another_thread_has_compiled(monkeypatch):
    fast, kernel = optimized(product), import_module("affdsl.kernel")
    compile_program, begun, ready = kernel.compile_program, threading.Event(), threading.Event()

    def slow(*given, **named):
        made = compile_program(*given, **named)
        if threading.current_thread().name == "slow":
            begun.set()
            assert ready.wait(60)
        return made

    monkeypatch.setattr(kernel, "compile_program", slow)
    other = threading.Thread(target=fast, args=arrays(70, 90, 40), name="slow")
    other.start()
    assert begun.wait(60)
    for sizes in ((3, 4, 5), (70, 90, 40)):
        fast(*arrays(*sizes))
    ready.set()
    other.join()
    assert fast.__call__ is fast._whole


@af.kernel
def some_rows(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N], first: af.index, end: af.index):
    with af.if_(first >= 0), af.if_(end <= M), af.if_(first <= end):
        with af.for_(first, end) as i, af.for_(N) as j, af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


def test_which_calls_are_refused_does_not_depend_on_the_first_one():
    for first in ((50, 5), (0, 70)):
        fast = optimized(some_rows)
        given = arrays(70, 90, 40)
        fast(*given, *first)
        with pytest.raises(af.SizeError, match="argument first is 4611686018427387904"):
            fast(*given, 2**62, 5)


def test_the_contract_says_of_which_sizes_a_version_is():
    fast = optimized(product)
    program = fast.program
    for m, n, terms in ((70, 90, 40), (3, 2000, 30), (30, 40, 5), (2, 3, 2)):
        found = needed_by(program, arrays(m, n, terms), {})
        assert found is not None
        facts = found.func.assumes[len(program.func.assumes) :]
        sizes = {"M": m, "N": n, "K": terms}
        numbers = {v: sizes[v.hint] for v in program.func.args if v.hint in sizes}
        assert facts
        assert all(fact.holds(numbers) for fact in facts)
        assert not any(isinstance(op, affine.If) and _is_of_sizes(op, program) for op in found.func.body)


def _is_of_sizes(op, program):
    return all(v in program.func.args for c in op.condition for v in c.values())


def test_a_small_kernel_and_a_wrong_call_need_all():
    assert needed_by(product.program, arrays(5, 5, 5), {}) is None
    fast = optimized(product)
    a, b, c = arrays(70, 90, 40)
    assert needed_by(fast.program, (a, b[1:], c), {}) is None
    assert needed_by(fast.program, (a, b), {"C": c}) is not None
    assert needed_by(fast.program, (a, b), {}) is None
