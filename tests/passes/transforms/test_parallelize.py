"""affine-parallelize: next to mlir-opt's, its options, its refusals, and run before and after in three orders."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_parallelize import affine_parallelize
from affdsl.passes.transforms.parallelize import parallelize
from tests.passes.advice.asked import asked
from tests.passes.compare import assert_alike, parsed
from tests.passes.program_files import text

HEAD = """func.func @f(%A: memref<40x40xf32>, %B: memref<40xf32>, %I: memref<40xi32>, %n: index, %s: f32, %c: i32)
    -> (f32, i32) {"""
END = "return %s, %c : f32, i32 }"


# Left as they are: what makes mlir-opt's result invalid or wrong, and what no band can say.
def bands(root):
    return [op for op in walk(root) if isinstance(op, affine.Parallel)]


def program(name, old="", new=""):
    return parsed(text("affine-parallelize", name).replace(old, new))


def loop(root, name):
    return next(op.iv for op in walk(root) if isinstance(op, affine.For) and op.iv.hint == name)


def test_what_is_handed_on_as_it_is_hinders_nothing():
    before = parsed(
        HEAD
        + """
        %r:2 = affine.for %i = 0 to %n iter_args(%t = %s, %k = %c) -> (f32, i32) {
          %q = affine.for %j = 0 to 40 iter_args(%u = %t) -> (f32) {
            affine.store %u, %A[%i, %j] : memref<40x40xf32>
            affine.yield %u : f32
          }
          affine.yield %t, %k : f32, i32
        }
        return %r#0, %r#1 : f32, i32 }"""
    )
    after = affine_parallelize(before)
    assert [band.results for band in bands(after)] == [(), ()]
    assert assert_alike(before, after) > 3


def test_no_more_than_so_many_around_each_other():
    text = f"""{HEAD}
        affine.parallel (%i) = (0) to (3) {{
          affine.for %j = 0 to 4 {{
            affine.for %k = 0 to 5 {{ affine.store %s, %A[%i, %j * 5 + %k] : memref<40x40xf32> }}
          }}
        }} {END}"""
    before = parsed(text)
    found = {n: [b.ivs[0].hint for b in bands(affine_parallelize(before, max_nested=n))] for n in range(4)}
    assert found == {0: ["i"], 1: ["i"], 2: ["i", "j"], 3: ["i", "j", "k"]}


def test_places_names_and_attributes_stay():
    before = program("sums", "%u : f32\n  }", '%u : f32\n  } {tag} loc("a":1:2)')
    old = next(op for op in walk(before) if isinstance(op, affine.For))
    new = bands(affine_parallelize(before, parallel_reductions=True))[0]
    assert new.ivs == (old.iv,)
    assert new.location is old.location is not None
    assert new.attributes == old.attributes != ()


def test_one_loop_alone():
    (before,) = program("two nested").functions
    after = parallelize(before, loop(before, "j"))
    verify(after)
    assert [band.ivs[0].hint for band in bands(after)] == ["j"]
    assert parallelize(after, loop(after, "i")).body[0].name == "affine.parallel"


def test_rounding_is_asked_for():
    module = program("sums")
    (before,) = module.functions
    first = loop(before, "i")
    with pytest.raises(IllegalTransform) as caught:
        parallelize(before, first)
    assert "cannot make i parallel" in str(caught.value)
    assert "legal: the same with reassociate=True" in str(caught.value)
    after = parallelize(before, first, reassociate=True)
    verify(after)
    assert bands(after)[0].reductions == ("addf",)
    second = next(op.iv for op in walk(after) if isinstance(op, affine.For))
    assert bands(parallelize(after, second))[1].reductions == ("ori", "maximumf")


@pytest.mark.parametrize("name", ["a minimum that no band has", "a sum of several terms"])
def test_what_the_pass_leaves_alone_the_verb_does(name):
    """mlir-opt has no band for these, so its pass makes none; ours combines an element for each part, or from zero."""
    before = program(name)
    assert not bands(affine_parallelize(before, parallel_reductions=True))
    (function,) = before.functions
    after = parallelize(function, loop(function, "i"))
    assert len(bands(after)) == 1
    assert assert_alike(before, with_fields(before, body=(after,))) > 3


def test_a_loop_without_a_body_is_a_band_without_one():
    (before,) = parsed("func.func @f() { affine.for %i = 0 to 2 { } return }").functions
    assert bands(parallelize(before, loop(before, "i")))[0].body == ()


def test_lanes_are_not_combined_by_bands():
    text = """func.func @f(%A: memref<64xi32>, %v: vector<4xi32>) -> vector<4xi32> {
      %r = affine.for %i = 0 to 64 step 4 iter_args(%t = %v) -> (vector<4xi32>) {
        %a = affine.vector_load %A[%i] : memref<64xi32>, vector<4xi32>
        %u = arith.addi %t, %a : vector<4xi32>
        affine.yield %u : vector<4xi32>
      }
      return %r : vector<4xi32> }"""
    (function,) = parsed(text).functions
    with pytest.raises(IllegalTransform, match=r"%t is a vector<4xi32>, and bands combine numbers"):
        parallelize(function, loop(function, "i"))


REFUSALS = {
    "in the right order": (
        "i",
        """\
cannot make i parallel
    the store B[i] at line 5 feeds the load B[i - 1] at line 4 with distance (1),
    e.g. i = 1 writes B[1], which i = 2 reads""",
    ),
    "a time loop": ("t", "legal: parallelize(func, j)"),
    "a recurrence": ("i", "%t of one iteration is used in the next, and not only combined"),
    "one array for all": (
        "i",
        "iterations store to the same elements of B, and the last one's are what the caller gets: let each store to",
    ),
    "an operation that nobody knows": ("i", "which elements of A it touches is not known"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    (before,) = program(name).functions
    iv, text = REFUSALS[name]
    with pytest.raises(IllegalTransform) as caught:
        asked("parallelize", before, loop(before, iv), reassociate=True)
    assert text in str(caught.value)


def test_the_loop_must_be_there():
    (before,) = program("two nested").functions
    (other,) = program("a time loop").functions
    with pytest.raises(IllegalTransform, match=r"@f has no such loop; its loops are i, j"):
        parallelize(before, loop(other, "t"))
