"""Vectors and masks as values of vector types: what the interpreter says, portable and with instructions of targets."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import call, check, compile_silently, run_c
from tests.codegen.c.lanewise import conversions
from tests.effort import TRIES_ALL, some
from tests.harness.guarded import guarded
from tests.harness.judges import copied
from tests.harness.machines import MACHINES
from tests.oracles import require
from tests.vectors.together import by_c

FLAGS = (("-O1", "-fopenmp"), ("-O3", "-march=native"), ("-O2", "-mavx2", "-mno-avx512f"))
FLOATS = "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()
INTEGERS = "eq ne slt sle sgt sge ult ule ugt uge".split()
DTYPES = {"f32": np.dtype("f4"), "f64": np.dtype("f8")}
EDGES = {
    "f": [
        0.0,
        -0.0,
        1.5,
        -2.5,
        -0.5,
        2**22 + 0.5,
        2**52 - 0.5,
        -(2**53) + 1,
        np.inf,
        -np.inf,
        np.nan,
        3.0,
        -2.0,
        1e-40,
    ],
    "i": [0, 1, -1, 2, 5, -7, "low", "high"],
}


def edges(element, n, seed):
    """Numbers of a type, its edges among them, in some order."""
    dtype = np.dtype({"f32": "f4", "f64": "f8"}.get(element, f"i{int(element[1:]) // 8}"))
    ends = {} if element[0] == "f" else {"low": np.iinfo(dtype).min, "high": np.iinfo(dtype).max}
    known = np.array([ends.get(x, x) for x in EDGES[element[0]]], dtype)
    return np.random.default_rng(seed).choice(known, n)


def assert_as_interpreted(text, arrays, folder, turn=0, ways=1):
    """C is the same as the interpreter to the bit, compiled in so many of the ways from one on, or in all."""
    module = parse(text)
    wanted = copied(arrays)
    run(module.functions[-1], *wanted, module=module, uninitialised="poison")
    for k, flags in enumerate(some(FLAGS[turn:] + FLAGS[:turn], ways)):
        if "-mavx2" in flags and not has("avx2"):
            continue
        found = copied(arrays)
        run_c(module, module.functions[-1].symbol, found, folder / str(k), flags=flags)
        for at, (a, b) in enumerate(zip(wanted, found, strict=True)):
            np.testing.assert_array_equal(a, b, err_msg=f"argument {at}, {flags}")
            assert np.array_equal(np.signbit(a), np.signbit(b)) or a.dtype.kind != "f", (at, flags)
    source = emit_jit(module, module.functions[-1].symbol)
    compile_silently(source, folder, require("clang-22"), "-O1", "-march=native", kind=("-c",))


def together(parts):
    """Functions, as text, as one module whose last function calls them all, and their arrays one after the other."""
    texts, given, calls = [], [], []
    for k, (text, _) in enumerate(parts):
        types = re.findall(r"%\w+: (memref<[^>]*>)", text.split("{", 1)[0])
        names = [f"%a{k}_{at}" for at in range(len(types))]
        texts.append(text.replace("func.func @f(", f"func.func @f{k}("))
        given += [f"{name}: {type}" for name, type in zip(names, types, strict=True)]
        calls.append(f"func.call @f{k}({', '.join(names)}) : ({', '.join(types)}) -> ()")
    texts.append("\n".join([f"func.func @f({', '.join(given)}) {{", *calls, "return", "}"]))
    return "\n".join(texts), [a for _, arrays in parts for a in arrays]


def has(feature):
    return feature in Path("/proc/cpuinfo").read_text().split()


def computing(lines, element, lanes):
    """A function of A and B that stores what each line computes, as text of element to text of the results."""
    v = f"vector<{lanes}x{element}>"
    body = []
    for k, line in enumerate(lines):
        body.append(line.replace("%r", f"%r{k}").replace("%m", f"%m{k}"))
        body.append(f"affine.vector_store %r{k}, %R[{k * lanes}] : memref<{len(lines) * lanes}x{element}>, {v}")
    many, joined = f"memref<{len(lines) * lanes}x{element}>", "\n  ".join(body)
    return f"""func.func @f(%A: memref<{lanes}x{element}>, %B: memref<{lanes}x{element}>, %R: {many}) {{
  %a = affine.vector_load %A[0] : memref<{lanes}x{element}>, {v}
  %b = affine.vector_load %B[0] : memref<{lanes}x{element}>, {v}
  {joined}
  return
}}"""


ELEMENTS = ("f32", "f64", "i8", "i16", "i32", "i64")
KINDS = [(element, lanes) for element in ELEMENTS for lanes in (2, 16)]


@pytest.mark.parametrize(("lanes", "turn", "ways"), [(2, 0, 1), (16, 1, 1)])
def test_comparisons_choices_and_extremes(lanes, turn, ways, tmp_path):
    parts = [compared(element, lanes) for element in ELEMENTS]
    assert_as_interpreted(*together(parts), tmp_path, turn, ways)


def compared(element, lanes):
    """A function of comparisons, choices and extremes, and its arrays."""
    v = f"vector<{lanes}x{element}>"
    predicates = FLOATS if element[0] == "f" else INTEGERS
    how = "cmpf" if element[0] == "f" else "cmpi"
    lines = [f"%m = arith.{how} {p}, %a, %b : {v}\n  %r = arith.select %m, %a, %b : vector<{lanes}xi1>, {v}"
             for p in predicates]  # fmt: skip
    kinds = "maximumf minimumf maxnumf minnumf" if element[0] == "f" else "maxsi minsi maxui minui xori addi muli"
    lines += [f"%r = arith.{kind} %a, %b : {v}" for kind in kinds.split()]
    if element[0] == "f":
        lines += [f"%r = math.absf %a : {v}", f"%r = arith.negf %a : {v}", f"%r = math.roundeven %a : {v}"]
    arrays = [edges(element, lanes, 1), edges(element, lanes, 2), edges(element, lanes * len(lines), 3)]
    return computing(lines, element, lanes), arrays


@pytest.mark.parametrize("turn", range(len(FLAGS)))
def test_each_lane_is_shifted_by_a_number_of_its_own(turn, tmp_path):
    """As many bits as there are and more, below 0 too, are what the interpreter says, by functions on whole vectors."""
    parts = []
    for element, lanes in (("i32", 8), ("i64", 4), ("i32", 16), ("i16", 8)):
        v, bits = f"vector<{lanes}x{element}>", int(element[1:])
        low = np.iinfo(f"i{bits // 8}").min
        lines = [f"%r = arith.{kind} {operands} : {v}" for kind in ("shli", "shrsi", "shrui")
                 for operands in ("%a, %b", "%b, %a")]  # fmt: skip
        known = np.array([0, 1, 5, bits - 1, bits, bits + 1, -1, low], f"i{bits // 8}")
        numbers = [np.resize(known[k::-1] if k else known, lanes) for k in (0, 7)]
        parts.append((computing(lines, element, lanes), [*numbers, np.zeros(lanes * len(lines), f"i{bits // 8}")]))
    text, arrays = together(parts)
    source = emit_jit(parse(text), "f")
    assert all(f"{stem}_{row}(" in source for stem in ("shl", "shr", "shru") for row in ("i32x8", "i64x4"))
    assert_as_interpreted(text, arrays, tmp_path, turn)


def test_conversions_by_instructions_of_this_machine(tmp_path):
    rows = [row for row in conversions() if {*row.types, row.result} <= {*ELEMENTS}]
    parts = [(str(row.function(16, vectors=True)), row.arrays(16, 4)) for row in some(rows[::2], len(rows) // 4)]
    assert_as_interpreted(*together(parts), tmp_path, 1)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_extremes_beside_a_number(element, tmp_path):
    """Zeros of both signs, and what is no number, as the two operands say in either order."""
    v, n = f"vector<16x{element}>", len(EDGES["f"])
    lines = [
        f"%k = arith.constant dense<{number}> : {v}\n%r = arith.{kind} {operands} : {v}"
        for number in ("0.0", "-0.0", "1.5", "-2.5", "0x7FC00000" if element == "f32" else "0x7FF8000000000000")
        for kind in ("maximumf", "minimumf", "maxnumf", "minnumf")
        for operands in ("%a, %k", "%k, %a")
    ]
    text = computing([line.replace("%k", f"%k{at}") for at, line in enumerate(lines)], element, 16)
    a = np.resize(np.array(EDGES["f"], DTYPES[element]), 16)
    assert n <= 16
    assert_as_interpreted(text, [a, a, edges(element, 16 * len(lines), 3)], tmp_path, 1 if element == "f32" else 2)


ADDED = """func.func @f(%A: memref<8xi8>, %B: memref<8xi8>, %N: memref<1xi8>, %F: memref<8xf32>) {
  %a = affine.vector_load %A[0] : memref<8xi8>, vector<8xi8>
  %b = affine.vector_load %B[0] : memref<8xi8>, vector<8xi8>
  %m = arith.cmpi eq, %a, %b : vector<8xi8>
  %true = arith.constant dense<true> : vector<8xi1>
  %o = arith.xori %m, %true : vector<8xi1>
  %e = arith.extui %o : vector<8xi1> to vector<8xi8>
  %k = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : vector<8xi8>
  %x = arith.muli %e, %k : vector<8xi8>
  %n = vector.reduction <add>, %x : vector<8xi8> into i8
  affine.store %n, %N[0] : memref<1xi8>
  %s = arith.SIGNtofp %m : vector<8xi1> to vector<8xf32>
  affine.vector_store %s, %F[0] : memref<8xf32>, vector<8xf32>
  return
}"""


@pytest.mark.parametrize("sign", ["ui", "si"])
@pytest.mark.parametrize("factor", ["%x", "%e"])
def test_masks_as_numbers_are_added_up(sign, factor, tmp_path):
    text = ADDED.replace("SIGN", sign).replace("<add>, %x", f"<add>, {factor}")
    arrays = [np.array([1, 2, 3, 4, 5, 6, 7, 8], "i1"), np.array([1, 0, 3, 0, 5, 6, 7, 0], "i1")]
    turn = (sign == "si") + (factor == "%e")
    assert_as_interpreted(text, [*arrays, np.zeros(1, "i1"), np.ones(8, "f4")], tmp_path, turn)


MASKED = """func.func @f(%A: memref<{n}x{t}>, %B: memref<{n}x{t}>, %x: {t}, %from: index, %count: index) {{
  %m = vector.create_mask %count : vector<{n}xi1>
  %other = vector.broadcast %x : {t} to vector<{n}x{t}>
  %a = vector.maskedload %A[%from], %m, %other : memref<{n}x{t}>, vector<{n}xi1>, vector<{n}x{t}> into vector<{n}x{t}>
  %b = arith.{sum} %a, %other : vector<{n}x{t}>
  vector.maskedstore %B[%from], %m, %b : memref<{n}x{t}>, vector<{n}xi1>, vector<{n}x{t}>
  return
}}"""


MASKS = [*KINDS, ("f32", 4), ("f64", 4), ("i32", 4), ("i8", 32), ("i8", 64)]
MASKS_IN_TURN = [row for k, row in enumerate(MASKS) if TRIES_ALL or k % 4 in (0, 3) or k >= len(KINDS)]
"""Elements take turns at the numbers of lanes."""


@pytest.mark.parametrize(("element", "lanes"), MASKS_IN_TURN)
def test_masks_touch_nothing_else(element, lanes, tmp_path):
    """The arrays end where nobody may read or write; each type is compiled in one of the ways, or in all."""
    turn = MASKS.index((element, lanes)) % 3
    text = MASKED.format(n=lanes, t=element, sum="addf" if element[0] == "f" else "addi")
    module = parse(text)
    for flags in some(FLAGS[turn:] + FLAGS[:turn], 1):
        if "-mavx2" in flags and not has("avx2"):
            continue
        library = ctypes.CDLL(str(compile_silently(emit_jit(module, "f"), tmp_path, require("gcc", flags), *flags)))
        for start in {0, 1, lanes // 2, lanes - 1}:
            for count in {lanes - start, 0, -3, 1, min(3, lanes - start)}:
                wanted = [edges(element, lanes, 6), edges(element, lanes, 7)]
                found = [guarded(a, "end") for a in wanted]
                others = (wanted[0].dtype.type(3), start, count)
                run(module.functions[0], *wanted, *others, uninitialised="poison")
                assert call(library, module, "f", [*found, *others])[0] == 0
                for a, b in zip(wanted, found, strict=True):
                    np.testing.assert_array_equal(a, b)


def test_masks_of_several_widths_meet(tmp_path):
    """Masks are combined, carried, chosen, taken apart and put together, beside lanes of other widths."""
    text = """func.func @f(%A: memref<32xf32>, %B: memref<32xf64>, %R: memref<32xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : vector<8xi32>
  %none = arith.constant dense<[true, false, true, false, true, false, false, false]> : vector<8xi1>
  %all = arith.constant dense<true> : vector<8xi1>
  %last = affine.for %i = 0 to 32 step 8 iter_args(%m = %none) -> (vector<8xi1>) {
    %a = affine.vector_load %A[%i] : memref<32xf32>, vector<8xf32>
    %b = affine.vector_load %B[%i] : memref<32xf64>, vector<8xf64>
    %ma = arith.cmpf ogt, %a, %a : vector<8xf32>
    %mb = arith.cmpf olt, %b, %b : vector<8xf64>
    %w = arith.extf %a : vector<8xf32> to vector<8xf64>
    %mc = arith.cmpf ugt, %w, %b : vector<8xf64>
    %x = arith.xori %mc, %m : vector<8xi1>
    %y = arith.ori %x, %ma : vector<8xi1>
    %z = arith.andi %y, %all : vector<8xi1>
    %p = vector.create_mask %n : vector<8xi1>
    %q = arith.select %p, %z, %mb : vector<8xi1>, vector<8xi1>
    %r = arith.select %q, %one, %one : vector<8xi1>, vector<8xi32>
    %s = arith.extui %q : vector<8xi1> to vector<8xi32>
    %t = arith.addi %r, %s : vector<8xi32>
    affine.vector_store %t, %R[%i] : memref<32xi32>, vector<8xi32>
    %e = vector.extract %q[3] : i1 from vector<8xi1>
    %f = vector.insert %e, %q [0] : i1 into vector<8xi1>
    %g = vector.shuffle %f, %p [7, 6, 5, 4, 8, 9, 10, 11] : vector<8xi1>, vector<8xi1>
    affine.yield %g : vector<8xi1>
  }
  %count = arith.extui %last : vector<8xi1> to vector<8xi32>
  affine.vector_store %count, %R[0] : memref<32xi32>, vector<8xi32>
  return
}"""
    for n in (0, 3, 8):
        arrays = [edges("f32", 32, 1), edges("f64", 32, 2), np.zeros(32, "i4"), n]
        check(parse(text), "f", arrays, tmp_path)


def test_lanes_that_follow_each_other_are_spliced(tmp_path):
    """From each lane of the first vector on; where they begin with the second one, or are any lanes, by number."""
    orders = [list(range(first, first + 8)) for first in (0, 1, 7, 8)]
    orders.append([*range(1, 8), 0])
    lines = [f"%v{k} = affine.vector_load %A[{8 * k}] : memref<16xf64>, vector<8xf64>" for k in range(2)]
    for k, order in enumerate(orders):
        lines.append(f"%r{k} = vector.shuffle %v0, %v1 {order} : vector<8xf64>, vector<8xf64>")
        lines.append(f"affine.vector_store %r{k}, %R[{k}, 0] : memref<5x8xf64>, vector<8xf64>")
    text = "\n  ".join(["func.func @f(%A: memref<16xf64>, %R: memref<5x8xf64>) {", *lines, "return\n}"])
    assert_as_interpreted(text, [np.arange(16.0), np.zeros((5, 8))], tmp_path, turn=1)
    source = emit(parse(text), "f").source
    assert source.count("= spliced_f64x8(") == 3
    assert source.count("= shuffle_f64x8(") == 2


def test_a_lane_that_may_be_any_does_not_begin_a_row_of_lanes():
    """Any lane is the first one in C, and those behind it are what they were."""
    text = """func.func @f(%A: memref<8xf64>) {
  %a = affine.vector_load %A[0] : memref<8xf64>, vector<8xf64>
  %r = vector.shuffle %a, %a [-1, 0, 1, 2, 3, 4, 5, 6] : vector<8xf64>, vector<8xf64>
  affine.vector_store %r, %A[0] : memref<8xf64>, vector<8xf64>
  return
}"""
    assert "shuffle_f64x8(a, a, 0, 0, 1, 2, 3, 4, 5, 6)" in emit(parse(text), "f").source


def test_what_is_compared_is_counted_and_chosen_by_before_the_next_iteration_changes_it(tmp_path):
    """Lanes are counted, and chosen, by what a loop carries, as it was, whatever is stored behind the comparison."""
    text = """func.func @f(%x: memref<?xf32>, %seen: memref<?xf32>, %out: memref<?xi64>, %n: index) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %start = arith.constant 0 : i64
  %last, %count, %kept = affine.for %i = 0 to %n iter_args(%a = %zero, %c = %start, %k = %zero)
      -> (vector<8xf32>, i64, vector<8xf32>) {
    %v = affine.vector_load %x[8 * %i] : memref<?xf32>, vector<8xf32>
    affine.vector_store %a, %x[8 * %i] : memref<?xf32>, vector<8xf32>
    %differ = arith.cmpf une, %a, %v : vector<8xf32>
    %wide = arith.extf %a : vector<8xf32> to vector<8xf64>
    %other = arith.extf %v : vector<8xf32> to vector<8xf64>
    %above = arith.cmpf olt, %wide, %other : vector<8xf64>
    %ones = arith.extui %differ : vector<8xi1> to vector<8xi64>
    %found = vector.reduction <add>, %ones, %c : vector<8xi64> into i64
    %chosen = arith.select %above, %v, %k : vector<8xi1>, vector<8xf32>
    affine.yield %v, %found, %chosen : vector<8xf32>, i64, vector<8xf32>
  }
  affine.store %count, %out[0] : memref<?xi64>
  affine.vector_store %kept, %seen[0] : memref<?xf32>, vector<8xf32>
  return
}"""
    source = emit(parse(text), "f").source
    assert "count_ne_f32x8(&" in source
    assert "lt_f64_f32x8(&" in source
    x = np.random.default_rng(0).choice([0.0, 1.0, -0.0, np.nan, 2.0], 40).astype(np.float32)
    assert_as_interpreted(text, [x, np.zeros(8, np.float32), np.zeros(1, np.int64), 5], tmp_path, turn=2)


def test_c_reads_as_written_by_hand(golden):
    """A threshold under a condition, in groups of 8: no loop over lanes is left."""
    text = """func.func @keep(%x: memref<?xf32>, %y: memref<?xf32>, %t: f32, %i: index, %n: index) {
  %m = vector.create_mask %n : vector<8xi1>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %v = vector.maskedload %x[%i], %m, %zero : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %limit = vector.broadcast %t : f32 to vector<8xf32>
  %above = arith.cmpf ogt, %v, %limit : vector<8xf32>
  %kept = arith.select %above, %v, %zero : vector<8xi1>, vector<8xf32>
  vector.maskedstore %y[%i], %m, %kept : memref<?xf32>, vector<8xi1>, vector<8xf32>
  return
}"""
    source = emit(parse(text), "keep").source
    assert "lane" not in source
    golden(source, "keep.c")


def test_a_mask_of_which_all_lanes_are_set_has_an_address(tmp_path):
    text = """func.func @f(%A: memref<8xf64>, %B: memref<8xf64>) {
      %i = arith.constant 2 : index
      %true = arith.constant true
      %mask = vector.broadcast %true : i1 to vector<4xi1>
      %none = arith.constant dense<1.0> : vector<4xf64>
      %v = vector.maskedload %A[%i], %mask, %none : memref<8xf64>, vector<4xi1>, vector<4xf64> into vector<4xf64>
      vector.maskedstore %B[%i], %mask, %v : memref<8xf64>, vector<4xi1>, vector<4xf64>
      return
    }"""
    assert_as_interpreted(text, [np.arange(8.0), np.zeros(8)], tmp_path, turn=1)


@pytest.mark.parametrize(("type", "turn"), [("vector<4xi32>", 1), ("vector<8xi8>", 2), ("i32", 0)])
def test_integers_beside_themselves(type, turn, tmp_path):
    lines = [f"%m{k} = arith.cmpi {p}, %a, %a : {type}" for k, p in enumerate(INTEGERS)]
    lines += [f"%r{k} = arith.{kind} %a, %a : {type}" for k, kind in enumerate(("maxsi", "minui", "xori", "subi"))]
    mask = type.replace("i32", "i1").replace("i8", "i1")
    lines += [f"%s{k} = arith.select %m{k}, %r0, %r2 : {mask}, {type}" for k in range(len(INTEGERS))]
    count, element = len(INTEGERS) + 4, type.strip(">").rpartition("x")[2]
    store = "affine.vector_store {}, %B[{}, 0] : {}, {}" if type[0] == "v" else "affine.store {}, %B[{}, 0] : {}"
    load = "affine.vector_load %A[0] : {}, {}" if type[0] == "v" else "affine.load %A[0] : {}"
    memory = f"memref<{count}x8x{element}>"
    stored = [*(f"%s{k}" for k in range(len(INTEGERS))), *(f"%r{k}" for k in range(4))]
    lines += [store.format(value, k, memory, type) for k, value in enumerate(stored)]
    head = f"%a = {load.format(f'memref<8x{element}>', type)}"
    text = "\n".join((f"func.func @f(%A: memref<8x{element}>, %B: {memory}) {{", head, *lines, "return", "}"))
    dtype = np.dtype(f"i{int(element[1:]) // 8}")
    assert_as_interpreted(text, [edges(element, 8, 0), np.zeros((count, 8), dtype)], tmp_path, turn)


@pytest.mark.parametrize("name", ["neon", "rvv"])
def test_bytes_that_are_compared_choose_wider_numbers_where_char_has_no_sign(name):
    text = """func.func @f(%A: memref<4xi8>, %B: memref<4xi64>, %C: memref<4xi64>) {
      %a = affine.vector_load %A[0] : memref<4xi8>, vector<4xi8>
      %b = affine.vector_load %B[0] : memref<4xi64>, vector<4xi64>
      %c = arith.constant dense<3> : vector<4xi8>
      %none = arith.constant dense<0> : vector<4xi64>
      %less = arith.cmpi slt, %a, %c : vector<4xi8>
      %chosen = arith.select %less, %b, %none : vector<4xi1>, vector<4xi64>
      affine.vector_store %chosen, %C[0] : memref<4xi64>, vector<4xi64>
      return
    }"""
    given = [np.arange(1, 5, dtype=np.int8), np.arange(1000, 1004), np.zeros(4, np.int64)]
    for way in MACHINES[name]:
        ((left,),) = by_c(list(parse(text).functions), [[given]], way)
        assert left[2].tolist() == [1000, 1001, 0, 0]


@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
def test_products_with_powers_of_two_are_shifts_of_long_lanes(type, tmp_path):
    low = -(2 ** (int(type[1:]) - 1))
    factors = (0, 1, 2, 64, -2, low, 3)
    products = "\n".join(
        f"""%c{k} = arith.constant dense<{f}> : vector<8x{type}>
        %p{k} = arith.muli {f"%x, %c{k}" if k % 2 else f"%c{k}, %x"} : vector<8x{type}>
        affine.vector_store %p{k}, %B[{8 * k}] : memref<64x{type}>, vector<8x{type}>"""
        for k, f in enumerate(factors)
    )
    text = f"""func.func @f(%A: memref<8x{type}>, %B: memref<64x{type}>) {{
      %x = affine.vector_load %A[0] : memref<8x{type}>, vector<8x{type}>
      {products}
      return
    }}"""
    shown = emit_jit(parse(text), "f")
    assert (shown.count("<< 1)"), shown.count("<< 6)")) == ((0, 0) if type == "i8" else (1, 1))
    assert_as_interpreted(text, (edges(type, 8, 1), np.zeros(64, f"i{int(type[1:]) // 8}")), tmp_path, ways=3)


@pytest.mark.parametrize(
    ("type", "lanes"), [("f64", 8), ("f32", 16), ("i64", 8), ("i32", 16), ("f32", 8), ("i16", 8), ("f16", 8)]
)
def test_elements_that_lanes_choose(type, lanes, tmp_path):
    """By one function of targets, but for narrow ones; also where elements are stored before the vector is made."""

    def chosen(order):
        return "\n".join(
            f"""%i{k} = vector.extract %w[{at}] : index from vector<{lanes}xindex>
            %{k + 100} = memref.load %T[%i{k}] : memref<?x{type}>"""
            for k, at in enumerate(order)
        )

    def function(order, between=""):
        elements = ", ".join(f"%{k + 100}" for k in range(lanes))
        return f"""func.func @f(%T: memref<?x{type}>, %W: memref<{lanes}xi64>, %B: memref<{lanes}x{type}>) {{
          %v = affine.vector_load %W[0] : memref<{lanes}xi64>, vector<{lanes}xi64>
          %w = arith.index_cast %v : vector<{lanes}xi64> to vector<{lanes}xindex>
          {chosen(order)}
          {between}
          %r = vector.from_elements {elements} : vector<{lanes}x{type}>
          affine.vector_store %r, %B[0] : memref<{lanes}x{type}>, vector<{lanes}x{type}>
          return
        }}"""

    dtype = np.dtype(f"{type[0]}{int(type[1:]) // 8}")
    zero = f"%n = arith.constant {'0.0' if type[0] == 'f' else 0} : {type}\naffine.store %n, %T[1] : memref<?x{type}>"
    ways = {
        "gathered": (function(range(lanes)), type[1:] != "16"),
        "reversed": (function(range(lanes - 1, -1, -1)), False),
        "stored": (function(range(lanes), zero), False),
    }
    for name, (text, is_one) in ways.items():
        assert ("gathered_" in emit_jit(parse(text), "f")) == is_one, name
        rng = np.random.default_rng(lanes)
        arrays = [rng.integers(-99, 99, 40).astype(dtype), rng.integers(0, 40, lanes), np.zeros(lanes, dtype)]
        arrays[1][2] = 1
        (tmp_path / name).mkdir()
        assert_as_interpreted(text, arrays, tmp_path / name, ways=3)
