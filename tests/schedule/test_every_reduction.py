"""Every way to combine integers in parts: beside a choice, in copies of an array, and alone; negative ones, too."""

import numpy as np
import pytest

import affdsl as af
from tests.harness.judges import copied

N, M = af.symbols("N M")

WAYS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "max": af.max,
    "min": af.min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "exclusive or": lambda a, b: a ^ b,
}


def kernels(combine):
    @af.kernel
    def beside_a_choice(x: af.i32[N], q: af.i32[N], out: af.i32[2]):
        best, place, all = af.var(out[0]), af.var(af.i64(-1)), af.var(out[1])
        with af.for_(N) as i:
            with af.if_(x[i] > best):
                best.set(x[i])
                place.set(af.i64(i))
            all.set(combine(all, q[i]))
        out[0] = af.i32(place)
        out[1] = all

    @af.kernel
    def of_a_key(x: af.i32[N], q: af.i32[N], out: af.i32[M]):
        with af.for_(N) as i:
            out[x[i] % 5] = combine(out[x[i] % 5], q[i])

    @af.kernel
    def alone(x: af.i32[N], q: af.i32[N], out: af.i32[2]):
        all = af.var(out[0])
        with af.for_(N) as i:
            all.set(combine(all, q[i] ^ x[i]))
        out[0] = all

    return (beside_a_choice, {}), (of_a_key, {"copies": 3}), (alone, {})


@pytest.mark.parametrize("way", WAYS)
def test_a_reduction_starts_with_what_changes_nothing(way):
    for kernel, options in kernels(WAYS[way]):
        made = af.Schedule(kernel).parallel("i", **options).kernel()
        for low, high in ((-900, -1), (1, 900), (-(2**31), 2**31 - 1)):
            random = np.random.default_rng(-low % 99)
            x, q = (random.integers(low, high, 700, dtype=np.int32) for _ in range(2))
            out = np.full(5 if options else 2, (low + high) // 2, np.int32)
            given, wanted = copied((x, q, out)), copied((x, q, out))
            made(*given)
            kernel.interpret(*wanted)
            assert given[2].tolist() == wanted[2].tolist(), kernel.name
