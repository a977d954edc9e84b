"""The affine loops that visit the points of a set one after the other, by isl's AST builder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.core import Block
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.analysis.polyhedral import Ast, AstExpr, Set, UnknownError, ast_of, kind_of, name_of, spending
from affdsl.passes.analysis.relations import BUDGET


def scan(points: Set, loops: Sequence[affine.For], params: Sequence[Value], body: Block) -> Block:
    """Loops that run a body for each point of a set, in the order of its dimensions.

    Each loop has the induction variable, place and attributes of one of `loops`, but bounds and a step of its own.
    Conditions that do not fit into bounds become affine.if.

    Parameters
    ----------
    points
        As `polyhedral.set_of` makes it: a dimension for each of `loops`, outermost first.
    params
        The other values that its constraints read.

    Raises
    ------
    UnknownError
        Where that takes several loops one after the other, a bound that affine.for does not have, or isl too long.
    """
    with spending(BUDGET):
        if points.is_empty():
            return _never(loops, body)
        tree = ast_of(points)
        return _Nest(tree, loops, params, body).made(tree, 0)


def _never(loops: Sequence[affine.For], body: Block) -> Block:
    """Loops that do not run; nothing at all without loops."""
    if not loops:
        return ()
    for loop in reversed(loops):
        body = (with_fields(loop, lower=(Affine(),), upper=(Affine(),), step=1, body=body, written=None),)
    return body


class _Nest:
    """Turns isl's loops into affine ones. isl has none for a dimension of which there is only one number."""

    def __init__(self, tree: Ast, loops: Sequence[affine.For], params: Sequence[Value], body: Block) -> None:
        self.loops = loops
        self.body = body
        self.values = {name_of(value): Affine.of(value) for value in params}
        self.values |= {f"c{k}": Affine.of(loop.iv) for k, loop in enumerate(loops)}
        point = _statement(tree)
        self.point = [point.get_op_arg(k) for k in range(1, point.get_op_n_arg())]

    def made(self, node: Ast, level: int) -> Block:
        """The loops of a node, the first of them at this level."""
        match kind_of(node):
            case "user":
                return self._single(level, len(self.loops), self.body)
            case "for":
                at = int(node.for_get_iterator().get_id().get_name().removeprefix("c"))
                return self._single(level, at, (self._loop(node, at),))
            case _:
                condition = tuple(_constraints(node.if_get_cond(), self.values))
                inside = self.made(node.if_get_then_node(), level)
                return (affine.If(condition, inside, location=(*self.loops, *self.body)[0].location),)

    def _single(self, level: int, end: int, inside: Block) -> Block:
        """A block in loops that run once, from one level up to another."""
        for k in reversed(range(level, end)):
            only = _expr(self.point[k], self.values)
            inside = (self._like(k, (only,), (only + 1,), 1, inside),)
        return inside

    def _loop(self, node: Ast, level: int) -> affine.For:
        lower = tuple(_extremes(node.for_get_init(), "max", self.values))
        condition = node.for_get_cond()
        upper = tuple(_extremes(condition.get_op_arg(1), "min", self.values))
        match kind_of(condition):
            case "le":
                upper = tuple(limit + 1 for limit in upper)
            case "lt":
                pass
            case kind:
                raise UnknownError(f"a loop ends by an unexpected condition: {kind}")
        step = _expr(node.for_get_inc(), self.values).constant
        return self._like(level, lower, upper, step, self.made(node.for_get_body(), level + 1))

    def _like(
        self, level: int, lower: tuple[Affine, ...], upper: tuple[Affine, ...], step: int, body: Block
    ) -> affine.For:
        return with_fields(self.loops[level], lower=lower, upper=upper, step=step, body=body, written=None)


def _statement(node: Ast) -> AstExpr:
    """The point that the innermost node visits."""
    match kind_of(node):
        case "user":
            return node.user_get_expr()
        case "for":
            return _statement(node.for_get_body())
        case "if" if not node.if_has_else_node():
            return _statement(node.if_get_then_node())
        case _:
            raise UnknownError("it takes several loops one after the other")


def _constraints(condition: AstExpr, values: Mapping[str, Affine]) -> Iterator[Constraint]:
    """The constraints that all hold where a condition does."""
    kind = kind_of(condition)
    if kind in ("and", "and_then"):
        for k in range(condition.get_op_n_arg()):
            yield from _constraints(condition.get_op_arg(k), values)
        return
    if kind not in ("eq", "le", "lt", "ge", "gt"):
        raise UnknownError(f"affine.if cannot say {condition.to_C_str()}")
    left, right = (_expr(condition.get_op_arg(k), values) for k in range(2))
    match kind:
        case "eq":
            yield Constraint(left - right, equality=True)
        case "le":
            yield Constraint(right - left)
        case "lt":
            yield Constraint(right - left - 1)
        case "ge":
            yield Constraint(left - right)
        case _:
            yield Constraint(left - right - 1)


def _extremes(expr: AstExpr, extreme: str, values: Mapping[str, Affine]) -> Iterator[Affine]:
    """The expressions of which one is the largest, or the smallest."""
    if kind_of(expr) == extreme:
        for k in range(expr.get_op_n_arg()):
            yield from _extremes(expr.get_op_arg(k), extreme, values)
    else:
        yield _expr(expr, values)


def _expr(expr: AstExpr, values: Mapping[str, Affine]) -> Affine:
    kind = kind_of(expr)
    if kind == "int":
        return Affine.of(expr.get_val().to_python())
    if kind == "id":
        return values[expr.get_id().get_name()]
    parts = [_expr(expr.get_op_arg(k), values) for k in range(expr.get_op_n_arg())]
    match kind, parts:
        case "add", (a, b):
            return a + b
        case "sub", (a, b):
            return a - b
        case "minus", (a,):
            return -a
        case "mul", (a, b):
            return a * b
        case (("div" | "fdiv_q" | "pdiv_q"), (a, b)):
            return a // b.constant
        case (("pdiv_r" | "zdiv_r"), (a, b)):
            return a % b.constant
    raise UnknownError(f"an affine bound cannot say {expr.to_C_str()}")
