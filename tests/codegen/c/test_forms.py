"""Which of two forms of C with one meaning is written, and the notes that are taken while it is."""

import pytest

from affdsl.codegen.c.emit import emit
from affdsl.codegen.c.instruments import Instruments
from affdsl.codegen.c.lanes import MOST_LISTED
from affdsl.codegen.c.origins import Origins
from affdsl.mlir.readers import parse


def written(body: str, argument: str) -> str:
    """The body of the function in C."""
    text = f"func.func @f(%x: {argument}, %n: index) {{\n%c0 = arith.constant 0 : index\n{body}\nreturn\n}}"
    return emit(parse(text), "f").source.partition("void f(")[2]


@pytest.mark.parametrize(("lanes", "loops"), [(MOST_LISTED // 2, 0), (MOST_LISTED, 0), (2 * MOST_LISTED, 1)])
def test_the_lanes_of_short_vectors_are_listed(lanes, loops):
    body = f"""
    %v = vector.load %x[%c0] : memref<64xi8>, vector<64xi8>
    %s = vector.extract_strided_slice %v {{offsets = [1], sizes = [{lanes}], strides = [1]}}
      : vector<64xi8> to vector<{lanes}xi8>
    vector.store %s, %x[%c0] : memref<64xi8>, vector<{lanes}xi8>"""
    assert written(body, "memref<64xi8>").count("for (") == loops


@pytest.mark.parametrize(("first", "mask"), [(0, "&(i32x8){0}"), (3, "first_i32x8(3)"), (8, "all_i32x8(-1)")])
def test_masks_that_all_or_none_of_the_lanes_have_are_not_compared(first, mask):
    body = f"""
    %v = vector.load %x[%c0] : memref<64xi32>, vector<8xi32>
    %m = vector.constant_mask [{first}] : vector<8xi1>
    vector.maskedstore %x[%c0], %m, %v : memref<64xi32>, vector<8xi1>, vector<8xi32>"""
    assert mask in written(body, "memref<64xi32>")


def test_numbers_of_checks_are_arrays_as_long_as_they_are():
    text = """
    func.func @f(%x: memref<8x8xf32>, %n: index) {
      %v = memref.reinterpret_cast %x to offset: [0], sizes: [%n, %n], strides: [%n, 1]
        : memref<8x8xf32> to memref<?x?xf32, strided<[?, 1]>>
      %y = memref.load %v[%n, %n] : memref<?x?xf32, strided<[?, 1]>>
      memref.store %y, %x[%n, %n] : memref<8x8xf32>
      return
    }"""
    assert (
        "affdsl_reach(64, 0, 2, (const int64_t[2]){n, n}, (const int64_t[2]){n, 1})"
        in emit(parse(text), "f", checked=True).source
    )


def test_lines_are_those_of_their_operations_and_of_no_other():
    module = parse("func.func @f() { return }")
    (function,) = module.functions
    origins = Origins()
    lines = [*origins.marked(["of a helper"], ()), *origins.marked(["of the function", "and its end"], (function,))]
    text = "\n".join([lines[1], lines[0], lines[2]])
    assert origins.taken(text).split("\n") == ["of the function", "of a helper", "and its end"]
    assert origins.lines == {1: (function,), 3: (function,)}


def test_instruments_have_room_for_their_numbers_and_no_more():
    first, second = parse("func.func @f() { return }\nfunc.func @g() { return }").functions
    assert Instruments().room == 2
    assert Instruments({first: 1, second: 2}).room == 6
    assert Instruments(counters={first: 0, second: 1}).room == 4
    assert Instruments({first: 1}, {first: 0, second: 0}).room == 5
