"""Elements at a stride as vectors and shuffles: the same numbers, and no element that the loop does not touch."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.effort import some
from tests.harness.judges import alike
from tests.passes.transforms.lanes import wide
from tests.three_ways import agree

SIZES = (0, 1, 3, 4, 5, 8, 11, 17)


def loop(body, arguments, step=1):
    text = f"func.func @f({arguments}, %n: index) {{\naffine.for %i = 0 to %n step {step} {{\n{body}\n}}\nreturn }}"
    module = parse(text)
    verify(module)
    return module


def counted(module, kind):
    return sum(isinstance(op, kind) for op in walk(module))


ARGUMENTS = "%A: memref<?xf32>, %B: memref<?xf32>, %P: memref<?x3xf32>, %x: f32"


def given(n):
    numbers = np.random.default_rng(n)
    flat = [numbers.integers(-9, 9, 5 * n + 12).astype(np.float32) for _ in "AB"]
    return [*flat, numbers.integers(-9, 9, (n + 2, 3)).astype(np.float32), np.float32(2), n]


@pytest.mark.parametrize(
    ("text", "loads", "stores", "masked"),
    [
        ("a planet's three numbers", 3, 3, 0),
        ("every second number", 2, 1, 0),
        ("backwards by two", 2, 1, 0),
        ("stored where they are", 2, 0, 2),
        ("stored in between", 0, 0, 4),
        ("pairs", 2, 2, 0),
        ("as far apart as the stride", 4, 1, 0),
        ("stored twice", 1, 2, 0),
    ],
)
def test_what_lies_together_is_loaded_together(text, loads, stores, masked):
    found = wide(loop(PROGRAMS[text], ARGUMENTS), 4)
    assert (counted(found, affine.VectorLoad), counted(found, affine.VectorStore)) == (loads, stores)
    assert counted(found, vector.MaskedLoad | vector.MaskedStore) == masked
    for n in SIZES:
        assert alike(given(n), loop(PROGRAMS[text], ARGUMENTS).functions[0], found.functions[0])


PROGRAMS = {
    "a planet's three numbers": "\n".join(
        f"%v{c} = affine.load %P[%i, {c}] : memref<?x3xf32>\n%w{c} = arith.addf %v{c}, %x : f32\n"
        f"affine.store %w{c}, %P[%i, {c}] : memref<?x3xf32>"
        for c in range(3)
    ),
    "every second number": "%v = affine.load %A[%i * 2] : memref<?xf32>\naffine.store %v, %B[%i] : memref<?xf32>",
    "backwards by two": """%v = affine.load %A[%i * -2 + symbol(%n) * 2] : memref<?xf32>
      affine.store %v, %B[%i] : memref<?xf32>""",
    "stored where they are": """%v = affine.load %A[%i * 2 + 1] : memref<?xf32>
      %w = arith.addf %v, %x : f32
      affine.store %w, %A[%i * 2 + 1] : memref<?xf32>""",
    "stored in between": """%v = affine.load %A[%i * 2 + 1] : memref<?xf32>
      affine.store %v, %A[%i * 2] : memref<?xf32>""",
    "pairs": """%v = affine.load %A[%i * 2] : memref<?xf32>
      %w = affine.load %A[%i * 2 + 1] : memref<?xf32>
      %s = arith.addf %v, %w : f32
      %d = arith.subf %v, %w : f32
      affine.store %s, %B[%i * 2] : memref<?xf32>
      affine.store %d, %B[%i * 2 + 1] : memref<?xf32>""",
    "as far apart as the stride": """%v = affine.load %A[%i * 2] : memref<?xf32>
      %w = affine.load %A[%i * 2 + 2] : memref<?xf32>
      %s = arith.addf %v, %w : f32
      affine.store %s, %B[%i] : memref<?xf32>""",
    "stored twice": """%v = affine.load %A[%i] : memref<?xf32>
      affine.store %x, %B[%i * 2] : memref<?xf32>
      affine.store %x, %B[%i * 2 + 1] : memref<?xf32>
      affine.store %v, %B[%i * 2] : memref<?xf32>""",
}


@pytest.mark.parametrize("name", some([*PROGRAMS], 4))
def test_they_run_in_c_and_lowered(name, tmp_path):
    agree(print_op(wide(loop(PROGRAMS[name], ARGUMENTS), 4)), tmp_path, *given(9))


@pytest.mark.parametrize("stride", [2, 3, -2, 7])
@pytest.mark.parametrize("width", [4, 8])
def test_nothing_is_loaded_beyond_the_first_and_the_last_element(stride, width):
    """What lies between elements is loaded with them; the array ends with the last one, or begins with the first."""
    n = 2 * width
    low = 0 if stride > 0 else -stride * (n - 1)
    body = f"%v = affine.load %A[%i * {stride} + {low}] : memref<?xf32>\naffine.store %v, %B[%i] : memref<?xf32>"
    found = wide(loop(body, "%A: memref<?xf32>, %B: memref<?xf32>"), width)
    assert not counted(found, vector.MaskedLoad)
    array, copied = np.arange(abs(stride) * (n - 1) + 1, dtype=np.float32), np.zeros(n, np.float32)
    run(found.functions[0], array, copied, n)
    np.testing.assert_array_equal(copied, array[low::stride] if stride > 0 else array[::stride])


def test_a_store_between_loads_of_one_element_keeps_its_place():
    """The second load of an element sees what was stored: it does not join the first one."""
    found = wide(
        loop(
            """%v = affine.load %A[%i * 2] : memref<?xf32>
            affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] {
              affine.store %x, %A[%i * 2] : memref<?xf32>
            }
            %w = affine.load %A[%i * 2] : memref<?xf32>
            affine.store %v, %B[%i * 2] : memref<?xf32>
            affine.store %w, %B[%i * 2 + 1] : memref<?xf32>""",
            ARGUMENTS,
        ),
        4,
    )
    assert counted(found, affine.VectorLoad) == 4
    assert not counted(found, memref.CollapseShape)
    a = given(8)
    run(found.functions[0], *a)
    np.testing.assert_array_equal(a[1][1:16:2], 2)


@pytest.mark.parametrize(("column", "loads"), [("1", 0), ("symbol(%n) mod 2", 4 + 1)])
def test_what_was_just_stored_is_not_loaded(column, loads):
    """A store to another column leaves it; one that may be to the same element does not. One loads for what is left."""
    text = f"""%y = arith.addf %x, %x : f32
        affine.store %x, %P[%i, 0] : memref<?x3xf32>
        affine.store %y, %P[%i, {column}] : memref<?x3xf32>
        %w = affine.load %P[%i, 0] : memref<?x3xf32>
        affine.store %w, %B[%i] : memref<?xf32>"""
    found = wide(loop(text, ARGUMENTS), 4)
    assert counted(found, affine.Load) == loads
    for n in SIZES:
        assert alike(given(n), loop(text, ARGUMENTS).functions[0], found.functions[0])


def test_rows_of_unknown_length_are_loaded_one_by_one():
    found = wide(
        loop("%v = affine.load %C[%i, 1] : memref<?x?xf32>\naffine.store %v, %A[%i] : memref<?xf32>",
             "%A: memref<?xf32>, %C: memref<?x?xf32>"), 4,
    )  # fmt: skip
    assert not counted(found, vector.Shuffle)
