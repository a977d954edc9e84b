"""Kernels and texts that are as deep or as wide as is asked."""

from contextlib import ExitStack

import affdsl as af
from affdsl.kernel import Kernel

N = af.symbols("N")


def nest(depth, stop=N) -> Kernel:
    """Loops inside each other, of which the first one chooses what is stored and the last one what is loaded."""

    def deep(x: af.f64[N], y: af.f64[N]):
        with ExitStack() as stack:
            counters = [stack.enter_context(af.for_(stop)) for _ in range(depth)]
            x[counters[0]] += y[counters[-1]] * 2

    return af.kernel(deep)


def choice(cases) -> Kernel:
    """One of some cases, and what is done else."""

    def chosen(x: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(i == 0):
                x[i] = 0
            for k in range(1, cases):
                with af.elif_(i == k):
                    x[i] = k * 3
            with af.else_():
                x[i] = -1

    return af.kernel(chosen)


def text(lines, depth=0) -> str:
    """A function of such lines, after which so many blocks are still open."""
    head = "func.func @f(%n: index, %A: memref<?xf64>, %x: f64) {"
    return "\n".join((head, *lines, "}" * depth, "return", "}"))


def loops(depth, stop="%n") -> str:
    """A nest, as text."""
    heads = [f"affine.for %i{k} = 0 to {stop} {{" for k in range(depth)]
    return text([*heads, f"affine.store %x, %A[%i{depth - 1}] : memref<?xf64>"], depth)


def branches(depth) -> str:
    """A choice among cases, as text, each in the other branch of the one before."""
    stores = [f"affine.if affine_set<(d) : (d - {k} == 0)>(%i) {{" for k in range(depth - 1)]
    stores = [f"{head} affine.store %x, %A[{k}] : memref<?xf64> }} else {{" for k, head in enumerate(stores)]
    return text(["affine.for %i = 0 to 100 {", *stores, "affine.store %x, %A[%i] : memref<?xf64>"], depth)
