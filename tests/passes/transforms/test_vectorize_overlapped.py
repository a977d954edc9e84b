"""The last vector of a loop over iterations that ran before: the same numbers, or a refusal that says why."""

from itertools import product

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk
from tests.effort import by_turns

N, M = af.symbols("N M")


@af.kernel
def means(x: af.f32[N, M], y: af.f32[N, M]):
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        y[i, j] = x[i, j - 1] + x[i, j + 1]


@af.kernel
def through_another(x: af.f32[N], y: af.f32[N], t: af.f32[N]):
    with af.for_(N) as i:
        t[i] = x[i]
        y[i] = t[i] * 2.0


@pytest.mark.parametrize(
    ("width", "way"),
    by_turns([2, 3, 4, 7, 8], [*product((means, through_another), ("overlapped", "halved"))]),
    ids=lambda each: f"{each[0].name}-{each[1]}" if isinstance(each, tuple) else None,
)
def test_any_number_of_iterations(width, way):
    kernel, tail = way
    s = af.Schedule(kernel, validate=True).vectorize("j" if kernel is means else "i", width, tail=tail)
    made = s.kernel()
    for n in range(3 * width + 3):
        shape = (2, n) if kernel is means else (n,)
        x = np.random.default_rng(n).random(shape, np.float32)
        wanted, found = np.zeros_like(x), np.zeros_like(x)
        others = () if kernel is means else (np.zeros_like(x),)
        kernel(x, wanted, *others)
        made(x, found, *others)
        assert wanted.tobytes() == found.tobytes()


def test_one_more_vector_runs_what_is_left_over():
    made = af.Schedule(means).vectorize("j", 8, tail="overlapped").kernel().func
    assert not any(isinstance(op, vector.CreateMask) for op in walk(made))
    (alone,) = [op for op in walk(made) if isinstance(op, affine.If) and op.orelse]
    assert sum(isinstance(op, affine.VectorStore) for op in walk(alone)) == 1


def test_fixed_sizes_need_no_condition():
    @af.kernel
    def fixed(x: af.f32[21], y: af.f32[21]):
        with af.for_(21) as i:
            y[i] = x[i]

    made = af.Schedule(fixed).vectorize("i", 8, tail="overlapped").kernel().func
    assert not any(isinstance(op, affine.If) for op in walk(made))
    x, y = np.arange(21, dtype=np.float32), np.zeros(21, np.float32)
    af.Schedule(fixed).vectorize("i", 8, tail="overlapped").kernel()(x, y)
    assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize(("n", "lanes"), [(16, [8]), (17, [8, 4]), (20, [8, 4]), (21, [8, 8]), (23, [8, 8])])
def test_half_a_vector_where_that_suffices(n, lanes):
    @af.kernel
    def fixed(x: af.f32[n], y: af.f32[n]):
        with af.for_(n) as i:
            y[i] = x[i]

    made = af.Schedule(fixed).vectorize("i", 8, tail="halved").kernel()
    stores = [op for op in walk(made.func) if isinstance(op, affine.VectorStore)]
    assert [op.value.type.shape[0] for op in stores] == lanes
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    made(x, y)
    assert x.tobytes() == y.tobytes()


def test_sizes_choose_among_the_last_vectors():
    made = af.Schedule(means).vectorize("j", 8, tail="halved").kernel().func
    stores = [op for op in walk(made) if isinstance(op, affine.VectorStore)]
    assert sorted(op.value.type.shape[0] for op in stores) == [4, 8, 8]


@af.kernel
def in_place(x: af.f32[N]):
    with af.for_(N) as i:
        x[i] = x[i] * 2.0


@af.kernel
def last(x: af.f32[N], r: af.f32[1]):
    with af.for_(N) as i:
        r[0] = x[i]


@af.kernel
def total(x: af.f32[N], r: af.f32[1]):
    with af.for_(N, iter_args=r[0]) as (i, s):
        af.yield_(s + x[i])
    r[0] = s


@af.kernel
def every_second(x: af.f32[N]):
    with af.for_(0, N, 2) as i:
        x[i] = 0.0


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (in_place, r"would run twice, and the store x\[i\] at line \d+ changes what is read by the load x\[i\]"),
        (last, r"some iterations would run twice, and the store r\[0\] at line \d+ comes after the store r\[0\]"),
        (total, "it carries values, which would be combined twice"),
        (every_second, "its last vector has no place: it has several bounds, or a step"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tail", ["overlapped", "halved"])
def test_refusals(kernel, reason, tail):
    before = str(af.Schedule(kernel).kernel())
    s = af.Schedule(kernel)
    with pytest.raises(af.IllegalTransform, match=reason) as caught:
        s.vectorize("i", 4, tail=tail)
    assert 'legal: tail="masked"' in str(caught.value)
    assert str(s.kernel()) == before
