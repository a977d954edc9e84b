"""What `explain()` says of optimized kernels: the loops of the source, why, for which sizes, and what to try."""

import re

import pytest

import affdsl as af
from affdsl.explained import Explained, Hint, Note, SourceLoop
from affdsl.optimize.notes import Source
from affdsl.schedule.loops import names_of
from benchmarks.polybench.suite import named

M, N = af.symbols("M N")


@af.kernel
def clamped(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[af.max(i - 1, 0)] + x[af.min(i + 1, N - 1)]


@af.kernel
def wrapped(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[(i * 3) % N]


@af.kernel
def least(x: af.f64[N], y: af.f64[N]):
    with af.for_(1, N) as i:
        y[i] = af.min(y[i - 1] + 1.0, x[i])


@af.kernel
def total(x: af.f32[N], y: af.f32[1]):
    with af.for_(N) as i:
        y[0] += x[i]


@af.kernel
def counted(x: af.i32[N], y: af.i32[1]):
    with af.for_(N) as i:
        y[0] += x[i]


@af.kernel
def mixed(x: af.f32[N], y: af.f64[N], z: af.f32[N]):
    with af.for_(N) as i:
        z[i] = af.f32(af.f64(x[i]) * 2.0 + y[i])


@af.kernel
def divided(x: af.f64[N], s: af.f64, y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] / s


@af.kernel
def thirds(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] / 3.0


@af.kernel
def tenths(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] / 0.1


@af.kernel
def quotients(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] / (y[i] + 2.0)


@af.kernel
def looked_up(x: af.i32[N], t: af.f64[100], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = t[x[i]] * 2.0 + 1.0


@af.kernel
def tallied(x: af.i32[N], t: af.f64[100]):
    with af.for_(N) as i:
        t[x[i]] += 1.0


@af.kernel
def down(A: af.f64[N, N], y: af.f64[N]):
    with af.for_(1, N) as i:
        y[i] = y[i - 1] * 0.5 + A[i, 0]


@pytest.mark.parametrize(("kernel", "kinds", "allowed"), [
    (total, ["reassociate"], {"reassociate": True}),
    (counted, [], {}),
    (divided, ["reciprocal"], {"reciprocal": True}),
    (tenths, ["reciprocal"], {"reciprocal": True}),
    (thirds, [], None),
    (quotients, [], {}),
    (least, ["select"], None),
    (mixed, ["type"], None),
    (wrapped, ["edge"], None),
    (looked_up, ["table"], None),
    (tallied, [], None),
    (down, ["layout"], None),
], ids=lambda each: getattr(each, "name", None))  # fmt: skip
def test_what_makes_a_loop_slow_is_named_with_what_to_try(kernel, kinds, allowed):
    """Nothing is proposed where it would not help: sums of integers, divisors that change, elements to update."""
    said = kernel.optimize("avx2", threads=1).explain()
    hints = [hint for note in said.notes for hint in note.instead]
    assert [hint.kind for hint in hints] == kinds
    assert all(f"try: {hint}" in said for hint in hints)
    line = kernel.func.body[0].location.line + 1
    assert all(hint.line in (None, line) for hint in hints)
    if allowed:
        again = kernel.optimize("avx2", threads=1, **allowed).explain()
        assert not [hint for note in again.notes for hint in note.instead], "it is allowed already"


def test_ends_of_a_loop_that_is_split_are_told_in_one_sentence():
    split, inside = clamped.optimize("avx2", threads=1).explain().notes
    assert split.done.endswith("changes: i at 1, i at N - 1; short ends run as written")
    assert (inside.done, inside.loops) == ("i runs on vectors of 4, from where a line of y begins", split.loops)


@pytest.mark.parametrize(("name", "threads"), [("atax", 2), ("trisolv", 1), ("doitgen", 2)])
def test_loops_have_the_names_and_lines_of_the_source(name, threads):
    kernel = named(name).kernel
    fast = kernel.optimize("avx2", threads=threads)
    said = fast.explain()
    written = {(row.names[0].partition("#")[0], row.location) for row in af.Schedule(kernel).loops()}
    copies = {("the copy of sum", written_at) for _, written_at in written} if name == "doitgen" else set()
    assert {(loop.name, loop.location) for note in said.notes for loop in note.loops} <= written | copies
    names = {name for entry in fast.schedule._history for name in entry.names.values()}
    made_up = names - {name for name, _ in written} - {each.hint for each in kernel.func.args}
    assert made_up
    assert not made_up & set(re.findall(r"[A-Za-z_][\w#]*", said)), said


def test_names_that_steps_make_up_are_told_from_those_of_the_source():
    @af.kernel
    def kernel(A: af.f64[N, N], i_2: af.f64[N]):
        with af.for_(N) as i, af.for_(N) as row_sum:
            A[i, row_sum] = i_2[i]

    source = Source(af.Schedule(kernel))
    own = {"i": "i", "i_2": "i_2", "row_sum": "row_sum", "N": "N", "other": "other"}
    made_up = {"i_3": "i", "i#2": "i", "%i_else_else": "i", "row_sum_tile": "row_sum", "A_made": "A"}
    assert {name: source.name(name) for name in own | made_up} == own | made_up
    assert source.name("A0_2") == "the copy of A"
    assert source.text("4 iterations of i_rest run at once") == "4 iterations of i run at once"
    assert set(names_of(kernel.func).values()) == {"i", "row_sum"}


def test_a_note_is_text_and_data():
    note = Note((SourceLoop("i"),), "i runs on vectors of 4", ("x", "y"), "N of 8 and more", "run as written", 2.0)
    assert str(note).splitlines() == [
        "i: for N of 8 and more: i runs on vectors of 4; smaller ones run as written",
        "    why: x",
        "    why: y",
        "    model: 2 times as fast as written",
    ]
    assert "model: about as fast" in str(Note((), "done", gain=1.1))
    assert str(Hint("type", "f32 alone", 2.0, 7)) == "f32 alone (line 7); up to 2 times as fast by the model"
    said = total.optimize("avx2", threads=1).explain()
    assert isinstance(said, Explained)
    assert isinstance(said, str)
    assert all(str(note).splitlines()[0] in said for note in said.notes)
    assert af.Schedule(total).unroll("i", 2).kernel().explain().notes == ()


def test_what_two_iterations_share_is_told_in_the_words_of_the_source():
    (note,) = down.optimize("avx2", threads=1).explain().notes
    line = down.func.body[0].location.line + 1
    assert note.why == (f"an iteration reads y[i - 1] (line {line}), which one before it stores as y[i] (line {line})",)
