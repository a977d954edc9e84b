"""Every small fault that can be planted into a Python file: a comparison, a sign, `and` or `or`, a `not`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


@dataclass(frozen=True)
class Mutant:
    """One expression of a file with another in its place."""

    file: str
    line: int
    before: str
    after: str
    source: str
    """The whole file with the fault."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """The faults that a file can have, in the order of its text.

    >>> for mutant in mutants("f.py", "def f(a, b):\\n    return a < b and not -a == b\\n"):
    ...     print(mutant)
    f.py:2: a < b and (not -a == b)  ->  a < b or not -a == b
    f.py:2: a < b  ->  a <= b
    f.py:2: a < b  ->  a >= b
    f.py:2: not -a == b  ->  -a == b
    f.py:2: -a == b  ->  -a != b
    f.py:2: -a  ->  a
    """
    encoded = source.encode()
    starts = [0]
    for line in encoded.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        for after in _changed(node):
            made = encoded[:first] + f"({ast.unparse(after)})".encode() + encoded[last:]
            yield Mutant(file, node.lineno, ast.unparse(node), ast.unparse(after), made.decode())


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Every expression that is computed: none of annotations, patterns, f-strings and assertions."""
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "pattern", "decorator_list"):
            continue
        for node in field if isinstance(field, list) else [field]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.Assert | ast.JoinedStr):
                if isinstance(node, ast.expr):
                    yield node
                yield from _expressions(node)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for k, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    yield ast.Compare(node.left, [*node.ops[:k], other(), *node.ops[k + 1 :]], node.comparators)
        case ast.BoolOp(op=ast.And()):
            yield ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp():
            yield ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()) if not isinstance(node.operand, ast.Constant) or node.operand.value:
            yield node.operand
        case ast.BinOp(op=ast.Add()) if not _is_text(node):
            yield ast.BinOp(node.left, ast.Sub(), node.right)
        case ast.BinOp(op=ast.Sub()):
            yield ast.BinOp(node.left, ast.Add(), node.right)


def _is_text(node: ast.BinOp) -> bool:
    """Whether two strings or sequences are joined, as far as their spelling shows."""
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )
