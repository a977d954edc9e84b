"""One nest of a function as a function of its own: what is asked about the nest then costs as much as the nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.func import Func, Module, Return
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.transforms.fuse.focus import outline_of


def each_nest_alone(function: Func, module: Module) -> list[tuple[Op, Func]] | None:
    """The operations of the body of a function that hold others, each as the only one in a function of its own.

        func @f(%A, %B, %C) { for i: S(A, B);  for j: T(B, C) }
        ->   func @f(%A, %B) { for i: S(A, B) }   and   func @f(%B, %C) { for j: T(B, C) }

    Such a function has the operations that make what its nest needs, the other nests excepted: an index comes with its
    maker, whatever that is; another value that a nest yields, and a buffer, is an argument. What others use is
    returned, so that it counts as used. All that is known of sizes by the signature is known there, too.

    None where the answer might be another one there: where buffers have several names or something may do anything to
    them, so that what the other nests do may bear on this one (`outline_of`).

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
    ...     %c = arith.constant 1.0 : f32
    ...     affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
    ...     affine.for %j = 0 to 9 { affine.store %c, %B[%j] : memref<9xf32> }
    ...     return
    ... }''')
    >>> print(*(alone for _, alone in each_nest_alone(module.functions[0], module)))
    func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.store %x, %A[%i] : memref<9xf32>
      }
      return
    } func.func @f(%B: memref<9xf32>) {
      %c = arith.constant 1.000000e+00 : f32
      affine.for %j = 0 to 9 {
        affine.store %c, %B[%j] : memref<9xf32>
      }
      return
    }
    """
    nests = [op for op in function.body if op.block_fields]
    outline = outline_of(function, module) if len(nests) > 1 else None
    if outline is None:
        return None
    around = _Around(function, {op: outline.touched(op).mentions for op in function.body})
    return [(nest, around.alone(nest)) for nest in nests]


def together(function: Func, parts: Sequence[tuple[Op, Func, Func]]) -> Func:
    """A function with new operations for some nests: each nest, its function, and what that has become.

    What makes the values that a nest needs has to be as it was.
    """
    new: dict[Op, Block] = {}
    for nest, before, after in parts:
        at = before.body.index(nest)
        end = len(after.body) - (len(before.body) - at - 1)
        assert (*after.body[:at], nest, *after.body[end:]) == before.body, "all but the nest is as it was"
        new[nest] = after.body[at:end]
    return with_fields(function, body=tuple([made for op in function.body for made in new.get(op, (op,))]))


class _Around:
    """What makes, and uses, the values of a function that stand around its nests."""

    def __init__(self, function: Func, mentions: Mapping[Op, Set[Value]]) -> None:
        """`mentions` has of each operation of the body the values from around it that it mentions."""
        self.function = function
        self.mentions = mentions
        self.places = {op: place for place, op in enumerate(function.body)}
        self.makers = {v: op for op in function.body for v in op.defines()}
        self.users: dict[Value, list[Op]] = {v: [] for v in self.makers}
        for op, values in mentions.items():
            for v in values & self.makers.keys():
                self.users[v].append(op)
        self.shape_of = dict(zip(function.args, function.shapes, strict=True)) if function.shapes else {}
        self.known = {v for c in function.assumes for v in c.values()}
        self.known.update(v for shape in self.shape_of.values() for e in shape or () for v in e.values())
        self.place_of = {v: place for place, v in enumerate(function.args)}

    def alone(self, nest: Op) -> Func:
        """The function of one nest."""
        kept, given = {nest}, {*self.known}
        waiting = [*self.mentions[nest]]
        while waiting:
            value = waiting.pop()
            maker = self.makers.get(value)
            if maker is None or (maker.block_fields and value.type != INDEX):
                given.add(value)
            elif maker not in kept:
                kept.add(maker)
                waiting += self.mentions[maker]
        body = sorted(kept, key=self.places.__getitem__)
        left = tuple([v for op in body for v in op.defines() if not kept.issuperset(self.users[v])])
        last = len(self.place_of)
        args = sorted(given, key=lambda v: (self.place_of.get(v, last), v.id))
        return with_fields(
            self.function, args=tuple(args), body=(*body, Return(left)),
            shapes=tuple([self.shape_of.get(v) for v in args]) if self.shape_of else (),
            result_types=tuple([v.type for v in left]), argument_attributes=(), result_attributes=(), private=False,
            unsigned=frozenset(), unsigned_results=frozenset(),
        )  # fmt: skip
