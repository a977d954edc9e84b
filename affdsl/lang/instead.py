"""What to write instead of what asks Python for something that is known only when the kernel runs.

Python's `if` asks for the truth of a condition, `range` for a number. Which of them asks, and what fits there, the
user's line says, if its source is to be had.
"""

from __future__ import annotations

import ast
import builtins
from itertools import pairwise
from types import FrameType

import numpy as np

from affdsl.lang.source import user_frame
from affdsl.lang.syntax import meaning, running
from affdsl.other_names import FILLED, HERE


def of_truth(compare: str, *, of_indices: bool) -> str:
    """What to write instead of what asks for the truth of a comparison; `compare` makes one of a number first."""
    frame = user_frame()
    asking = _asking(frame, of_indices=of_indices)
    if not asking:
        return (
            f"Python's if, while, and, or, not and chained comparisons need it at once; {compare}write "
            "`with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, "
            "& | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's"
        )
    words, instead = " and ".join(f"`{word}`" for word in asking), ", and ".join(asking.values())
    return f"Python's {words} need{'s' * (len(asking) == 1)} it at once: {compare}write {instead}"


def _asking(frame: FrameType, *, of_indices: bool) -> dict[str, str]:
    """What in the user's line asks for a truth, from the innermost on, and for each what to write instead."""
    nodes = running(frame)
    if nodes and isinstance(nodes[0], ast.If | ast.While | ast.IfExp | ast.Assert):  # as of what is not a comparison
        nodes = [nodes[0].test, *nodes]
    found = _itself(frame, nodes[0], of_indices=of_indices) if nodes else {}
    for inner, outer in pairwise(nodes):
        match outer:
            case ast.BoolOp():
                found |= _itself(frame, outer, of_indices=of_indices)
            case ast.UnaryOp(op=ast.Not()):
                found |= _itself(frame, outer, of_indices=of_indices)
            case ast.IfExp(test=test) if test is inner:
                return found | {"a if condition else b": "affdsl.select(condition, a, b)"}
            case ast.If(test=test) if test is inner:
                return found | _branch(outer, nodes[nodes.index(outer) + 1])
            case ast.While(test=test) if test is inner:
                return found | {
                    "while": "`with affdsl.while_(lambda: condition):`, which asks arrays and variables of affdsl.var"
                }
            case ast.Assert(test=test) if test is inner:
                return found | {"assert": 'affdsl.assert_(condition, "what must hold")'}
            case ast.comprehension() if inner in outer.ifs:
                return found | {
                    "if": "`with affdsl.if_(condition):` around what stores to an array, for a comprehension"
                }
            case _:
                break
    return found


def _itself(frame: FrameType, node: ast.AST, *, of_indices: bool) -> dict[str, str]:
    """What an expression is that asks for the truth of its parts."""
    match node:
        case ast.BoolOp(op=ast.And()):
            return {"and": "(a) & (b), with parentheses around comparisons"}
        case ast.BoolOp():
            return {"or": "(a) | (b), with parentheses around comparisons"}
        case ast.UnaryOp(op=ast.Not()):
            return {"not": "~(a), with parentheses around a comparison"}
        case ast.Compare(ops=[ast.NotIn()]):
            return {"not in": "(x != a) & (x != b) for `x not in (a, b)`"}
        case ast.Compare(ops=[ast.In()]):
            return {"in": "(x == a) | (x == b) for `x in (a, b)`"}
        case ast.Compare(ops=[_, _, *_]):
            return {"a < b < c": "(a < b) & (b < c)"}
        case ast.Call(func=func):
            called = meaning(frame, func)
            name = next((name for name in _CALLED if called is getattr(builtins, name)), "")
            return {name: _CALLED[name] + ("" if of_indices else _NAN.get(name, ""))} if name else {}
    return {}


_CALLED = {
    "min": "affdsl.min(a, b)",
    "max": "affdsl.max(a, b)",
    "any": "a | b | c, or in a loop found |= condition, of a variable found = affdsl.var(affdsl.bool_(False))",
    "all": "a & b & c, or in a loop holds &= condition, of a variable holds = affdsl.var(affdsl.bool_(True))",
    "bool": "the condition without bool(...)",
}
_NAN = {
    "min": ", which is NaN where one of them is; Python's min keeps a where it compares with NaN, "
    "as affdsl.select(b < a, b, a) does",
    "max": ", which is NaN where one of them is; Python's max keeps a where it compares with NaN, "
    "as affdsl.select(b > a, b, a) does",
}


