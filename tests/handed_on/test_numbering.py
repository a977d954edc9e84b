"""Values are called as mlir-opt calls them, where that is asked."""

import re

import affdsl as af
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests import oracles
from tests.effort import TRIES_ALL
from tests.handed_on.kernels import CASES
from tests.loops import kernels as loops

N = af.symbols("N")


def names(text: str) -> list[str]:
    """The values of a text, line by line; in a line by the alphabet, since mlir-opt says sums in another order."""
    lines = [line for line in text.splitlines() if line[:1] != "#"]
    return [name for line in lines for name in sorted(re.findall(r"%\w+(?:[#:]\d+)?", line))]


def test_all_names_are_those_of_mlir_opt() -> None:
    """While loops, branches, several results and blocks of reductions among them."""
    others = [k for k in vars(loops).values() if isinstance(k, af.Kernel)]
    texts = [
        k.mlir(numbered=True)
        for k in (
            *(case.kernel for case in (CASES if TRIES_ALL else CASES[::3])),
            *(others if TRIES_ALL else others[::16]),
        )
    ]
    joined = "\n// -----\n".join(texts)
    printed = oracles.mlir_opt(joined, "--split-input-file").split("// -----")
    assert len(printed) == len(texts)
    for text, other in zip(texts, printed, strict=True):
        assert names(text) == names(other)


def test_results_of_other_dialects_say_what_they_are() -> None:
    text = """func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32) -> tensor<?x4xf32> {
      %c1 = arith.constant 1 : index
      %d = tensor.dim %t, %c1 : tensor<4x?xf32>
      %e = tensor.extract %t[%i, %i] : tensor<4x?xf32>
      %u = tensor.insert %e into %t[%i, %c1] : tensor<4x?xf32>
      %c = tensor.cast %u : tensor<4x?xf32> to tensor<?x?xf32>
      %s = tensor.extract_slice %c[0, %i] [4, %d] [1, 1] : tensor<?x?xf32> to tensor<4x?xf32>
      %k = tensor.collapse_shape %s [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
      %o = tensor.expand_shape %k [[0, 1]] output_shape [%d, 4] : tensor<?xf32> into tensor<?x4xf32>
      %a = gpu.thread_id x
      %b = gpu.block_dim y upper_bound 8
      %g = index.add %a, %b
      return %o : tensor<?x4xf32>
    }"""
    assert print_op(parse(text), numbered=True) == oracles.mlir_opt(text).rstrip()


def test_it_is_read_back_and_means_the_same() -> None:
    for case in CASES[::4]:
        text = case.kernel.mlir(numbered=True)
        assert print_op(parse(text), numbered=True) == text


def test_numbers_are_an_option_of_names() -> None:
    @af.kernel
    def total(x: af.f32[N]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):
            af.yield_(s + x[i])
        return s

    assert names(total.mlir())[:3] == ["%N", "%x", "%cst"]
    assert names(total.mlir(numbered=True))[:4] == ["%arg0", "%arg1", "%cst", "%0"]
    assert "%arg1: memref<?xf32>" in total.mlir(numbered=True, version=15)


def test_what_is_kept_as_text_defines_other_names() -> None:
    """In a region of an unknown operation: what mlir-opt takes, the same as without numbers."""
    text = """func.func @f(%n: index) -> (index, index) {
      %c0 = arith.constant 0 : index
      %a = arith.addi %n, %n : index
      %b = arith.addi %a, %n : index
      test.affine_scope {
        %0 = arith.addi %a, %b : index
        %c0_0 = arith.muli %0, %b : index
        "test.terminate"() : () -> ()
      }
      return %a, %c0 : index, index
    }"""
    flags = ("--allow-unregistered-dialect",)
    module = parse(text)
    assert oracles.mlir_opt(print_op(module, numbered=True), *flags) == oracles.mlir_opt(print_op(module), *flags)
