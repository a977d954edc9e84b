"""Short rows of a known length are one loop over all elements, on vectors."""

import numpy as np
import pytest

import affdsl as af

N = af.symbols("N")


def moved(width, *, shifted=False):
    """Particles that move, and turn where they leave a box."""

    @af.kernel
    def move(x: af.f64[N, width], v: af.f64[N, width], dt: af.f64):
        with af.for_(N) as i, af.for_(width) as k:
            x[i, k] += dt * v[i, (k + 1) % width if shifted else k]
            with af.if_((x[i, k] < 0) | (x[i, k] > 1)):
                v[i, k] = -v[i, k]

    return move


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("width", [2, 3, 7, 32])
def test_whole_rows(width, target):
    kernel = moved(width)
    fast = kernel.optimize(target, threads=1)
    assert "i and k as one loop, over whole rows" in fast.explain()
    for n in (0, 1, 2, 11, 40):
        found = []
        for each in (kernel, fast):
            random = np.random.default_rng(n)
            x, v = random.random((n, width)), random.normal(size=(n, width))
            each.interpret(x, v, 0.3)
            found.append((x.tobytes(), v.tobytes()))
        assert found[0] == found[1]


@pytest.mark.parametrize(("width", "shifted"), [(33, False), (3, True)])
def test_long_rows_and_parts_of_rows(width, shifted):
    assert "as one loop" not in moved(width, shifted=shifted).optimize("avx512", threads=1).explain()
