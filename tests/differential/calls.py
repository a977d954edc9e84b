"""Random calls of functions that were generated before, with arguments that keep their contracts."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.dialects import func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from tests.differential.frame import SYMBOL, Buffer, NothingError, Range, add, scale
from tests.differential.memory import MOST_WORK, Memory


@dataclass(frozen=True)
class Callee:
    """A function to call: its size arguments, which buffers it takes, and how often its statements run, together."""

    function: func.Func
    sizes: int
    largest: int
    """It is in bounds for each size from 0 to this."""
    work: int

    @property
    def must_not_overlap(self) -> bool:
        """Whether it may copy one of its arguments to another."""
        return any(isinstance(op, memref.Copy | func.Call) for op in walk(self.function))


class Calls(Memory):
    """Writes calls."""

    callees: tuple[Callee, ...] = ()

    def call(self) -> None:
        """func.call of a function that was generated before."""
        callee = self.pick([c for c in self.callees if max(self.work) * c.work <= MOST_WORK])
        found = self._arguments(callee)
        if found is None:
            raise NothingError
        args, new = found
        f = callee.function
        results = tuple(Value(t, self.name()) for t in f.result_types)
        self.emit(func.Call(results, f.symbol, tuple(args)))
        self.spent += callee.work * max(self.work)
        returned = f.body[-1].values if results and isinstance(f.body[-1], func.Return) else ()
        for result, inner in zip(results, returned, strict=True):
            if isinstance(result.type, MemRefType):
                dims = self._result_dims(f, inner, new)
                sizes = tuple(tuple(r[0] if r else 0 for r in _evaluated(d, self)) for d in dims)
                self.scope.buffers.append(Buffer(result, dims, sizes, result, True))
            else:
                self.scope.scalars.append(result)

    def _arguments(self, callee: Callee) -> tuple[list[Value], dict[Value, Affine]] | None:
        """Arguments that keep the contract of a callee; None where there are none."""
        f = callee.function
        new: dict[Value, Affine] = {}
        chosen: dict[Value, Buffer] = {}
        for arg, shape in zip(f.args, f.shapes, strict=True):
            if shape is None:
                continue
            possible = []
            for buffer in self.writable():
                bound = dict(new)
                if (
                    buffer.element == arg.type.element
                    and buffer.rank == len(shape)
                    and _binds(  # type: ignore[union-attr]
                        buffer, shape, bound, callee.largest
                    )
                ):
                    possible.append((buffer, bound))
            if callee.must_not_overlap:
                taken = {b.root for b in chosen.values()}
                possible = [p for p in possible if p[0].root not in taken]
            if not possible:
                return None
            again = [p for p in possible if any(p[0].root is b.root for b in chosen.values())]
            chosen[arg], new = self.rng.choice(again if again and self.chance(0.5) else possible)
        args: list[Value] = []
        for k, arg in enumerate(f.args):
            if arg in chosen:
                buffer = chosen[arg]
                if buffer.value.type != arg.type:
                    args.append(self.define(arg.type, memref.Cast, buffer.value))
                else:
                    args.append(buffer.value)
            elif k < callee.sizes:
                if arg not in new:
                    sizes = [x for x in self.indices(SYMBOL) if x.lowest >= 0 and x.highest <= callee.largest]
                    new[arg] = (self.rng.choice(sizes) if sizes else self.number(2)).expr
                args.append(self.as_value(new[arg]))
            else:
                args.append(self.value(arg.type, 1))  # type: ignore[arg-type]
        return args, new

    def _result_dims(self, f: func.Func, inner: Value, new: dict[Value, Affine]) -> tuple[Affine, ...]:
        """The sizes of an array that a callee returns, in the caller's terms."""
        dims = self.returned_dims[f.symbol, inner]
        return tuple(d.substitute(new) for d in dims)

    returned_dims: dict[tuple[str, Value], tuple[Affine, ...]]


def _binds(buffer: Buffer, shape: tuple[Affine, ...], bound: dict[Value, Affine], largest: int) -> bool:
    """Whether the shape of a callee's argument can be that of buffer; says in `bound` for which sizes."""
    for dim, sizes, wanted in zip(buffer.dims, buffer.sizes, shape, strict=True):
        value = wanted.value
        if value is not None and value not in bound:
            if max(sizes) > largest:
                return False
            bound[value] = dim
        elif wanted.substitute(bound) != dim:
            return False
    return True


def _evaluated(dim: Affine, frame: Memory) -> tuple[Range, ...]:
    """The ranges of a sum of symbols."""
    total = frame.number(dim.constant)
    known = {x.expr: x for x in frame.indices(SYMBOL)}
    for atom, factor in dim.terms:
        total = add(total, scale(known[Affine.of(atom)], factor))
    return total.ranges
