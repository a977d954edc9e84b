"""splice: which loads are left, loops run before and after over all small sizes, and what it refuses."""

import random

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.splice import splice
from tests.passes.compare import assert_alike, parsed

HEAD = "func.func @f(%A: memref<32xf32>, %B: memref<32xf32>, %n: index)"
N = af.symbols("N")


def spliced(body, loop=0, **options):
    """The module, and what splice makes of one of its loops."""
    before = parsed(HEAD + body)
    loops = [op for op in walk(before) if isinstance(op, affine.For)]
    after = with_fields(before, body=(splice(before.functions[0], loops[loop].iv, module=before, **options),))
    verify(after)
    return before, after


def sum_of(loads, store="%B[%i]", bounds="1 to 25 step 4", type="vector<4xf32>"):
    """A loop that adds up vectors loaded at some subscripts, one after the other."""
    lines = [f"%v{k} = affine.vector_load {at} : memref<32xf32>, {type}" for k, at in enumerate(loads)]
    sums = [f"%s{k + 1} = arith.addf %{f's{k}' if k else 'v0'}, %v{k + 1} : {type}" for k in range(len(loads) - 1)]
    last = f"%s{len(loads) - 1}" if len(loads) > 1 else "%v0"
    stored = f"affine.vector_store {last}, {store} : memref<32xf32>, {type}"
    return "{ affine.for %i = " + bounds + " { " + "\n".join([*lines, *sums, stored]) + " } \n return }"


def inside(module, kind):
    """How many operations of a kind the first loop has."""
    loop = next(op for op in walk(module) if isinstance(op, affine.For))
    return sum(isinstance(op, kind) for op in walk(loop))


@pytest.mark.parametrize(
    ("offsets", "loads", "shuffles"),
    [
        ((-1, 0, 1), 1, 2),
        ((1, 0, -1), 1, 2),
        ((0, 4), 1, 0),  # what the next iteration loads is all of it
        ((-1, 0, 1, 2, 3), 1, 3),
        ((-1, 3, 4, 1), 2, 2),  # 4 and 3, 1; -1 lies five elements behind
    ],
)
def test_the_foremost_load_of_a_row_stays(offsets, loads, shuffles):
    before, after = spliced(sum_of([f"%A[%i + {k}]" for k in offsets]))
    assert inside(before, affine.VectorLoad) == len(offsets)
    assert inside(after, affine.VectorLoad) == loads
    assert inside(after, vector.Shuffle) == shuffles
    assert assert_alike(before, after) > 0


@pytest.mark.parametrize(
    ("offsets", "more", "loads", "shuffles"),
    [
        ((-1, 0, 1), 1, 2, 1),
        ((1, 1, 0, -1), 1, 3, 1),  # both of the first place
        ((-1, 0, 1, 2), 2, 3, 1),
        ((-1, 3, 4, 5, 1), 1, 3, 2),  # 5 is loaded as well; 3 and 1 come from 4, five elements behind which lies -1
        ((-1, 0, 1, 6, 7), 1, 4, 1),  # one group is 7 and 6, both loaded; of the other one -1 comes from 0
    ],
)
def test_more_of_the_foremost_loads_stay_where_that_is_asked(offsets, more, loads, shuffles):
    before, after = spliced(sum_of([f"%A[%i + {k}]" for k in offsets]), more_loads=more)
    assert inside(after, affine.VectorLoad) == loads
    assert inside(after, vector.Shuffle) == shuffles
    assert assert_alike(before, after) > 0


@pytest.mark.parametrize("ahead", [False, True])
def test_loads_that_are_made_as_well_need_nothing_that_stands_behind_them(ahead):
    text = sum_of(["%A[%p]", "%A[%i]", "%A[%q]"])
    text = text.replace("step 4 {", "step 4 {\n%p = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)")
    text = text.replace("%v1 =", "%q = affine.apply affine_map<(d0) -> (d0 - 1)>(%i)\n%v1 =")
    before, after = spliced(text, more_loads=1, ahead=ahead)
    assert inside(after, affine.VectorLoad) == 2
    assert inside(after, vector.Shuffle) == 1
    assert assert_alike(before, after) > 0


