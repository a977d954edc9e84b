"""What each function of a module is like in C, before a line of it is written: its name, parameters and status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from affdsl.codegen.c.globals import GlobalBuffer, global_buffers, used, with_constants
from affdsl.codegen.c.lone_lanes import lone_lanes
from affdsl.codegen.c.names import Scope, function_identifier
from affdsl.codegen.c.ranges import Ranges
from affdsl.codegen.c.restarts import with_masks
from affdsl.codegen.c.strides import passed_strides, strides_of
from affdsl.codegen.c.types import element
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.debugging import asserted, is_known
from affdsl.ir.dialects import affine, arith, func, memref, scf, vector
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import ComplexType, IndexType, MemRefType, Type, UnrankedMemRefType


class Result(FrozenValue):
    """One result of a function. Of an array: the value inside that it is, and its shape over the index arguments."""

    type: Type
    unsigned: bool
    hint: str
    value: Value | None = None
    shape: tuple[Affine, ...] = ()

    @property
    def is_array(self) -> bool:
        """Whether the caller hands in memory for it."""
        return isinstance(self.type, MemRefType)


class Plan(FrozenValue):
    """A function as its callers see it, and what its writer must know."""

    func: func.Func
    name: str
    results: tuple[Result, ...]
    written: frozenset[int]
    """Which arguments are arrays that it writes."""
    has_status: bool
    """Whether it may run out of memory, or something may fail that is checked, and says so."""
    has_parallel: bool
    """Whether it, or a function that it calls, runs on several threads."""
    roots: Mapping[Value, Value]
    """Which buffer each memref inside is."""
    indices: Mapping[Value, Affine]
    """The index values that are affine in the index arguments."""
    sizes: int = 0
    """How many of the first arguments are sizes, whatever the shapes say."""
    buffers: Mapping[str, GlobalBuffer] = field(default_factory=dict)
    """The global buffers of the module."""
    reads: frozenset[str] = frozenset()
    """The global buffers that it, or a function that it calls, uses."""
    writes: frozenset[str] = frozenset()
    """Those that are written."""
    strides: Mapping[Value, tuple[int | Value, ...]] = field(default_factory=dict)
    """Those of the array arguments that are not row-major and contiguous; a value for each that callers pass."""
    aliased: set[int] = field(default_factory=set)
    """Arguments that some call makes one buffer with another."""
    aliased_buffers: set[Value] = field(default_factory=set)
    """Global buffers that some call hands in as an argument, too."""
    is_checked: bool = False
    """Whether it checks each access."""
    notes: bool = False
    """Whether it notes what fails: an access that is checked, or an assertion."""
    takes_threads: bool = False
    """Whether it is told on how many threads its loops run."""
    is_external: bool = False
    """Whether it is defined elsewhere, and only declared here."""
    has_descriptors: bool = False
    """Whether it takes arrays as MLIR's C interface hands them over: pointers to descriptors."""

    @property
    def gives_value(self) -> bool:
        """Whether the one scalar result is what the C function returns: not a complex one, which C++ gives no C."""
        return not self.has_status and len(self.scalars) == 1 and not isinstance(self.scalars[0].type, ComplexType)

    @property
    def scalars(self) -> tuple[Result, ...]:
        """The results that are no arrays."""
        return tuple(r for r in self.results if not r.is_array)


