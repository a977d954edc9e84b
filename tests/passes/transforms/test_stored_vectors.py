"""Loads of vectors take what was stored before them, under their mask or whole, and programs do the same."""

import pytest

from affdsl.ir.dialects import affine, vector
from affdsl.ir.dialects.func import Func
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.share import shared

NOTHING = Func("nothing", (), ())
TYPES = "memref<9xf32>, vector<4xi1>, vector<4xf32>"
STORE = f"vector.maskedstore %{{to}}[%i], %{{mask}}, %{{x}} : {TYPES}\n"
LOAD = f"%{{x}} = vector.maskedload %{{of}}[%i], %{{mask}}, %zero : {TYPES} into vector<4xf32>\n"
HEAD = """%zero = arith.constant dense<[0.0, 0.0, 0.0, 0.0]> : vector<4xf32>
%one = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
"""
WHOLE_STORE = "affine.vector_store %{x}, %{to}[{at}] : memref<9xf32>, vector<4xf32>\n"
WHOLE_LOAD = "%{x} = affine.vector_load %{of}[{at}] : memref<9xf32>, vector<4xf32>\n"
ARGUMENTS = "%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>, %m: vector<4xi1>, %n: vector<4xi1>, %i: index"
UPDATE = STORE.format(to="A", mask="m", x="one") + LOAD.format(of="A", mask="m", x="a") + "{}"
UPDATE += STORE.format(to="A", mask="m", x="a")


def function(body: str, arguments: str = ARGUMENTS) -> Func:
    """A function with vectors %zero and %one."""
    return parse(f"func.func @f({arguments}) {{\n{HEAD}{body}return\n}}").functions[0]


def left(body: str) -> tuple[int, int]:
    """How many masked loads and stores of a function are left."""
    made = shared(function(body), NOTHING)
    verify(made)
    return tuple(sum(isinstance(op, kind) for op in walk(made)) for kind in (vector.MaskedLoad, vector.MaskedStore))


def test_a_sum_under_one_mask_is_loaded_and_stored_once():
    assert left(UPDATE.format("")) == (0, 1)


@pytest.mark.parametrize(("between", "loads", "stores"), [
    (STORE.format(to="B", mask="m", x="one"), 0, 2),
    (LOAD.format(of="A", mask="n", x="b"), 1, 2),
    ("%b = affine.load %A[0] : memref<9xf32>\n", 0, 2),
    ('"some.thing"(%A) : (memref<9xf32>) -> ()\n', 0, 2),
    ("affine.for %j = 0 to 2 { %b = affine.load %A[%j] : memref<9xf32> }\n", 0, 2),
])  # fmt: skip
def test_what_is_read_in_between_is_stored(between, loads, stores):
    assert left(UPDATE.format(between)) == (loads, stores)


@pytest.mark.parametrize("between", [
    STORE.format(to="A", mask="n", x="one"),
    "%b = affine.load %B[0] : memref<9xf32>\naffine.store %b, %A[0] : memref<9xf32>\n",
    "affine.for %j = 0 to 2 { %b = affine.load %B[0] : memref<9xf32> affine.store %b, %A[%j] : memref<9xf32> }\n",
    '"some.thing"(%A) : (memref<9xf32>) -> ()\n',
])  # fmt: skip
def test_what_may_be_written_in_between_is_loaded(between):
    before = STORE.format(to="A", mask="m", x="one")
    assert left(before + between + LOAD.format(of="A", mask="m", x="a")) == (1, 1 + between.count("maskedstore"))


def test_a_block_in_which_nothing_changes_stays_what_it_is():
    """Else all of it would count as changed."""
    text = f"affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) {{ {STORE.format(to='A', mask='m', x='one')} }} "
    before = function(text + "else { affine.store %x, %B[0] : memref<9xf32> }\n", ARGUMENTS + ", %x: f32")
    assert shared(before, NOTHING) is before


def test_another_place_or_mask_is_another_value():
    store = STORE.format(to="A", mask="m", x="one")
    assert left(store + LOAD.format(of="A", mask="n", x="a")) == (1, 1)
    assert left(store + LOAD.format(of="B", mask="m", x="a")) == (1, 1)


@pytest.mark.parametrize(("between", "loads", "stores"), [
    ("", 0, 1),
    (WHOLE_STORE.format(to="B", at="%i", x="one"), 0, 2),
    (WHOLE_LOAD.format(of="A", at="%i + 1", x="b"), 1, 2),
    (WHOLE_STORE.format(to="A", at="%i + 1", x="zero"), 1, 3),
    (STORE.format(to="A", mask="m", x="zero"), 1, 2),
    ("affine.store %e, %A[0] : memref<9xf32>\n", 1, 2),
    ("%l = affine.vector_load %A[%i] : memref<9xf32>, vector<2xf32>\n", 1, 2),
])  # fmt: skip
def test_whole_vectors_are_kept_where_nothing_else_is_written(between, loads, stores):
    body = "%e = affine.load %B[0] : memref<9xf32>\n" + WHOLE_STORE.format(to="A", at="%i", x="one") + between
    body += WHOLE_LOAD.format(of="A", at="%i", x="a") + "%s = arith.addf %a, %one : vector<4xf32>\n"
    made = shared(function(body + WHOLE_STORE.format(to="A", at="%i", x="s")), NOTHING)
    verify(made)
    counts = [sum(isinstance(op, kind) for op in walk(made)) for kind in (affine.VectorLoad, affine.VectorStore)]
    assert counts == [loads, stores]


def test_arguments_that_a_call_shows_to_be_one_buffer_are_one():
    body = UPDATE.format(STORE.format(to="B", mask="m", x="zero"))
    names = [each.split(":")[0] for each in ARGUMENTS.split(", ")]
    given = ", ".join(["%A", "%A", *names[2:]])
    types = ", ".join(each.split(": ")[1] for each in ARGUMENTS.split(", "))
    module = parse(f"""
    func.func private @f({ARGUMENTS}) {{ {HEAD} {body} return }}
    func.func @main({ARGUMENTS}) {{ call @f({given}) : ({types}) -> () return }}""")
    made = shared(module.functions[0], NOTHING, module)
    assert sum(isinstance(op, vector.MaskedStore) for op in walk(made)) == 3


def test_what_stood_before_stays():
    given = function(UPDATE.format(""))
    assert shared(given, given) is given
