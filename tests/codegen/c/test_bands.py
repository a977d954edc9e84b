"""Tests of how many loops of a parallel band the threads share."""

import pytest

import affdsl as af

M, N = af.symbols("M N")


@pytest.mark.parametrize(
    ("bounds", "shared"),
    [
        ((N, N), 1),
        ((100, N), 1),
        ((64, N), 1),
        ((63, N), 2),
        ((4, N), 2),
        ((8, 8, N), 2),
        ((4, 4, N), 3),
        (((0, 128, 2), N), 1),
        (((0, 128, 3), N), 2),
        (((N, N + 4), M), 2),
        ((3, 3), 2),
    ],
)
def test_short_outer_loops_are_shared_together_with_inner_ones(bounds, shared):
    @af.kernel
    def fill(x: af.f32[N], y: af.f32[M]):
        with af.parallel(*bounds):
            x[0] = y[0]

    directive = next(line for line in fill.c().splitlines() if "#pragma omp" in line)
    assert directive.partition(" if(")[0] == "#pragma omp parallel for" + (f" collapse({shared})" if shared > 1 else "")