def plans(
    module: func.Module,
    entry: str,
    *,
    sizes: int = 0,
    checked: bool = False,
    names: Scope | None = None,
    name: str | None = None,
    results: Sequence[str] = (),
    external: bool = False,
) -> dict[str, Plan]:
    """The plans of entry and all that it calls, callees first. Raises UnsupportedError for what C
    cannot express. The first `sizes` arguments of entry are sizes, so not negative. `checked` is whether all of them
    check each access. In a file with other functions `names` are in use, among them `name`, which entry gets. Its
    results are called as `results` says, if it says so. `external` is whether functions without a body are declared,
    for somebody to link them; otherwise they are refused."""
    functions = {
        f.symbol: f if checked else lone_lanes(with_masks(with_constants(f, module))) for f in module.functions
    }
    names = Scope() if names is None else names
    found: dict[str, Plan] = {}
    public = functions.get(entry)
    if public is None:
        known = ", ".join(functions) or "none"
        raise UnsupportedError(f"there is no function {entry!r} in the module; it has: {known}")
    public_name = names.reserve(function_identifier(entry)) if name is None else name
    buffers = global_buffers(module, names)
    ops = {f.symbol: tuple(walk(f)) for f in functions.values()}
    order = list(_callees_first(public, functions, ops))
    if external:
        found.update((f.symbol, _external_plan(f, names, buffers)) for f in order if f is not public and has_no_body(f))
    for f in order:
        if f.symbol in found:
            continue
        name = public_name if f is public else names.reserve(function_identifier(f.symbol))
        found[f.symbol] = _plan(f, ops[f.symbol], name, found, sizes if f is public else 0, buffers)
    if results:
        own = zip(found[entry].results, results, strict=True)
        found[entry] = replace(found[entry], results=tuple(replace(r, hint=hint) for r, hint in own))
    notes = checked or any(asserted(op) is not None for symbol in found for op in ops[symbol])
    if notes:
        found = {
            s: plan if plan.is_external else replace(plan, is_checked=checked, notes=True, has_status=True)
            for s, plan in found.items()
        }
    for symbol, plan in reversed(found.items()):
        for call in _calls(ops[symbol]):
            _mark_aliases(call, plan, found[call.callee])
    return found


def root_of(plan: Plan, value: Value) -> object:
    """What identifies the buffer of a memref: equal for two that may overlap."""
    root = plan.roots[value]
    for position in plan.aliased:
        if plan.func.args[position] is root:
            return plan.func
    return plan.func if root in plan.aliased_buffers else root


def effects(op: Op, plan: Plan, callees: Mapping[str, Plan]) -> frozenset[object]:
    """The buffers that op, or something inside it, may write."""
    roots = set[object]()
    for inner in walk(op):
        roots.update(root_of(plan, v) for v in _written_by(inner, callees))
        roots |= global_effects(inner, plan, callees)
    return frozenset(roots)


def global_effects(op: Op, plan: Plan, callees: Mapping[str, Plan]) -> frozenset[object]:
    """The global buffers that a call may write."""
    if not isinstance(op, func.Call):
        return frozenset()
    roots = [plan.buffers[symbol].root for symbol in callees[op.callee].writes]
    return frozenset(plan.func if root in plan.aliased_buffers else root for root in roots)


def contract(plan: Plan) -> Ranges:
    """What the shapes and assumptions of a function say about its index arguments."""
    f, ranges = plan.func, Ranges()
    for size in f.args[: plan.sizes]:
        ranges.know(size, 0)
    ranges.know_constraints(f.assumes)
    for shape in f.shapes:
        for dimension in shape or ():
            if dimension.value is not None:
                ranges.know(dimension.value, 0)
    return ranges


def _callees_first(
    entry: func.Func, functions: Mapping[str, func.Func], ops: Mapping[str, Sequence[Op]]
) -> Iterator[func.Func]:
    done: set[str] = set()
    path = [entry.symbol]
    stack = [(entry, iter(_calls(ops[entry.symbol])))]
    while stack:
        f, calls = stack[-1]
        for callee in (call.callee for call in calls):
            if callee in path:
                cycle = " -> ".join([*path[path.index(callee) :], callee])
                raise UnsupportedError(f"recursion ({cycle}): C output has no stack for the arrays of a call in itself")
            if callee in done:
                continue
            if callee not in functions:
                raise UnsupportedError(f"function {f.symbol!r} calls {callee!r}, which is not in the module")
            stack.append((functions[callee], iter(_calls(ops[callee]))))
            path.append(callee)
            break
        else:
            yield f
            done.add(f.symbol)
            stack.pop()
            path.pop()


def _calls(ops: Sequence[Op]) -> list[func.Call]:
    return [op for op in ops if isinstance(op, func.Call)]


def has_no_body(f: func.Func) -> bool:
    """Whether a function is defined elsewhere."""
    return f.external or bool(not f.body and f.result_types)


