"""`while_`, `elif_`, loops that run down, defaults and assertions: inside of one another, called, and in parallel."""

# ruff: noqa: PT009 - it is no assertion of unittest

import re
import subprocess
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import affdsl as af
from tests.effort import TRIES_ALL
from tests.loops.ways import agree, lowered
from tests.oracles import compile_c

M, N = af.symbols("M N")
CASES: list[tuple[af.Kernel, Callable[..., object], tuple[object, ...]]] = []


def case(kernel: af.Kernel, *arguments: object):
    """Says that the function below does the same as a kernel."""

    def made(wanted):
        CASES.append((kernel, wanted, arguments))
        return wanted

    return made


X = np.linspace(0, 20, 7)


@af.kernel
def inside_of_another(x: af.f64[N], y: af.i64[N]):
    with af.for_(N - 1, -1, -1) as i:
        count = af.var(af.i64(0))
        with af.while_(lambda v: v > 1.0, iter_args=x[i]) as v:
            with af.while_(lambda w: w > v, iter_args=v * 4) as w:
                count += 1
                af.yield_(w / 3)
            af.yield_(v / 2)
        y[i] = count


@case(inside_of_another, X, np.zeros(7, "i8"))
def _(x, y):
    for i, v in enumerate(x):
        while v > 1:
            w = v * 4
            while w > v:
                w, y[i] = w / 3, y[i] + 1
            v /= 2


@af.kernel
def a_result_of_branches(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(x[i] > 7, af.f64) as r:
            with af.while_(lambda v: v * v > x[i], iter_args=x[i]) as v:
                af.yield_(v - 0.25)
            af.yield_(v)
        with af.elif_(i < 2):
            with af.for_(5, 0, -2, iter_args=af.f64(0)) as (k, s):
                af.yield_(s + af.f64(k))
            af.yield_(s)
        with af.else_():
            af.yield_(-1.0)
        y[i] = r


@case(a_result_of_branches, X, np.zeros(7))
def _(x, y):
    for i, v in enumerate(x):
        y[i] = 9 if i < 2 else -1
        if v > 7:
            y[i] = v
            while y[i] * y[i] > v:
                y[i] -= 0.25


@af.kernel
def root(a: af.f64, eps: af.f64 = 1e-9, most: af.index = 50):
    af.assert_(a >= 0, "no root", a)
    k = af.var(af.index(0))
    with af.while_(lambda v: (af.abs(v * v - a) > eps) & (k < most), iter_args=a) as v:
        k += 1
        af.yield_((v + a / v) / 2)
    return v


@af.kernel
def called_with_defaults(x: af.f64[N]):
    with af.for_(N - 1, -1, -1) as i:
        x[i] = root(x[i]) + root(x[i], most=2) + root(x[i], 1e-3)


@case(called_with_defaults, X)
def _(x):
    def sought(a, eps=1e-9, most=50):
        v = a
        while abs(v * v - a) > eps and most > 0:
            v, most = (v + a / v) / 2, most - 1
        return v

    for i, a in enumerate(x):
        x[i] = sought(a) + sought(a, most=2) + sought(a, 1e-3)


@af.kernel
def down_within_down(A: af.f64[M, N], s: af.f64[1]):
    with af.for_(M - 1, 0, -1, iter_args=af.f64(0)) as (i, a):
        with af.for_(af.min(i + 2, N) - 1, af.max(i - 2, 0) - 1, -1, iter_args=a) as (j, b):
            af.yield_(b * 0.5 + A[i, j])
        af.yield_(b)
    s[0] = a


@case(down_within_down, np.arange(30.0).reshape(6, 5), np.zeros(1))
def _(A, s):
    for i in range(A.shape[0] - 1, 0, -1):
        for j in range(min(i + 2, A.shape[1]) - 1, max(i - 2, 0) - 1, -1):
            s[0] = s[0] * 0.5 + A[i, j]


@af.kernel(boundscheck=True)
def in_parallel(x: af.f64[N], at: af.i32[N], y: af.f64[N]):
    with af.parallel(N) as i:
        af.assert_(x[i] >= 0, "negative", i, x[i])
        with af.while_(lambda k: x[k] < 0.5, iter_args=af.index(at[i])) as k:
            af.yield_(k + 1)
        with af.if_(k > 3):
            y[i] = x[k]
        with af.elif_(x[k] > 0.7):
            y[i] = x[k - 1 + 1] + 1
        with af.else_():
            y[i] = 0


@case(in_parallel, np.array([0.1, 0.9, 0.2, 0.3, 0.8]), np.arange(5, dtype="i4"), np.zeros(5))
def _(x, at, y):
    for i, k in enumerate(at):
        while x[k] < 0.5:
            k += 1
        y[i] = x[k] if k > 3 else x[k] + 1 if x[k] > 0.7 else 0


def ways(kernel: af.Kernel) -> Iterator[Callable[..., object]]:
    """The ways to run it: all of them in the long run."""
    yield kernel.interpret
    yield kernel
    if TRIES_ALL:
        yield kernel.optimize("avx2", threads=2)
        yield kernel.fuse()
        yield kernel.apply("canonicalize,cse,affine-scalrep,affine-loop-invariant-code-motion", validate=True)
        yield kernel.apply("inline,canonicalize")
        yield lowered(kernel)


@pytest.mark.parametrize("position", range(len(CASES)), ids=[kernel.name for kernel, *_ in CASES])
def test_they_do_what_python_does(position: int):
    kernel, wanted, arguments = CASES[position]
    agree(kernel, wanted, *arguments, ways=[lambda _, run=run: run for run in ways(kernel)])


def test_what_fails_in_a_called_kernel_in_a_loop_says_where():
    line = root.func.location.line + 1
    for run in (called_with_defaults, called_with_defaults.interpret, called_with_defaults.apply("inline")):
        with pytest.raises(af.FailedAssertionError, match=rf"test_odd_places.py:{line}: no root \(a = -1\)$"):
            run(np.array([4.0, -1.0, 9.0]))
    x = np.array([0.9, -0.5, 0.9])
    with pytest.raises(af.FailedAssertionError, match=r"negative \(i = 1, x\[i\] = -0.5\)$"):
        in_parallel(x, np.zeros(3, "i4"), np.zeros(3))


def test_a_parallel_loop_counts_up():
    with pytest.raises(af.ProgramIndexError, match="the step of a parallel loop must be positive, got -1"):

        @af.kernel
        def down(x: af.f64[N]):
            with af.parallel((N - 1, -1, -1)) as i:
                x[i] = 0.0


MAIN = """
#include "called_with_defaults.h"
#include <stdio.h>
int main(void)
{
    double x[] = {4.0, -1.0, 9.0}, y[] = {4.0};
    int64_t failure[2] = {0};
    int status = called_with_defaults(1, y, failure);
    printf("%d %.3f\\n", status, y[0]);
    status = called_with_defaults(3, x, failure);
    printf("%d %d %.3f\\n", status, (int)failure[0], x[2]);
    return 0;
}
"""


def test_shipped_c_tells_of_what_fails_by_its_status(tmp_path):
    called_with_defaults.save_c(tmp_path)
    sources = {path.name: path.read_text() for path in tmp_path.iterdir()}
    flags = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
    program = compile_c({"main.c": MAIN, **sources}, "gcc", flags, shared=False)
    said = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True).stdout
    assert re.fullmatch(r"0 6.050\n3 1 9.\d\d\d\n", said), said