def test_where_all_that_overlap_are_loaded_nothing_is_spliced():
    with pytest.raises(IllegalTransform, match=r"A\[i \+ 1\] at line \d+ stays: more_loads=1 leaves none to splice"):
        spliced(sum_of(["%A[%i]", "%A[%i + 1]"]), more_loads=1)
    with pytest.raises(ValueError, match="more_loads is at least 0, not -1"):
        spliced(sum_of(["%A[%i]", "%A[%i + 1]"]), more_loads=-1)


def test_rows_are_told_apart_and_random_sets_of_loads_give_the_same():
    rng, refused = random.Random(7), 0
    for _ in range(25):
        loads = [f"%{rng.choice('AB')}[%i + {rng.randint(-1, 5)}]" for _ in range(rng.randint(2, 6))]
        text = sum_of(loads, store="%A[%i + 3]" if rng.random() < 0.5 else "%B[0]", bounds="1 to %n step 4")
        text = text.replace("%n", str(rng.randint(1, 22)))
        try:
            before, after = spliced(text, more_loads=rng.choice((0, 0, 1)))
        except IllegalTransform:  # the test of refusals reads why
            refused += 1
            continue
        assert inside(after, affine.VectorLoad) < inside(before, affine.VectorLoad)
        assert_alike(before, after)
    assert 0 < refused < 20


def test_what_a_loop_stores_in_front_of_its_loads_was_not_loaded_before():
    """Behind them it may store: that is loaded no more."""
    before, after = spliced(sum_of(["%A[%i]", "%A[%i + 2]"], store="%A[%i - 1]"))
    assert inside(after, affine.VectorLoad) == 1
    assert assert_alike(before, after) > 0
    said = r"load A\[i\] at line \d+ stays: the vector store A\[i \+ 3\] at line \d+ may have stored what it loads"
    with pytest.raises(IllegalTransform, match=said):
        spliced(sum_of(["%A[%i]", "%A[%i + 2]"], store="%A[%i + 3]"))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (sum_of(["%A[%i]"]), "stays: no other one overlaps with it"),
        (sum_of(["%A[%i]", "%A[%i + 5]"]), "stays: no other one overlaps with it"),
        (sum_of(["%A[%i]", "%A[%i + 1]"], bounds="1 to 25 step 2"), "it does not move along a row by one vector"),
        (sum_of(["%A[2 * %i]", "%A[2 * %i + 1]"], bounds="0 to 9 step 4"), "it does not move along a row"),
        (sum_of(["%A[3]", "%A[4]"]), "it does not move along a row by one vector in each iteration"),
        (sum_of(["%A[%i]", "%A[%i + 1]"], bounds="max affine_map<(d0) -> (d0, 1)>(%n) to 25 step 4"),
         "the loop has several lower bounds"),
        ("""{ affine.for %i = 0 to 8 step 4 {
            %C = memref.alloca() : memref<16xf32>
            %a = affine.vector_load %C[%i] : memref<16xf32>, vector<4xf32> } return }""",
         "the loop makes the buffer, or the view of it, that it loads from"),
        ("""{ affine.for %i = 0 to 8 step 4 {
            %zero = arith.constant 0 : index
            %d = memref.dim %A, %zero : memref<32xf32>
            %a = affine.vector_load %A[%i + symbol(%d) - 32] : memref<32xf32>, vector<4xf32> } return }""",
         "its subscripts are not known before the loop"),
        ("{ affine.for %i = 0 to 8 step 4 { %a = affine.load %A[%i] : memref<32xf32> } return }",
         "no load of a vector stands right in its body"),
    ],
)  # fmt: skip
def test_refusals_say_why_each_load_stays(body, reason):
    with pytest.raises(IllegalTransform) as caught:
        spliced(body)
    assert str(caught.value).startswith("<mlir>:1: cannot splice vectors that loop i loads\n")
    assert reason in str(caught.value)


