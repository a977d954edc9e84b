"""Refusals speak of what stands in the kernel, and never of the operations that MLIR has for it."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.messages import _IN_LANGUAGE, in_language

N = af.symbols("N")


@af.kernel
def printing(x: af.f64[N]):
    with af.for_(N) as i:
        af.print_("x", x[i])
        x[i] *= 2.0


@af.kernel
def asserting(x: af.f64[N]):
    with af.for_(N) as i:
        af.assert_(x[i] > 0.0, "positive")  # noqa: PT009
        x[i] *= 2.0


@af.kernel
def explaining(x: af.f64[N]):
    with af.for_(N) as i:
        af.assert_(x[i] > 0.0, "positive", x[i])  # noqa: PT009
        x[i] *= 2.0


@af.kernel
def apart(x: af.f64[N]):
    with af.for_(N) as i:
        af.assert_(x[i] > 0.0, "positive", x[i])  # noqa: PT009
    with af.for_(N) as j:
        x[j] *= 2.0


@af.kernel
def allocating(x: af.f64[N]):
    with af.for_(N) as i:
        t = af.alloc(af.f64[4])
        with af.for_(4) as k:
            t[k] = x[i]
        x[i] = t[3]


STAYS = {
    printing: "affdsl.print_ at line 17 prints in the order of iterations: ",
    asserting: "affdsl.assert_ at line 24 ends the call where it does not hold, before what comes after it: ",
    explaining: "affdsl.assert_ at line 31 ends the call where it does not hold, before what comes after it: ",
}


@pytest.mark.parametrize("kernel", STAYS, ids=lambda kernel: kernel.name)
def test_what_prints_and_asserts_keeps_its_place(kernel):
    said = STAYS[kernel] + "move it to a loop of its own, or leave it out"
    for step in (lambda s: s.vectorize("i", 4), lambda s: s.parallel("i"), lambda s: s.reverse("i")):
        with pytest.raises(af.IllegalTransform) as caught:
            step(af.Schedule(kernel))
        assert str(caught.value).splitlines()[1:] == [f"    {said}"]
    assert kernel.loops()[0].why == (said,)
    if kernel is explaining:  # the words of all three come from one place
        assert said in kernel.optimize(threads=1).explain()


def test_in_a_loop_of_its_own_it_is_in_the_way_of_nothing_else():
    made = af.Schedule(apart).vectorize("j", 4).kernel()
    x = np.arange(1.0, 8.0)
    made.interpret(x)
    assert (x == 2 * np.arange(1.0, 8.0)).all()
    with pytest.raises(af.FailedAssertionError):
        made.interpret(np.array([1.0, -1.0]))


def test_what_has_no_form_on_vectors():
    with pytest.raises(af.IllegalTransform, match=r"affdsl\.alloc has no form on vectors"):
        af.Schedule(allocating).vectorize("i", 4)


def test_names_of_operations_become_what_is_written():
    assert in_language("math.exp2 of arith.divf, in scf.while") == "affdsl.exp2 of /, in affdsl.while_"
    unknown = "vector.shuffle, x.vector.print, affine.py:3"
    assert in_language(unknown) == unknown
    ours = [name for text in _IN_LANGUAGE.values() for name in re.findall(r"affdsl\.(\w+)", text)]
    assert [name for name in ours if name not in dir(af)] == []


@af.kernel
def marked(x: af.f64[N], p: af.i64[N], y: af.f64[N], z: af.f64[N]):
    with af.for_(N) as i:
        z[i] = 2.0
        x[p[i]] = 1.0
    with af.for_(N) as j:
        y[j] = x[j] + z[j]


@af.kernel
def looked_up(x: af.f64[N], p: af.i64[N], y: af.f64[N], z: af.f64[N]):
    with af.for_(N) as i:
        z[i] = 2.0
    with af.for_(N) as j:
        x[j] = z[j]
        y[j] = z[p[j]]


@af.kernel
def bare(x: af.f64[N], p: af.i64[N, N], y: af.f64[N]):
    with af.for_(N) as i:
        x[p[i, 0] + 2 * p[0, i]] = 1.0
    with af.for_(N) as j:
        y[j] = x[j]


@pytest.mark.parametrize(
    ("kernel", "data", "apart"), [(marked, "p[i]", "i"), (looked_up, "p[j]", "j"), (bare, "p[0, i]", "")]
)
def test_a_look_up_is_split_off_where_that_lets_the_rest_be_fused(kernel, data, apart):
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(kernel).fuse("i", "j")
    *_, why, legal = [*str(caught.value).splitlines(), *[""] * (not apart)]
    assert why == f"    an index is not affine: it comes from {data}, and nothing can be promised of data"
    assert legal == f'    legal: s.distribute("{apart}") first' * bool(apart)
    if apart:
        s = af.Schedule(kernel).distribute(apart).fuse("i", "j")
        p, rng = np.array([2, 0, 2, 3, 1]), np.random.default_rng(1)
        found, wanted = [[rng.random(5), p, np.zeros(5), np.zeros(5)] for _ in range(2)]
        wanted[0][:] = found[0]
        s.kernel().interpret(*found)
        kernel.interpret(*wanted)
        assert all((a == b).all() for a, b in zip(found, wanted, strict=True))
