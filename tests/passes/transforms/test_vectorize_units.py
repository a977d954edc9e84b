"""Of many lanes, those that run one after the other are a loop, and read what they need from buffers."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.passes.transforms.vectorize.units import MANY

N = af.symbols("N")


@af.kernel
def spread(x: af.f64[N], w: af.f64[N], totals: af.f64[5, 1 + N // 4], last: af.f64[1]):
    """Numbers of elements, weights and a counter are read in lanes; what a lane makes is read by none, and by one."""
    with af.for_(N) as i:
        totals[af.index(af.i64(x[i])), i // 4] += w[i] * 2.0
        last[0] = w[i]


@af.kernel
def kept(x: af.f64[N], totals: af.f64[5], before: af.f64[N]):
    """What an element was is read by other lanes' code: it stays straight."""
    with af.for_(N) as i:
        old = totals[af.index(af.i64(x[i]))]
        totals[af.index(af.i64(x[i]))] = old + 1.0
        before[i] = old * 2.0


@pytest.mark.parametrize(("kernel", "width", "loops"), [
    (spread, MANY, 3), (spread, MANY // 2, 2), (kept, MANY, 2),
], ids=lambda each: getattr(each, "name", str(each)))  # fmt: skip
def test_many_lanes_are_a_loop(kernel, width, loops):
    fast = af.Schedule(kernel).vectorize("i", width, tail="scalar").kernel()
    assert sum(isinstance(op, affine.For) for op in walk(fast.func)) == loops
    random = np.random.default_rng(2)
    for n in (0, 1, width, 2 * width + 3):
        x = random.uniform(0, 5, n)
        more = (random.normal(size=n),) if kernel is spread else ()
        shapes = ((5, 1 + n // 4), (1,)) if kernel is spread else ((5,), (n,))
        wanted, found, ran = ([np.ones(shape) for shape in shapes] for _ in range(3))
        kernel.interpret(x, *more, *wanted)
        fast.interpret(x, *more, *found)
        fast(x, *more, *ran)
        for a, b, c in zip(wanted, found, ran, strict=True):
            assert a.tobytes() == b.tobytes() == c.tobytes()
