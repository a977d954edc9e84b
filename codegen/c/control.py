"""Loops, conditions and parallel bands as C statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from affdsl.errors import UnsupportedError
from affdsl.ir import semantics
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.numeric import quiet
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, ScalarType, VectorType
from codegen.c import tables
from codegen.c.expressions import (
    ADD,
    Code,
    choose,
    conjunction,
    infix,
    invert,
    number,
    opposite,
)
from codegen.c.fallible import symbolic
from codegen.c.names import Scope
from codegen.c.plan import effects, is_small
from codegen.c.types import is_memref, scalar, suffix, value_type
from codegen.c.values import Values


class Control(Values):
    """Writes operations that hold blocks, and what they yield."""

    def _loop(self, op: affine.For | scf.For) -> None:
        written = effects(op, self.plan, self.plans)
        if isinstance(op, scf.For) and op.is_unsigned:
            raise UnsupportedError("C output does not know scf.for with unsigned bounds yet")
        if isinstance(op, affine.For):
            self._check_divisors(op, (*op.lower, *op.upper))
            lower = self._extreme(op.lower, "max")
            upper = self._extreme(op.upper, "min")
            step = number(op.step)
            bounds = [self._resolve(e) for e in op.lower], [self._resolve(e) for e in op.upper]
        else:
            lower, upper = self._expression(Affine.of(op.lower)), self._expression(Affine.of(op.upper))
            step = self._expression(Affine.of(op.step))
            upper, step = self._only_forward(lower, upper, step, op.step, op.iv)
            bounds = [self._resolve(Affine.of(op.lower))], [self._resolve(Affine.of(op.upper))]
        names = self._carry(op)
        self._name_readers(written)
        hint = op.iv.hint or self._counter
        upper, step = self._lasting(upper, written, f"{hint}_end"), self._lasting(step, written, f"{hint}_step")
        iv = Scope(self._scope).declare(op.iv.hint, self._counter)
        increment = f"++{iv}" if step.text == "1" else f"{iv} += {step}"
        self._open(f"for (int64_t {iv} = {lower}; {iv} < {upper.at(ADD)}; {increment})")
        self._scope.reserve(iv)
        self._codes[op.iv] = Code(iv)
        self._ranges.know_loop(op.iv, *bounds)
        self._targets.append(names)
        self._combiners.append(None)
        self._block(op.body)
        self._targets.pop()
        self._combiners.pop()
        self._close()
        for result, name in zip(op.results, names, strict=True):
            self._codes[result] = Code(name, variables=frozenset((name,)))

    def _only_forward(self, lower: Code, upper: Code, step: Code, by: Value, iv: Value) -> tuple[Code, Code]:
        """The end and the step of a loop that does not run if its step is not positive, as the interpreter reports."""
        if self._ranges.is_positive(self._resolve(Affine.of(by))):
            return upper, step
        hint, runs = iv.hint or self._counter, infix(">", step, number(0))
        end = self._declare(f"{hint}_end", "end", "int64_t", choose(runs, upper, lower))
        forward = self._declare(f"{hint}_step", "step", "int64_t", choose(runs, step, number(1)))
        return Code(self._mark(end)), Code(self._mark(forward))

    def _lasting(self, shown: Code, written: frozenset[object], hint: str) -> Code:
        """shown, to be evaluated again and again while `written` is written."""
        if not shown.buffers & written:
            return shown
        name = self._declare(hint, "end", "int64_t", shown)
        self.used.add(name)
        return Code(name)

    def _carry(self, op: affine.For | scf.For) -> tuple[str, ...]:
        """Declare the variables of iter_args, or go on with those of the loop around where nobody else reads them."""
        names = []
        for init, carried, result in zip(op.inits, op.carried, op.results, strict=True):
            if isinstance(carried.type, VectorType):
                name = self._new(carried, result.hint or "acc")
                self._assign_lanes(name, init)
                self._codes[carried] = Code(name, variables=frozenset((name,)))
                names.append(name)
                continue
            shared = init in self._local and init not in self._pending and self._codes.get(init)
            start = self._value(init)
            if shared and shared.text in shared.variables:
                name = shared.text
            else:
                hint = carried.hint or result.hint or "acc"
                name = self._declare(hint, "acc", value_type(carried.type), start, const=False)
            self._codes[carried] = Code(name, variables=frozenset((name,)))
            names.append(name)
        return tuple(names)

    def _condition(self, op: affine.If | scf.If) -> None:
        names = []
        for result in op.results:
            if isinstance(result.type, VectorType):
                names.append(self._new(result))
                continue
            name = self._scope.declare(result.hint, self._temporary)
            self._declared.append((name, len(self.lines)))
            self._line(f"{value_type(result.type)} {name};")
            names.append(name)
        if isinstance(op, affine.If):
            condition = self._all_hold(op)
        else:
            condition = self._value(op.condition)
        self._name_readers(effects(op, self.plan, self.plans))
        self._targets.append(tuple(names))
        self._combiners.append(None)
        if _is_empty(op.then) and not _is_empty(op.orelse):
            self._open(f"if ({opposite(condition) if isinstance(op, affine.If) else invert(condition)})")
            self._know_not(op)
            self._block(op.orelse)
        else:
            self._open(f"if ({condition})")
            if isinstance(op, affine.If):
                self._ranges.know_constraints(replace(c, expr=self._resolve(c.expr)) for c in op.condition)
            self._block(op.then)
            if not _is_empty(op.orelse):
                self._reopen("else")
                self._know_not(op)
                self._block(op.orelse)
        self._close()
        self._targets.pop()
        self._combiners.pop()
        for result, name in zip(op.results, names, strict=True):
            self._codes[result] = Code(name)

    def _know_not(self, op: affine.If | scf.If) -> None:
        """Here the condition of op is false."""
        if isinstance(op, affine.If) and len(op.condition) == 1 and not op.condition[0].equality:
            self._ranges.know_constraints([Constraint(-self._resolve(op.condition[0].expr) - 1)])

    def _all_hold(self, op: affine.If) -> Code:
        """The constraints of a condition; where a divisor is checked, each by itself, if those before it hold."""
        constraints = [replace(c, expr=self._resolve(c.expr)) for c in op.condition]
        if not self._checking or not symbolic([c.expr for c in constraints]):
            parts = [self._write_constraint(c) for c in constraints]
            return tables.headers_of(conjunction(list(dict.fromkeys(parts))), self.unit)
        self._steady_values(c.expr for c in constraints)
        name = self._mark(self._declare("", "holds", "bool", tables.headers_of(Code("true"), self.unit), const=False))
        for constraint in constraints:
            self._open(f"if ({name})")
            self._check_divisors(op, [constraint.expr])
            self._line(f"{name} = {self._write_constraint(constraint)};")
            self._close()
        return Code(name)

    def _yield(self, op: affine.Yield | scf.Yield) -> None:
        targets, kinds = self._targets[-1], self._combiners[-1]
        if kinds is not None:
            for target, kind, value in zip(targets, kinds, op.values, strict=True):
                type = scalar(value.type)
                shown = self._value(value)
                if kind != "assign":
                    shown = tables.binary(tables.REDUCTION_KIND[kind], type, Code(target), shown, self.unit)
                self._assign(target, shown, type)
            return
        pairs = list(zip(targets, op.values, strict=True))
        vectors = [(t, v) for t, v in pairs if isinstance(v.type, VectorType)]
        left = [(t, self._value(v), scalar(v.type)) for t, v in pairs if not isinstance(v.type, VectorType)]
        left = [(t, shown, type) for t, shown, type in left if shown.text != t]
        while left:  # the assignments are meant to happen at once: one whose target others still read has to wait
            ready = [part for part in left if not any(part[0] in o[1].variables for o in left if o is not part)]
            if ready:
                left.remove(ready[0])
                self._assign(*ready[0])
                continue
            k = next(k for k, part in enumerate(left) if part[1].variables)  # it keeps others waiting
            target, shown, type = left[k]
            name = self._declare(f"next_{target}", "next", value_type(type), shown)
            self.used.add(name)
            left[k] = target, Code(name), type
        self._yield_vectors(vectors)

    def _yield_vectors(self, pairs: Sequence[tuple[str, Value]]) -> None:
        """Assign vectors at once: those that are the target of another assignment are copied first."""
        targets = {t for t, _ in pairs}
        copied = {}
        for target, value in pairs:
            name = "" if value in self._splats else self._codes[value].text
            if name in targets and name != target:
                copied[value] = Value(value.type)
                self._assign_lanes(self._new(copied[value], f"next_{target}"), value)
        for target, value in pairs:
            if value in self._splats or value in copied or self._codes[value].text != target:
                self._assign_lanes(target, copied.get(value, value))

    def _band(self, op: affine.Parallel) -> None:
        written = effects(op, self.plan, self.plans)
        names = []
        types = [scalar(r.type) for r in op.results]
        for result, kind, type in zip(op.results, op.reductions, types, strict=True):
            start = tables.headers_of(_neutral(kind, type), self.unit)
            names.append(self._declare(result.hint, "total", value_type(type), start, const=False))
        self._check_divisors(op, [e for group in (*op.lower, *op.upper) for e in group])
        shared = self._parallel is None and "assign" not in op.reductions and self._may_be_shared(op)
        loops = []
        for iv, lower, upper in zip(op.ivs, op.lower, op.upper, strict=True):
            low, high = self._extreme(lower, "max"), self._extreme(upper, "min")
            if shared and (len(lower) > 1 or low.buffers):
                low = Code(self._mark(self._declare(f"{iv.hint or self._counter}_begin", "begin", "int64_t", low)))
            if shared and (len(upper) > 1 or high.buffers):
                high = Code(self._mark(self._declare(f"{iv.hint or self._counter}_end", "end", "int64_t", high)))
            loops.append((low, self._lasting(high, written, f"{iv.hint or self._counter}_end")))
        self._name_readers(written)
        fallible = shared and self.plan.has_status and (self._checking or self._may_fail(op))
        if fallible:
            self._status = self._mark(self._declare("status", "status", "int32_t", number(0), const=False))
        if shared:
            depth = _shared_loops(op)
            collapse = f" collapse({depth})" if depth > 1 else ""
            clauses = [
                f" reduction({self._reduction(kind, type)} : {name})"
                for kind, type, name in zip(op.reductions, types, names, strict=True)
            ]
            self._directive(f"#pragma omp parallel for{collapse}{''.join(clauses)}")
        for iv, lows, highs, (low, high), step in zip(op.ivs, op.lower, op.upper, loops, op.steps, strict=True):
            name = Scope(self._scope).declare(iv.hint, self._counter)
            increment = f"++{name}" if step == 1 else f"{name} += {number(step)}"
            self._open(f"for (int64_t {name} = {low}; {name} < {high.at(ADD)}; {increment})")
            self._scope.reserve(name)
            self._codes[iv] = Code(name)
            self._ranges.know_loop(iv, map(self._resolve, lows), map(self._resolve, highs))
        self._targets.append(tuple(names))
        self._combiners.append(op.reductions)
        if shared:
            self._parallel = len(self._heap)
        skip, self._skip = self._skip, None if shared else self._skip
        if shared:
            self._skip_after_failure()
        self._block(op.body)
        if shared:
            self._parallel = None
            if self._skip is not None:
                self._line(f"{self._skip}:;")
            self._skip = skip
        self._targets.pop()
        self._combiners.pop()
        for _ in op.ivs:
            self._close()
        for result, name in zip(op.results, names, strict=True):
            self._codes[result] = Code(name)
        if fallible:
            self._leave_band()

    def _mark(self, name: str) -> str:
        self.used.add(name)
        return name

    def _leave_band(self) -> None:
        """Leave after a parallel band of which an iteration failed."""
        self._open(f"if ({self._status} != 0)")
        self._fail(self._status if self._checking else "2")
        self._close()

    def _may_be_shared(self, op: affine.Parallel | scf.Parallel) -> bool:
        """Whether threads may share a band: where accesses are checked only if its bounds are no data.

        With data for a bound it may be as long as int64_t lasts, and the threads would go on counting after a failure.
        """
        if not self._checking:
            return True
        if isinstance(op, scf.Parallel):
            bounds = [self._resolve(Affine.of(v)) for v in (*op.lower, *op.upper)]
        else:
            bounds = [self._resolve(e) for group in (*op.lower, *op.upper) for e in group]
        return all(v in self.plan.indices or self._ranges.is_loop(v) for e in bounds for v in e.values())

    def _skip_after_failure(self) -> None:
        """Do nothing in an iteration of a parallel band that begins after another one has failed."""
        if not self._checking:
            return
        name = self._mark(self._scope.declare("", "stopped"))
        self._line(f"int32_t {name};")
        self._directive("#pragma omp atomic read")
        self._line(f"{name} = {self._status};")
        self._open(f"if ({name} != 0)")
        self._line("continue;")
        self._close()

    def _may_fail(self, op: Op) -> bool:
        for inner in walk(op):
            match inner:
                case memref.Alloc():
                    return True
                case memref.Alloca() if not is_small(inner):
                    return True
                case func.Call() if self.plans[inner.callee].has_status or any(
                    is_memref(r.type) for r in inner.results
                ):
                    return True
        return False

    def _reduction(self, kind: str, type: ScalarType) -> str:
        """The OpenMP name of a reduction: an operator where C's is ours, otherwise one that we declare."""
        if kind in ("addf", "mulf") and isinstance(type, FloatType) and type.name in ("f32", "f64"):
            return tables.OPERATOR_OF[kind]
        combined = tables.binary(tables.REDUCTION_KIND[kind], type, Code("omp_out"), Code("omp_in"), self.unit)
        neutral = tables.headers_of(_neutral(kind, type), self.unit)
        return self.unit.reduction(f"reduce_{kind}_{suffix(type)}", value_type(type), combined.text, neutral.text)


ENOUGH_ITERATIONS = 64
"""So many iterations of a loop, and the threads share it alone."""


def _shared_loops(op: affine.Parallel) -> int:
    """How many loops of a band the threads share: the outermost, and further ones while it is known to be short.

    Loops that are shared together are counted through in one, which keeps compilers from vectorizing the innermost.
    """
    iterations = 1
    for depth, (lower, upper, step) in enumerate(zip(op.lower, op.upper, op.steps, strict=True), 1):
        if len(lower) > 1 or len(upper) > 1 or not (upper[0] - lower[0]).is_constant:
            return depth
        iterations *= max(0, -((lower[0] - upper[0]).constant // step))  # rounded up
        if iterations >= ENOUGH_ITERATIONS:
            return depth
    return len(op.ivs)


def _is_empty(block: Block) -> bool:
    return all(op.is_terminator and not any(True for _ in op.reads()) for op in block)


def _neutral(kind: str, type: ScalarType) -> Code:
    """The number that a reduction starts with."""
    with quiet():
        start = semantics.neutral(kind, type)
    return tables.literal(float(start) if isinstance(type, FloatType) else int(start), type)
