"""Refusals of schedules: whole messages, the words of users for loops and values, and that nothing changes."""

import re
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.passes.transforms.hoist import hoist
from examples.gemm import gemm
from tests.schedule.kernels import LOOPS, M, N, buffered, gemm_rows, sweep

STEP = re.compile(r"^(s\..*?\))(: | => )", re.M)


def refusals():
    """The kernel, the error, a step, and all that it says: `step: why` is short for `step => cannot step: why`."""
    text = Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8").replace("<loops>", LOOPS)
    for section in text.split("# ----- ")[1:]:
        title, _, rows = section.partition("\n")
        _, *parts = STEP.split(rows)
        for step, arrow, said in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            whole = said.rstrip() if arrow == " => " else f"cannot {step}: {said.rstrip()}"
            yield pytest.param(*title.split(": "), step, whole, id=step)


@pytest.mark.parametrize(("name", "error", "step", "said"), [*refusals()])
def test_a_refusal_is_told_at_its_line(name, error, step, said, request):
    kernel = {"sweep": sweep, "buffered": buffered}.get(name) or request.getfixturevalue(name)
    code = compile(f"s = af.Schedule(kernel)\n{step}\n", str(Path("tune.py").resolve()), "exec")
    with pytest.raises(af.AffdslError) as caught:
        exec(code, {"af": af, "np": np, "kernel": kernel})
    assert type(caught.value).__name__ == error
    assert str(caught.value) == f"tune.py:2: {said}"


def test_what_is_no_kernel_is_refused(twice):
    with pytest.raises(af.ScheduleError, match=r"Schedule takes a kernel, got 3\n    write @affdsl\.kernel above"):
        af.Schedule(3)
    with pytest.raises(af.ScheduleError, match=r"Schedule takes a kernel, got Module\(.{1,60}\)\n    write"):
        af.Schedule(sweep.module)


def test_a_refused_step_changes_nothing():
    s = af.Schedule(sweep).skew("t", "i", 1)
    before, loops = s.kernel().mlir(), str(s.loops())
    for attempt in (lambda: s.parallel("j"), lambda: s.tile(("t", "j"), 4), lambda: s.unroll("x", 2)):
        with pytest.raises(af.AffdslError):
            attempt()
    assert s.kernel().mlir() == before
    assert str(s.loops()) == loops
    assert len(s.steps) == 1
    assert [str(step) for step in s.refusals] == ['parallel("j")', 'tile(("t", "j"), 4)']
    assert "cannot make j parallel" in s.refusals[0].error


def test_data_bound_loops_are_shown_and_refused():
    @af.kernel
    def ragged(sizes: af.i64[N], A: af.f64[N, M]):
        with af.for_(N) as i, af.for_(af.index(sizes[i])) as j:
            A[i, j] = 1.0

    s = af.Schedule(ragged)
    assert [row.text for row in s.loops()] == ["i = 0 to N", "j = data"]
    with pytest.raises(af.IllegalTransform, match="the bounds of the loop j come from data"):
        s.peel("j", first=2)


def test_arrays_of_one_name_are_numbered():
    s = af.Schedule(buffered).privatize("t", "i").peel("i", first=1)
    with pytest.raises(af.ScheduleError, match='2 arrays of buffered are called t\n    write "t#1" or "t#2", in the'):
        s.copy("t", "k")
    s.copy("t#2", "k")


def test_an_array_that_is_no_name():
    with pytest.raises(af.ScheduleError, match="an array is given by its name\n    its arrays are A, B, C"):
        af.Schedule(gemm_rows).copy(np.zeros(3), "i")


def test_messages_call_loops_and_values_as_the_user_knows_them(twice):
    s = af.Schedule(gemm)
    with pytest.raises(af.IllegalTransform) as caught:
        s.hoist("j#1")
    text = str(caught.value)
    assert "it uses j#1, which the loop defines" in text
    assert "it uses the load C[i, j] at line 18, which the loop defines" in text
    assert not re.search(r"\bv\.\d", text)
    with pytest.raises(af.IllegalTransform, match=r"cannot skew loop i#2 by 2 \* j#1 .*\n    the loop i#2 is not"):
        af.Schedule(twice).skew("j#1", "i#2", 2)
    with pytest.raises(
        af.IllegalTransform, match=r"the load A\[\.\.\.\] at line \d+ must come before the store A\[\.\.\.\]"
    ):
        af.Schedule(counted_by_data).reverse("i")


@af.kernel
def counted_by_data(place: af.i64[N], A: af.i64[M]):
    with af.for_(N) as i:
        A[place[i]] += 1


def test_names_of_schedules_stay_in_schedules():
    function, module = gemm.func, gemm.module
    iv = next(op.iv for op in walk(function) if isinstance(op, affine.For) and op.iv.hint == "j")
    with pytest.raises(af.IllegalTransform):
        af.Schedule(gemm).hoist("j#1")
    with pytest.raises(af.IllegalTransform) as caught:
        hoist(function, iv, module=module)
    assert "j#1" not in str(caught.value)
    assert re.search("it uses %?j, which the loop defines", str(caught.value))


def test_a_loop_that_is_parallel_already():
    s = af.Schedule(gemm_rows).parallel("i")
    with pytest.raises(af.IllegalTransform, match="the loop i is parallel already: there is nothing left to do"):
        s.parallel("i")


