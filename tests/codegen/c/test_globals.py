"""Global buffers of one number everywhere are written down nowhere, however large they are."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.errors import UnsupportedError
from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.canonicalize import canonicalize
from tests.codegen.c.compare import call, compile_silently
from tests.oracles import require

LARGE = 100_000


def program(kind: str, shape: str, splat: str) -> str:
    return f"""memref.global "private" {kind} @g : memref<{shape}> = dense<{splat}>
func.func @f(%i: index, %x: memref<4xf64>) {{
  %m = memref.get_global @g : memref<{shape}>
  %v = memref.load %m[%i, %i] : memref<{shape}>
  affine.store %v, %x[0] : memref<4xf64>
  return
}}"""


def test_a_splat_global_is_not_expanded(tmp_path: Path) -> None:
    text = program("constant", f"{LARGE}x{LARGE}xf64", "1.0")
    module = parse(text)
    assert "dense<1.0" in print_op(module)
    source = emit_jit(module, "f")
    assert len(source) < 3000
    assert "[10000000000]" not in source
    x = np.zeros(4)
    library = ctypes.CDLL(str(compile_silently(source, tmp_path, require("gcc"), "-O1")))
    assert call(library, module, "f", [np.int64(7), x])[0] == 0
    assert x.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_canonicalize_keeps_a_splat_global() -> None:
    module = parse(program("constant", f"{LARGE}x{LARGE}xf64", "1.0"))
    assert "dense<1.0" in print_op(canonicalize(module))


@pytest.mark.parametrize("kind", ["", "constant"])
def test_zeros_are_no_list(kind: str, tmp_path: Path) -> None:
    """An array of 80 MB, in an object of a few KB."""
    source = emit_jit(parse(program(kind, "1000x10000xf64", "0.0")), "f")
    assert len(source) < 3000
    library = compile_silently(source, tmp_path, require("gcc"), "-O1")
    assert library.stat().st_size < 100_000


def test_the_other_zero_is_a_number() -> None:
    module = parse(program("constant", f"{LARGE}x{LARGE}xf64", "-0.0"))
    assert "-0.0" in emit(module, "f").source


def test_small_and_written_splats_are_arrays() -> None:
    assert "= {2.0, 2.0, 2.0, 2.0};" in emit(parse(program("constant", "2x2xf64", "2.0")), "f").source
    written = program("", "100x100xf64", "2.0").replace(
        "return", "memref.store %v, %m[%i, %i] : memref<100x100xf64>\n  return"
    )
    assert "g[10000] = {" in emit(parse(written), "f").source
    handed_on = """memref.global "private" constant @g : memref<100x100xf64> = dense<2.0>
func.func private @sum(%m: memref<100x100xf64>, %x: memref<4xf64>) {
  %v = affine.load %m[3, 4] : memref<100x100xf64>
  affine.store %v, %x[1] : memref<4xf64>
  return
}
func.func @f(%x: memref<4xf64>) {
  %m = memref.get_global @g : memref<100x100xf64>
  call @sum(%m, %x) : (memref<100x100xf64>, memref<4xf64>) -> ()
  return
}"""
    assert "g[10000] = {" in emit(parse(handed_on), "f").source


def test_what_is_too_large_for_c_says_so_at_its_line() -> None:
    text = "\n\n" + program("", f"{LARGE}x{LARGE}xf64", "0.0")
    said = r"x\.mlir:3.*: the global buffer @g of .*f64> is too large for a static array: memref\.alloc takes any size"
    with pytest.raises(UnsupportedError, match=said):
        emit(parse(text, "x.mlir"), "f")
    said = r"would be a list of 100000000 numbers in C: fill it in a loop, or a memref\.alloc"
    with pytest.raises(UnsupportedError, match=said):
        emit(parse(program("", "10000x10000xf64", "1.0")), "f")


def test_the_interpreter_fills_a_global_at_once() -> None:
    module = parse(program("", "1000x1000xf64", "2.5"))
    x = np.zeros(4)
    run(module.functions[0], 999, x, module=module)
    assert x[0] == 2.5