def test_a_vector_of_several_dimensions_stays():
    text = """func.func @f(%A: memref<8x32xf32>) { affine.for %i = 0 to 24 step 4 {
        %a = affine.vector_load %A[0, %i] : memref<8x32xf32>, vector<2x4xf32>
        %b = affine.vector_load %A[0, %i + 1] : memref<8x32xf32>, vector<2x4xf32> } return }"""
    function = parsed(text).functions[0]
    with pytest.raises(IllegalTransform, match="its vector has several dimensions"):
        splice(function, function.body[0].iv)


def test_a_loop_that_is_not_there_is_no_loop():
    one, other = (parsed(HEAD + sum_of(["%A[%i]", "%A[%i + 1]"])).functions[0] for _ in range(2))
    with pytest.raises(ValueError, match=r"%i is no induction variable of an affine.for of @f"):
        splice(one, other.body[0].iv)


@af.kernel
def smooth(A: af.f64[N], B: af.f64[N]):
    with af.for_(2):
        with af.for_(1, N - 1) as i:
            B[i] = A[i - 1] - A[i] * A[i + 1]
        with af.for_(1, N - 1) as j:
            A[j] = B[j - 1] - B[j] * B[j + 1]


def assert_smooth(made, sizes):
    """Arrays of all sizes below some come out as of the loops as they are written."""
    for n in range(sizes):
        given = [np.random.default_rng(n).random(n) for _ in "AB"]
        wanted = [a.copy() for a in given]
        made(*given)
        smooth(*wanted)
        assert [a.tobytes() for a in given] == [a.tobytes() for a in wanted], n


def test_a_schedule_runs_alike_at_all_small_sizes():
    """Compiled, also where the loop of vectors does not run; and proved to be the same."""
    s = af.Schedule(smooth)
    for loop, tail in (("i#2", "overlapped"), ("j", "masked")):
        s.vectorize(loop, 4, tail=tail).splice(loop)
    assert 's.splice("i#2")' in str(s)
    made = s.kernel(validate=True)
    assert_smooth(made, 23)


def test_loops_that_carry_values_carry_more():
    text = """{ %zero = arith.constant dense<0.0> : vector<4xf32>
        %r = affine.for %i = 0 to 24 step 4 iter_args(%s = %zero) -> (vector<4xf32>) {
          %a = affine.vector_load %A[%i] : memref<32xf32>, vector<4xf32>
          %b = affine.vector_load %A[%i + 3] : memref<32xf32>, vector<4xf32>
          %p = arith.mulf %a, %b : vector<4xf32>
          %t = arith.addf %s, %p : vector<4xf32>
          affine.yield %t : vector<4xf32>
        }
        affine.vector_store %r, %B[0] : memref<32xf32>, vector<4xf32>
        return }"""
    before, after = spliced(text)
    assert inside(after, affine.VectorLoad) == 1
    assert assert_alike(before, after) > 0


def test_what_is_stored_earlier_in_the_same_iteration_is_seen():
    before_loads = """{ affine.for %i = 0 to 24 step 4 {
        %v = affine.vector_load %B[%i] : memref<32xf32>, vector<4xf32>
        affine.vector_store %v, %A[%i + AT] : memref<32xf32>, vector<4xf32>
        %a = affine.vector_load %A[%i] : memref<32xf32>, vector<4xf32>
        %b = affine.vector_load %A[%i + 2] : memref<32xf32>, vector<4xf32>
        %c = arith.addf %a, %b : vector<4xf32>
        affine.vector_store %c, %B[%i] : memref<32xf32>, vector<4xf32>
        } return }"""
    for at in (0, 3, 5):
        with pytest.raises(
            IllegalTransform, match=r"the vector store A\[.*\] at line \d+ may have stored what it loads"
        ):
            spliced(before_loads.replace("AT", str(at)))
    with pytest.raises(IllegalTransform, match=r"by the call of \w+ at line \d+ may have stored what it loads"):
        spliced_call()


