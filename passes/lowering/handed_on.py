"""A program for other tools: what it means here, under MLIR's rules and in LLVM's memory."""

from __future__ import annotations

from affdsl.ir.traverse import OpT
from affdsl.passes.lowering.aligned_buffers import aligned_buffers
from affdsl.passes.lowering.bits_in_memory import bits_in_memory
from affdsl.passes.lowering.carried_variables import carried_variables
from affdsl.passes.lowering.defined_reductions import defined_reductions
from affdsl.passes.lowering.early_ends import early_ends
from affdsl.passes.lowering.guarded_arithmetic import guarded_arithmetic
from affdsl.passes.lowering.marked_vectors import marked_vectors
from affdsl.passes.lowering.strided_vectors import strided_vectors


def handed_on(root: OpT) -> OpT:
    """The same program, where nothing means something else under MLIR's rules, or more than is lowered to LLVM.

    Variables are values that branches and loops hand on, vectors have marks that no lowering forgets, and loops that
    may end early are some that do.

    >>> from affdsl.mlir.readers import parse
    >>> plain = parse("func.func @f(%a: i32, %b: i32) { return }")
    >>> handed_on(plain) is plain
    True
    """
    carried = strided_vectors(aligned_buffers(carried_variables(root)))
    return early_ends(guarded_arithmetic(defined_reductions(bits_in_memory(marked_vectors(carried)))))
