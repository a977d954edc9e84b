"""Code that recipes make is bounded by how much C it is, whatever its numbers are."""

from __future__ import annotations

import pytest

import affdsl as af
from affdsl.optimize import size
from affdsl.optimize.size import size_of

M, N, K = af.symbols("M N K")


def product(T) -> af.Kernel:
    @af.kernel
    def kernel(A: T[M, K], B: T[K, N], C: T[M, N]):
        with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]

    return kernel


def test_what_converts_narrow_floats_counts():
    sizes = [size_of(af.Schedule(product(T))) for T in (af.f64, af.f32, af.bf16, af.f16)]
    operations = 6  # three loads, a product, a sum and a store
    assert sizes[1] == sizes[0]
    assert sizes[2:] == [sizes[0] + operations * size.CONVERSION[name] for name in ("bf16", "f16")]


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_products_of_narrow_floats_are_as_long_as_of_floats(target):
    """Of bf16 they were three times as long: 150 kB, of which gcc -O3 made code for 35 s."""
    lengths = [len(product(T).optimize(target, threads=1).c()) for T in (af.f32, af.bf16)]
    assert lengths[1] < 1.5 * lengths[0]


def test_a_recipe_that_makes_too_much_code_is_left_out(monkeypatch):
    fast = product(af.f32).optimize("avx2", threads=1)
    assert "tile" in str(fast.schedule)
    monkeypatch.setattr("affdsl.optimize.optimizer.MOST", 20)
    short = product(af.f32).optimize("avx2", threads=1)
    assert "tile" not in str(short.schedule)
    assert any("left out, since its code would be longer by more than" in note for note in short.explain().splitlines())
