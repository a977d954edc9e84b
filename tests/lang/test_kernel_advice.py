"""Advice for the body of a kernel: what a message says to write is written, and accepted."""

import math
import textwrap

import numpy as np
import pytest

import affdsl as af

KERNEL = """
@af.kernel
def f(A: af.f64[N], A2: af.f64[N, N], K: af.i64[N], U: af.u8[N], x: af.f64, k: af.i64, p: af.index):
    with af.for_(N) as i, af.for_(N) as j:
"""
M, N = af.symbols("M N")

ROWS = [
    ("K[i] = divmod(K[i], 2)[0]", "write x // y for the quotient", "K[i] = K[i] // 2"),
    ("K[i] = not K[i]", "compare the number, as in x != 0, and write", "K[i] = af.select(K[i] != 0, 0, K[j])"),
    ("if i:\n    A[i] = 0.0", "compare the number, as in x != 0", "with af.if_(i != 0):\n    A[i] = 0.0"),
    ("K[i] = af.i32(i) + K[i]", "convert one of them: affdsl.i64(...)", "K[i] = af.i64(i) + K[i]"),
    ("A[i * j] = 1.0", "give the array one dimension more and write A[i, j]", "A2[i, j] = 1.0"),
    ("A[i * j] = 1.0", "use affdsl.index(i) * j as a data-dependent index",
     "with af.if_(af.index(i) * j < N):\n    A[af.index(i) * j] = 1.0"),
    ("A2[i, j] = i * j", "affdsl.f64(i) in data", "A2[i, j] = af.f64(i) * af.f64(j)"),
    ("A[i // (j + 1)] = 1.0", "use affdsl.index(i) // j", "A[af.index(i) // (j + 1)] = 1.0"),
    ("A2[i, j] = i / N", "affdsl.f64(i) / affdsl.f64(n) for a fraction", "A2[i, j] = af.f64(i) / af.f64(N)"),
    ("A2[i, j] = A[i] + i", "convert the index", "A2[i, j] = A[i] + af.f64(i)"),
    ("A[x] = 1.0", "affdsl.index(affdsl.i64(x))", "A[af.index(af.i64(x))] = 1.0"),
    ("A[1.0] = 1.0", "write 1", "with af.if_(N >= 2):\n    A[1] = 1.0"),
    ("A[i] = A", "one by one", "A[i] = A[j]"),
    ("A[i] = K[i]", "convert it: affdsl.f64(...)", "A[i] = af.f64(K[i])"),
    ("A[-1] = 1.0", "write N - 1", "A[N - 1] = 1.0"),
    ("A2[i] = 1.0", "write them in one bracket, as in A2[i, j]", "A2[i, j] = 1.0"),
    ("A2[i] = A", "write them in one bracket, as in A2[i, j]", "A2[i, j] = A[i]"),
    ("A2[i, j] = A2[i]", "all with affdsl.copy(A2[i, :], A2)", "A2[i, j] = A2[i, j]"),
    ("B = A[:-1]", "write N - 1", "B = A[: N - 1]"),
    ("A[0:2] = 1.0", "write loops with affdsl.for_", "with af.for_(2) as q, af.if_(q < N):\n    A[q] = 1.0"),
    ("A2[i, j] = math.exp(A[i])", "use affdsl.exp", "A2[i, j] = af.exp(A[i])"),
    ("A2[i, j] = np.exp(A[i])", "use affdsl.exp", "A2[i, j] = af.exp(A[i])"),
    ("A2[i, j] = abs(A)", "use A[i]", "A2[i, j] = abs(A[i])"),
    ("if A[i] > 0:\n    A[i] = 0.0", "with affdsl.if_(condition)", "with af.if_(A[i] > 0):\n    A[i] = 0.0"),
    ("A[i] = 1.0 if i > 2 else 2.0", "affdsl.select(condition, a, b)", "A[i] = af.select(i > 2, 1.0, A[j])"),
    ("with af.if_(A[i] > 0 and A[i] < 1):\n    A[i] = 0.0", "& | ~ with parentheses",
     "with af.if_((A[i] > 0) & (A[i] < 1)):\n    A[i] = 0.0"),
    ("A[i] = max(A[i], x)", "affdsl.max", "A[i] = af.max(A[i], x)"),
    ("for q in range(N):\n    A[q] = 1.0", "with affdsl.for_(n) as i:", "with af.for_(N) as q:\n    A[q] = 1.0"),
    ("for q in af.for_(N):\n    A[q] = 1.0", "with affdsl.for_", "with af.for_(N) as q:\n    A[q] = 1.0"),
    ("for a in A:\n    A2[i, j] = a", "with affdsl.for_(A.shape[0]) as i:",
     "with af.for_(A.shape[0]) as q:\n    A2[i, j] = A[q]"),
    ("A2[i, j] = len(A)", "use A.shape[0]", "A2[i, j] = af.f64(A.shape[0])"),
    ("A2[i, j] = A.sum()", "write a loop and use A[i]",
     "with af.for_(N, iter_args=af.f64(0)) as (q, s):\n    af.yield_(s + A[q])\nA2[i, j] = s"),
    ("A2[i, j] = A @ A", "write a loop and use A[i]", "A2[i, j] = A[i] * A[i]"),
    ("K[i] = K[i] / 2", "use // for the rounded-down quotient", "K[i] = K[i] // 2"),
    ("K[i] = K[i] / 2", "or convert to affdsl.f64 first", "K[i] = af.i64(af.f64(K[i]) / 2)"),
    ("A[i] = A[i] // 2", "use affdsl.floor(a / b)", "A[i] = af.floor(A[i] / 2)"),
    ("A[i] = A[i] % 2", "affdsl.fmod(a, b)", "A[i] = af.fmod(A[i], 2.0)"),
    ("A[i] = A[i] & 1", "convert to an integer first: affdsl.i64(x)", "A[i] = af.f64(af.i64(A[i]) & 1)"),
    ("K[i] = K[i] + U[i]", "convert one of them", "K[i] = K[i] + af.i64(U[i])"),
    ("K[i] = K[i] ** -1", "write affdsl.f64(x) ** -1", "K[i] = af.i64(af.f64(K[i]) ** -1)"),
    ("K[i] = pow(K[i], 2, 7)", "write affdsl.pow(x, y) % m", "K[i] = af.pow(K[i], 2) % 7"),
    ("K[i] = K[i] << -1", "write >> 1", "K[i] = K[i] >> 1"),
    ("A[i] = af.exp(1.0)", "write affdsl.f64(1.0)", "A[i] = af.exp(af.f64(1.0))"),
    ("A[i] = af.f64(af.exp(K[i]))", "convert it: affdsl.f64(x)", "A[i] = af.exp(af.f64(K[i]))"),
    ("A[i] = af.exp(A)", "write a loop over the elements", "A[i] = af.exp(A[i])"),
    ("A[i] = float(K[i])", "affdsl.f64(x)", "A[i] = af.f64(K[i])"),
    ("A[int(x)] = 1.0", "affdsl.i32(x)", "A[af.i32(x)] = 1.0"),
    ("with af.for_(N, iter_args=[0]) as (q, s):\n    af.yield_(s)", "give it a type: affdsl.f32(0)",
     "with af.for_(N, iter_args=[af.f32(0)]) as (q, s):\n    af.yield_(s)"),
    ("s = af.var(-1)", "give it a type: affdsl.i64(-1)", "s = af.var(af.i64(-1))"),
    ("s = af.var(0.0)", "give it a type: affdsl.f64(0.0)", "s = af.var(af.f64(0.0))"),
    ("s = af.var(af.f64(0))\nwith af.for_(N) as q:\n    s = s + A[q]", "write s.set(...), s += ...",
     "s = af.var(af.f64(0))\nwith af.for_(N) as q:\n    s.set(s + A[q])"),
    ("s = af.var(af.f64(0))\nt = s\ns += 1.0\nA[i] = t", "write t = +s",
     "s = af.var(af.f64(0))\nt = +s\ns += 1.0\nA[i] = t"),
    ("s = af.var(af.f64(0))\nwith af.parallel(N) as q:\n    s += A[q]", "make it inside of the loop",
     "with af.parallel(N) as q:\n    s = af.var(af.f64(0))\n    s += A[q]"),
    ("s = af.var(af.f64(0))\nwith af.parallel(N) as q:\n    s += A[q]",
     'affdsl.parallel(n, reduce=[("addf", affdsl.f64)])',
     "with af.parallel(N, reduce=[('addf', af.f64)]) as (q, s):\n    af.yield_(A[q])"),
    ("with af.for_(N) as q:\n    s = A[q] * 2\nA[i] = s", "carry its value out with iter_args and yield_",
     "with af.for_(N, iter_args=af.f64(0)) as (q, s):\n    af.yield_(A[q] * 2)\nA[i] = s"),
    ("with af.if_(x > 0):\n    s = A[i] * 2\nA[i] = s",
     "give if_ a result type, as in affdsl.if_(c, affdsl.f32), and yield_ in both",
     "with af.if_(x > 0, af.f64) as s:\n    af.yield_(A[i] * 2)\nwith af.else_():\n    af.yield_(A[i])\nA[i] = s"),
    ("with af.for_(N) as q:\n    t = af.alloca(af.f64[4])\nt[0] = 1.0", "allocate t before it",
     "t = af.alloca(af.f64[4])\nwith af.for_(N) as q:\n    t[0] = 1.0"),
    ("with af.for_(0, N, M) as q:\n    A[q] = 1.0", "with for_((n + s - 1) // s) as t:",
     "with af.if_(p >= 1), af.for_((N + p - 1) // p) as t:\n    A[t * p] = 1.0"),
    ("with af.parallel((N - 1, -1, -1)) as q:\n    A[q] = 1.0", "count up, over the same numbers",
     "with af.parallel(N) as q:\n    A[q] = 1.0"),
    ("with af.parallel(K[i]) as q:\n    A[q] = 1.0", "use affdsl.for_", "with af.for_(K[i]) as q:\n    A[q] = 1.0"),
    ("t = af.alloc(af.f64[N])\nt[:] = A", "write loops with affdsl.for_",
     "t = af.alloc(af.f64[N])\nwith af.for_(N) as q:\n    t[q] = A[q]"),
    ("A.fill(0.0)", "write a loop that stores", "A[i] = 0.0"),
    ("t = A.copy()", "write affdsl.copy(a, b), with b = affdsl.alloc(...)", "t = af.alloc(af.f64[N])\naf.copy(A, t)"),
    ("A[i] = A2.T[i, j]", "exchange the indices instead", "A[i] = A2[j, i]"),
    ("A[i] = A(i)", "an element is A[i]", "A[i] = A[i]"),
    ("v = af.vector_load(A, (0,), 4)\nA[i] = v", "or make one number of it with v.sum()",
     "with af.if_(N >= 4):\n    v = af.vector_load(A, (0,), 4)\n    A[i] = v.sum()"),
    ("with af.if_(N >= 4):\n    v = af.vector_load(A, (0,), N)\n    A[i] = v.sum()", "write a Python number",
     "with af.if_(N >= 4):\n    v = af.vector_load(A, (0,), 4)\n    A[i] = v.sum()"),
    ("with af.if_(N >= 4):\n    v = af.vector_load(A, (0,), (2, 2))\n    A[i] = v.sum()", "or fewer",
     "with af.if_(N >= 4):\n    v = af.vector_load(A, (0,), 4)\n    A[i] = v.sum()"),
    ("with af.if_(N >= 4):\n    v = af.vector_load(U, (0,), 4)\n    af.vector_store(v, A, (0,))",
     "load the vector from an array of the same type",
     "with af.if_(N >= 4):\n    v = af.vector_load(A, (0,), 4)\n    af.vector_store(v, A, (0,))"),
    ("t = af.constant([1, 2])", "write affdsl.constant(np.float32([1, 2]))", "t = af.constant(np.float32([1, 2]))"),
    ("t = af.constant(np.array([1], 'g'))", "convert it with .astype(...)",
     "t = af.constant(np.array([1], 'g').astype('f8'))"),
    ("A[i] = None", "store a number of the kernel", "A[i] = x"),
    ("af.if_(x > 0)\nA[i] = 1.0", "write `with affdsl.if_(...):`", "with af.if_(x > 0):\n    A[i] = 1.0"),
    ("with af.else_():\n    A[i] = 1.0", "right after the with-block of its if_",
     "with af.if_(x > 0):\n    A[i] = 0.0\nwith af.else_():\n    A[i] = 1.0"),
    ("A[i] = x.astype('f4')", "write affdsl.f32(x)", "A[i] = af.f64(af.f32(x))"),
    ("A[i] = round(x)", "use affdsl.round(x)", "A[i] = af.round(x)"),
    ("A[i] = math.floor(x)", "affdsl.floor", "A[i] = af.floor(x)"),
    ("A[i] = -U[i]", "convert it: affdsl.f64(...)", "A[i] = af.f64(-U[i])"),
    ("A[i] = sum(A)", "with affdsl.for_",
     "with af.for_(N, iter_args=af.f64(0)) as (q, s):\n    af.yield_(s + A[q])\nA[i] = s"),
    ("A[i] = np.sqrt(x)", "affdsl.sqrt", "A[i] = af.sqrt(x)"),
    ("A[i] = np.where(x > 0, x, 1.0)", "use affdsl.select", "A[i] = af.select(x > 0, x, 1.0)"),
    ("A[i] = np.maximum(x, 1.0)", "use affdsl.max", "A[i] = af.max(x, 1.0)"),
    ("A[i] += x if k == 0 else 0.0", "affdsl.select", "A[i] += af.select(k == 0, x, 0.0)"),
    ("A[i] = 0.0 if 0 <= k < 5 else 1.0", "& | ~", "A[i] = af.select((0 <= k) & (k < 5), 0.0, x)"),
    ("A[i] = A[K]", "one element of an array is A[i]", "A[i] = A[K[i]]"),
    ("A[i] = A[A2[i, j]]", "affdsl.index(affdsl.i64(x))", "A[i] = A[af.index(af.i64(A2[i, j]))]"),
    ("A[i] = af.where(x > 0, x, 1.0)", "affdsl.select", "A[i] = af.select(x > 0, x, 1.0)"),
    ("A[i] = af.maximum(x, 1.0)", "affdsl.max", "A[i] = af.max(x, 1.0)"),
    ("with af.prange(N) as q:\n    A[q] = 1.0", "affdsl.parallel", "with af.parallel(N) as q:\n    A[q] = 1.0"),
]  # fmt: skip
"""What somebody writes, a part of what is said, and what it asks for."""


def build(text: str) -> None:
    body = textwrap.indent(text, " " * 8)
    exec(KERNEL + body, {"af": af, "np": np, "math": math, "M": M, "N": N, "__name__": "advice"})


@pytest.mark.parametrize(("wrong", "advice", "right"), ROWS, ids=[row[0].replace("\n", "; ") for row in ROWS])
def test_what_is_advised_is_accepted(wrong, advice, right):
    with pytest.raises((af.AffdslError, AttributeError)) as caught:
        build(wrong)
    assert advice in str(caught.value)
    build(right)
