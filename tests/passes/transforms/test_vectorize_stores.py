"""Elements that both branches of a condition store to: vectors store them once, behind it, and do the same."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.transforms.vectorize.stores import stored_once
from tests.harness.judges import alike
from tests.passes.transforms.lanes import wide
from tests.three_ways import agree

LOOP = """func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xf32>, %n: index) {{
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {{
    %a = affine.load %A[%i] : memref<?xf32>
    %c = arith.cmpf ogt, %a, %zero : f32
    {body}
  }}
  return
}}"""
STORE = "affine.store %{}, %{}[%i] : memref<?xf32>\n"
IF = "scf.if %c {{ {then} }} else {{ {orelse} }}\n"
DOUBLE = "%{} = arith.addf %a, %a : f32\n"
ONCE = {
    "one value each": IF.format(then=STORE.format("a", "B"), orelse=STORE.format("zero", "B")),
    "two arrays, in any order": IF.format(
        then=STORE.format("a", "B") + STORE.format("zero", "C"),
        orelse=STORE.format("a", "C") + STORE.format("zero", "B"),
    ),
    "conditions inside": IF.format(
        then=STORE.format("zero", "B"),
        orelse="%d = arith.cmpf olt, %a, %zero : f32\n"
        + IF.replace("%c", "%d").format(
            then=DOUBLE.format("e") + STORE.format("e", "B"), orelse=STORE.format("a", "B")
        ),
    ),
    "stores of one branch alone behind it": IF.format(
        then=STORE.format("a", "B") + STORE.format("a", "C"), orelse=STORE.format("zero", "B")
    ),
}
"""Bodies, where B is stored to by whole vectors."""
STAYS = {
    "another element": IF.format(then=STORE.format("a", "B"), orelse="affine.store %a, %B[%i + 1] : memref<?xf32>\n"),
    "another array": IF.format(then=STORE.format("a", "B"), orelse=STORE.format("a", "C")),
    "it is read behind": IF.format(
        then=STORE.format("a", "B"), orelse=STORE.format("a", "B") + "%x = affine.load %B[0] : memref<?xf32>\n"
    ),
    "it is stored to in a loop behind": IF.format(
        then=STORE.format("a", "B"),
        orelse=STORE.format("a", "B") + "affine.for %j = 0 to 2 { affine.store %zero, %B[%j] : memref<?xf32> }\n",
    ),
    "one branch": "scf.if %c { " + STORE.format("a", "B") + "}\n",
}


def given(n):
    a = np.random.default_rng(n).integers(-3, 4, n + 1).astype("f4")
    return [a, np.full(n + 1, 7, "f4"), np.full(n + 1, 9, "f4"), n]


def stores_to(function, name):
    """How many whole vectors a function stores to an argument, and how many of which only some lanes."""
    array = next(a for a in function.args if a.hint == name)
    kinds = (affine.VectorStore, vector.MaskedStore)
    return [sum(isinstance(op, kind) and op.memref is array for op in walk(function)) for kind in kinds]


@pytest.mark.parametrize("name", ONCE)
def test_they_are_stored_once(name):
    for tail in ("scalar", "masked"):
        module = parse(LOOP.format(body=ONCE[name]))
        (after,) = wide(module, 8, tail).functions
        assert stores_to(after, "B") == [1, tail == "masked"]
        assert all(alike(given(n), module.functions[0], after) for n in (0, 1, 8, 21))


def once(body, may_alias):
    function = parse(LOOP.format(body=body)).functions[0]
    loop = next(op for op in walk(function) if isinstance(op, affine.For))
    return loop, stored_once(loop, may_alias)


@pytest.mark.parametrize("name", STAYS)
def test_others_stay(name):
    loop, made = once(STAYS[name], lambda a, b: a is b)
    assert made is loop


def test_arrays_that_may_be_one_keep_their_order():
    body = IF.format(then=STORE.format("a", "B") + STORE.format("a", "C"), orelse=STORE.format("a", "B"))
    for may_alias, stores in ((lambda a, b: a is b, 2), (lambda a, b: True, 3)):
        loop, made = once(body, may_alias)
        assert (made is loop) == (stores == 3)
        assert sum(isinstance(op, affine.Store) for op in walk(made)) == stores


def test_it_runs_in_c_and_lowered(tmp_path):
    made = wide(parse(LOOP.format(body=ONCE["conditions inside"])), 8, "masked")
    agree(print_op(made), tmp_path, *given(37))
