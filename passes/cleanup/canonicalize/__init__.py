"""The `canonicalize` pass: the simplest form of each operation, as MLIR's canonicalizer gives it.

    %a = arith.addi %x, %c1        ->      %a = arith.addi %x, %c3
    %b = arith.addi %a, %c2                (uses of %b become %a)

It never refuses: what it does not understand stays as it is, and keeps all that it uses.
"""

from __future__ import annotations

from collections.abc import Collection

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.func import Module
from affdsl.ir.traverse import OpT
from affdsl.passes.cleanup.canonicalize import floats, integers
from affdsl.passes.cleanup.canonicalize.affine_digits import AFFINE_DIGITS
from affdsl.passes.cleanup.canonicalize.affine_loops import AFFINE_LOOPS
from affdsl.passes.cleanup.canonicalize.affine_values import AFFINE_VALUES
from affdsl.passes.cleanup.canonicalize.buffers import BUFFERS
from affdsl.passes.cleanup.canonicalize.casts import CASTS
from affdsl.passes.cleanup.canonicalize.comparisons import COMPARISONS
from affdsl.passes.cleanup.canonicalize.conditions import CONDITIONS
from affdsl.passes.cleanup.canonicalize.driver import MOST_ROUNDS, NO_LIMIT, Limits, drive
from affdsl.passes.cleanup.canonicalize.elementary import ELEMENTARY
from affdsl.passes.cleanup.canonicalize.graph import Graph
from affdsl.passes.cleanup.canonicalize.integers import INTEGER_RULES, INTEGERS
from affdsl.passes.cleanup.canonicalize.rules import Folded, Rule, Rules
from affdsl.passes.cleanup.canonicalize.scf_loops import SCF_LOOPS
from affdsl.passes.cleanup.canonicalize.scf_while import SCF_WHILE
from affdsl.passes.cleanup.canonicalize.vector_memory import VECTOR_MEMORY
from affdsl.passes.cleanup.canonicalize.vector_values import VECTOR_VALUES
from affdsl.passes.cleanup.canonicalize.views import VIEWS


def canonicalize(
    module: Module,
    *,
    disable_patterns: Collection[str] = (),
    enable_patterns: Collection[str] = (),
    max_iterations: int = MOST_ROUNDS,
    max_num_rewrites: int = NO_LIMIT,
    region_simplify: str = "normal",
    test_convergence: bool = False,
    top_down: bool = True,
) -> Module:
    """Fold constants, drop what nobody uses, and write everything else in one way.

    The rules and their order are those of `mlir-opt --canonicalize`, less those of its rules that do not hold for all
    integers and floats.

    Parameters
    ----------
    disable_patterns, enable_patterns
        Names of rules that are not applied, or of the only ones that are, which are those of their functions here; a
        name that is no rule's says nothing. What folds one operation has no name and is always applied, as in mlir-opt.
    max_iterations, max_num_rewrites
        How often all operations are looked at, and how many are changed each time; without a limit where negative.
    region_simplify
        "disabled", "normal" or "aggressive": where it is disabled, what is dead goes only as one of the changes. Blocks
        that branch stay as they are in any case.
    test_convergence
        Raise AffdslError if max_iterations was reached while something still changed.
    top_down
        Whether the first operations are looked at first.

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
    tables = [_chosen(table, disable_patterns, enable_patterns) for table in TABLES]
    limits = Limits(max_iterations, max_num_rewrites, top_down, region_simplify != "disabled")
    if not drive(graph, tables, limits) and test_convergence:
        raise AffdslError(f"canonicalize: after {max_iterations} rounds over all operations something still changes")
    result: Op = graph.result()
    assert isinstance(result, Module)
    return result


def rewritten(root: OpT, *classes: type[Op]) -> OpT:
    """An operation with all rules applied to the operations of some classes in it, inner ones first, and to no other.

    That is what a pass of mlir-opt leaves that applies patterns greedily to one operation after the other.
    """
    graph = Graph(root)
    rules = [rule for table in TABLES for cls in classes for rule in table.rules.get(cls, ())]
    for node in reversed(list(graph.walk())):
        for _ in range(MOST_ROUNDS):
            if not node.alive or not isinstance(node.op, classes):
                break
            if graph.is_dead(node):
                graph.erase(node)
            elif not any(rule(graph, node, node.op) for rule in rules):
                break
    result = graph.result()
    assert isinstance(result, type(root))
    return result


def folded(root: OpT, rules: Collection[str] = ()) -> OpT:
    """An operation with all that folds in it folded, what is dead left out, and some of the rules applied by name.

    That is what a pass of mlir-opt leaves which applies a few patterns greedily.
    """
    graph = Graph(root)
    drive(graph, [_chosen(table, (), (*rules, *_FOLDS_THERE)) for table in TABLES])
    result = graph.result()
    assert isinstance(result, type(root))
    return result


def _chosen(table: Rules, disabled: Collection[str], enabled: Collection[str]) -> Rules:
    """The rules of a table that are applied."""
    if not disabled and not enabled:
        return table

    def is_on(rule: Rule) -> bool:
        name = getattr(rule, "__name__", "")
        return name in _FOLDS_THERE or ((not enabled or name in enabled) and name not in disabled)

    return Rules(table.folds, {cls: tuple(filter(is_on, rules)) for cls, rules in table.rules.items()})


_FOLDS_THERE = ("constants_right", "constant_right", "simplify_bounds", "never_runs", "compose_maps")
"""Rules that MLIR has among what folds an operation, which cannot be disabled."""


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

__all__ = ["canonicalize", "folded", "rewritten"]