C_INTERFACE = "llvm.emit_c_interface"
"""The attribute of functions that are called by way of MLIR's C interface."""


def _external_plan(f: func.Func, names: Scope, buffers: Mapping[str, GlobalBuffer]) -> Plan:
    """The plan of a function that is defined elsewhere: it may write all arrays that it is given."""
    has_descriptors = any(name == C_INTERFACE for name, _ in f.attributes)
    name = f"_mlir_ciface_{f.symbol}" if has_descriptors else f.symbol
    what = f"function {f.symbol!r}, which is defined elsewhere,"
    if function_identifier(f.symbol) != f.symbol or names.reserve(name) != name:
        raise UnsupportedError(f"{what} has a name that is none in C, or another meaning there; give it another name")
    for k, type in enumerate(f.result_types):
        if isinstance(type, MemRefType | UnrankedMemRefType):
            raise UnsupportedError(
                f"{what} returns an array as result {k}: nothing says who frees it; let it take one that it fills"
            )
    if has_descriptors and len(f.result_types) > 1:
        count = len(f.result_types)
        raise UnsupportedError(f"{what} has {count} results, of which C output takes one at most by {C_INTERFACE}")
    arrays = [arg for arg in f.args if isinstance(arg.type, MemRefType | UnrankedMemRefType)]
    for k, arg in enumerate(f.args):
        _check_argument(f, k, arg)
    return Plan(
        f, name, tuple(Result(type, k in f.unsigned_results, "") for k, type in enumerate(f.result_types)),
        frozenset(k for k, arg in enumerate(f.args) if arg in arrays), has_status=False, has_parallel=False,
        roots={arg: arg for arg in arrays}, indices={}, buffers=buffers,
        strides={} if has_descriptors else passed_strides(f), aliased=set(range(len(f.args))), is_external=True,
        has_descriptors=has_descriptors,
    )  # fmt: skip


def _plan(
    f: func.Func,
    ops: Sequence[Op],
    name: str,
    callees: Mapping[str, Plan],
    sizes: int,
    buffers: Mapping[str, GlobalBuffer],
) -> Plan:
    """The plan of a function whose operations, with all that is inside of them, are `ops`."""
    if has_no_body(f):
        raise UnsupportedError(f"function {f.symbol!r} has no body; C output needs the whole program")
    for op in ops:
        if isinstance(op, Opaque) and not is_known(op):
            raise UnsupportedError(f"C output does not know the operation {op.kind} in {f.symbol!r}")
    symbols = used(ops, buffers)
    roots = _roots(f, ops, buffers)
    written = {roots[v] for op in ops for v in _written_by(op, callees) if v in roots}
    positions = frozenset(k for k, arg in enumerate(f.args) if arg in written)
    indices, shapes = _indices(f, roots, callees)
    results = _results(f, ops, roots, shapes)
    own = {r.value for r in results}
    has_status = any(_needs_heap(op, own, callees) for op in ops)
    has_parallel = any(_is_parallel(op, callees) for op in ops)
    for k, arg in enumerate(f.args):
        _check_argument(f, k, arg)
    changed = {s for s in symbols if buffers[s].root in written}
    for callee in (callees[call.callee] for call in _calls(ops)):
        symbols |= callee.reads
        changed |= callee.writes
    return Plan(
        f, name, results, positions, has_status, has_parallel, roots, indices, sizes, buffers, frozenset(symbols),
        frozenset(changed), passed_strides(f),
    )  # fmt: skip


def _check_argument(f: func.Func, position: int, arg: Value) -> None:
    if not isinstance(arg.type, MemRefType):
        return
    what = f"array {arg.hint or f'argument {position}'!r} of {f.symbol!r}"
    is_row_major = strides_of(arg.type, what)[0] is None
    element(arg.type)
    shape = f.shapes[position] if f.shapes else None
    if shape is None and is_row_major and None in arg.type.shape[1:]:
        raise UnsupportedError(
            f"{what} has sizes that no index argument gives; say its shape in the function's contract"
        )


VIEWS = (
    memref.Cast, memref.SubView, memref.ReinterpretCast, memref.ExpandShape, memref.CollapseShape, memref.View,
    memref.Reshape,
)  # fmt: skip
"""What gives a buffer another shape."""


