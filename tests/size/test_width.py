"""Many results, bounds, conditions, carried values, names and lanes: what is written of n of them is n, times log n."""

from functools import partial

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.codegen.c.expressions import Code, call, combined
from affdsl.codegen.c.layout import WIDTH, wrapped
from affdsl.codegen.c.names import Scope
from affdsl.ir.dialects.vector import MOST_LANES
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.stride import strides
from tests.size.nests import N, text


def of_numbers(n) -> str:
    return ", ".join(f"d0 * {k % 7 + 1} + {(k * 37) % 101}" for k in range(n))


def smallest(n) -> str:
    least = f"%m = affine.min affine_map<(d0) -> ({of_numbers(n)})>(%n)"
    bound = f"affine.for %i = 0 to min affine_map<(d0) -> ({of_numbers(n)})>(%n) {{"
    return text([least, bound, "memref.store %x, %A[%m] : memref<?xf64>"], 1)


def conditions(n) -> str:
    holds = ", ".join(f"d0 * {k % 7 + 1} + {(k * 37) % 101} >= 0" for k in range(n))
    return text([f"affine.if affine_set<(d0) : ({holds})>(%n) {{", "affine.store %x, %A[0] : memref<?xf64>"], 1)


@pytest.mark.parametrize("program", [smallest, conditions])
def test_c_of_many_results_is_as_long_as_they_are(program):
    few, many = (len(emit(parse(program(n)), "f").source) for n in (100, 1_000))
    assert many < 12 * few


def test_what_is_combined_of_many_parts_holds_their_text_a_few_times():
    """From left to right it was n times: 331 MB for 4,000 results of a minimum."""

    def texts(shown: Code) -> int:
        return len(shown.text) + sum(texts(part) for part in shown.parts)

    made = combined([Code(f"x{k}") for k in range(4_000)], partial(call, "min_i64"))
    assert made.text.count("min_i64") == 3_999
    assert texts(made) < 20 * len(made.text)


@pytest.mark.parametrize("n", [3, 17, 100])
def test_the_smallest_of_many_is_the_smallest(n):
    def least(out: af.i64[N]):
        with af.for_(N) as i:
            out[i] = af.i64(af.min(*[i * (k % 7 - 3) + (k * 37) % 101 for k in range(n)]))

    kernel, out = af.kernel(least), np.zeros(20, "i8")
    kernel(out)
    assert out.tolist() == [min(i * (k % 7 - 3) + (k * 37) % 101 for k in range(n)) for i in range(20)]


@pytest.mark.parametrize("order", ["rotated", "turned round", "shuffled", "summed"])
def test_many_carried_values_change_places_at_once(order):
    count = 60
    places = {
        "rotated": [*range(1, count), 0],
        "turned round": [*range(count)][::-1],
        "shuffled": np.random.default_rng(1).permutation(count).tolist(),
        "summed": [*range(1, count), count - 1],
    }[order]

    def carried(out: af.i64[count], n: af.index):
        with af.for_(n, iter_args=[af.i64(k) for k in range(count)]) as (_, *values):
            moved = [values[k] for k in places]
            af.yield_(*([a + b for a, b in zip(values, moved, strict=True)] if order == "summed" else moved))
        for k, value in enumerate(values):
            out[k] = value

    kernel, expected, out = af.kernel(carried), np.zeros(count, "i8"), np.zeros(count, "i8")
    kernel.interpret(expected, 3)
    kernel(out, 3)
    assert (out == expected).all()


def test_many_names_that_are_alike_are_numbered_without_a_search():
    outer = Scope()
    for _ in range(20_000):
        outer.reserve("t")
    inner = Scope(outer)
    assert [inner.reserve("t"), inner.reserve("t"), outer.reserve("t")] == ["t_20000", "t_20001", "t_20000"]


def test_a_long_line_is_broken_piece_by_piece():
    pieces = wrapped("    x = " + " + ".join(["f(a, b)"] * 5_000) + ";")
    assert all(len(piece) <= WIDTH for piece in pieces)
    assert " ".join(piece.strip() for piece in pieces).count("f(a, b)") == 5_000


