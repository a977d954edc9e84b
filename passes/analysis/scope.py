"""The values of a function: what defines them, as affine expressions, and the domains of the blocks in which they are.

An index that is not affine is a value of a `Domain` that stands in its place, with what is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.magnitude import is_small
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import operands_first
from affdsl.ir.types import INDEX, IndexType, MemRefType
from affdsl.passes.analysis.conditions import alternatives, is_computed
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.early_exits import LEFT, may_have_left
from affdsl.passes.analysis.linearized import at_least_zero, is_affine
from affdsl.passes.analysis.polyhedral import DEEPEST_QUOTIENT
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.analysis.semi_affine import semi_affine, with_stand_in
from affdsl.passes.analysis.views import digits, joined

_FOLLOWED = frozenset(("addi", "subi", "muli", "minsi", "maxsi"))
"""Arithmetic on indices whose operands are always asked for."""
_HEAVIEST = 1000
"""Atoms of an expression beyond which nothing is said of it."""
NOT_POSITIVE = "divides by a number that is not positive"
"""How the reason ends for which an expression has no value."""


class Scope:
    """The values of one function: what defines them, and which of them never change while it runs."""

    def __init__(self, function: func.Func) -> None:
        self.function = function
        self.makers: dict[Value, Op] = {}
        self.loops_around: dict[Value, int] = {}
        self.starts: list[affine.DmaStart | memref.DmaStart] = []
        self._products: dict[Value, Affine] = {}
        """What affine.apply computes with products or quotients of symbols."""
        self.sizes: dict[tuple[Value, int], Value] = {}
        """The symbols for sizes about which nothing is said, by buffer and dimension."""
        self.bound: set[Value] = set()
        self._enter(function.body, 0)
        self.start = Domain(clauses=_clause(function.promised))
        self.semi_affine_facts = tuple(c for c in function.promised if next(semi_affine(c.expr), None) is not None)
        """What the contract says that isl cannot express."""

    def _enter(self, block: Block, loops: int) -> None:
        """Take in a block with so many induction variables around it, as `blocks` counts them."""
        for op in block:
            self.add(op, loops)
            if isinstance(op, affine.Apply):
                if next(semi_affine(op.expr), None) is not None:
                    self._products[op.result] = op.expr
            elif isinstance(op, affine.DmaStart | memref.DmaStart):
                self.starts.append(op)
            elif op.block_fields:
                self.bound.update(op.binds())
                inside = loops + _counters(op)
                for inner in op.blocks():
                    self._enter(inner, inside)

    def add(self, op: Op, loops: int) -> None:
        """Take in an operation that the function does not have, as if it stood in so many loops."""
        for value in op.defines():
            self.makers[value] = op
            self.loops_around[value] = loops

    def varies(self, value: Value) -> bool:
        """Whether a value may change while the function runs."""
        return value in self.bound or self.loops_around.get(value, 0) > 0

    def exprs(self, exprs: Sequence[Affine], domain: Domain) -> tuple[tuple[Affine, ...], Domain]:
        """Expressions over the induction variables, locals and symbols of a domain, to which locals are added."""
        return _one_after_the_other(self.expr, exprs, domain)

    def expr(self, expr: Affine, domain: Domain) -> tuple[Affine, Domain]:
        """An expression over the induction variables, locals and symbols of a domain, to which locals are added."""
        expr, domain = self.polynomial(expr, domain)
        semi = next(semi_affine(expr), None)
        while semi is not None:
            stand_in, domain = self._stand_in(semi, domain)
            expr = with_stand_in(expr, semi, stand_in)
            semi = next(semi_affine(expr), None)
        return expr, domain

    def polynomials(self, exprs: Sequence[Affine], domain: Domain) -> tuple[tuple[Affine, ...], Domain]:
        """Expressions as `polynomial` gives each."""
        return _one_after_the_other(self.polynomial, exprs, domain)

    def polynomial(self, expr: Affine, domain: Domain) -> tuple[Affine, Domain]:
        """As `expr`, with the products and quotients of symbols that isl cannot express."""
        ivs, locals = domain.ivs, domain.locals
        if all(atom in ivs or atom in locals for atom, _ in expr.terms):  # as almost always
            return expr, domain
        if self._products:
            expr = self._multiplied_out(expr)
        new: dict[Value, Affine] = {}
        for value in expr.values():
            if value not in new:
                new[value], domain = self.value(value, domain)
        try:
            expr = expr.substitute({v: e for v, e in new.items() if e.value is not v})
        except ZeroDivisionError:
            made, domain = domain.some("undefined")
            return Affine.of(made), domain.lacking(f"{spell(expr)} {NOT_POSITIVE}")
        if expr.weight > _HEAVIEST:
            made, domain = domain.some("long")
            return Affine.of(made), domain.lacking(spell(expr))
        return expr, domain

    def _multiplied_out(self, expr: Affine) -> Affine:
        """An expression without the results of affine.apply that have products in them."""
        while any(v in self._products for v in expr.values()):
            expr = expr.substitute(self._products)
        return expr

    def value(self, value: Value, domain: Domain) -> tuple[Affine, Domain]:
        """A value over the induction variables, locals and symbols of a domain, to which locals are added."""
        known = domain.resolved.get(value)
        if known is not None:
            return known, domain
        if value in domain.ivs or value in domain.locals:
            return Affine.of(value), domain
        for each in self._operands_first(value, domain):
            expr, domain = self._made(each, domain)
            domain = domain.changed(resolved={**domain.resolved, each: expr})
        return domain.resolved[value], domain

    def _operands_first(self, value: Value, domain: Domain) -> list[Value]:
        """A value behind all that it is computed from and that is not known."""
        known = {*domain.ivs, *domain.locals}

        def operands(each: Value) -> Iterator[Value]:
            exprs: tuple[Affine, ...] = ()
            match self.makers.get(each):
                case affine.Apply(expr=expr):
                    exprs = (expr,)
                case arith.Binary(kind=kind, left=a, right=b) if kind in _FOLLOWED and each.type == INDEX:
                    exprs = (Affine.of(a), Affine.of(b))
            for expr in exprs:
                read = self._multiplied_out(expr) if self._products else expr
                yield from (v for v in read.values() if v not in known and v not in domain.resolved)

        return operands_first(value, operands)

    def _made(self, value: Value, domain: Domain) -> tuple[Affine, Domain]:
        match self.makers.get(value):
            case arith.Constant(value=int(number)) if not isinstance(number, bool):
                return Affine.of(number), domain
            case affine.Apply(expr=expr):
                return self.expr(expr, domain)
            case affine.Min(exprs=exprs):
                return self._extreme(exprs, domain, -1)
            case affine.Max(exprs=exprs):
                return self._extreme(exprs, domain, 1)
            case arith.Binary(kind="minsi", left=a, right=b) if value.type == INDEX:
                return self._extreme((Affine.of(a), Affine.of(b)), domain, -1)
            case arith.Binary(kind="maxsi", left=a, right=b) if value.type == INDEX:
                return self._extreme((Affine.of(a), Affine.of(b)), domain, 1)
            case arith.Binary(kind="addi" | "subi" | "muli" as kind, left=a, right=b) if value.type == INDEX:
                (left, right), inside = self.exprs((Affine.of(a), Affine.of(b)), domain)
                result = left + right if kind == "addi" else left - right if kind == "subi" else left * right
                if is_small(result):  # otherwise it may be that it wraps
                    return self.expr(result, inside)
            case affine.LinearizeIndex() as op:
                indices = [Affine.of(i) for i in op.indices]
                sizes = op.radices if len(op.radices) == len(indices) else (0, *op.radices)
                return self.expr(joined(indices, sizes), domain)
            case affine.DelinearizeIndex() as op:
                radices = op.static_basis[-(len(op.results) - 1) :] if len(op.results) > 1 else ()
                found = digits(Affine.of(op.linear_index), (None, *radices))
                if found is not None:
                    return self.expr(found[op.results.index(value)], domain)
            case memref.Dim() as op:
                size = self.size(op, domain)
                if size is not None:
                    of_nothing = size.value is not None and size.value in self.sizes.values()
                    return size, domain.where(((Constraint(size),),)) if of_nothing else domain
        if not self.varies(value) and isinstance(value.type, IndexType):
            return Affine.of(value), domain
        made, domain = domain.some(value.hint or "unknown")
        return Affine.of(made), domain.lacking(f"{_named(value)} is not affine{self._from(value)}")

    def _from(self, value: Value) -> str:
        """What an index without a name is computed from, and what that means; nothing where it has a name."""
        seen, left = set[Value](), [value]
        while left and not value.hint:
            each = left.pop()
            made = self.makers.get(each)
            match made:
                case affine.Load(memref=array, index=index) if array.hint:
                    data = f"{array.hint}[{', '.join(map(spell, index))}]"
                    return f": it comes from {data}, and nothing can be promised of data"
                case arith.Binary() | arith.Cast():
                    left += [v for v in made.reads() if v not in seen]
                    seen.update(left)
        return ""

    def size(self, op: memref.Dim, domain: Domain) -> Affine | None:
        """The size that memref.dim gives, where it is a number, a promise of the function or the same for all."""
        axis, _ = self.value(op.index, domain)
        type = op.memref.type
        if not isinstance(type, MemRefType) or not axis.is_constant or not 0 <= axis.constant < type.rank:
            return None
        return self.size_of(op.memref, axis.constant)

    def size_of(self, buffer: Value, axis: int) -> Affine | None:
        """The size of a buffer along an axis as a number or an expression over symbols; None where it varies."""
        type = buffer.type
        assert isinstance(type, MemRefType)
        size = type.shape[axis]
        if size is not None:
            return Affine.of(size)
        if buffer in self.function.args:
            shapes = self.function.shapes
            shape = shapes[self.function.args.index(buffer)] if shapes else None
            return shape[axis] if shape is not None else Affine.of(self._size_symbol(buffer, axis))
        match self.makers.get(buffer):
            case memref.Alloc(sizes=sizes) | memref.Alloca(sizes=sizes):
                given = sizes[type.shape[:axis].count(None)]
                return Affine.of(given) if given in self.function.args else None
            case memref.Cast(source=source) if isinstance(source.type, MemRefType):
                return self.size_of(source, axis)
        return None if self.varies(buffer) else Affine.of(self._size_symbol(buffer, axis))

    def _size_symbol(self, buffer: Value, axis: int) -> Value:
        """The one symbol for a size about which nothing is said."""
        return self.sizes.setdefault((buffer, axis), Value(INDEX, f"{buffer.hint or 'buffer'}_size{axis}"))

    def _extreme(self, exprs: Sequence[Affine], domain: Domain, sign: int) -> tuple[Affine, Domain]:
        """The largest (sign 1) or smallest (sign -1) of some expressions."""
        found, domain = self.exprs(exprs, domain)
        distinct = tuple(dict.fromkeys(found))
        if len(distinct) == 1:
            return distinct[0], domain
        chosen, domain = domain.some("max" if sign > 0 else "min")
        beyond = tuple(Constraint((chosen - e) * sign) for e in distinct)
        one_of = tuple((Constraint(chosen - e, equality=True),) for e in distinct)
        return Affine.of(chosen), domain.where((beyond,), one_of)

    def _stand_in(self, atom: Atom, domain: Domain) -> tuple[Value, Domain]:
        """A local for a semi-affine atom, of which nothing is known."""
        known = domain.resolved.get(atom)
        if known is not None and known.value is not None:
            return known.value, domain
        made, domain = domain.some("semi_affine")
        domain = domain.changed(resolved={**domain.resolved, atom: Affine.of(made)})
        if isinstance(atom, Product) and self._is_natural(atom):
            domain = domain.where(((Constraint(Affine.of(made)),),))
        return made, domain.lacking(f"{spell(Affine.of(atom))} is {_why(atom)}")

    def _is_natural(self, atom: Product) -> bool:
        """Whether a product is plainly not negative: one of sizes, or itself one."""
        known = {a for c in self.function.promised for a, k in c.expr.terms if _is_at_least_zero(k, c)}
        return atom in known or all(factor in known for factor in atom.factors)

    def blocks(self, op: Op, domain: Domain) -> Iterator[tuple[Domain, Block]]:
        """The blocks of an operation that runs in a domain, each with its own domain."""
        match op:
            case affine.For():
                yield self._in_loop(op, op.iv, op.lower, op.upper, op.step, domain), op.body
            case affine.Parallel():
                # The bounds of a band are those of all its loops at its start.
                for iv, lower, upper, step in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
                    domain = self._in_loop(op, iv, lower, upper, step, domain)
                yield domain, op.body
            case affine.If():
                condition, domain = self._constraints(op.condition, domain)
                yield domain.where((condition,)), op.then
                yield domain.where(tuple(n for c in condition for n in _negated(c))), op.orelse
            case scf.For():
                yield self._in_run_time_loop(op, op.iv, op.lower, op.upper, op.step, domain), op.body
            case scf.Parallel():
                for iv, first, last, distance in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
                    domain = self._in_run_time_loop(op, iv, first, last, distance, domain)
                yield domain, op.body
            case scf.If():
                if may_have_left(op, domain.loops[-1:]):
                    yield domain.lacking(LEFT), op.then
                    yield self._where(op.condition, domain, holds=False), op.orelse
                    return
                for holds, block in ((True, op.then), (False, op.orelse)):
                    yield self._where(op.condition, domain, holds=holds), block
            case scf.IndexSwitch():
                inside = domain.lacking("the condition is known only at run time")
                yield from ((inside, block) for block in op.blocks())
            case scf.While() | Opaque():
                inside = _repeated(op, domain)
                yield from ((inside, block) for block in op.blocks())
            case _:
                yield from ((domain, block) for block in op.blocks())

    def _where(self, condition: Value, domain: Domain, *, holds: bool) -> Domain:
        """Where a condition holds, or does not, that is computed."""

        def is_fixed(value: Value) -> bool:
            return value in domain.ivs or (isinstance(value.type, IndexType) and not self.varies(value))

        found = alternatives(condition, self.makers, holds=holds)
        values = {v for part in found or () for c in part for v in c.values()}
        if found is None or not all(is_computed(v, self.makers, is_fixed) for v in values):
            return domain.lacking("the condition is known only at run time")
        parts = []
        for constraints in found:
            part, domain = self._constraints(constraints, domain)
            parts.append(part)
        return domain.where(tuple(parts))

    def _constraints(self, constraints: Sequence[Constraint], domain: Domain) -> tuple[tuple[Constraint, ...], Domain]:
        exprs, domain = self.polynomials([c.expr for c in constraints], domain)
        found = []
        for expr, constraint in zip(exprs, constraints, strict=True):
            at_least = None if is_affine(expr) or constraint.equality else at_least_zero(expr, self, domain)
            same, domain = at_least or self.expr(expr, domain)
            found.append(Constraint(same, constraint.equality))
        return tuple(found), domain

    def _in_loop(
        self, op: Op, iv: Value, lower: Sequence[Affine], upper: Sequence[Affine], step: int, domain: Domain
    ) -> Domain:
        lows, domain = self.exprs(lower, domain)
        highs, domain = self.exprs(upper, domain)
        within = (*(Constraint(iv - e) for e in lows), *(Constraint(e - iv - 1) for e in highs))
        clauses = (*domain.clauses, (within,), *((_on_steps(iv, lows, step),) if step > 1 else ()))
        return domain.changed(ivs=(*domain.ivs, iv), loops=(*domain.loops, op), clauses=clauses)

    def _in_run_time_loop(self, op: Op, iv: Value, lower: Value, upper: Value, step: Value, domain: Domain) -> Domain:
        (first, last, distance), domain = self.exprs((Affine.of(lower), Affine.of(upper), Affine.of(step)), domain)
        if iv.type != INDEX or (isinstance(op, scf.For) and op.is_unsigned):
            return _repeated(op, domain, iv)
        inside = domain.changed(ivs=(*domain.ivs, iv), loops=(*domain.loops, op))
        inside = inside.where(((Constraint(iv - first), Constraint(last - iv - 1)),))
        if not distance.is_constant or distance.constant < 1:
            return inside.lacking("the step is known only at run time")
        return inside.where(_on_steps(iv, (first,), distance.constant))


def _one_after_the_other(
    made: Callable[[Affine, Domain], tuple[Affine, Domain]], exprs: Sequence[Affine], domain: Domain
) -> tuple[tuple[Affine, ...], Domain]:
    """What is made of each expression, in the domain that the one before has left."""
    found = []
    for expr in exprs:
        expr, domain = made(expr, domain)
        found.append(expr)
    return tuple(found), domain


def _repeated(op: Op, domain: Domain, iv: Value | None = None) -> Domain:
    """Inside of what runs its blocks nobody knows how often."""
    count = Value(INDEX, "repetition") if iv is None else iv
    inside = domain.changed(ivs=(*domain.ivs, count), loops=(*domain.loops, op))
    return inside.lacking(f"{op.name or 'an unknown operation'} repeats its blocks as often as is known at run time")


def _on_steps(iv: Value, lows: Sequence[Affine], step: int) -> Alternatives:
    """That an induction variable is a whole number of steps away from the largest of its lower bounds."""
    if step == 1:
        return ((),)
    if len(lows) == 1:
        return ((Constraint((iv - lows[0]) % step, equality=True),),)
    return tuple(
        (*(Constraint(low - other) for other in lows if other is not low), Constraint((iv - low) % step, equality=True))
        for low in lows
    )


def _why(atom: Atom) -> str:
    is_division = isinstance(atom, FloorDiv) and isinstance(atom.divisor, int)
    return f"nested more than {DEEPEST_QUOTIENT} deep" if is_division else "semi-affine"


def _negated(constraint: Constraint) -> Iterator[tuple[Constraint, ...]]:
    """The alternatives of which one holds where a constraint does not."""
    if constraint.equality:
        yield (Constraint(constraint.expr - 1),)
    yield (Constraint(-constraint.expr - 1),)


def _clause(constraints: Sequence[Constraint]) -> tuple[Alternatives, ...]:
    affine_ones = tuple(c for c in constraints if next(semi_affine(c.expr), None) is None)
    return ((affine_ones,),) if affine_ones else ()


def _is_at_least_zero(factor: int, constraint: Constraint) -> bool:
    """Whether a constraint is that factor * its one atom is a number, or larger, that is not negative."""
    return len(constraint.expr.terms) == 1 and factor > 0 and constraint.expr.constant <= 0


def _counters(op: Op) -> int:
    """How many induction variables an operation has, as `Scope.blocks` counts them."""
    match op:
        case affine.Parallel(ivs=ivs) | scf.Parallel(ivs=ivs):
            return len(ivs)
        case affine.For() | scf.For() | scf.While() | Opaque():
            return 1
    return 0


def _named(value: Value) -> str:
    return f"%{value.hint}" if value.hint else "an index"
