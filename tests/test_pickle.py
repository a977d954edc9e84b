"""Kernels in pickles: by name where a name leads to them, by value otherwise; the same kernel in another process."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.kernel import Kernel
from examples import cholesky, conv2d, floyd_warshall, gauss_seidel, histogram, jacobi2d, prefix_sum, softmax, spmv
from examples.gemm import gemm

ROOT = Path(__file__).parent.parent
M, N, K = af.symbols("M N K")
EXAMPLES = [
    value
    for module in (cholesky, conv2d, floyd_warshall, gauss_seidel, histogram, jacobi2d, prefix_sum, softmax, spmv)
    for value in vars(module).values()
    if isinstance(value, Kernel)
]


def there_and_back(kernel: Kernel) -> Kernel:
    return pickle.loads(pickle.dumps(kernel))  # noqa: S301 - our own


def scaled(factor: float) -> Kernel:
    @af.kernel
    def scale(x: af.f64[N]):
        """Multiply."""
        with af.for_(N) as i:
            x[i] *= factor

    return scale


@af.kernel
def shifted(x: af.u8[N + 1], y: af.const(af.f32[N, 2 * M]), p: af.index, n: M, c: af.f64):
    af.assume(p >= 1)
    table = af.constant(np.arange(3))
    made, other = af.alloc(af.u8[N + p, M]), af.alloc(af.bool_[4])
    with af.for_(N + p) as i, af.for_(M) as j:
        made[i, j] = x[0] + af.u8(table[1])
    with af.for_(4) as i:
        other[i] = c > af.f64(y[0, i])
    return made, other, af.f32(c), af.index(x[N])


@pytest.fixture(
    params=[
        "a scheduled kernel",
        "a closure",
        "a kernel with everything",
        "one that passes made",
        "a kernel of one size",
    ]
)
def kernel(request):
    if request.param == "a scheduled kernel":
        s = af.Schedule(gemm).tile(("k",), 4)
        return s.kernel()
    if request.param == "a closure":
        return scaled(3.0)
    if request.param == "a kernel of one size":
        return scaled(4.0).specialize(N=5)
    if request.param == "one that passes made":
        return shifted.apply("canonicalize,affine-loop-tile{tile-size=4}")
    return Kernel(shifted._function, shifted._namespace)


def test_schedules_and_closures_are_pickled_by_value(kernel):
    again = there_and_back(kernel)
    assert again is not kernel
    assert again.is_derived == kernel.is_derived
    assert again.mlir() == kernel.mlir()
    for text, wanted in ((again.c(), kernel.c()), (again.header(), kernel.header())):
        assert sorted(text) == sorted(wanted)  # terms of a sum may change places
    assert (again.name, again.__doc__, again.__module__, again.__qualname__, repr(again)) == (
        kernel.name, kernel.__doc__, kernel.__module__, kernel.__qualname__, repr(kernel),
    )  # fmt: skip
    assert str(again.check()) == str(kernel.check())
    assert [str(f.location) for f in again.check().findings] == [str(f.location) for f in kernel.check().findings]
    assert there_and_back(again).mlir() == kernel.mlir()


def test_a_kernel_from_a_pickle_runs_and_checks_as_the_one_that_went_in():
    again = there_and_back(Kernel(shifted._function, shifted._namespace))
    given = np.arange(4, dtype="u1"), np.ones((3, 4), "f4"), 2, 2, 0.5
    for run in (again, again.interpret):
        made, other, c, last = run(*given)
        assert (made.shape, made.dtype, other.dtype, c.dtype, last) == ((5, 2), "u1", "?", "f4", 3)
        assert other.tolist() == [False] * 4
        for wrong, message in (
            ((*given[:3], 3, 0.5), r"dimension 1 of argument 'y' must be M \* 2 = 6 \(M = 3 from argument n\), got 4"),
            ((*given[:2], 0, 2, 0.5), r"it assumes p - 1 >= 0, but p = 0"),
        ):
            with pytest.raises(SizeError, match=message):
                run(*wrong)
    tuned = there_and_back(af.Schedule(there_and_back(scaled(2.0))).tile(("i",), 3).kernel())
    x = np.ones(7)
    tuned(x)
    assert x.tolist() == [2] * 7


def test_what_the_kernel_as_written_refuses_is_refused_by_what_a_schedule_made_of_it():
    @af.kernel
    def copy(x: af.f64[N], y: af.f64[M]):
        with af.for_(N) as i:
            y[i] = x[i]

    again = there_and_back(af.Schedule(copy).strip_mine("i", 4).kernel())
    with pytest.raises(SizeError, match=r"y\[i\] .* is in bounds only where .*, but N = 3, M = 2"):
        again(np.ones(3), np.ones(2))
    y = np.zeros(5)
    again(np.ones(3), y)
    assert y.tolist() == [1, 1, 1, 0, 0]


def test_a_kernel_from_a_pickle_is_called_by_other_kernels():
    inner = there_and_back(scaled(3.0))

    @af.kernel
    def outer(x: af.f64[M]):
        inner(x)
        inner(x)

    x = np.ones(2)
    there_and_back(outer)(x)
    assert x.tolist() == [9, 9]


def test_what_has_no_value_yet_is_not_pickled():
    class Local:
        @af.kernel
        def method(self, x: af.f64[N]):
            x[0] = 1.0

    with pytest.raises((pickle.PicklingError, AttributeError), match="Local"):
        pickle.dumps(Local.method)
    pickle.dumps(Local().method)


@pytest.mark.parametrize("made", EXAMPLES, ids=lambda k: k.name)
def test_kernels_by_value_give_the_same_c(made):
    assert there_and_back(Kernel(made._function, made._namespace)).c() == made.c()


def test_another_process_runs_what_a_pickle_holds(tmp_path):
    """As multiprocessing with spawn does: a fresh process, which has none of this one's modules."""
    tuned = af.Schedule(scaled(0.5)).tile(("i",), 4).parallel("i_tile").kernel()
    (tmp_path / "work").write_bytes(pickle.dumps((tuned, np.ones(9))))
    program = (
        "import pickle, sys\n"
        "kernel, x = pickle.load(open(sys.argv[1], 'rb'))\n"
        "kernel(x)\n"
        "print(x.sum(), kernel.name, 'tests' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "work")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "4.5 scale False\n"