def test_a_vector_of_the_language_has_no_more_lanes_than_is_said():
    with pytest.raises(af.ProgramTypeError, match=f"5000 lanes: it may have {MOST_LANES} lanes at most\n.*loop"):

        @af.kernel
        def long(x: af.f64[N]):
            af.vector_store(af.vector_load(x, 0, 5000), x, 0)

    with pytest.raises(af.ProgramTypeError, match="64 x 65 lanes"):

        @af.kernel
        def wide(x: af.f64[N, N]):
            af.vector_store(af.vector_load(x, (0, 0), (64, 65)), x, (0, 0))


@af.kernel
def doubled(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] * 2


def test_loops_are_not_put_on_longer_vectors():
    with pytest.raises(af.IllegalTransform, match=f"would have {MOST_LANES + 1} lanes, and {MOST_LANES} is the most"):
        af.Schedule(doubled).vectorize("i", MOST_LANES + 1)
    made = af.Schedule(doubled).vectorize("i", MOST_LANES).kernel()
    x = np.random.default_rng(1).random(10_000)
    out = np.zeros(10_000)
    made.interpret(x, out)
    assert (out == x * 2).all()


@pytest.mark.parametrize("lanes", [MOST_LANES + 1, 64_000, 2**40])
def test_c_of_longer_vectors_is_refused_in_place(lanes):
    type = f"memref<?xf64>, vector<{lanes}xf64>"
    lines = [f"%v = affine.vector_load %A[%n] : {type}", f"affine.vector_store %v, %A[%n] : {type}"]
    with pytest.raises(af.UnsupportedError, match=f"<mlir>:2:.*vectors of up to {MOST_LANES} lanes.*let a loop"):
        emit(parse(text(lines)), "f")


def test_strides_of_many_quotients_are_found_one_by_one():
    """isl was asked about all of them together, which took four times as long for each two more."""
    n = 12
    loops = [f"affine.for %i{k} = 0 to %n {{" for k in range(n)]
    index = ", ".join(f"%i{k} mod 2, %i{k} floordiv 2" for k in range(n))
    array = f"memref<{'?x' * (2 * n)}f64>"
    body = f"func.func @f(%n: index, %B: {array}) {{ {' '.join(loops)} %v = affine.load %B[{index}] : {array}"
    found = Dependences(parse(f"{body} {'}' * n} return }}").functions[0]).accesses
    (access,) = found.all
    assert {each.motion for each in strides(access, found.scope).values()} == {"varying"}


def test_optimize_looks_at_a_loop_without_those_beside_it(monkeypatch):
    looked_at = []
    inside = Accesses._of

    def counted(self, op, domain):
        looked_at.append(op)
        return inside(self, op, domain)

    monkeypatch.setattr(Accesses, "_of", counted)

    def work(n) -> int:
        def many(x: af.f64[N], y: af.f64[N]):
            for k in range(n):
                with af.for_(N) as i:
                    y[i] = x[i] * k

        kernel = af.kernel(many)
        looked_at.clear()
        kernel.optimize(threads=1)
        return len(looked_at)

    few, many = work(2), work(6)
    assert many < 5 * few


def test_a_loop_with_many_bounds_stays_one_loop_when_it_is_optimized():
    """Behind its vectors there was a loop for the rest of each bound, with all bounds: n * n of them."""

    def line(n) -> af.Kernel:
        def filled(out: af.f64[N]):
            with af.for_(af.min(N, *[N * (k + 2) - 900 + (n - k) ** 2 for k in range(1, n)])) as i:
                out[i] = 1

        return af.kernel(filled)

    few, many = (line(n).optimize(threads=1) for n in (20, 80))
    assert len(many.c()) < 5 * len(few.c())
    assert ": as written: recipes are for at most 16 bounds of a loop, not for 80" in many.explain()
    assert "i runs on vectors" in line(3).optimize(threads=1).explain()


def test_what_a_loop_carries_is_looked_for_inside_of_it(monkeypatch):
    """All accesses of the function were asked whether they are inside of it, for each of n loops in a row."""
    asked, ivs = [], Access.ivs.fget
    monkeypatch.setattr(Access, "ivs", property(lambda self: asked.append(self) or ivs(self)))

    def work(n) -> int:
        loops = "affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf64> }\n" * n
        found = Dependences(parse(text([loops])).functions[0])
        asked.clear()
        for loop in found.accesses.function.body[:-1]:
            assert not list(found.carried_by(loop.iv))
        return len(asked)

    assert work(80) < 4.8 * work(20)
