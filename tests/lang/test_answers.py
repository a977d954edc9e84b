"""What is said depends on the user's line where its source is to be had, and is right where it is not."""

import linecache
import math
import random
import sys
import time
import traceback
import warnings

import numpy as np
import pytest

import affdsl as af

IF = """
@af.kernel
def f(A: af.f32[4]):
    if A[0] > 0.0:
        A[0] = 0.0
"""
PRANGE = """
import numba

@af.kernel
def f(A: af.f32[af.symbols("N")]):
    for i in numba.prange({}):
        A[i] = 0.0
"""
NUMBA = """
class prange(object):
    def __new__(cls, *args):
        return range(*args)
"""


def said(code: str, file: str) -> str:
    with pytest.raises(af.ProgramTypeError) as caught:
        exec(compile(code, file, "exec"), {"af": af, "np": np, "__name__": "somewhere"})
    return str(caught.value)


def test_without_its_source_all_that_may_ask_is_named():
    assert "    Python's if, while, and, or, not and chained comparisons need it at once; write" in said(
        IF, "<nowhere>"
    )


def test_with_another_source_than_was_compiled_too(tmp_path):
    file = tmp_path / "changed.py"
    for changed in ("x = 1\n" * 9, "def f(:\n"):
        file.write_text(changed)
        linecache.checkcache(str(file))
        assert "Python's if, while, and, or, not" in said(IF, str(file))
    file.write_text(IF)
    linecache.checkcache(str(file))
    assert "Python's `if` needs it at once" in said(IF, str(file))


@pytest.mark.parametrize(("bounds", "instead"), [("A.shape[0]", "A.shape[0]"), ("1, A.shape[0]", "(1, A.shape[0])")])
def test_a_loop_of_numba_is_a_parallel_one(bounds, instead, tmp_path, monkeypatch):
    """The class stands in for that of numba: it makes a range, in a file of the package."""
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text(NUMBA)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    file = tmp_path / "kernels.py"
    file.write_text(PRANGE.format(bounds))
    message = said(file.read_text(), str(file))
    assert message.startswith(f"{file}:6: the index N is not known")
    what = f"`with affdsl.parallel({instead}) as i:` instead of `for i in numba.prange({bounds}):`"
    assert message.endswith(f"    write {what}")


def test_what_kernels_and_schedules_do_not_take():
    n = af.symbols("N")

    @af.kernel
    def double(x: af.f64[n]):
        with af.for_(n) as i:
            x[i] *= 2.0

    for call, said in (
        (lambda: double.optimize(thread=1), "optimize takes no argument thread: did you mean threads?"),
        (lambda: double.optimize(num_threads=1), "optimize takes no argument num_threads: did you mean threads?"),
        (lambda: double.optimize(quickly=True), "optimize takes no argument quickly\n    it is called as optimize("),
        (lambda: af.Schedule(double).tile("i"), "tile is called without sizes\n"),
        (lambda: af.Schedule(double).split(), "split is called without loop and at\n"),
        (lambda: double.interpret(), "double: takes 1 argument"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert said in str(caught.value)
    with pytest.raises(af.ProgramTypeError) as caught:
        double.optimize(fastmath=True)
    words = str(caught.value).splitlines()
    assert words[0].endswith(f"test_answers.py:{caught.value.place[1]}: optimize takes no argument fastmath")
    permissions = ("contract=True (", "reassociate=True (", "reciprocal=True (", "approximate=True (")
    assert all(word in words[1] for word in permissions)


def test_counters_by_one_name_are_a_tuple():
    m, n = af.symbols("M N")

    @af.kernel
    def clear(x: af.f64[m, n], y: af.f64[m, n, 2]):
        with af.parallel(m, n) as ij:
            x[ij] = 0.0
            y[ij + (0,)] = x[ij]  # noqa: RUF005 - as people add tuples
            i, j = ij
            y[i, j, 1] = 1.0

    x, y = np.ones((2, 3)), np.ones((2, 3, 2))
    clear.interpret(x, y)
    assert (x.sum(), y.sum()) == (0, 6)


RNG = np.random.default_rng(0)


def test_numbers_that_a_loop_draws_once_are_warned_of():
    n = af.symbols("N")

    def noise(x: af.f64[n], y: af.f64[n]):
        with af.for_(n) as i, af.if_(i > 0):
            x[i] = random.random()
            y[i] = np.random.rand() + np.random.rand()  # one warning for the line
        with af.parallel(n) as i:
            x[i] += RNG.normal() * x[i] if n is not None else 0.0
            y[i] = time.time()

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        af.kernel(noise)
        af.kernel(noise)
    first = noise.__code__.co_firstlineno
    said = [(w.category, w.filename, w.lineno - first, str(w.message).split(" is called")[0]) for w in found]
    calls = (2, "random.random(...)"), (3, "np.random.rand(...)"), (5, "RNG.normal(...)"), (6, "time.time(...)")
    assert said == [(af.BuildTimeWarning, __file__, line, call) for line, call in calls]
    assert str(found[0].message) == (
        "random.random(...) is called once, while the kernel is built, and not in each iteration of for_\n"
        "    pass an array of such numbers; for one number on purpose call it before the loop"
    )


def test_numbers_that_are_drawn_on_purpose_are_not():
    n = af.symbols("N")

    @af.kernel
    def noise(x: af.f64[n]):
        once, rng, weights = random.random(), np.random.default_rng(1), RNG.normal(size=3)
        with af.if_(n > 3):
            x[0] = time.time()
        with af.for_(n) as i:
            x[i] = once + float(weights[0]) + rng.normal() + math.sqrt(2.0)

    assert noise.name == "noise"


def test_a_refused_call_in_a_kernel_shows_no_frames_but_the_users():
    def wrong(x: af.f64[4]):
        af.alloc(af.f64, (4,))

    with pytest.raises(af.ProgramTypeError) as caught:
        af.kernel(wrong)
    assert {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)} == {__file__}
