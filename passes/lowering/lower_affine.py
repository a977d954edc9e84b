"""Turns the affine dialect into scf, memref, vector and arith."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from affdsl.errors import UnsupportedError
from affdsl.ir import semantics
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref, scf, vector
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, where
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import OpT, kept, map_blocks, with_fields
from affdsl.ir.types import I1, INDEX, FloatType, IndexType, IntegerType, MemRefType, VectorType
from affdsl.passes.affine.arithmetic import Arithmetic, written
from affdsl.passes.affine.integer_ranges import index_places
from affdsl.passes.lowering.expand_index_ops import digits, sum_of_digits
from affdsl.passes.lowering.strided_vectors import strided_vectors
from affdsl.passes.simplify import Context


def lower_affine(module: Module) -> Module:
    """The same program without the affine dialect.

        affine.for %i = max(a, b) to c step 2       ->  scf.for %i = (arith.maxsi a, b) to c step (arith.constant 2)
        affine.if (i - 3 >= 0, n - i >= 0)          ->  scf.if (arith.andi of two arith.cmpi)
        affine.parallel ... reduce ("addf")         ->  scf.parallel ... init (0.0), with an scf.reduce at its end
        affine.apply (i floordiv 8 + n)             ->  arith.addi (...), n
        affine.load A[i + 1, j]                     ->  memref.load A[(arith.addi i, 1), j]
        affine.vector_load, prefetch, dma_start     ->  vector.load, memref.prefetch, memref.dma_start
        affine.vector_load of any stride            ->  vector.transfer_read

    The result is exact for negative operands and at the ends of the 64-bit range: a sum that may be too large is not
    divided or compared, nor handed to a minimum, as it stands (the note in `affdsl.passes.affine.arithmetic` says how).

    Raises
    ------
    UnsupportedError
        For a band that reduces by "assign": no scf.reduce says which iteration is the last one. For divisors and
        factors so large that 64 bits cannot do it.

    >>> from affdsl.mlir.readers import parse
    >>> print(lower_affine(parse('''func.func @f(%i: index, %A: memref<?xf32>, %x: f32) {
    ...     affine.store %x, %A[%i + 1] : memref<?xf32>
    ...     return
    ... }''')).functions[0])
    func.func @f(%i: index, %A: memref<?xf32>, %x: f32) {
      %c1 = arith.constant 1 : index
      %0 = arith.addi %i, %c1 : index
      memref.store %x, %A[%0] : memref<?xf32>
      return
    }
    """
    module = strided_vectors(module)
    lowering = _Lowering(dict(index_places(module)))
    return renamed(map_blocks(module, lowering.block), lowering.replaced)


def lower_affine_in(root: OpT, chosen: Callable[[Op], bool]) -> OpT:
    """The same program without the affine dialect in some operations, and what they hold; without strided vectors."""
    lowering = _Lowering(dict(index_places(root)))

    def on_block(block: Block) -> Block:
        found = (lowering.block((op,)) if chosen(op) else (map_blocks(op, on_block),) for op in block)
        return tuple(op for part in found for op in part)

    return renamed(map_blocks(root, on_block), lowering.replaced)


class _Lowering:
    """One run: what is known at each operation, and which values have been found to be others."""

    def __init__(self, contexts: dict[Op, Context]) -> None:
        self.contexts = contexts
        self.replaced: dict[Value, Value] = {}

    def block(self, block: Block) -> Block:
        """The operations of a block, lowered."""
        out: list[Op] = []
        for op in block:
            rule = _RULES.get(type(op))
            if rule is None:
                out.append(map_blocks(op, self.block))
                continue
            step = _Replacement(self, op)
            rule(step, op)
            out += step.arithmetic.ops
        return kept(block, out)


class _Replacement:
    """One operation on its way."""

    def __init__(self, lowering: _Lowering, op: Op) -> None:
        self.lowering = lowering
        self.op = op
        self.arithmetic = Arithmetic(lowering.contexts[op].range_of_value, op.location)

    def emit(self, new: OpT) -> OpT:
        """Add an operation at the place of the old one, with its location and attributes."""
        placed = with_fields(new, location=self.op.location, attributes=self.op.attributes, ends=self.op.ends)
        self.arithmetic.ops.append(placed)
        return placed

    def indices(self, name: str = "index") -> tuple[Value, ...]:
        """The subscripts of a field as values."""
        subscripts = written(self.op, name)
        return tuple(self.arithmetic.value(tree, subscripts.values) for tree in subscripts.trees)

    def become(self, result: Value, computed: Value) -> None:
        """Let the old result be what was computed: by an operation of this step, or by something older."""
        ops = self.arithmetic.ops
        for position, op in enumerate(ops):
            if isinstance(op, arith.Constant | arith.Binary | arith.Select) and op.result is computed:
                ops[position] = with_fields(op, result=result, attributes=self.op.attributes)
                return
        self.lowering.replaced[result] = computed

    def bounds(self, name: str, groups: Sequence[int]) -> Iterator[Value]:
        """The values of groups of bounds: the largest of each lower one, the smallest of each upper one."""
        bounds = written(self.op, name)
        trees = iter(bounds.trees)
        for size in groups:
            group = [next(trees) for _ in range(size)]
            yield self.arithmetic.extreme("maxsi" if name == "lower" else "minsi", group, bounds.values)


def _for(step: _Replacement, op: affine.For) -> None:
    (lower,), (upper,) = step.bounds("lower", [len(op.lower)]), step.bounds("upper", [len(op.upper)])
    by = step.arithmetic.number(op.step)
    step.emit(scf.For(op.iv, lower, upper, by, step.lowering.block(op.body), op.inits, op.carried, op.results))


def _if(step: _Replacement, op: affine.If) -> None:
    holds = step.arithmetic.holds(written(op, "condition"))
    block = step.lowering.block
    step.emit(scf.If(holds, block(op.then), block(op.orelse), op.results))


def _parallel(step: _Replacement, op: affine.Parallel) -> None:
    # Both bounds of a counter are computed before those of the next one, as mlir-opt does it.
    groups = step.bounds("lower", [*map(len, op.lower)]), step.bounds("upper", [*map(len, op.upper)])
    bounds = list(zip(*groups, strict=True))
    lower, upper = tuple(low for low, _ in bounds), tuple(high for _, high in bounds)
    steps = tuple(step.arithmetic.number(by) for by in op.steps)
    ivs = op.ivs
    if not ivs:  # a band of no loops runs once, which scf.parallel says with one loop
        ivs, lower, upper = (Value(INDEX),), (step.arithmetic.number(0),), (step.arithmetic.number(1),)
        steps = (step.arithmetic.number(1),)
    inits = tuple(_neutral(step, op, kind, result) for kind, result in zip(op.reductions, op.results, strict=True))
    body = step.lowering.block(op.body)
    if op.results:
        *before, end = body
        assert isinstance(end, scf.Yield), "the body of a reduction ends with affine.yield"
        combiners = tuple(_combiner(op, kind, v) for kind, v in zip(op.reductions, end.values, strict=True))
        reduce = scf.Reduce(end.values, combiners, location=end.location, attributes=end.attributes)
        body = (*before, reduce)
    step.emit(scf.Parallel(ivs, lower, upper, steps, body, inits, op.results))


def _neutral(step: _Replacement, op: affine.Parallel, kind: str, result: Value) -> Value:
    type = result.type
    if kind == "assign" or not isinstance(type, IndexType | IntegerType | FloatType):
        raise UnsupportedError(
            f'{where(op)}: {op_name(op)} reduces {type} by "{kind}", which scf.parallel cannot say: '
            "write the loop as affine.for with iter_args"
        )
    number = semantics.neutral(kind, type)
    held = float(number) if isinstance(type, FloatType) else bool(number) if type == I1 else int(number)
    return step.arithmetic.constant(held, type)


def _combiner(op: affine.Parallel, kind: str, value: Value) -> scf.Combiner:
    left, right, result = Value(value.type), Value(value.type), Value(value.type)
    combine = arith.Binary(result, semantics.REDUCTION_KINDS[kind], left, right, location=op.location)
    return scf.Combiner(left, right, (combine, scf.ReduceReturn((result,), location=op.location)), location=op.location)


def _yield(step: _Replacement, op: affine.Yield) -> None:
    step.emit(scf.Yield(op.values))


def _apply(step: _Replacement, op: affine.Apply) -> None:
    step.become(op.result, step.indices("expr")[0])


def _extreme(step: _Replacement, op: affine.Min | affine.Max) -> None:
    exprs = written(op, "exprs")
    computed = step.arithmetic.extreme("minsi" if isinstance(op, affine.Min) else "maxsi", exprs.trees, exprs.values)
    step.become(op.result, computed)


def _load(step: _Replacement, op: affine.Load) -> None:
    step.emit(memref.Load(op.result, op.memref, step.indices()))


def _store(step: _Replacement, op: affine.Store) -> None:
    step.emit(memref.Store(op.value, op.memref, step.indices()))


def _vector_load(step: _Replacement, op: affine.VectorLoad) -> None:
    _must_fit(op, op.result, op.memref)
    step.emit(vector.Load(op.result, op.memref, step.indices()))


def _must_fit(op: Op, lanes: Value, buffer: Value) -> None:
    """vector.load and vector.store take no vector of more dimensions than the buffer has."""
    match lanes.type, buffer.type:
        case VectorType() as vector_type, MemRefType() as memory if vector_type.rank > memory.rank:
            raise UnsupportedError(
                f"{where(op)}: {vector_type} in {memory} has no lower form: "
                "use a vector of at most as many dimensions as the buffer has"
            )


def _vector_store(step: _Replacement, op: affine.VectorStore) -> None:
    _must_fit(op, op.value, op.memref)
    step.emit(vector.Store(op.value, op.memref, step.indices()))


def _prefetch(step: _Replacement, op: affine.Prefetch) -> None:
    step.emit(memref.Prefetch(op.memref, step.indices(), op.is_write, op.locality, op.is_data))


def _dma_start(step: _Replacement, op: affine.DmaStart) -> None:
    source, target, tag = (step.indices(f"{end}_index") for end in ("source", "target", "tag"))
    step.emit(memref.DmaStart(op.source, source, op.target, target, op.elements, op.tag, tag, op.stride))


def _dma_wait(step: _Replacement, op: affine.DmaWait) -> None:
    step.emit(memref.DmaWait(op.tag, step.indices("tag_index"), op.elements))


def _delinearize(step: _Replacement, op: affine.DelinearizeIndex) -> None:
    for result, computed in zip(op.results, digits(op, step.arithmetic), strict=True):
        step.become(result, computed)


def _linearize(step: _Replacement, op: affine.LinearizeIndex) -> None:
    step.become(op.result, sum_of_digits(op, step.arithmetic))


_Rule: TypeAlias = Callable[..., None]

_RULES: dict[type[Op], _Rule] = {
    affine.For: _for,
    affine.If: _if,
    affine.Parallel: _parallel,
    affine.Yield: _yield,
    affine.Apply: _apply,
    affine.Min: _extreme,
    affine.Max: _extreme,
    affine.Load: _load,
    affine.Store: _store,
    affine.VectorLoad: _vector_load,
    affine.VectorStore: _vector_store,
    affine.Prefetch: _prefetch,
    affine.DmaStart: _dma_start,
    affine.DmaWait: _dma_wait,
    affine.DelinearizeIndex: _delinearize,
    affine.LinearizeIndex: _linearize,
}
