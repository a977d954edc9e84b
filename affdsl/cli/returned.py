"""Leaves out results that are arguments: in C the caller has them already.

func.func @f(%A: memref<4xf32>) -> memref<4xf32> { return %A }  ->  func.func @f(%A: memref<4xf32>) { return }
%B = call @f(%A)                                                ->  call @f(%A), and %A in the place of %B
"""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Call, Func, Module, Return
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import MemRefType

Returned = Mapping[int, int]
"""Positions of results, each with that of the argument that it is."""


def without_returned_arguments(module: Module) -> Module:
    """module with no result that is an array argument, or a cast of one; calls give what they were given.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse("func.func @f(%A: memref<4xf32>) -> memref<4xf32> { return %A : memref<4xf32> }")
    >>> print(without_returned_arguments(module).functions[0])
    func.func @f(%A: memref<4xf32>) {
      return
    }
    """
    while True:
        found = {f.symbol: given for f in module.functions if (given := _returned(f))}
        if not found:
            return module
        module = with_fields(module, body=tuple(_without(op, found) for op in module.body))


def _returned(function: Func) -> Returned:
    """The results of a function that are its arguments."""
    match function.body[-1:]:
        case (Return(values=values),):
            sources = {op.result: op.source for op in function.body if isinstance(op, memref.Cast)}
            found = {}
            for position, value in enumerate(values):
                while value in sources:
                    value = sources[value]
                if isinstance(value.type, MemRefType) and value in function.args:
                    found[position] = function.args.index(value)
            return found
    return {}


def _without(op: Op, found: Mapping[str, Returned]) -> Op:
    """An operation of the module, and the calls in it, less the results that functions have no longer."""

    def fewer(inner: Op) -> tuple[Op, ...] | None:
        if not isinstance(inner, Call) or inner.callee not in found:
            return None
        given = found[inner.callee]
        casts = [
            memref.Cast(inner.results[result], inner.args[argument], location=inner.location)
            for result, argument in given.items()
        ]
        kept = tuple(v for k, v in enumerate(inner.results) if k not in given)
        return (with_fields(inner, results=kept), *casts)

    new = rewrite(op, fewer)
    if not isinstance(new, Func) or new.symbol not in found:
        return new
    given = found[new.symbol]
    last = new.body[-1]
    assert isinstance(last, Return), "it returns arguments"
    positions = [k for k in range(len(new.result_types)) if k not in given]
    changed: dict[str, object] = {
        "body": (*new.body[:-1], with_fields(last, values=_at(last.values, positions))),
        "result_types": tuple(new.result_types[k] for k in positions),
        "unsigned_results": frozenset(new_k for new_k, k in enumerate(positions) if k in new.unsigned_results),
    }
    if new.result_attributes:
        changed["result_attributes"] = tuple(new.result_attributes[k] for k in positions)
    return with_fields(new, **changed)


def _at(values: tuple[Value, ...], positions: list[int]) -> tuple[Value, ...]:
    return tuple(values[k] for k in positions)
