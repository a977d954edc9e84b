"""Every small fault that the functions of a Python file can have: in a comparison, a sign, `and`, `or`, `not`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]

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
    """One expression of a function with another in its place.

    Attributes
    ----------
    file, line
        Where it is.
    function
        The qualified name of the outermost function around it.
    before, after
        The expressions.
    source
        The whole file with the fault.
    """

    file: str
    line: int
    function: str
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def choose(files: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many faults of some files and folders, each as likely as every other."""
    paths = sorted(p for f in files for p in ([ROOT / f] if f.endswith(".py") else (ROOT / f).rglob("*.py")))
    found = [m for p in paths for m in mutants(str(p.relative_to(ROOT)), p.read_text(encoding="utf-8"))]
    return Random(seed).sample(found, min(count, len(found)))


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """The faults that the functions of a file can have, in the order of its text.

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
    for name, function in _functions(ast.parse(source), ""):
        for statement in function.body:
            for node in _expressions(statement):
                assert node.end_lineno is not None
                assert node.end_col_offset is not None
                first = starts[node.lineno - 1] + node.col_offset
                last = starts[node.end_lineno - 1] + node.end_col_offset
                for after in _changed(node):
                    made = encoded[:first] + f"({ast.unparse(after)})".encode() + encoded[last:]
                    yield Mutant(file, node.lineno, name, ast.unparse(node), ast.unparse(after), made.decode())


def _functions(tree: ast.Module | ast.ClassDef, around: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, with their qualified names."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield from _functions(node, f"{around}{name}.")
            case ast.FunctionDef(name=name):
                yield f"{around}{name}", node


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Every expression that is computed: none of annotations, patterns, f-strings and assertions."""
    if isinstance(tree, ast.Assert | ast.JoinedStr):
        return
    if isinstance(tree, ast.expr):
        yield tree
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "pattern", "decorator_list"):
            continue
        for node in field if isinstance(field, list) else [field]:
            if isinstance(node, ast.AST):
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
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
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
