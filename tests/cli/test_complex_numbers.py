"""Complex numbers on the command line."""

import re

import numpy as np
import pytest

from tests.oracles import mlir_opt

TEXT = """\
func.func @scale(%a: complex<f64>, %x: memref<?xcomplex<f64>>, %n: index) -> complex<f64> {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xcomplex<f64>>
    %1 = complex.mul %0, %a : complex<f64>
    affine.store %1, %x[%i] : memref<?xcomplex<f64>>
  }
  return %a : complex<f64>
}
"""
GIVEN = {
    "pairs": ("1-2j [[1,2],[0,-1]] 2", "[ 5.+0.j -2.-1.j]"),
    "real numbers": ("1j [1,2] 2", "[0.+1.j 0.+2.j]"),
    "a number": ("2 3=1+2j 3", "[2.+4.j 2.+4.j 2.+4.j]"),
    "a type": ("2 2xcomplex<f64>=ones 2", "[2.+0.j 2.+0.j]"),
    "iota": ("1j 3=iota 3", "[0.+0.j 0.+1.j 0.+2.j]"),
}


@pytest.mark.parametrize("how", ["--interpreter", "--compiled"])
@pytest.mark.parametrize("name", GIVEN)
def test_run_takes_and_prints_complex_numbers(cli, name: str, how: str):
    words, printed = GIVEN[name]
    outcome = cli("run", "-", how, *words.split(), text=TEXT)
    assert printed in outcome.out
    assert re.search(r"result0: complex<f64> = \(?[-+\d.j]+\)?$", outcome.out, re.M)


def test_run_draws_and_saves_them(cli, tmp_path):
    saved = tmp_path / "out.npz"
    sums = TEXT.replace("complex.mul", "complex.add")
    assert cli("run", "-", "1", "3=random:1", "2", f"--save={saved}", text=sums).status == 0
    with np.load(saved) as arrays:
        drawn = arrays["x"] - np.array([1, 1, 0])
        assert arrays["result0"] == 1
    assert ((drawn.real >= 0) & (drawn.imag > 0) & (drawn.real < 1) & (drawn.imag < 1)).all()


WRONG = {
    "0x 3=zeros 1": "needs a number like 1.5-2j, got '0x'",
    "1j 3=foo 2": "'foo' is nothing to fill an array with",
    "1j [[1]] 1": "needs an array of rank 1, got 1x1 of rank 2",
    "1j [true,[2]] 1": "is no list of numbers",
    "1 3xf32=ones 3": "has elements of complex<f64>, got f32",
}


@pytest.mark.parametrize("words", WRONG)
def test_run_says_what_it_takes(cli, words: str):
    assert WRONG[words] in cli("run", "-", *words.split(), text=TEXT).err


def test_opt_and_translate(cli):
    flags = "--affine-loop-tile=tile-size=2", "--canonicalize", "--cse"
    ours = cli("opt", "-", *flags, text=TEXT).out
    assert mlir_opt(ours) == mlir_opt(TEXT, *flags)
    assert "mul_c128(x[i], a)" in cli("translate", "--to=c", "-", text=TEXT).out
