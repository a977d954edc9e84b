"""The loops and choices of scf that stand for themselves, and index arithmetic by a basis, as C statements."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.errors import UnsupportedError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, scf, ub
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import IndexType, ScalarType
from codegen.c import tables
from codegen.c.expressions import ADD, Code, invert, number
from codegen.c.names import Scope
from codegen.c.plan import effects
from codegen.c.sites import Divisor
from codegen.c.types import scalar, value_type
from codegen.c.views import Views

KINDS = {
    "addf": "addf", "mulf": "mulf", "maximumf": "maximumf", "minimumf": "minimumf", "addi": "addi", "muli": "muli",
    "andi": "andi", "ori": "ori", "maxsi": "maxs", "minsi": "mins", "maxui": "maxu", "minui": "minu",
}  # fmt: skip
"""The reductions of affine.parallel that operations are."""


class Structured(Views):
    """Writes scf.while, scf.parallel, scf.index_switch, scf.execute_region and affine.(de)linearize_index."""

    # --- While

    def _while(self, op: scf.While) -> None:
        written = effects(op, self.plan, self.plans)
        results = self._uninitialised(op.results)
        names: list[str] = []
        for init, argument in zip(op.inits, op.before_args, strict=True):
            names.append(self._declare(argument.hint or "state", "state", value_type(argument.type),
                                       self._value(init), const=False))  # fmt: skip
            self._codes[argument] = Code(names[-1], variables=frozenset((names[-1],)))
        self._name_readers(written)
        self._open("for (;;)")
        self._targets.append(tuple(names))
        self._combiners.append(None)
        self._whiles.append((op, results))
        self._block((*op.before, *op.after))
        self._whiles.pop()
        self._targets.pop()
        self._combiners.pop()
        self._close()

    def _condition_of_while(self, op: scf.Condition) -> None:
        loop, results = self._whiles[-1]
        shown = [self._stable(v) for v in op.values]
        condition = self._value(op.condition)
        self._open(f"if ({invert(condition)})")
        for name, code in zip(results, shown, strict=True):
            self._line(f"{name} = {code};")
        self._free(self._heap[-1])
        self._line("break;")
        self._close()
        for argument, code in zip(loop.after_args, shown, strict=True):
            if isinstance(argument.type, IndexType) and code.text.isidentifier() and not code.variables:
                self._codes[argument] = code
            else:
                self._codes[argument] = Code(
                    self._declare(argument.hint or "next", "next", value_type(argument.type), code)
                )

    def _uninitialised(self, values: tuple[Value, ...]) -> tuple[str, ...]:
        """Variables for results that get their values later."""
        names = []
        for value in values:
            name = self._scope.declare(value.hint, self._temporary)
            self._declared.append((name, len(self.lines)))
            self._line(f"{value_type(value.type)} {name};")
            self._codes[value] = Code(name)
            names.append(name)
        return tuple(names)

    # --- Parallel

    def _scf_band(self, op: scf.Parallel) -> None:
        written = effects(op, self.plan, self.plans)
        kinds = _kinds(op)
        types = [scalar(r.type) for r in op.results]
        names = tuple(
            self._declare(result.hint, "total", value_type(type), self._value(init), const=False)
            for result, init, type in zip(op.results, op.inits, types, strict=True)
        )
        shared = self._parallel is None and None not in kinds and self._may_be_shared(op)
        shared = shared and (self._checking or not self._may_fail(op))
        loops = []
        for iv, lower, upper, step in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
            hint = iv.hint or self._counter
            low, high, by = (self._expression(Affine.of(v)) for v in (lower, upper, step))
            if low.buffers and shared:
                low = Code(self._mark(self._declare(f"{hint}_begin", "begin", "int64_t", low)))
            high, by = self._only_forward(low, high, by, step, iv)
            high = self._lasting(high, written, f"{hint}_end")
            loops.append((iv, lower, upper, low, high, self._lasting(by, written, f"{hint}_step")))
        self._name_readers(written)
        if shared and self._checking:
            self._status = self._mark(self._declare("status", "status", "int32_t", number(0), const=False))
        if shared:
            clauses = "".join(
                f" reduction({self._reduction(kind or '', type)} : {name})"
                for kind, type, name in zip(kinds, types, names, strict=True)
            )
            self._directive(f"#pragma omp parallel for{clauses}")
        for iv, lower, upper, low, high, by in loops:
            name = Scope(self._scope).declare(iv.hint, self._counter)
            increment = f"++{name}" if by.text == "1" else f"{name} += {by}"
            self._open(f"for (int64_t {name} = {low}; {name} < {high.at(ADD)}; {increment})")
            self._scope.reserve(name)
            self._codes[iv] = Code(name)
            bounds = [self._resolve(Affine.of(lower))], [self._resolve(Affine.of(upper))]
            self._ranges.know_loop(iv, *bounds)
        self._targets.append(names)
        self._combiners.append(None)
        before, self._parallel = self._parallel, len(self._heap) if shared else self._parallel
        skip, self._skip = self._skip, None if shared else self._skip
        if shared:
            self._skip_after_failure()
        self._block(op.body)
        self._parallel = before
        if shared:
            if self._skip is not None:
                self._line(f"{self._skip}:;")
            self._skip = skip
        self._targets.pop()
        self._combiners.pop()
        for _ in op.ivs:
            self._close()
        for result, name in zip(op.results, names, strict=True):
            self._codes[result] = Code(name)
        if shared and self._checking:
            self._leave_band()

    def _reduce_values(self, op: scf.Reduce) -> None:
        targets = self._targets[-1]
        values = [self._stable(v) for v in op.values]
        for target, value, combiner in zip(targets, values, op.combiners, strict=True):
            assert isinstance(combiner, scf.Combiner)
            self._codes[combiner.left] = Code(target, variables=frozenset((target,)))
            self._codes[combiner.right] = value
            if combiner.body and isinstance(combiner.body[0], arith.Binary) and len(combiner.body) == 2:
                type = scalar(combiner.left.type)
                self._assign(target, self._arithmetic(combiner.body[0], self._value), type)
                continue
            self._open()
            self._targets.append((target,))
            self._block(combiner.body)
            self._targets.pop()
            self._close()

    def _reduce_return(self, op: scf.ReduceReturn) -> None:
        (target,), (value,) = self._targets[-1], op.values
        self._line(f"{target} = {self._value(value)};")

    # --- Choices

    def _switch(self, op: scf.IndexSwitch) -> None:
        names = self._uninitialised(op.results)
        chosen = self._stable(op.argument)
        self._name_readers(effects(op, self.plan, self.plans))
        cases = [(f"if ({chosen} == {number(c.number)})", c.body) for c in op.cases if isinstance(c, scf.Case)]
        for position, (head, body) in enumerate(cases):
            if position:
                self._reopen(f"else {head}")
            else:
                self._open(head)
            self._yielding(body, names)
        if not cases:
            self._plain(op.default, names)
            return
        if op.default:
            self._reopen("else")
            self._yielding(op.default, names)
        self._close()

    def _once(self, op: scf.ExecuteRegion) -> None:
        names = self._uninitialised(op.results)
        self._plain(op.body, names)

    def _plain(self, block: Block, names: tuple[str, ...]) -> None:
        self._open()
        self._yielding(block, names)
        self._close()

    def _yielding(self, block: Block, names: tuple[str, ...]) -> None:
        self._targets.append(names)
        self._combiners.append(None)
        self._block(block)
        self._targets.pop()
        self._combiners.pop()

    # --- Values

    def _digits(self, op: affine.DelinearizeIndex | affine.LinearizeIndex) -> None:
        radices = [self._resolve(Affine.of(r)) for r in op.radices]
        self._check_radices(op, radices)
        if isinstance(op, affine.LinearizeIndex):
            indices = [self._resolve(Affine.of(v)) for v in op.indices]
            basis = radices[1:] if len(radices) == len(indices) else radices
            total = indices[0] if indices else Affine.of(0)
            for index, radix in zip(indices[1:], basis, strict=True):
                total = self._product(total, radix) + index
            self._define(op.result, self._expression(total))
            return
        basis = radices[1:] if len(radices) == len(op.results) else radices
        rest = self._resolve(Affine.of(op.linear_index))
        digits = []
        for radix in reversed(basis):
            digits.append(rest % radix)
            rest = rest // radix
        for result, digit in zip(op.results, [rest, *reversed(digits)], strict=True):
            if self._uses[result]:
                self._name(result, self._expression(digit))

    def _check_radices(self, op: affine.DelinearizeIndex | affine.LinearizeIndex, radices: Sequence[Affine]) -> None:
        """What delinearize_index divides by is positive."""
        if not self._checking or isinstance(op, affine.LinearizeIndex):
            return
        self._steady_values(radices)
        for radix in radices:
            if not radix.is_constant:
                shown = self._steady(self._expression(radix))
                site = Divisor(self._words.where(op), self._words.expression(radix))
                self._stop_if([f"{shown} <= 0"], site, [shown])

    def _no_value(self, op: ub.Poison) -> None:
        kind: ScalarType = scalar(op.result.type)
        if isinstance(kind, IndexType):
            self._affine[op.result] = Affine.of(0)
        else:
            self._codes[op.result] = tables.literal(0, kind)


def _kinds(op: scf.Parallel) -> tuple[str | None, ...]:
    """How the values of each result are combined, where that is a reduction that all threads can share."""
    last = op.body[-1] if op.body else None
    if not isinstance(last, scf.Reduce):
        return ()
    return tuple(_kind(c) for c in last.combiners)


def _kind(op: Op) -> str | None:
    if not isinstance(op, scf.Combiner):
        raise UnsupportedError(f"a block of scf.reduce is a {op.name}")
    match op.body:
        case (arith.Binary(result=result, kind=kind, left=left, right=right), scf.ReduceReturn(values=(value,))):
            if value is result and {left, right} == {op.left, op.right}:
                return KINDS.get(kind)
    return None
