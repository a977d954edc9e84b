"""What must hold for the accesses of a function to lie inside of their arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.debugging import asserted
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import spell_constraint
from affdsl.ir.traverse import affine_exprs
from affdsl.ir.types import IndexType, MemRefType, Type
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.bounds.claims import Claim, Demand, Division, Need, Verb, divisions, quotients
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.linearized import at_least_zero, is_affine, is_proved
from affdsl.passes.analysis.scope import Scope
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.views import VIEWS, axes_of, linear

_WITHIN = (memref.Cast, memref.SubView, memref.ExpandShape, memref.CollapseShape)
"""Views whose elements are elements of their source, if they were made rightly."""
_SILENT = (memref.Dealloc, memref.DmaWait, affine.DmaWait, func.Call, *VIEWS)
"""Operations that are said to touch a buffer anywhere, but have no subscripts that could be wrong."""


class Demands(Accesses):
    """The accesses of one function, and what each of them demands.

    `needs` says for each function of the module by its symbol what its calls must keep to. `start` is as in `Accesses`.
    """

    def __init__(
        self,
        function: func.Func,
        module: func.Module | None = None,
        needs: Mapping[str, Need] | None = None,
        start: Domain | None = None,
    ) -> None:
        self.demands: list[Demand] = []
        self._needs = needs or {}
        self._functions = {f.symbol: f for f in module.functions} if module is not None else {}
        super().__init__(function, module, start=start)

    def _of(self, op: Op, domain: Domain) -> Iterator[Access]:
        self._divided(op, domain)
        match op:
            case memref.SubView():
                self._subview(op, domain)
            case memref.Cast() | memref.ExpandShape():
                self._resized(op, domain)
            case memref.Copy():
                self._copied(op, domain)
            case func.Call():
                self._called(op, domain)
        yield from super()._of(op, domain)

    def _call(self, op: func.Call, domain: Domain) -> Iterator[Access]:
        yield from ()  # what it touches is for the function that is called to say, as its need

    def _element(self, op: Op, kind: str, value: Value, index: Sequence[Affine], domain: Domain) -> Access:
        exprs, domain = self.scope.polynomials(index, domain)
        domain = self._remainders(index, domain)
        access = super()._element(op, kind, value, exprs, domain)
        if isinstance(op, affine.DmaWait | memref.DmaWait) and kind == "write":
            return access  # the tag, which it reads too
        verb: Verb = "writes" if kind == "write" else "reads"
        sizes, claims, domain, unknown = self._inside(value, exprs, domain)
        self.demands.append(Demand(op, verb, value, domain, exprs, sizes, claims, unknown))
        if not self._is_within(value):
            self._in_buffer(op, verb, access)
        return access

    def _whole(self, op: Op, kind: str, value: Value, domain: Domain) -> Access:
        """Every element of an array lies inside of it; only the sizes of two arrays may differ."""
        return Accesses._anywhere(self, op, kind, self.storage.buffer(value), domain)

    def _anywhere(self, op: Op, kind: str, buffer: Buffer, domain: Domain, *, is_own: bool = True) -> Access:
        if not isinstance(op, _SILENT) and asserted(op) is None:
            verb: Verb = "writes" if kind == "write" else "reads"
            reason = "which elements it touches is known only at run time"
            self.demands.append(Demand(op, verb, buffer.root, domain, unknown=(reason,)))
        return super()._anywhere(op, kind, buffer, domain, is_own=is_own)

    def _divided(self, op: Op, domain: Domain) -> None:
        """What an operation itself divides by is positive."""
        if isinstance(op, affine.If):
            for constraint in op.condition:  # one after the other: the first that does not hold ends the test
                self._positive(op, divisions([constraint.expr]), domain)
                (expr,), domain = self.scope.exprs((constraint.expr,), domain)
                domain = domain.where(((Constraint(expr, constraint.equality),),))
            return
        found = divisions(affine_exprs(op))
        if isinstance(op, affine.DelinearizeIndex):
            found += [Division(Affine.of(op.linear_index), Affine.of(v)) for v in dict.fromkeys(op.basis)]
        self._positive(op, found, domain)

    def _remainders(self, index: Sequence[Affine], domain: Domain) -> Domain:
        """Where what is divided in some subscripts leaves a remainder below the divisor, which is positive there."""
        for quotient in quotients(index):
            divisor = Affine.of(quotient.divisor)
            (rest, by), domain = self.scope.exprs((quotient.dividend % divisor, divisor), domain)
            domain = domain.where(((Constraint(rest), Constraint(by - 1 - rest)),))
        return domain

    def _positive(self, op: Op, found: Sequence[Division], domain: Domain) -> None:
        if found:
            divisors, inside = self.scope.exprs([d.divisor for d in found], domain)
            claims = tuple(Claim(divisor - 1, k, "divisor") for k, divisor in enumerate(divisors))
            self.demands.append(Demand(op, "divides", None, inside, divisors, (), claims, divisions=tuple(found)))

    def _inside(
        self, value: Value, index: Sequence[Affine], domain: Domain
    ) -> tuple[tuple[Affine | None, ...], tuple[Claim, ...], Domain, tuple[str, ...]]:
        """The sizes of an array, and that an element of it lies inside."""
        type = value.type
        if not isinstance(type, MemRefType):
            return (), (), domain, ("its rank is known only at run time",)
        sizes: list[Affine | None] = []
        claims: list[Claim] = []
        unknown: list[str] = []
        for axis, expr in enumerate(index):
            size = self._size_as_written(value, axis)
            if size is not None:
                size, domain = self.scope.polynomial(size, domain)
            sizes.append(size)
            is_fixed = type.shape[axis] is not None
            wanted, domain = self._affine_claim(expr, domain)
            claims.append(Claim(wanted, axis, "lower", is_fixed))
            if size is None:
                unknown.append(f"the size of dimension {axis} of {value.hint or 'the array'} is not known")
            else:
                wanted, domain = self._affine_claim(size - 1 - expr, domain)
                claims.append(Claim(wanted, axis, "upper", is_fixed))
        return tuple(sizes), tuple(claims), domain, tuple(unknown)

    def _affine_claim(self, expr: Affine, domain: Domain) -> tuple[Affine, Domain]:
        """What is not negative exactly if a polynomial is not; a number where that is proved."""
        if is_affine(expr):
            return expr, domain
        found = at_least_zero(expr, self.scope, domain)
        if found is not None:
            return found
        return (Affine(), domain) if is_proved(expr, self.scope, domain) else self.scope.expr(expr, domain)

    def _is_within(self, value: Value) -> bool:
        """Whether each element of a view is an element of its buffer because of how the view is made."""
        while isinstance(maker := self.scope.makers.get(value), VIEWS):
            if not isinstance(maker, _WITHIN):
                return False
            value = maker.source
        return True

    def _in_buffer(self, op: Op, verb: Verb, access: Access) -> None:
        """That an element of a view which may reach anywhere lies inside of the buffer."""
        root, found = access.buffer.root, access.index
        if found is None or access.buffer.rank == 0:
            name = access.buffer.name
            reason = f"where the element of the view lies in {name} is not known"
            self.demands.append(Demand(op, verb, root, access.domain, unknown=(reason,)))
            return
        index = found[access.buffer.loops :]
        sizes, claims, domain, unknown = self._inside(root, index, access.domain)
        self.demands.append(Demand(op, verb, root, domain, index, sizes, claims, unknown))

    def _subview(self, op: memref.SubView, domain: Domain) -> None:
        """The part of an array that a view is lies inside of it, unless it has no element."""
        for axis, (offset, count, stride) in enumerate(zip(*op.parts, strict=True)):
            (first, many, step), inside = self.scope.exprs(tuple(map(Affine.of, (offset, count, stride))), domain)
            if not many.is_constant:
                below = Claim(many, axis, "size")
                self.demands.append(Demand(op, "views", op.source, inside, (many,), (), (below,)))
                inside = inside.where(((Constraint(many - 1),),))
            elif many.constant == 0:
                continue
            (last,), inside = self.scope.exprs((first + (many - 1) * step,), inside)
            size, inside = self.size(op.source, axis, inside)
            is_fixed = size is not None and size.is_constant
            claims = [Claim(first, axis, "lower", is_fixed)]
            if not step.is_constant or step.constant < 0:
                claims.append(Claim(last, axis, "lower", is_fixed))
            unknown: tuple[str, ...] = ()
            if size is None:
                unknown = (f"the size of dimension {axis} of {op.source.hint or 'the array'} is not known",)
            else:
                claims.append(Claim(size - 1 - last, axis, "upper", is_fixed))
                if not step.is_constant or step.constant < 0:
                    claims.append(Claim(size - 1 - first, axis, "upper", is_fixed))
            self.demands.append(Demand(op, "views", op.source, inside, (first, last), (size,), tuple(claims), unknown))

    def _resized(self, op: memref.Cast | memref.ExpandShape, domain: Domain) -> None:
        """A view has the sizes that its source has, or sizes whose product is that."""
        source, result = op.source.type, op.result.type
        if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
            return
        groups = op.groups if isinstance(op, memref.ExpandShape) else tuple((k,) for k in range(source.rank))
        for axis, group in enumerate(groups):
            parts = [self._size_as_written(op.result, k) for k in group]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                continue
            given, inside = self.size(op.source, axis, domain)
            (made,), inside = self.scope.exprs((prod(known, start=Affine.of(1)),), inside)
            if given is None:
                reason = f"the size of dimension {axis} of {op.source.hint or 'the array'} is not known"
                self.demands.append(Demand(op, "views", op.source, inside, unknown=(reason,)))
            elif made != given:
                claims = (Claim(given - made, axis, "size"), Claim(made - given, axis, "size"))
                self.demands.append(Demand(op, "views", op.source, inside, (made,), (given,), claims))

    def _copied(self, op: memref.Copy, domain: Domain) -> None:
        """Both arrays of a copy have the same sizes."""
        if not isinstance(op.source.type, MemRefType) or not isinstance(op.target.type, MemRefType):
            reason = "its rank is known only at run time"
            self.demands.append(Demand(op, "copies", op.source, domain, unknown=(reason,)))
            return
        claims: list[Claim] = []
        unknown: list[str] = []
        sizes: list[Affine | None] = []
        for axis in range(op.source.type.rank):
            from_, domain = self.size(op.source, axis, domain)
            to, domain = self.size(op.target, axis, domain)
            sizes += [from_, to]
            if from_ is None or to is None:
                unknown.append(f"the sizes of dimension {axis} are not known")
            else:
                claims += [Claim(from_ - to, axis, "size"), Claim(to - from_, axis, "size")]
        demand = Demand(op, "copies", op.source, domain, (), tuple(sizes), tuple(claims), tuple(unknown))
        self.demands.append(demand)

    def _run(
        self, op: affine.DmaStart | memref.DmaStart, kind: str, value: Value, index: Sequence[Affine], domain: Domain
    ) -> Access:
        """As many elements in row-major order as a copy has; its first element lies inside, and its last one."""
        verb: Verb = "writes" if kind == "write" else "reads"
        found, inside = self.scope.exprs((Affine.of(op.elements), *index), domain)
        count, start = found[0], found[1:]
        self.demands.append(Demand(op, verb, value, inside, (count,), (), (Claim(count, 0, "size"),)))
        inside = inside.where(((Constraint(count - 1),),))
        sizes, claims, inside, unknown = self._inside(value, start, inside)
        type = value.type
        last = _last_of_run(op, type, start, count)
        if last is None:
            unknown = (*unknown, "where the copy ends is not known")
        else:
            known = [s.constant for s in sizes if s is not None and s.is_constant]
            behind: Affine | None = None
            if len(start) == 1:
                behind = sizes[0]
            elif len(known) == len(sizes):
                behind = Affine.of(prod(known))
            elif sizes[0] is not None and isinstance(type, MemRefType) and None not in type.shape[1:]:
                behind = sizes[0] * prod(n for n in type.shape[1:] if n is not None)
            if behind is None:
                unknown = (*unknown, "where the copy ends is not known")
            else:
                claims = (*claims, Claim(behind - 1 - last, 0, "upper", behind.is_constant))
        self.demands.append(Demand(op, verb, value, inside, start, sizes, claims, unknown))
        return Accesses._anywhere(self, op, kind, self.storage.buffer(value), domain)

    def _called(self, op: func.Call, domain: Domain) -> None:
        """The function that is called gets sizes with which its accesses lie inside."""
        need, callee = self._needs.get(op.callee), self._functions.get(op.callee)
        if callee is None or callee.external:
            return
        self._keeps_contract(op, callee, domain)
        if need is None:
            reason = f"what {op.callee} needs is not known, because it calls itself"
            self.demands.append(Demand(op, "calls", None, domain, unknown=(reason,)))
            return
        if need.unknown:
            reason = f"{need.unknown} in {op.callee} is not proved"
            self.demands.append(Demand(op, "calls", None, domain, unknown=(reason,)))
        if need.by_numbers:
            found = Demands(callee, self.module, self._needs, self._start_of(callee, op, domain)).demands
            self.demands += (demand for demand in found if demand.key in need.by_numbers)
        inner = dict(zip(callee.args, op.args, strict=True))
        about = tuple(dict.fromkeys(v for constraints in need.against for c in constraints for v in c.values()))
        given, domain = self.scope.exprs([Affine.of(v).substitute(inner) for v in about], domain)
        names = tuple(v.hint for v in about)
        for constraints in need.against:
            exprs, inside = self.scope.exprs([c.expr.substitute(inner) for c in constraints], domain)
            here = tuple(Constraint(e, c.equality) for e, c in zip(exprs, constraints, strict=True))
            never = Claim(Affine.of(-1), 0, "call")
            demand = Demand(op, "calls", None, inside, given, (), (never,), (), need.text, names, here)
            self.demands.append(demand)

    def _start_of(self, callee: func.Func, op: func.Call, domain: Domain) -> Domain:
        """Where the body of a function runs that is called: its contract holds, which is a demand of its own."""
        start = domain
        for inner, given in zip(callee.args, op.args, strict=True):
            if isinstance(inner.type, IndexType):
                expr, start = self.scope.value(given, start)
                start = start.changed(resolved={**start.resolved, inner: expr})
        for constraint in callee.promised:
            (expr,), inside = self.scope.exprs((constraint.expr,), start)
            if inside.locals == start.locals:
                start = start.where(((Constraint(expr, constraint.equality),),))
        return start

    def _keeps_contract(self, op: func.Call, callee: func.Func, domain: Domain) -> None:
        """The arguments of a call have the sizes that the function promises itself, and all that it assumes holds."""
        inner = dict(zip(callee.args, op.args, strict=True))
        for position, shape in enumerate(callee.shapes):
            for axis, expr in enumerate(shape or ()):
                size, domain = self.size(op.args[position], axis, domain)
                (promised,), domain = self.scope.exprs((expr.substitute(inner),), domain)
                if size is None:
                    reason = f"the size of dimension {axis} of {op.args[position].hint or 'an argument'} is not known"
                    self.demands.append(Demand(op, "calls", None, domain, unknown=(reason,)))
                elif size != promised:
                    claims = tuple(Claim(expr, axis, "call") for expr in (size - promised, promised - size))
                    text, name = "arrays of the sizes that it is written for", callee.args[position].hint
                    demand = Demand(op, "calls", None, domain, (), (size, promised), claims, (), text, (name,))
                    self.demands.append(demand)
        self._positive(op, divisions(c.expr.substitute(inner) for c in callee.promised), domain)
        for constraint in callee.assumes:
            self._assumed(op, constraint, inner, domain)

    def _assumed(self, op: func.Call, constraint: Constraint, inner: Mapping[Value, Value], domain: Domain) -> None:
        """What a function assumes of its arguments holds for those of a call."""
        about = tuple(dict.fromkeys(constraint.values()))
        given, domain = self.scope.exprs([Affine.of(inner[v]) for v in about], domain)
        try:
            wanted = constraint.substitute(dict(zip(about, given, strict=True)))
        except ZeroDivisionError:
            reason = f"whether {spell_constraint(constraint)}, which {op.callee} assumes, is not known"
            self.demands.append(Demand(op, "calls", None, domain, unknown=(reason,)))
            return
        (expr,), domain = self.scope.exprs((wanted.expr,), domain)
        claims = tuple(Claim(e, 0, "call") for e in ((expr, -expr) if constraint.equality else (expr,)))
        text = f"{spell_constraint(wanted)}, since {op.callee} assumes {spell_constraint(constraint)}"
        names = tuple(v.hint for v in about)
        self.demands.append(Demand(op, "calls", None, domain, given, (), claims, (), text, names))

    def size(self, value: Value, axis: int, domain: Domain) -> tuple[Affine | None, Domain]:
        """The size of an array or view along a dimension, where it is used; None if nothing is known of it."""
        found = self._size_as_written(value, axis)
        if found is None:
            return None, domain
        return self.scope.expr(found, domain)

    def _size_as_written(self, value: Value, axis: int) -> Affine | None:
        type = value.type
        assert isinstance(type, MemRefType)
        size = type.shape[axis]
        if size is not None:
            return Affine.of(size)
        match self.scope.makers.get(value):
            case memref.Alloc(sizes=sizes) | memref.Alloca(sizes=sizes) | memref.View(sizes=sizes):
                return Affine.of(sizes[type.shape[:axis].count(None)])
            case memref.Cast(source=source) if isinstance(source.type, MemRefType):
                return self._size_as_written(source, axis)
            case memref.SubView() as view:
                axes = axes_of(view)
                return None if axes is None else Affine.of(view.parts[1][axes[axis]])
            case memref.ReinterpretCast() as view:
                return Affine.of(view.parts[1][axis])
            case memref.ExpandShape() as view:
                return Affine.of(view.sizes[view.static_sizes[:axis].count(None)])
            case memref.CollapseShape(source=source, groups=groups):
                parts = [self._size_as_written(source, k) for k in groups[axis]]
                known = [p for p in parts if p is not None]
                return prod(known, start=Affine.of(1)) if len(known) == len(parts) else None
            case func.Call() as call:
                return self._size_of_result(call, value, axis)
        return self.scope.size_of(value, axis)

    def _size_of_result(self, call: func.Call, value: Value, axis: int) -> Affine | None:
        """The size of an array that a function allocates and returns, as the caller can say it."""
        callee = self._functions.get(call.callee)
        if callee is None or not callee.body or not isinstance(callee.body[-1], func.Return):
            return None
        returned = callee.body[-1].values[call.results.index(value)]
        scope = Scope(callee)
        match scope.makers.get(returned):
            case memref.Alloc(sizes=sizes) if isinstance(returned.type, MemRefType):
                size = returned.type.shape[axis]
                if size is not None:
                    return Affine.of(size)
                expr, end = scope.value(sizes[returned.type.shape[:axis].count(None)], scope.start)
                known = set(callee.args)
                if end.locals != scope.start.locals or any(v not in known for v in expr.values()):
                    return None
                return expr.substitute(dict(zip(callee.args, call.args, strict=True)))
        return None


def _last_of_run(
    op: affine.DmaStart | memref.DmaStart, type: Type, start: Sequence[Affine], count: Affine
) -> Affine | None:
    """The position of the last element of a copy in a row-major array; None where it is not known."""
    if op.stride or not isinstance(type, MemRefType) or type.layout is not None:
        return None
    first = linear(start, type.shape)
    return None if first is None else first + count - 1
