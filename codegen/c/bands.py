"""The parallel loops of affine and scf as C statements, which OpenMP gives to several threads."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.c import tables
from affdsl.codegen.c.affine_values import extreme
from affdsl.codegen.c.arithmetic import arithmetic
from affdsl.codegen.c.checks import check_divisors
from affdsl.codegen.c.context import Context, Target
from affdsl.codegen.c.expressions import ADD, Code, number
from affdsl.codegen.c.loops import only_forward
from affdsl.codegen.c.memory import assign
from affdsl.codegen.c.plan import effects, is_small
from affdsl.codegen.c.types import is_memref, number_type, scalar, suffix, value_type
from affdsl.codegen.c.work import are_parts, enough, is_uneven
from affdsl.errors import UnsupportedError
from affdsl.ir import semantics
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.numeric import quiet
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, ScalarType

KINDS = {
    "addf": "addf", "mulf": "mulf", "maximumf": "maximumf", "minimumf": "minimumf", "addi": "addi", "muli": "muli",
    "andi": "andi", "ori": "ori", "maxsi": "maxs", "minsi": "mins", "maxui": "maxu", "minui": "minu",
}  # fmt: skip
"""The reductions of affine.parallel that operations are."""

ENOUGH_ITERATIONS = 64
"""So many iterations of a loop, and the threads share it alone."""


def affine_band(c: Context, op: affine.Parallel) -> None:
    """Loops whose iterations threads share, where that can be."""
    written = effects(op, c.plan, c.plans)
    names = []
    types = [scalar(r.type) for r in op.results]
    for result, kind, type in zip(op.results, op.reductions, types, strict=True):
        start = tables.headers_of(_neutral(kind, type), c.unit)
        names.append(c.lines.declare(result.hint, "total", value_type(type), start, const=False))
    check_divisors(c, op, [e for group in (*op.lower, *op.upper) for e in group])
    shared = c.band is None and "assign" not in op.reductions and may_be_shared(c, op)
    loops = []
    for iv, lower, upper in zip(op.ivs, op.lower, op.upper, strict=True):
        low, high = extreme(c, lower, "max"), extreme(c, upper, "min")
        if shared and (len(lower) > 1 or low.buffers):
            low = c.lines.keep(f"{iv.hint or c.values.counter}_begin", "begin", "int64_t", low)
        if shared and (len(upper) > 1 or high.buffers):
            high = c.lines.keep(f"{iv.hint or c.values.counter}_end", "end", "int64_t", high)
        loops.append((low, c.values.lasting(high, written, f"{iv.hint or c.values.counter}_end")))
    c.values.name_readers(written)
    fallible = shared and c.plan.has_status and (c.notes or may_fail_inside(c, op))
    status = _status(c) if fallible else ""
    if shared:
        depth = _shared_loops(op)
        collapse = f" collapse({depth})" if depth > 1 else ""
        order = " schedule(static, 1)" if are_parts(op) else ""
        order = " schedule(dynamic)" if not op.results and is_uneven(op) else order
        clauses = f"{collapse}{order}{enough(c, op)}{_told(c)}{_clauses(c, op.reductions, types, names)}"
        c.unit.has_threads = True
        c.lines.directive(f"#pragma omp parallel for{clauses}")
    for iv, lows, highs, (low, high), step in zip(op.ivs, op.lower, op.upper, loops, op.steps, strict=True):
        _open(c, iv, low, high, number(step))
        c.ranges.know_loop(iv, map(c.values.resolve, lows), map(c.values.resolve, highs))
    _body(c, op, Target(tuple(names), op.reductions), status if shared else None)
    if fallible:
        _leave(c, status)


def scf_band(c: Context, op: scf.Parallel) -> None:
    """Loops whose iterations threads share, where that can be."""
    written = effects(op, c.plan, c.plans)
    kinds = _kinds(op)
    types = [number_type(r.type) for r in op.results]
    names = tuple(
        c.lines.declare(result.hint, "total", value_type(type), c.values.of(init), const=False)
        for result, init, type in zip(op.results, op.inits, types, strict=True)
    )
    shared = c.band is None and None not in kinds and may_be_shared(c, op)
    shared = shared and (c.notes or not may_fail_inside(c, op))
    loops = []
    for iv, lower, upper, step in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
        hint = iv.hint or c.values.counter
        low, high, by = (c.values.expression(v) for v in (lower, upper, step))
        if low.buffers and shared:
            low = c.lines.keep(f"{hint}_begin", "begin", "int64_t", low)
        high, by = only_forward(c, low, high, by, step, iv)
        high = c.values.lasting(high, written, f"{hint}_end")
        loops.append((iv, lower, upper, low, high, c.values.lasting(by, written, f"{hint}_step")))
    c.values.name_readers(written)
    status = _status(c) if shared and c.notes else ""
    if shared:
        reals = [scalar(r.type) for r in op.results]  # no kind combines complex numbers
        clauses = _clauses(c, [kind or "" for kind in kinds], reals, names)
        c.unit.has_threads = True
        c.lines.directive(f"#pragma omp parallel for{_told(c)}{clauses}")
    for iv, lower, upper, low, high, by in loops:
        _open(c, iv, low, high, by)
        c.ranges.know_loop(iv, [c.values.resolve(lower)], [c.values.resolve(upper)])
    _body(c, op, Target(names), status if shared else None)
    if shared and c.notes:
        _leave(c, status)


def _open(c: Context, iv: Value, low: Code, high: Code, step: Code) -> None:
    name = c.lines.counter(iv.hint, c.values.counter)
    c.lines.loop(name, low, high.at(ADD), step.text)
    c.values.codes[iv] = Code(name)


def _body(c: Context, op: affine.Parallel | scf.Parallel, target: Target, status: str | None) -> None:
    """Write the body of loops that are open, and close them; threads share them if there is a status."""
    if status is None:
        c.block_to(op.body, target)
    else:
        with c.shared(status):
            _skip_after_failure(c, status)
            streamed = c.streamed
            c.block_to(op.body, target)
            c.finish_streams(streamed)
    for _ in op.ivs:
        c.lines.close()
    for result, name in zip(op.results, target.names, strict=True):
        c.values.codes[result] = Code(name)


def _status(c: Context) -> str:
    """Declare the variable that says that an iteration failed."""
    return c.lines.keep("status", "status", "int32_t", number(0), const=False).text


def _leave(c: Context, status: str) -> None:
    """Leave after a parallel band of which an iteration failed."""
    with c.lines.block(f"if ({status} != 0)"):
        c.fail(status if c.notes else "2")


def _skip_after_failure(c: Context, status: str) -> None:
    """Do nothing in an iteration of a parallel band that begins after another one has failed."""
    if not c.notes:
        return
    name = c.lines.scope.declare("", "stopped")
    c.lines.add(f"int32_t {name};")
    c.lines.directive("#pragma omp atomic read")
    c.lines.add(f"{name} = {status};")
    with c.lines.block(f"if ({name} != 0)"):
        c.lines.add("continue;")


def _told(c: Context) -> str:
    """The clause with the number of threads that the function is told, where it is."""
    return f" num_threads(affdsl_told({c.lines.read(c.threads)}))" if c.threads else ""


def _clauses(c: Context, kinds: Sequence[str], types: Sequence[ScalarType], names: Sequence[str]) -> str:
    rows = zip(kinds, types, names, strict=True)
    return "".join(f" reduction({openmp_reduction(c, kind, type)} : {name})" for kind, type, name in rows)


def may_be_shared(c: Context, op: affine.Parallel | scf.Parallel) -> bool:
    """Whether threads may share a band: where accesses are checked only if its bounds are no data.

    With data for a bound it may be as long as int64_t lasts, and the threads would go on counting after a failure.
    """
    if not c.notes:
        return True
    if isinstance(op, scf.Parallel):
        bounds = [c.values.resolve(v) for v in (*op.lower, *op.upper)]
    else:
        bounds = [c.values.resolve(e) for group in (*op.lower, *op.upper) for e in group]
    return all(v in c.plan.indices or c.ranges.is_loop(v) for e in bounds for v in e.values())


def may_fail_inside(c: Context, op: Op) -> bool:
    """Whether an operation inside may find no memory."""
    for inner in walk(op):
        match inner:
            case memref.Alloc():
                return True
            case memref.Alloca() if not is_small(inner):
                return True
            case func.Call() if c.plans[inner.callee].has_status or any(is_memref(r.type) for r in inner.results):
                return True
    return False


def openmp_reduction(c: Context, kind: str, type: ScalarType) -> str:
    """The OpenMP name of a reduction: an operator where C's is ours, otherwise one that we declare.

    OpenMP's sums start from 0, which makes 0.0 of a sum of nothing but -0.0.
    """
    if kind == "mulf" and isinstance(type, FloatType) and type.name in ("f32", "f64"):
        return tables.OPERATOR_OF[kind]
    combined = tables.binary(tables.REDUCTION_KIND[kind], type, Code("omp_out"), Code("omp_in"), c.unit)
    neutral = tables.headers_of(_neutral(kind, type), c.unit)
    return c.unit.reduction(f"reduce_{kind}_{suffix(type)}", value_type(type), combined, neutral.text)


def scf_reduce(c: Context, op: scf.Reduce) -> None:
    """Combine the values of one iteration with those before."""
    targets = c.targets[-1].names
    values = [c.values.stable(v) for v in op.values]
    for target, value, combiner in zip(targets, values, op.combiners, strict=True):
        assert isinstance(combiner, scf.Combiner)
        c.values.codes[combiner.left] = Code(target, variables=frozenset((target,)))
        c.values.codes[combiner.right] = value
        if combiner.body and isinstance(combiner.body[0], arith.Binary) and len(combiner.body) == 2:
            type = scalar(combiner.left.type)
            if assign(c, target, arithmetic(c, combiner.body[0], c.values.of), type):
                c.lines.unread(target)
            continue
        with c.lines.block():
            c.block_to(combiner.body, Target((target,)))


def reduce_return(c: Context, op: scf.ReduceReturn) -> None:
    """What a combiner gives."""
    (target,), (value,) = c.targets[-1].names, op.values
    c.lines.add(f"{target} = {c.values.of(value)};")


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


def _neutral(kind: str, type: ScalarType) -> Code:
    """The number that a reduction starts with."""
    with quiet():
        start = semantics.neutral(kind, type)
    return tables.literal(float(start) if isinstance(type, FloatType) else int(start), type)


def _kinds(op: scf.Parallel) -> tuple[str | None, ...]:
    """How the values of each result are combined, where that is a reduction that all threads can share."""
    last = op.body[-1] if op.body else None
    if not isinstance(last, scf.Reduce):
        return ()
    return tuple(_kind(combiner) for combiner in last.combiners)


def _kind(op: Op) -> str | None:
    if not isinstance(op, scf.Combiner):
        raise UnsupportedError(f"a block of scf.reduce is a {op.name}")
    match op.body:
        case (arith.Binary(result=result, kind=kind, left=left, right=right), scf.ReduceReturn(values=(value,))):
            if value is result and {left, right} == {op.left, op.right}:
                return KINDS.get(kind)
    return None