def spliced_call():
    """A loop that calls a function which is given the array that it loads from."""
    module = parsed("""func.func private @g(memref<32xf32>)
        func.func @f(%A: memref<32xf32>) { affine.for %i = 0 to 24 step 4 {
          %a = affine.vector_load %A[%i] : memref<32xf32>, vector<4xf32>
          %b = affine.vector_load %A[%i + 2] : memref<32xf32>, vector<4xf32>
          func.call @g(%A) : (memref<32xf32>) -> ()
        } return }""")
    function = module.functions[-1]
    return splice(function, function.body[0].iv, module=module)


def ahead(body):
    """The module, and what splice makes of its first loop where it loads for the next iteration."""
    before = parsed(HEAD + body)
    loop = next(op for op in walk(before) if isinstance(op, affine.For))
    after = with_fields(before, body=(splice(before.functions[0], loop.iv, ahead=True, module=before),))
    verify(after)
    return before, after


@pytest.mark.parametrize("bounds", ["1 to 25 step 4", "1 to 5 step 4", "1 to 9 step 4"])
@pytest.mark.parametrize("offsets", [(-1, 0, 1), (1, 0, -1), (0, 4), (-1, 3, 4, 1)])
def test_what_the_next_iteration_splices_is_loaded_first(offsets, bounds):
    before, after = ahead(sum_of([f"%A[%i + {k}]" for k in offsets], bounds=bounds))
    assert assert_alike(before, after) > 0
    loop = next((op for op in walk(after) if isinstance(op, affine.For)), None)
    if loop is not None:
        first = loop.body[0]
        assert isinstance(first, affine.VectorLoad)
        assert first.index[-1].constant == max(offsets) + 4


def test_loads_of_several_rows_stand_before_all_stores():
    body = """{ affine.for %i = 0 to 24 step 4 {
        %a = affine.vector_load %A[%i] : memref<32xf32>, vector<4xf32>
        %b = affine.vector_load %A[%i + 2] : memref<32xf32>, vector<4xf32>
        %c = arith.addf %a, %b : vector<4xf32>
        affine.vector_store %c, %B[%i] : memref<32xf32>, vector<4xf32>
        %d = affine.vector_load %A[%i + 5] : memref<32xf32>, vector<4xf32>
        %e = affine.vector_load %A[%i + 7] : memref<32xf32>, vector<4xf32>
        %g = arith.mulf %d, %e : vector<4xf32>
        affine.vector_store %g, %B[%i + 4] : memref<32xf32>, vector<4xf32>
        } return }"""
    for before, after in (spliced(body), ahead(body)):
        loop = next(op for op in walk(after) if isinstance(op, affine.For))
        kinds = [type(op) for op in loop.body if isinstance(op, affine.VectorLoad | affine.VectorStore)]
        assert kinds == [affine.VectorLoad] * 2 + [affine.VectorStore] * 2
        assert assert_alike(before, after) > 0


WHERE = "its last iteration is not certainly 4 before its end"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (sum_of(["%A[%i]", "%A[%i + 1]"], bounds="1 to 24 step 4"), WHERE),
        (sum_of(["%A[%i]", "%A[%i + 1]"], bounds="1 to %n step 4"), WHERE),
        ("""{ %zero = arith.constant dense<0.0> : vector<4xf32>
            %r = affine.for %i = 0 to 24 step 4 iter_args(%s = %zero) -> (vector<4xf32>) {
              %a = affine.vector_load %A[%i] : memref<32xf32>, vector<4xf32>
              %b = affine.vector_load %A[%i + 3] : memref<32xf32>, vector<4xf32>
              %t = arith.addf %a, %b : vector<4xf32>
              affine.yield %t : vector<4xf32>
            } return }""", "it carries values"),
    ],
)  # fmt: skip
def test_loads_ahead_take_whole_steps_and_nothing_else_that_is_carried(body, reason):
    with pytest.raises(IllegalTransform) as caught:
        ahead(body)
    assert reason in str(caught.value)


def test_a_schedule_that_loads_ahead_runs_alike_at_all_small_sizes():
    s = af.Schedule(smooth)
    for loop in ("i#2", "j"):
        s.vectorize(loop, 4, tail="overlapped").splice(loop, ahead=True)
    assert 's.splice("i#2", ahead=True)' in str(s)
    made = s.kernel(validate=True)
    assert_smooth(made, 33)
