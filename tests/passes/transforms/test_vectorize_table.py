"""Bytes of a table that bytes choose: all lanes at once, and the same bytes."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref, vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.lowering.split_vectors import split_vectors
from tests.harness.judges import alike
from tests.passes.transforms.lanes import wide
from tests.three_ways import agree

N = af.symbols("N")
LOOP = """func.func @f(%x: memref<?xi8>, %t: memref<{size}xi8>, %out: memref<?xi8>, %n: index) {{
  affine.for %i = 0 to %n {{
    %a = affine.load %x[%i] : memref<?xi8>
    {index}
    %b = memref.load %t[%k] : memref<{size}xi8>
    %c = arith.addi %a, %b : i8
    affine.store %c, %out[%i] : memref<?xi8>
  }}
  return
}}"""
UNSIGNED = "%k = arith.index_castui %a : i8 to index"
UNDER = """%five = arith.constant 5 : i8
    %d = arith.cmpi sgt, %a, %five : i8
    scf.if %d {
      %k = arith.index_castui %a : i8 to index
      %e = memref.load %t[%k] : memref<256xi8>
      affine.store %e, %out[%i] : memref<?xi8>
    }
    %k = arith.index_castui %a : i8 to index"""


def given(n, size=256):
    random = np.random.default_rng(n)
    return [random.integers(-128, 128, n, "i1"), random.integers(-128, 128, size, "i1"), np.zeros(n, "i1"), n]


@pytest.mark.parametrize("index", [UNSIGNED, UNDER], ids=["everywhere", "under a condition"])
@pytest.mark.parametrize("size", [256, 300])
def test_bytes_that_bytes_choose_are_gathered(index, size):
    for width, tail in ((8, "scalar"), (64, "masked")):
        module = parse(LOOP.format(index=index.replace("256", str(size)), size=size))
        made = wide(module, width, tail)
        gathers = [op for op in walk(made) if isinstance(op, vector.Gather)]
        assert len(gathers) == (1 + (index is UNDER)) * (1 + (tail == "masked"))
        for shown in (made, split_vectors(made, 128)):
            for n in (0, 1, 9, 64, 100):
                assert alike(given(n, size), module.functions[0], shown.functions[0])


@pytest.mark.parametrize(("index", "size"), [
    ("%w = arith.extui %a : i8 to i16 %k = arith.index_castui %w : i16 to index", 256),
    ("%w = arith.shrui %a, %a : i8 %v = arith.extui %w : i8 to i64 %k = arith.index_cast %v : i64 to index", 256),
    ("%k = arith.index_castui %a : i8 to index", 255),
])  # fmt: skip
def test_others_are_loaded_lane_by_lane(index, size):
    made = wide(parse(LOOP.format(index=index, size=size)), 8)
    assert not any(isinstance(op, vector.Gather) for op in walk(made))
    assert sum(isinstance(op, memref.Load) for op in walk(made)) > 8


def test_it_runs_in_c_and_lowered(tmp_path):
    made = wide(parse(LOOP.format(index=UNSIGNED, size=256)), 16, "masked")
    agree(print_op(made), tmp_path, *given(77))


def test_elements_that_nobody_wrote_are_not_chosen_by_lanes_that_do_not_run():
    table = "%t = memref.alloca() : memref<256xi8> %s = arith.constant 7 : i8"
    for k in range(3, 6):
        table += f" affine.store %s, %t[{k}] : memref<256xi8>"
    text = (
        LOOP.format(index=UNSIGNED, size=256)
        .replace(", %t: memref<256xi8>", "")
        .replace("affine.for", table + " affine.for", 1)
    )
    module = parse(text)
    x, out = np.array([3, 4, 5], "i1"), np.zeros((2, 3), "i1")
    run(module.functions[0], x, out[0], 3)
    run(wide(module, 8, "masked").functions[0], x, out[1], 3)
    assert out.tolist() == [[10, 11, 12]] * 2


@af.kernel
def curve(image: af.u8[N], table: af.u8[256], out: af.u8[N]):
    with af.for_(N) as i:
        out[i] = table[image[i]]


def test_targets_with_tables_look_up_in_all_lanes():
    plain, fast = (curve.optimize(target, threads=1) for target in ("avx512", "avx512vbmi"))
    assert "does nothing but look up small elements" in plain.explain()
    assert "i runs on vectors of 64" in fast.explain()
    assert "looked_up_i8x64((const int8_t *)&table[128]" in fast.c()
    for n in (0, 1, 63, 64, 200):
        random = np.random.default_rng(n)
        image, table = random.integers(0, 256, n, "u1"), random.integers(0, 256, 256, "u1")
        for call in (plain, fast):
            out = np.zeros(n, "u1")
            call(image, table, out)
            np.testing.assert_array_equal(out, table[image])


def test_a_byte_that_is_the_same_in_all_lanes_is_loaded_once_or_under_the_mask():
    index = "%z = affine.load %x[0] : memref<?xi8>\n    %k = arith.index_castui %z : i8 to index"
    text = LOOP.format(index=index, size=256)
    made = wide(parse(text), 8)
    assert not [op for op in walk(made) if isinstance(op, vector.Gather)]
    stored = text.replace("%c = arith", "memref.store %b, %t[%k] : memref<256xi8>\n    %c = arith")
    for tail in ("scalar", "masked"):
        module = parse(stored)
        made = wide(module, 8, tail)
        for n in (0, 7, 8, 21):
            assert alike(given(n), module.functions[0], made.functions[0])
