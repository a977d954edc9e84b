"""The last vector of a loop over iterations that ran before: the same numbers, or a refusal that says why."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk
from tests.passes.transforms.steps import kernels

means = kernels("vectors")["means"]


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
