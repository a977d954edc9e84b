"""Makes a program that shows a failure small, by trying smaller ones that still show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, substitute, users, walk, with_fields
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType
from affdsl.ir.verifier import verify
from tests.differential.generator import Program
from tests.differential.outcome import interpret

Fails = Callable[[Program], bool]


def minimise(program: Program, fails: Fails, budget: int = 400) -> Program:
    """A smaller program for which `fails` is still true; at most `budget` programs are tried."""
    left = [budget]

    def still(candidate: Program) -> bool:
        if left[0] <= 0 or not _is_valid(candidate):
            return False
        left[0] -= 1
        return fails(candidate)

    for call in program.calls:
        alone = replace(program, calls=(call,))
        if len(program.calls) > 1 and still(alone):
            program = alone
            break
    before = None
    while before is not program.module and left[0] > 0:
        before = program.module
        program = _drop_functions(program, still)
        program = _drop_chunks(program, still)
        program = _simplify(program, still)
        program = _drop_results(program, still)
    return program


def _is_valid(program: Program) -> bool:
    try:
        verify(program.module)
        for call in program.calls:
            interpret(program, call)
    except (AffdslError, ValueError):
        return False
    return True


def _with_body(program: Program, old: func.Func, new: func.Func) -> Program:
    body = tuple(new if f is old else f for f in program.module.functions)
    return replace(program, module=func.Module(body))


def _drop_functions(program: Program, still: Fails) -> Program:
    for function in program.module.functions:
        if function.symbol != program.entry:
            rest = tuple(f for f in program.module.functions if f is not function)
            smaller = replace(program, module=func.Module(rest))
            if still(smaller):
                program = smaller
    return program


def _drop_chunks(program: Program, still: Fails) -> Program:
    """Remove runs of operations, long ones first; constants take the place of what others read."""
    for symbol in [f.symbol for f in program.module.functions]:
        size = 1 << 10
        while size:
            function = next(f for f in program.module.functions if f.symbol == symbol)
            ops = [op for op in walk(function) if op is not function and not op.is_terminator]
            at = len(ops) - min(size, len(ops))
            changed = False
            while at >= 0 and ops:
                chunk = set(ops[at : at + size])
                smaller = _without(function, chunk)
                if smaller is not None and still(candidate := _with_body(program, function, smaller)):
                    program, function, changed = candidate, smaller, True
                    ops = [op for op in walk(function) if op is not function and not op.is_terminator]
                at = min(at - size, len(ops) - size) if at > 0 and at < size and at - size < 0 else at - size
            if not changed or size > 1:
                size //= 2
    return program


def _without(function: func.Func, removed: set[Op]) -> func.Func | None:
    """function without some operations; None if others need a buffer that they make, or nothing changes."""
    inside = {inner for op in removed for inner in walk(op)}
    read = users(function)

    def rule(op: Op) -> Op | tuple[Op, ...] | None:
        if original(op) not in removed:
            return None
        needed = [v for v in op.defines() if any(u not in inside for u in read.get(v, ()))]
        if any(isinstance(v.type, MemRefType) for v in needed):
            raise _NeededError
        return tuple(arith.Constant(v, _plain(v)) for v in needed)

    defined = {v: op for op in removed for v in op.defines()}

    def original(op: Op) -> Op:
        first = next(iter(op.defines()), None)
        return op if first is None else defined.get(first, op)

    if all(isinstance(op, arith.Constant) for op in removed) and all(
        read.get(v) for op in removed for v in op.defines()
    ):
        return None
    try:
        return rewrite(function, rule)
    except _NeededError:
        return None


class _NeededError(Exception):
    """A buffer is still needed."""


def _plain(value: Value) -> float | int:
    return 1.0 if isinstance(value.type, FloatType) else 1 if value.type == IntegerType(1) else 2 if isinstance(
        value.type, IndexType | IntegerType) and str(value.type) != "i1" else 1  # fmt: skip


def _simplify(program: Program, still: Fails) -> Program:
    """Simplify single operations: unwrap blocks, shorten bounds and conditions, use plainer expressions."""
    for symbol in [f.symbol for f in program.module.functions]:
        k = 0
        while True:
            function = next(f for f in program.module.functions if f.symbol == symbol)
            ops = list(walk(function))[1:]
            if k >= len(ops):
                break
            for new in _simpler(ops[k]):
                target = ops[k]
                smaller = rewrite(function, lambda op, t=target, n=new: n if op is t else None)
                if still(candidate := _with_body(program, function, smaller)):
                    program = candidate
                    break
            else:
                k += 1
    return program


def _simpler(op: Op) -> Iterator[Op | tuple[Op, ...]]:
    match op:
        case affine.For() if not op.carried:
            iv = Value(op.iv.type, op.iv.hint)
            yield (affine.Apply(iv, op.lower[0]), *(substitute(o, {op.iv: iv}) for o in op.body))
            if op.step != 1:
                yield with_fields(op, step=1)
            for name in ("lower", "upper"):
                if len(getattr(op, name)) > 1:
                    yield from (with_fields(op, **{name: (e,)}) for e in getattr(op, name))
        case affine.If() | scf.If() if not op.results:
            yield op.then
            if op.orelse:
                yield op.orelse
                yield with_fields(op, orelse=())
        case affine.If() if len(op.condition) > 1:
            yield from (with_fields(op, condition=(c,)) for c in op.condition)
        case affine.Parallel() if not op.results:
            if len(op.ivs) == 1:
                yield affine.For(op.ivs[0], op.lower[0], op.upper[0], op.body, op.steps[0])
        case affine.Load() | affine.Store():
            for k, expr in enumerate(op.index):
                for simple in _simpler_expr(expr):
                    yield with_fields(op, index=(*op.index[:k], simple, *op.index[k + 1 :]))
        case affine.Apply():
            yield from (with_fields(op, expr=e) for e in _simpler_expr(op.expr))
        case memref.Alloc() | memref.Alloca() if op.alignment is not None:
            yield with_fields(op, alignment=None)
    match op:
        case affine.For():
            for name in ("lower", "upper"):
                for k, expr in enumerate(getattr(op, name)):
                    for simple in (*_simpler_expr(expr), *([Affine.of(2)] if name == "upper" else [])):
                        if simple != expr:
                            exprs = getattr(op, name)
                            yield with_fields(op, **{name: (*exprs[:k], simple, *exprs[k + 1 :])})
        case arith.Binary() | arith.Select():
            for value in op.reads():
                if value.type == op.result.type:
                    zero = arith.Constant(Value(value.type), 0.0 if isinstance(value.type, FloatType) else 0)
                    if isinstance(op, arith.Select):
                        yield (zero, with_fields(op, if_true=value, if_false=value, condition=op.condition))[1]


def _simpler_expr(expr: Affine) -> Iterator[Affine]:
    if expr != Affine():
        yield Affine()
    if len(expr.terms) > 1 or (expr.terms and expr.constant):
        yield Affine(expr.terms)
        yield from (Affine(((a, c),)) for a, c in expr.terms)


def _drop_results(program: Program, still: Fails) -> Program:
    """Return fewer values, and take fewer arguments."""
    function = program.function
    last = function.body[-1] if function.body else None
    if isinstance(last, func.Return):
        for k in reversed(range(len(last.values))):
            last = program.function.body[-1]
            assert isinstance(last, func.Return)
            values = _dropped(last.values, k)
            end = (with_fields(last, values=values),) if values else ()
            f = program.function
            smaller = with_fields(f, body=(*f.body[:-1], *end), result_types=_dropped(f.result_types, k))
            if still(candidate := _with_body(program, f, smaller)):
                program = candidate
    for k in reversed(range(program.sizes, len(program.function.args))):
        f = program.function
        if users(f).get(f.args[k]) and any(op is not f for op in users(f)[f.args[k]]):
            continue
        unsigned = frozenset(n - (n > k) for n in f.unsigned if n != k)
        smaller = with_fields(f, args=_dropped(f.args, k), shapes=_dropped(f.shapes, k), unsigned=unsigned)
        calls = tuple(_dropped(call, k) for call in program.calls)
        if still(candidate := replace(_with_body(program, f, smaller), calls=calls)):
            program = candidate
    return program


def _dropped(items: Sequence[object], k: int) -> tuple:
    return (*items[:k], *items[k + 1 :])
