"""Squares whose columns are loaded are loaded as rows only where that loads the same."""

import pytest

from affdsl.ir.dialects.func import Func
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.squares import squares_turned

LOADS = [f"%v{j}{i} = affine.load %A[{i}, %n + {j}] : memref<4x?xf32>" for j in range(2) for i in range(2)]
VECTORS = [f"%p{j} = vector.from_elements %v{j}0, %v{j}1 : vector<2xf32>" for j in range(2)]
START = "affine.dma_start %B[0, 0], %A[0, 1], %t[0], %c2 : memref<4x?xf32>, memref<4x?xf32>, memref<1xi32>"
WAIT = "affine.dma_wait %t[0], %c2 : memref<1xi32>"
STORE = "affine.store %x, %A[1, %n + 1] : memref<4x?xf32>"


def function(*ops: str) -> Func:
    """A function with some operations, which stores the vectors that they make."""
    head = "%A: memref<4x?xf32>, %B: memref<4x?xf32>, %t: memref<1xi32>, %n: index, %x: f32, %ok: i1"
    stores = [f"affine.vector_store %p{j}, %B[{j}, 0] : memref<4x?xf32>, vector<2xf32>" for j in range(2)]
    body = "\n".join(["%c2 = arith.constant 2 : index", *ops, *stores, "return"])
    return parse(f"func.func @f({head}) {{\n{body}\n}}").functions[0]


def turned(of: Func) -> Func:
    return squares_turned(of, Func("before", (), ()))


def test_a_square_is_loaded_as_rows() -> None:
    made = str(turned(function(*LOADS[:2], STORE.replace("%A", "%B"), *LOADS[2:], START, *VECTORS, WAIT)))
    assert made.count("affine.vector_load") == made.count("vector.shuffle") == 2
    assert "affine.load" not in made


@pytest.mark.parametrize("between", [STORE, START, WAIT, 'cf.assert %ok, "no column behind"'])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_nothing_is_loaded_before_what_may_write_it_or_end(between: str, at: int) -> None:
    of = function(*LOADS[:at], between, *LOADS[at:], *VECTORS)
    assert turned(of) is of


def test_vectors_of_two_dimensions_stay() -> None:
    loads = [f"%v{j}{i} = affine.load %A[{i}, %n + {j}] : memref<4x?xf32>" for j in range(4) for i in range(4)]
    lanes = [", ".join(f"%v{j}{i}" for i in range(4)) for j in range(4)]
    vectors = [f"%w{j} = vector.from_elements {each} : vector<2x2xf32>" for j, each in enumerate(lanes)]
    parts = [f"%p{j} = vector.extract %w{j}[0] : vector<2xf32> from vector<2x2xf32>" for j in range(4)]
    of = function(*loads, *vectors, *parts)
    assert turned(of) is of


CELLS = [f"affine.store %v{j}{i}, %A[{i}, %n + {j}] : memref<4x?xf32>" for j in range(2) for i in range(2)]
LANES = [f"%v{j}{i} = vector.extract %p{j}[{i}] : f32 from vector<2xf32>" for j in range(2) for i in range(2)]


def stored(*ops: str) -> Func:
    """A function that takes two vectors apart, and what it does then."""
    head = "%A: memref<4x?xf32>, %B: memref<4x?xf32>, %t: memref<1xi32>, %n: index, %m: index, %x: f32, %ok: i1"
    head += ", %p0: vector<2xf32>, %p1: vector<2xf32>"
    body = "\n".join(["%c2 = arith.constant 2 : index", *LANES, *ops, "return"])
    return parse(f"func.func @f({head}) {{\n{body}\n}}").functions[0]


def test_columns_that_are_stored_are_stored_as_rows() -> None:
    beside = "affine.store %x, %A[2, %n] : memref<4x?xf32>"
    made = str(turned(stored(*CELLS[:2], STORE.replace("%A", "%B"), beside, *CELLS[2:])))
    assert made.count("affine.vector_store") == made.count("vector.shuffle") == 2
    assert "vector.extract" not in made
    assert made.index("vector_store") > made.index("affine.store %x, %A")


@pytest.mark.parametrize(
    "between",
    [
        "affine.store %x, %A[0, %n] : memref<4x?xf32>",
        "affine.store %x, %A[0, %m] : memref<4x?xf32>",
        "%y = affine.load %A[0, %n] : memref<4x?xf32>",
        "%w = affine.vector_load %A[0, %n + 1] : memref<4x?xf32>, vector<2xf32>",
        START,
        WAIT,
        'cf.assert %ok, "no column behind"',
    ],
)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_nothing_is_stored_behind_what_may_touch_it_or_end(between: str, at: int) -> None:
    of = stored(*CELLS[:at], between, *CELLS[at:])
    assert turned(of) is of


@pytest.mark.parametrize("by", ["", "1 + "])
def test_rows_that_may_be_one_or_overlap_in_one_are_stored_lane_by_lane(by: str) -> None:
    of = stored(*(each.replace("%A[1, ", f"%A[%m, {by}") for each in CELLS))
    assert turned(of) is of


def test_nothing_is_stored_behind_a_load_of_several_rows() -> None:
    cells = [each.replace("%A[", "%A[1 + ") for each in CELLS]
    of = stored(*cells[:2], "%w = affine.vector_load %A[0, %n] : memref<4x?xf32>, vector<2x2xf32>", *cells[2:])
    assert turned(of) is of


def test_what_is_loaded_and_stored_in_place_is_turned_twice() -> None:
    add = [f"%s{j} = arith.addf %p{j}, %p{j} : vector<2xf32>" for j in range(2)]
    lanes = [line.replace("%v", "%w").replace("%p", "%s") for line in LANES]
    cells = [line.replace("%v", "%w") for line in CELLS]
    ops = [
        line
        for j in range(2)
        for line in (
            *LOADS[2 * j : 2 * j + 2],
            VECTORS[j],
            add[j],
            *lanes[2 * j : 2 * j + 2],
            *cells[2 * j : 2 * j + 2],
        )
    ]
    made = str(turned(function(*ops)))
    assert made.count("vector.shuffle") == 4
    assert "affine.load" not in made
    assert "affine.store" not in made
