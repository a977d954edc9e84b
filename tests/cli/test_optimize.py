"""`affdsl opt --affdsl-optimize` and `affdsl translate --optimize`: text made fast that does the same everywhere."""

import re

import numpy as np
import pytest

from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from tests import oracles

PRODUCT = """\
func.func @product(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %m: index, %n: index, %k: index) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.for %l = 0 to %k {
        %a = affine.load %A[%i, %l] : memref<?x?xf32>
        %b = affine.load %B[%l, %j] : memref<?x?xf32>
        %c = affine.load %C[%i, %j] : memref<?x?xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""
SWEEPS = """\
func.func @sweeps(%arg0: index, %arg1: index, %arg2: memref<?x?xf64> {affdsl.shape = affine_map<()[s, t] -> (s, s)>},
                  %arg3: memref<?x?xf64> {affdsl.shape = affine_map<()[s, t] -> (s, s)>}) {
  affine.for %t = 0 to %arg1 {
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%arg0] {
      affine.for %j = 1 to affine_map<()[n] -> (n - 1)>()[%arg0] {
        %a = affine.load %arg2[%i, %j - 1] : memref<?x?xf64>
        %b = affine.load %arg2[%i + 1, %j] : memref<?x?xf64>
        %c = arith.addf %a, %b : f64
        affine.store %c, %arg3[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%arg0] {
      affine.for %j = 1 to affine_map<()[n] -> (n - 1)>()[%arg0] {
        %a = affine.load %arg3[%i, %j] : memref<?x?xf64>
        affine.store %a, %arg2[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
TWICE = """\
func.func private @shifted(%A: memref<?xf32>, %B: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf32>
    affine.store %a, %B[%i + 1] : memref<?xf32>
  }
  return
}
func.func @twice(%A: memref<?xf32>, %n: index) {
  call @shifted(%A, %A, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
  return
}
"""
SIZES = ((0, 3, 2), (3, 0, 2), (1, 1, 1), (7, 33, 5), (9, 17, 20))


def whole(random, *shape):
    return random.integers(-9, 9, shape).astype(np.float32)


@pytest.mark.parametrize("options", ["target=avx2 threads=1", "target=avx512 threads=2 contract reassociate"])
def test_a_product_of_text_does_the_same_through_mlir_opt(cli, options):
    outcome = cli("opt", f"--affdsl-optimize={options}", text=PRODUCT)
    assert (outcome.status, outcome.err) == (0, "")
    assert "vector<8xf32>" in outcome.out or "vector<16xf32>" in outcome.out
    assert ("affine.parallel" in outcome.out) == ("threads=2" in options)
    assert ("fma" in outcome.out) == ("contract" in options)
    random = np.random.default_rng(0)
    for m, n, k in SIZES:
        a, b, c = whole(random, m, k), whole(random, k, n), whole(random, m, n)
        wanted = a @ b + c  # small whole numbers: exact in every order
        oracles.run_mlir(outcome.out, "product", [a, b, c, m, n, k])
        np.testing.assert_array_equal(c, wanted, err_msg=f"{m} x {n} x {k}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "target=avx3",
            "option target 'avx3' is unknown; it is one of native, avx512fp16, avx512vbmi, avx512vnni, avx512, avx2, ",
        ),
        ("target=avx-2", "did you mean 'avx2'?"),
        ("threads=-1", "for the option threads: -1 does not lie between 0 and 4294967295"),
        ("contract=maybe", "for the option contract: 'maybe'"),
        (
            "recipes=all",
            "no such option recipes; it takes contract, reassociate, reciprocal, approximate, no-nans, no-signed-zeros",
        ),
    ],
)
def test_what_it_does_not_take_is_explained(cli, options, message):
    outcome = cli("opt", f"--affdsl-optimize={options}", text=PRODUCT)
    assert (outcome.status, outcome.out.strip()) == (1, "")
    assert "affdsl-optimize: " in outcome.err
    assert message in outcome.err
    translated = cli("translate", "--to=c", f"--optimize={options}", text=PRODUCT)
    assert (translated.status, translated.out) == (1, "")
    assert message in translated.err


def test_sizes_without_a_name_are_compared_with_caches_all_the_same(cli):
    outcome = cli("opt", "--affdsl-optimize=threads=1", text=SWEEPS)
    assert (outcome.status, outcome.err) == (0, "")
    assert "func.func @sweeps(%arg0: index, %arg1: index, %arg2: " in outcome.out
    assert "_tile" in outcome.out
    strange = SWEEPS.replace("%arg0", "%my.size-1").replace("[s, t]", "[n, t]").replace("(s, s)", "(n, n)")
    assert cli("opt", "--affdsl-optimize=threads=1", text=strange).status == 0
    small = SWEEPS.replace("memref<?x?xf64>", "memref<9x9xf64>")
    small = small.replace(" {affdsl.shape = affine_map<()[s, t] -> (s, s)>}", "")
    assert "_tile" not in cli("opt", "--affdsl-optimize=threads=1", text=small).out, "it fits into every cache"


def test_an_array_that_is_passed_twice_is_one_array(cli):
    apart = cli("opt", "--affdsl-optimize=target=avx2 threads=1", text=TWICE.replace("%A, %A", "%A, %B").replace(
        "@twice(%A: memref<?xf32>", "@twice(%A: memref<?xf32>, %B: memref<?xf32>"))  # fmt: skip
    assert "vector<8xf32>" in apart.out
    outcome = cli("opt", "--affdsl-optimize=target=avx2 threads=1", text=TWICE)
    assert "vector" not in outcome.out
    x = np.arange(1.0, 21.0, dtype=np.float32)
    run(parse(outcome.out).functions[-1], x, 19, module=parse(outcome.out))
    np.testing.assert_array_equal(x, np.ones(20))


DIVIDED = """func.func @f(%a: memref<?xi32>, %b: memref<?xi32>, %n: index) {
  affine.for %i = 0 to %n {
    %x = affine.load %a[%i] : memref<?xi32>
    %y = affine.load %b[%i] : memref<?xi32>
    %q = arith.divui %x, %y : i32
    affine.store %q, %a[%i] : memref<?xi32>
  }
  return
}"""


def test_what_is_computed_in_lanes_that_nobody_looks_at_is_guarded(cli):
    """Text keeps MLIR's rules, under which its author promises that nothing is divided by 0, until lanes are made."""
    assert "arith.select" not in cli("opt", "--canonicalize", text=DIVIDED).out
    made = cli("opt", "--affdsl-optimize=target=avx2 threads=1", text=DIVIDED).out
    quotients = re.findall(r"= arith.divui %\w+, (%\w+) :", made)
    assert quotients
    assert all(f"{divisor} = arith.select" in made for divisor in quotients)
