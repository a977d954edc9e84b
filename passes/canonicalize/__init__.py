"""The `canonicalize` pass: the simplest form of each operation, as MLIR's canonicalizer gives it.

    %a = arith.addi %x, %c1        ->      %a = arith.addi %x, %c3
    %b = arith.addi %a, %c2                (uses of %b become %a)

It never refuses: what it does not understand stays as it is, and keeps all that it uses.
"""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.func import Module
from passes.canonicalize import floats, integers
from passes.canonicalize.affine_digits import AFFINE_DIGITS
from passes.canonicalize.affine_loops import AFFINE_LOOPS
from passes.canonicalize.affine_values import AFFINE_VALUES
from passes.canonicalize.buffers import BUFFERS
from passes.canonicalize.casts import CASTS
from passes.canonicalize.comparisons import COMPARISONS
from passes.canonicalize.conditions import CONDITIONS
from passes.canonicalize.driver import drive
from passes.canonicalize.elementary import ELEMENTARY
from passes.canonicalize.graph import Graph
from passes.canonicalize.integers import INTEGER_RULES, INTEGERS
from passes.canonicalize.rules import Folded, Rules
from passes.canonicalize.scf_loops import SCF_LOOPS
from passes.canonicalize.scf_while import SCF_WHILE
from passes.canonicalize.vector_memory import VECTOR_MEMORY
from passes.canonicalize.vector_values import VECTOR_VALUES
from passes.canonicalize.views import VIEWS


def canonicalize(module: Module) -> Module:
    """Fold constants, drop what nobody uses, and write everything else in one way.

    The rules and their order are those of `mlir-opt --canonicalize`, less those of its rules that do not hold for all
    integers and floats.

    >>> from affdsl.mlir.readers import parse
    >>> print(canonicalize(parse("func.func @f(%x: i32) -> i32 { %c = arith.constant 1 : i32 "
    ...     "%a = arith.addi %c, %x : i32 %b = arith.addi %a, %c : i32 return %b : i32 }")).functions[0])
    func.func @f(%x: i32) -> i32 {
      %c2_i32 = arith.constant 2 : i32
      %b = arith.addi %x, %c2_i32 : i32
      return %b : i32
    }
    """
    graph = Graph(module)
    drive(graph, TABLES)
    result: Op = graph.result()
    assert isinstance(result, Module)
    return result


def _fold_binary(graph: Graph, op: arith.Binary) -> Folded:
    if op.kind in arith.INTEGER_BINARY:
        return integers.fold_binary(graph, op)
    return floats.fold_binary(graph, op)


ARITH = Rules(
    folds={arith.Binary: _fold_binary, arith.Negate: floats.fold_negate},
    rules={arith.Binary: (*INTEGER_RULES, floats.both_negated)},
)
TABLES = (
    ARITH,
    INTEGERS,
    COMPARISONS,
    CASTS,
    ELEMENTARY,
    BUFFERS,
    VIEWS,
    AFFINE_VALUES,
    AFFINE_DIGITS,
    AFFINE_LOOPS,
    CONDITIONS,
    SCF_LOOPS,
    SCF_WHILE,
    VECTOR_VALUES,
    VECTOR_MEMORY,
)

__all__ = ["canonicalize"]
