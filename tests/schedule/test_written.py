"""Steps as text that is read again: what is no step is refused, and nothing of it runs."""

import pytest

import affdsl as af
from affdsl.schedule.verbs import VerbCall
from affdsl.schedule.written import _names, call_of, take, text_of, written

M, N = af.symbols("M N")


@pytest.mark.parametrize(
    "call",
    [
        VerbCall("tile", (("i", "j"), (32, "T")), (("separate", False), ("names", ("a", "b")), ("grid", True))),
        VerbCall(
            "copy", ("A", "i"), (("space", 0), ("layout", (1, 0)), ("panels", {0: 8, 1: 4}), ("name", 'a "b" \\'))
        ),
        VerbCall("copy", ("A", "i"), (("panels", None),)),
        VerbCall("shift", ("i", -3)),
        VerbCall("split", ("i", N - 8 * (N // 8) + 2 * M - 1)),
        VerbCall("split", ("i", -N // 2)),
        VerbCall("specialize", ("i", (N >= 64) & (N - 8 * M >= 0) & (M % 2 == 0))),
        VerbCall("specialize", ("i", N < 5)),
        VerbCall("split", ("i", N + (M + N) // 2)),
    ],
    ids=text_of,
)
def test_a_step_is_read_as_it_was(call):
    again = call_of(text_of(call), _names(call))
    assert text_of(again) == text_of(call)
    assert again.text == call.text
    assert again.symbols == call.symbols
    assert [name for name, _ in again.options] == [name for name, _ in call.options]


@pytest.mark.parametrize(
    "text",
    [
        "", "tile", "tile(", "tile()()", "os.system('ls')", "__import__('os')", "nothing('i')", "tile(open('x'))",
        "tile(lambda: 0)", "tile(x.y)", "tile(*i)", "tile(**i)", "tile({**i})", "tile([x for x in i])", "tile(1.5)",
        "tile('i' 'j')", "tile('i') ", "tile(f'{i}')", "tile(i if j else k)", "tile('i' + 1)", "tile(-'i')",
        "tile(N < 5 < M)", "split('i', N // 0)", "split('i', " + "(" * 300 + "N" + ")" * 300 + ")",
        "tile(" + "-" * 9000 + "1)", "split('i', K)",
    ],
)  # fmt: skip
def test_what_is_no_step_is_refused(text):
    with pytest.raises(ValueError, match="no step: "):
        call_of(text, "N M i j")


def test_steps_and_refusals_are_taken_by_another_schedule():
    @af.kernel
    def sums(A: af.f64[N, N], x: af.f64[N]):
        with af.for_(N) as i, af.for_(N) as j:
            x[i] += A[i, j]

    s = af.Schedule(sums)
    s.tile(("i", "j"), 8)
    with pytest.raises(af.IllegalTransform):
        s.parallel("j_tile")
    s.specialize("i_tile", N >= 64).parallel("i_tile")
    s._name = "other"
    other = af.Schedule(sums)
    take(other, written(s))
    assert str(other) == str(s)
    assert [str(step) for step in other.refusals] == ['parallel("j_tile")']
    assert [step.error.partition(": ")[2] for step in other.refusals] == [
        step.error.partition(": ")[2] for step in s.refusals
    ]
    assert str(other.kernel()) == str(s.kernel())
