"""Kernels in other processes: pickled by pickle and cloudpickle, from modules, closures, scripts, and by value."""

import importlib.util
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cloudpickle
import joblib
import ml_dtypes
import numpy as np
import pytest

import affdsl as af
from examples import jacobi2d
from tests.effort import TRIES_ALL, some

ROOT = Path(__file__).parents[2]
M, N = af.symbols("M N")


@af.kernel
def weighted(x: af.f64[N], y: af.f64[N], by: af.f64 = 2.0, rounds: af.index = 3):
    table = af.constant(np.array([[1.0, 2.5], [3.0, -4.0]]))
    with af.for_(rounds), af.for_(N) as i:
        y[i] += by * x[i] * table[i % 2, 1]


@af.kernel
def crop(A: af.const(af.strided(af.f32[M, N])), B: af.strided(af.f32[M, N])):
    with af.for_(M) as i, af.for_(N) as j:
        B[i, j] = A[i, N - 1 - j]


@af.kernel
def blurred(x: af.f64[N, N], y: af.f64[N, N]):
    t = af.alloc(af.f64[N, N])
    with af.for_(N) as i, af.for_(1, N) as j:
        t[i, j] = x[i, j] + x[i, j - 1]
    with af.for_(1, N) as k, af.for_(1, N) as m:
        y[k, m] = t[k, m] + t[k - 1, m]


@af.kernel
def root(a: af.f64):
    af.assert_(a >= 0, "not negative", a)  # noqa: PT009 - of the language
    with af.while_(lambda x: af.abs(x * x - a) > 1e-9 * a, iter_args=a) as x:
        af.yield_((x + a / x) / 2)
    return x


@af.kernel
def narrow(x: af.bf16[N]):
    made = af.alloc(af.bf16[N])
    with af.for_(N - 1, -1, -1) as i:
        made[i] = x[i] * x[i]
    return made


@af.kernel(contract=True, boundscheck=True)
def checked(x: af.f64[N], y: af.f64[N], at: af.i32[N]):
    with af.for_(N) as i:
        y[at[i]] += x[i] * x[i]


def by_a_closure(factor: float) -> af.Kernel:
    @af.kernel
    def scale(x: af.f64[N], y: af.f64[N]):
        weighted(x, y, factor)

    return scale


X = np.linspace(-1, 1, 7)
SQUARE = np.linspace(0, 3, 81).reshape(9, 9)
KINDS: dict[str, tuple[Callable[[], af.Kernel], tuple[object, ...]]] = {
    "with a table and defaults": (lambda: weighted, (X, np.zeros(7))),
    "a closure that calls another": (lambda: by_a_closure(0.5), (X, np.zeros(7))),
    "of any strides": (lambda: crop, (SQUARE.astype("f4")[::2, 1:8], np.zeros((7, 5), "f4").T)),
    "optimized": (lambda: jacobi2d.jacobi2d.optimize("avx2", threads=2), (2, SQUARE, SQUARE + 1)),
    "of any strides, optimized": (lambda: crop.optimize("avx2"), (SQUARE.astype("f4"), np.zeros((9, 9), "f4"))),
    "fused": (lambda: blurred.fuse(), (SQUARE, np.zeros((9, 9)))),
    "specialized, then optimized": (lambda: blurred.specialize(N=9).optimize("avx2"), (SQUARE, np.zeros((9, 9)))),
    "by passes": (lambda: blurred.apply("affine-loop-tile{tile-size=4},canonicalize"), (SQUARE, np.zeros((9, 9)))),
    "until it is done": (lambda: root, (2.0,)),
    "of bfloat16": (lambda: narrow, (X.astype(ml_dtypes.bfloat16),)),
    "checked and contracted": (lambda: checked, (X, np.zeros(7), np.arange(7, dtype="i4")[::-1].copy())),
}


def left(kernel: af.Kernel, arguments: tuple[object, ...]) -> list[object]:
    """What a call leaves and gives."""
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    result = kernel(*given)
    return [*given, *([] if result is None else [result])]


@pytest.mark.parametrize("kind", some([*KINDS][::2] + [*KINDS][1::2], 6))
def test_kernels_of_all_kinds_are_pickled_and_do_the_same(kind: str):
    make, arguments = KINDS[kind]
    kernel = make()
    own = af.kernel(kernel._function) if not kernel.is_derived and kind != "a closure that calls another" else kernel
    wanted = left(kernel, arguments)
    for again in (pickle.loads(pickle.dumps(own)), cloudpickle.loads(cloudpickle.dumps(own))):  # noqa: S301
        assert again is not own
        assert again.c() == own.c()
        assert again.boundscheck == own.boundscheck
        for a, b in zip(left(again, arguments), wanted, strict=True):
            np.testing.assert_array_equal(a, b, strict=isinstance(a, np.ndarray))


def test_a_kernel_that_comes_twice_is_one():
    data = pickle.dumps(by_a_closure(7.0))
    assert pickle.loads(data) is pickle.loads(data)  # noqa: S301
    assert pickle.loads(data) is not pickle.loads(pickle.dumps(by_a_closure(8.0)))  # noqa: S301


SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from joblib import Parallel, delayed

import affdsl as af

N = af.symbols("N")


@af.kernel
def double(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = 2 * x[i]


fast = double.optimize("avx2")


def doubled(x, kernel=double):
    y = np.zeros_like(x)
    kernel(x, y)
    return y


if __name__ == "__main__":
    x = np.arange(6.0)
    methods = sys.argv[1:]
    for method in methods[:-1]:
        with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
            print(method, *(pool.submit(doubled, x, kernel).result()[5] for kernel in (double, fast)))
    found = Parallel(n_jobs=2, backend=methods[-1])(
        [delayed(doubled)(x), delayed(doubled)(x + 1, fast), delayed(double.halo)("x")]
    )
    print("joblib", found[0][5], found[1][5], found[2])
"""


def test_kernels_of_a_script_run_in_processes_of_multiprocessing_and_joblib(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    methods = ["spawn", "forkserver", "fork"] if TRIES_ALL else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "script.py", *methods, "loky"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [*(f"{m} 10.0 10.0" for m in methods), "joblib 10.0 12.0 ((0, 0),)"]


def test_a_module_that_cloudpickle_is_to_hold_by_value(tmp_path):
    """So a module that others do not have is handed to them."""
    path = tmp_path / "only_here.py"
    path.write_text("import affdsl as af\n@af.kernel\ndef fill(x: af.f64[2]):\n    x[0] = 3.0\n")
    spec = importlib.util.spec_from_file_location("only_here", path)
    module = sys.modules["only_here"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        assert module.fill.__reduce__() == "fill"
        cloudpickle.register_pickle_by_value(module)
        data = cloudpickle.dumps(module.fill)
        cloudpickle.unregister_pickle_by_value(module)
    finally:
        del sys.modules["only_here"]
    x = np.zeros(2)
    pickle.loads(data)(x)  # noqa: S301
    assert x[0] == 3


def test_joblib_knows_a_kernel_by_what_it_does():
    """Its Memory asks for a hash: of equal kernels it is equal."""
    assert joblib.hash(by_a_closure(2.0)) == joblib.hash(by_a_closure(2.0))
    assert joblib.hash(by_a_closure(2.0)) != joblib.hash(by_a_closure(3.0))