def _roots(f: func.Func, ops: Sequence[Op], buffers: Mapping[str, GlobalBuffer]) -> dict[Value, Value]:
    roots = {arg: arg for arg in f.args if isinstance(arg.type, MemRefType)}
    for op in ops:
        match op:
            case _ if isinstance(op, VIEWS) and op.source in roots:
                roots[op.result] = roots[op.source]
            case memref.ExtractStridedMetadata() if op.source in roots:
                roots[op.base] = roots[op.source]
            case memref.GetGlobal():
                roots[op.result] = buffers[op.symbol].root
            case memref.Alloc() | memref.Alloca():
                roots[op.result] = op.result
            case func.Call():
                roots.update((r, r) for r in op.results if isinstance(r.type, MemRefType))
            case _:
                for value in (*op.defines(), *op.binds()):
                    if isinstance(value.type, MemRefType | UnrankedMemRefType) and value not in roots:
                        raise UnsupportedError(
                            f"{op.name} in {f.symbol!r} hands on an array; in C output an array is an argument, "
                            "an alloc, a global buffer, a result of a call or a view of one"
                        )
    return roots


def _written_by(op: Op, callees: Mapping[str, Plan]) -> Iterator[Value]:
    match op:
        case affine.Store(memref=target) | memref.Store(memref=target) | memref.Copy(target=target):
            yield target
        case memref.Dealloc(memref=target):
            yield target
        case affine.VectorStore(memref=target) | memref.AtomicRMW(memref=target):
            yield target
        case affine.DmaStart(target=target) | memref.DmaStart(target=target):
            yield target
        case vector.TransferWrite() | vector.Store() | vector.MaskedStore() | vector.Scatter() | vector.CompressStore():
            yield op.memref
        case func.Call():
            yield from (op.args[k] for k in callees[op.callee].written)


def _needs_heap(op: Op, own: set[Value | None], callees: Mapping[str, Plan]) -> bool:
    match op:
        case memref.Alloc():
            return op.result not in own
        case memref.Alloca():
            return not is_small(op)
        case func.Call():
            return callees[op.callee].has_status or any(r in callees_arrays(op) and r not in own for r in op.results)
    return False


def _is_parallel(op: Op, callees: Mapping[str, Plan]) -> bool:
    return isinstance(op, affine.Parallel | scf.Parallel) or (
        isinstance(op, func.Call) and callees[op.callee].has_parallel
    )


def callees_arrays(op: func.Call) -> tuple[Value, ...]:
    """The results of a call that are arrays."""
    return tuple(r for r in op.results if isinstance(r.type, MemRefType))


SMALL = 1 << 14


def is_small(op: memref.Alloca) -> bool:
    """Whether a buffer has a fixed size that fits on any stack, and is not empty (which a C array cannot be)."""
    assert isinstance(op.result.type, MemRefType)
    count = 1
    for size in op.result.type.shape:
        count *= 0 if size is None else size
    return 0 < count <= SMALL // 8


