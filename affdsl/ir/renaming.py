"""Values replaced by others, which may be replaced in turn."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.expr import Value
from affdsl.ir.traverse import OpT, substitute


def renamed(root: OpT, replaced: Mapping[Value, Value]) -> OpT:
    """root where each value that is read stands for the last of those that it is replaced by.

    >>> from affdsl.ir.dialects.func import Return
    >>> from affdsl.ir.types import INDEX
    >>> a, b, c = Value(INDEX, "a"), Value(INDEX, "b"), Value(INDEX, "c")
    >>> renamed(Return((a,)), {a: b, b: c}).values == (c,)
    True
    """
    last: dict[Value, Value] = {}
    for old in replaced:
        path = [old]
        while (following := last.get(path[-1], replaced.get(path[-1]))) is not None:
            path.append(following)
        last.update(dict.fromkeys(path[:-1], path[-1]))
    return substitute(root, last) if last else root
