"""What the values of a function are called where they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.core import Block
from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.mlir.names import Names


def names_of(function: func.Func) -> Mapping[Value, str]:
    """The name of each value of a function, without its `%`, as the MLIR text of the function has it.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<?xf32>, %n: index) {
    ...   affine.for %i = 0 to %n { affine.for %7 = 0 to %i { %a = affine.load %A[%7] : memref<?xf32> } }
    ...   return
    ... }''').functions[0]
    >>> list(names_of(function).values())
    ['A', 'n', 'i', 'arg0', 'a']
    """
    names = Names()
    found = {value: names.define_argument(value)[1:] for value in function.args}
    found.update(_in_block(function.body, names))
    return found


def _in_block(block: Block, names: Names) -> Iterator[tuple[Value, str]]:
    for op in block:
        yield from [(value, names.define(value)[1:]) for value in op.defines()]
        with names.scope():
            yield from [(value, names.define_argument(value)[1:]) for value in op.binds()]
            for inner in op.blocks():
                with names.scope():
                    yield from _in_block(inner, names)


def loop_names(function: func.Func, counters: Sequence[Value]) -> dict[Value, str]:
    """What loops are called by their counters: as in the source, `i#1` and `i#2` where there are several."""
    names = names_of(function)
    return dict(zip(counters, numbered([iv.hint or names[iv] for iv in counters]), strict=True))


def numbered(hints: Sequence[str]) -> list[str]:
    """Each hint, with a number where there are several of them.

    >>> numbered(["i", "j", "i"])
    ['i#1', 'j', 'i#2']
    """
    return [f"{hint}#{hints[: k + 1].count(hint)}" if hints.count(hint) > 1 else hint for k, hint in enumerate(hints)]