def test_what_coalesced_loops_touch_is_not_known_for_all_sizes():
    s = af.Schedule(gemm_rows).coalesce(("i", "j"))
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i_j")
    said = "it may be that several iterations update the same elements of C, by addf, which rounds; what is not known: "
    assert said in str(caught.value)
    assert "i_j floordiv N is semi-affine" in str(caught.value)


def test_dmas_within_one_memory_space_are_not_pipelined():
    s = af.Schedule(buffered).copy("A", "k", dma=True)
    with pytest.raises(af.IllegalTransform) as caught:
        s.pipeline("i")
    assert str(caught.value).endswith(
        "    they copy within the memory space 0: only those to a space of a higher number start early; "
        "undo the copy, and take it with space=1"
    )
    s.undo()
    s.copy("A", "k", dma=True, space=1).pipeline("i")


def test_a_schedule_says_where_what_it_lacks_is():
    s = af.Schedule(sweep)
    for name, words in {
        "mlir": "a Schedule has no mlir: the kernel that comes out has; write s.kernel().mlir",
        "c": "a Schedule has no c: the kernel that comes out has; write s.kernel().c",
        "optimize": "a Schedule has no optimize yet",
        "vectorise": "a Schedule has no vectorise; did you mean s.vectorize?",
        "reorder": "a Schedule has no reorder; did you mean s.permute?",
        "parallelize": "a Schedule has no parallelize; did you mean s.parallel?",
        "tiles": "a Schedule has no tiles; did you mean s.tile?",
        "xyz": "a Schedule has no xyz",
    }.items():
        with pytest.raises(AttributeError) as caught:
            getattr(s, name)
        assert str(caught.value) == words
    assert not hasattr(s, "_repr_latex_")
    assert repr(s.loops()) == str(s.loops())


def test_conditions_between_loops_and_conditions_on_data_are_named():
    @af.kernel
    def guarded(A: af.f64[N, N], w: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(i >= 2), af.for_(N) as j:
                with af.if_(w[j] >= 0.0):
                    A[i, j] = 1.0

    s = af.Schedule(guarded)
    with pytest.raises(af.IllegalTransform, match=r"\n    between i and j there is a condition at line \d+$"):
        s.tile(("i", "j"), 4)
    with pytest.raises(
        af.IllegalTransform,
        match=r"there is no affdsl\.if_ of indices in it: what affdsl\.if_ of data asks comes from data",
    ):
        s.unswitch("j")
    with pytest.raises(af.IllegalTransform, match=r"the loop j does not stand right in the body of the loop i$"):
        s.make_perfect("i", "j")


B = 2**31 - 1


@af.kernel
def strided(A: af.i64[N, N], T: af.index):
    af.assume(T >= 1)
    with af.for_(0, N, 4) as i, af.for_(N) as j:
        A[i, j] += 1


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ([("tile", (("i",), B))], ("tile", (("i_tile",), B))),
        ([("skew", ("i", "j", B))], ("skew", ("i", "j", B))),
        ([("shift", ("i", B)), ("skew", ("i", "j", B)), ("shift", ("j", B))], ("skew", ("i", "j", B))),
        ([("strip_mine", ("i", B))], ("strip_mine", ("i_strip", B))),
        ([], ("split", ("i", N * 2**40))),
        ([], ("split", ("i", N * 2**62 + N * 2**62))),
    ],
    ids=lambda part: part[0] if part and isinstance(part[0], str) else "",
)
def test_steps_that_make_numbers_too_large_together_are_refused(first, last):
    s = af.Schedule(strided)
    for verb, arguments in first:
        getattr(s, verb)(*arguments)
    with pytest.raises(af.IllegalTransform, match="64 bits") as caught:
        getattr(s, last[0])(*last[1])
    assert "legal:" not in str(caught.value), "nothing else was tried"
    ours, theirs = (np.zeros((6, 6), dtype=np.int64) for _ in range(2))
    s.kernel()(ours, 1)
    strided(theirs, 1)
    assert (ours == theirs).all()


def test_a_size_of_tiles_that_may_be_huge_needs_a_promise():
    with pytest.raises(af.ScheduleError, match=r"write affdsl.assume\(T < 2\*\*31\) in the kernel"):
        af.Schedule(strided).tile(("i",), ("T",))

    @af.kernel
    def promised(A: af.f64[N], T: af.index):
        af.assume(T >= 1, T < 2**31)
        with af.for_(0, N, 4) as i:
            A[i] = A[i] + 1

    kernel = af.Schedule(promised).tile(("i",), ("T",)).kernel(validate=True)
    for size in (1, 2, B):
        a = np.zeros(6)
        kernel(a, size)
        assert a.tolist() == [1, 0, 0, 0, 1, 0]
    for size in (2**31, 2**61, 2**62, 2**63 - 1):
        with pytest.raises(ValueError, match="T"):
            kernel(np.zeros(6), size)


def test_numbers_that_the_kernel_has_itself_may_stay():
    @af.kernel
    def far(A: af.f64[N]):
        with af.for_(N) as i, af.if_(i * 2**40 < N):
            A[i] = 1.0

    af.Schedule(far).tile(("i",), (4,)).unroll("i", 2)


def test_a_name_is_no_array(twice):
    with pytest.raises(af.ScheduleError, match=r"cannot s\.strip_mine\("):
        af.Schedule(twice).strip_mine("i#2", 2, name=np.array(["a", "b"]))


def test_truth_values_of_numpy_are_taken(twice):
    assert "reassociate=True" in str(af.Schedule(twice).reverse("i#1", reassociate=np.True_))
