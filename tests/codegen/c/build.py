"""Builds functions of IR by hand, operation by operation, for the tests of the C output."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.types import F32, I1, I32, INDEX, MemRefType, Type

Bound = Term | tuple[Term, ...]


class Builder:
    """A function being built. Methods append an operation to the innermost open block and give its results."""

    def __init__(self, symbol: str = "kernel") -> None:
        self.symbol = symbol
        self.args: list[Value] = []
        self.shapes: list[tuple[Affine, ...] | None] = []
        self.unsigned: set[int] = set()
        self.assumes: list[Constraint] = []
        self.blocks: list[list[Op]] = [[]]

    def index(self, name: str) -> Value:
        return self.scalar(name, INDEX)

    def scalar(self, name: str, type: Type, *, unsigned: bool = False) -> Value:
        return self._argument(Value(type, name), None, unsigned)

    def array(self, name: str, *shape: Term, type: Type = F32, unsigned: bool = False) -> Value:
        sizes = tuple(Affine.of(s) for s in shape)
        static = tuple(s.constant if s.is_constant else None for s in sizes)
        return self._argument(Value(MemRefType(static, type), name), sizes, unsigned)

    def _argument(self, value: Value, shape: tuple[Affine, ...] | None, unsigned: bool) -> Value:
        if unsigned:
            self.unsigned.add(len(self.args))
        self.args.append(value)
        self.shapes.append(shape)
        return value

    def add(self, op: Op) -> Op:
        self.blocks[-1].append(op)
        return op

    def define(self, type: Type, make: object, *parts: object, name: str = "") -> Value:
        result = Value(type, name)
        self.add(make(result, *parts))
        return result

    def constant(self, value: float, type: Type, name: str = "") -> Value:
        return self.define(type, arith.Constant, value, name=name)

    def binary(self, kind: str, left: Value, right: Value, name: str = "") -> Value:
        table = math.Binary if kind in (*math.FLOAT_BINARY, "fpowi", "ipowi") else arith.Binary
        return self.define(left.type, table, kind, left, right, name=name)

    def unary(self, kind: str, operand: Value, name: str = "") -> Value:
        type = I1 if kind in math.FLOAT_TESTS else operand.type
        return self.define(type, math.Unary, kind, operand, name=name)

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        kind = "cmpf" if str(left.type)[0] in "fb" else "cmpi"
        return self.define(I1, arith.Compare, kind, predicate, left, right)

    def cast(self, kind: str, operand: Value, type: Type, name: str = "", rounding: int = 0) -> Value:
        """`rounding` is one of arith.ROUNDING by its number."""
        said = (("roundingmode", IntegerAttr(rounding, I32)),) if rounding else ()
        return self.define(type, partial(arith.Cast, attributes=said), kind, operand, name=name)

    def load(self, array: Value, *index: Term, name: str = "") -> Value:
        return self.define(array.type.element, affine.Load, array, tuple(map(Affine.of, index)), name=name)

    def store(self, value: Value, array: Value, *index: Term) -> None:
        self.add(affine.Store(value, array, tuple(map(Affine.of, index))))

    def gather(self, array: Value, *indices: Value, name: str = "") -> Value:
        return self.define(array.type.element, memref.Load, array, indices, name=name)

    def scatter(self, value: Value, array: Value, *indices: Value) -> None:
        self.add(memref.Store(value, array, indices))

    def apply(self, expr: Term, name: str = "") -> Value:
        return self.define(INDEX, affine.Apply, Affine.of(expr), name=name)

    def alloc(self, type: MemRefType, *sizes: Value, name: str = "", make: object = memref.Alloc) -> Value:
        return self.define(type, make, sizes, name=name)

    @contextmanager
    def block(self) -> Iterator[list[Op]]:
        self.blocks.append([])
        yield self.blocks[-1]
        self.blocks.pop()

    @contextmanager
    def loop(
        self,
        name: str,
        lower: Bound,
        upper: Bound,
        step: int = 1,
        inits: Sequence[Value] = (),
        names: Sequence[str] = (),
    ) -> Iterator["Loop"]:
        loop = Loop(Value(INDEX, name), inits, names)
        with self.block() as body:
            yield loop
        self.add(
            affine.For(
                loop.iv, _group(lower), _group(upper), tuple(body), step, tuple(inits), loop.carried, loop.results
            )
        )

    @contextmanager
    def scf_loop(
        self, name: str, lower: Value, upper: Value, step: Value, inits: Sequence[Value] = (), names: Sequence[str] = ()
    ) -> Iterator["Loop"]:
        loop = Loop(Value(INDEX, name), inits, names)
        with self.block() as body:
            yield loop
        self.add(scf.For(loop.iv, lower, upper, step, tuple(body), tuple(inits), loop.carried, loop.results))

    @contextmanager
    def parallel(
        self,
        names: str,
        lower: Sequence[Bound],
        upper: Sequence[Bound],
        steps: Sequence[int] = (),
        reductions: Sequence[str] = (),
        types: Sequence[Type] = (),
    ) -> Iterator["Band"]:
        band = Band(tuple(Value(INDEX, n) for n in names.split()), tuple(Value(t) for t in types))
        with self.block() as body:
            yield band
        self.add(
            affine.Parallel(
                band.ivs,
                tuple(map(_group, lower)),
                tuple(map(_group, upper)),
                tuple(steps) or (1,) * len(band.ivs),
                tuple(body),
                tuple(reductions),
                band.results,
            )
        )

    def yield_(self, *values: Value) -> None:
        self.add(affine.Yield(values))

    def scf_yield(self, *values: Value) -> None:
        self.add(scf.Yield(values))

    def if_(
        self, condition: Sequence[Constraint] | Value, then: Block, orelse: Block = (), types: Sequence[Type] = ()
    ) -> tuple[Value, ...]:
        results = tuple(Value(t) for t in types)
        if isinstance(condition, Value):
            self.add(scf.If(condition, then, orelse, results))
        else:
            self.add(affine.If(tuple(condition), then, orelse, results))
        return results

    def call(self, callee: func.Func, *args: Value, names: Sequence[str] = ()) -> tuple[Value, ...]:
        hints = [*names, *("" for _ in callee.result_types)]
        results = tuple(Value(t, hints[k]) for k, t in enumerate(callee.result_types))
        self.add(func.Call(results, callee.symbol, args))
        return results

    def func(self, *returned: Value, unsigned_results: frozenset[int] = frozenset()) -> func.Func:
        if returned:
            self.add(func.Return(returned))
        (body,) = self.blocks
        return func.Func(
            self.symbol,
            tuple(self.args),
            tuple(body),
            tuple(v.type for v in returned),
            tuple(self.shapes),
            tuple(self.assumes),
            frozenset(self.unsigned),
            unsigned_results,
        )


class Loop:
    """A loop while its body is built."""

    def __init__(self, iv: Value, inits: Sequence[Value], names: Sequence[str]) -> None:
        self.iv = iv
        hints = [*names, *("" for _ in inits)]
        self.carried = tuple(Value(v.type, hints[k]) for k, v in enumerate(inits))
        self.results = tuple(Value(v.type) for v in inits)


class Band:
    """A parallel band while its body is built."""

    def __init__(self, ivs: tuple[Value, ...], results: tuple[Value, ...]) -> None:
        self.ivs, self.results = ivs, results


def module(*functions: func.Func) -> func.Module:
    return func.Module(functions)


def _group(bound: Bound) -> tuple[Affine, ...]:
    return tuple(map(Affine.of, bound)) if isinstance(bound, tuple) else (Affine.of(bound),)