def _indices(
    f: func.Func, roots: Mapping[Value, Value], callees: Mapping[str, Plan]
) -> tuple[dict[Value, Affine], dict[Value, tuple[Affine, ...]]]:
    """What at the top level of f is affine in its index arguments: index values, and the shapes of buffers."""
    known: dict[Value, Affine] = {a: Affine.of(a) for a in f.args if isinstance(a.type, IndexType)}
    shapes: dict[Value, tuple[Affine, ...]] = {}

    def read(value: Value) -> Affine | None:
        return known.get(value)

    for k, arg in enumerate(f.args):
        if isinstance(arg.type, MemRefType):
            promised = f.shapes[k] if f.shapes else None
            shape = _static_or(arg.type, promised)
            if shape is not None:
                shapes[arg] = shape
    for op in f.body:
        match op:
            case arith.Constant(value=int() as count) if isinstance(op.result.type, IndexType):
                known[op.result] = Affine.of(count)
            case affine.Apply() if all(v in known for v in op.expr.values()):
                known[op.result] = op.expr.substitute(known)
            case arith.Binary(kind="addi" | "subi" | "muli" as kind) if isinstance(op.result.type, IndexType):
                left, right = read(op.left), read(op.right)
                if left is not None and right is not None:
                    known[op.result] = (
                        left + right if kind == "addi" else left - right if kind == "subi" else left * right
                    )
            case memref.Alloc() | memref.Alloca():
                assert isinstance(op.result.type, MemRefType)
                if all(v in known for v in op.sizes):
                    sizes = iter(op.sizes)
                    shapes[op.result] = tuple(
                        known[next(sizes)] if s is None else Affine.of(s) for s in op.result.type.shape
                    )
            case func.Call():
                callee = callees[op.callee]
                new = {p: known[a] for a, p in zip(op.args, callee.func.args, strict=True) if a in known}
                for value, result in zip(op.results, callee.results, strict=True):
                    if result.is_array and all(v in new for e in result.shape for v in e.values()):
                        shapes[value] = tuple(e.substitute(new) for e in result.shape)
            case memref.Dim():
                position, shape = read(op.index), shapes.get(roots[op.memref])
                if position is not None and position.is_constant and shape and 0 <= position.constant < len(shape):
                    known[op.result] = shape[position.constant]
    return known, shapes


def _static_or(type: MemRefType, promised: tuple[Affine, ...] | None) -> tuple[Affine, ...] | None:
    if promised is not None:
        return promised
    return None if None in type.shape else tuple(Affine.of(s) for s in type.shape if s is not None)


def _results(
    f: func.Func, ops: Sequence[Op], roots: Mapping[Value, Value], shapes: Mapping[Value, tuple[Affine, ...]]
) -> tuple[Result, ...]:
    last = f.body[-1] if f.body else None
    values = last.values if isinstance(last, func.Return) else ()
    results: list[Result] = []
    for k, (value, type) in enumerate(zip(values, f.result_types, strict=True)):
        if not isinstance(type, MemRefType):
            results.append(Result(type, k in f.unsigned_results, value.hint))
            continue
        root, what = roots.get(value, value), f"array {value.hint or f'result {k}'!r} that {f.symbol!r} returns"
        if root in f.args:
            raise UnsupportedError(
                f"{what} is an argument: the caller has it already; return what the function allocates"
            )
        if any(root is r.value for r in results):
            raise UnsupportedError(f"{what} is returned twice; copy it into a second array")
        if not any(root in op.defines() for op in f.body):
            raise UnsupportedError(f"{what} is allocated inside a loop or condition; allocate it before")
        if _is_part(value, f):
            raise UnsupportedError(f"{what} is a view of another array: return that, or copy it into a new array")
        if root not in shapes:
            raise UnsupportedError(f"{what} has a size that is not an affine expression of the index arguments")
        results.append(Result(type, k in f.unsigned_results, value.hint or root.hint, root, shapes[root]))
    freed = {roots[op.memref] for op in ops if isinstance(op, memref.Dealloc)}
    for result in results:
        if result.value in freed:
            raise UnsupportedError(f"array {result.hint!r} that {f.symbol!r} returns is given back by memref.dealloc")
    return tuple(results)


def _is_part(value: Value, f: func.Func) -> bool:
    """Whether a buffer is a view of another one, and no mere cast."""
    made = {v: op for op in f.body for v in op.defines()}
    while isinstance(op := made.get(value), memref.Cast):
        value = op.source
    return isinstance(op, VIEWS)


def _mark_aliases(call: func.Call, plan: Plan, callee: Plan) -> None:
    """Mark the arguments that a call from a function makes one buffer."""
    arrays = [(k, root_of(plan, v)) for k, v in enumerate(call.args) if isinstance(v.type, MemRefType)]
    for k, root in arrays:
        twins = {j for j, other in arrays if other is root}
        if len(twins) > 1 and twins & callee.written:
            callee.aliased.add(k)
        both = {s for s in callee.reads if plan.buffers[s].root is plan.roots[call.args[k]]}
        if both and (k in callee.written or both & callee.writes):
            callee.aliased.add(k)
            callee.aliased_buffers.update(plan.buffers[s].root for s in both)