def _branch(node: ast.If, outer: ast.AST) -> dict[str, str]:
    """The words for an if, or for an elif, which is an if that stands alone in the else of another, as far left."""
    if isinstance(outer, ast.If) and outer.orelse == [node] and outer.col_offset == node.col_offset:
        return {"elif": "`with affdsl.elif_(condition):`, after a block of `with affdsl.if_(...):`"}
    other = "" if not node.orelse else ", and `with affdsl.else_():` after its block"
    return {"if": f"`with affdsl.if_(condition):`{other}"}


def of_number(otherwise: str) -> str:
    """What to write instead of what asks for a number; `otherwise` where that is not known."""
    frame = user_frame()
    match running(frame):
        case [ast.Call() as call, *around]:
            return _of_call(frame, call, around) or otherwise
        case [ast.Subscript(value=value, slice=index, ctx=ast.Load()), *_] if not isinstance(index, ast.Slice):
            array = ast.unparse(value)
            array = array if isinstance(meaning(frame, value), np.ndarray) else f"np.array({array})"
            return f"write table = affdsl.constant({array}) before the loop, and then table[{ast.unparse(index)}]"
    return otherwise


def _of_call(frame: FrameType, call: ast.Call, around: list[ast.AST]) -> str:
    """What to write instead of a call that counts, or that makes an array of so many elements."""
    called = meaning(frame, call.func)
    name = getattr(called, "__name__", "")
    counts = [ast.unparse(x) for x in call.args]
    module = str(getattr(called, "__module__", "")).partition(".")[0]
    if called is range:
        return _of_range(f"`with affdsl.for_({', '.join(counts)}) as {{}}:`", "range", call, around)
    if module == "numba" and name == "prange":
        bounds = counts[0] if len(counts) == 1 else f"({', '.join(counts)})"
        return _of_range(f"`with affdsl.parallel({bounds}) as {{}}:`", "numba.prange", call, around)
    if module != "numpy" or not counts:
        return ""
    if name == "arange":
        return _of_range(f"`with affdsl.for_({', '.join(counts)}) as {{}}:`", "np.arange", call, around)
    if name in ("zeros", "empty", "ones", "full"):
        return f"write affdsl.alloc({_array(call)}){'' if name == 'empty' else FILLED}"
    return f"write affdsl.{HERE[name]}({counts[0]})" if isinstance(called, type) and name in HERE else ""


def _of_range(loop: str, name: str, call: ast.Call, around: list[ast.AST]) -> str:
    """What to write instead of a range that a loop, a comprehension or something else counts by."""
    match around:
        case [ast.For(target=target, iter=iter), *_] if iter is call:
            variable = ast.unparse(target)
            return f"write {loop.format(variable)} instead of `for {variable} in {ast.unparse(call)}:`"
        case [ast.comprehension(target=target, iter=iter), _, ast.Call(func=ast.Name(id="sum")), *_] if iter is call:
            there = loop.format(ast.unparse(target))
            return f"write s = affdsl.var(affdsl.f64(0)), and s += ... in a loop {there}, instead of the sum"
        case [ast.comprehension(target=target, iter=iter), *_] if iter is call:
            there = loop.format(ast.unparse(target))
            count = ast.unparse(call.args[-1]) if len(call.args) < 3 else "n"
            return (
                f"write t = affdsl.alloc(affdsl.f64[{count}]), and a loop {there} that stores to its elements, "
                "instead of the comprehension"
            )
    return f"write {loop.format('i')} for a loop instead of {name}"


def _array(call: ast.Call) -> str:
    """The type of the array that a call of np.zeros and the like makes."""
    shape = call.args[0]
    sizes = [ast.unparse(e) for e in (shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape])]
    dtype = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    name = dtype.attr if isinstance(dtype, ast.Attribute) else dtype.id if isinstance(dtype, ast.Name) else "double"
    return f"affdsl.{HERE.get(name, 'f64')}[{', '.join(sizes)}]"
