"""The affine dialect: loops, conditions and accesses whose indices are affine expressions."""

from __future__ import annotations

from typing import TypeAlias

from affdsl.ir.core import (
    READS,
    WRITES,
    Argument,
    Arguments,
    Constraints,
    Expr,
    ExprGroups,
    Exprs,
    KeptInPlace,
    Nested,
    Op,
    Operand,
    Operands,
    Pure,
    Region,
    Result,
    Results,
)
from affdsl.ir.mixed import Mixed, Static, mixed

REDUCTIONS = {
    "addf": "float", "mulf": "float", "maximumf": "float", "minimumf": "float",
    "addi": "integer", "muli": "integer", "andi": "integer", "ori": "integer",
    "maxs": "signed", "mins": "signed", "maxu": "unsigned", "minu": "unsigned",
    "assign": "any",
}  # fmt: skip
"""How the values that the iterations of a parallel band yield are combined, and which types MLIR takes for it."""


class For(Nested):
    """Run body for iv = max(lower), + step, ... below min(upper), one after the other.

    `carried` holds `inits` in the first iteration and what the last one yielded in each later one; `results` hold
    what the last iteration yielded, or `inits` if there was none.
    """

    name = "affine.for"
    iv: Argument
    lower: Exprs
    upper: Exprs
    body: Region
    step: int = 1
    inits: Operands = ()
    carried: Arguments = ()
    results: Results = ()


class If(Nested):
    """Run then if all constraints hold, otherwise orelse; `results` are what that block yields."""

    name = "affine.if"
    condition: Constraints
    then: Region
    orelse: Region = ()
    results: Results = ()


class Parallel(Nested):
    """Run body for every point of a box, in any order; the yielded values are combined by `reductions`.

    Each loop has its group of lower bounds (their maximum counts) and upper bounds (their minimum counts).
    """

    name = "affine.parallel"
    ivs: Arguments
    lower: ExprGroups
    upper: ExprGroups
    steps: tuple[int, ...]
    body: Region
    reductions: tuple[str, ...] = ()
    results: Results = ()


class Apply(Pure):
    """result = expr"""

    name = "affine.apply"
    result: Result
    expr: Expr


class Min(Pure):
    """result = the smallest of exprs"""

    name = "affine.min"
    result: Result
    exprs: Exprs


class Max(Pure):
    """result = the largest of exprs"""

    name = "affine.max"
    result: Result
    exprs: Exprs


class Load(Op):
    """result = memref[index]"""

    name = "affine.load"
    memory = READS
    result: Result
    memref: Operand
    index: Exprs


class Store(Op):
    """memref[index] = value"""

    name = "affine.store"
    memory = WRITES
    value: Operand
    memref: Operand
    index: Exprs


class VectorLoad(Op):
    """result = the elements of memref from index on, as far as the vector reaches along the last dimensions"""

    name = "affine.vector_load"
    memory = READS
    result: Result
    memref: Operand
    index: Exprs


class VectorStore(Op):
    """The elements of memref from index on, as far as the vector reaches along the last dimensions, = value"""

    name = "affine.vector_store"
    memory = WRITES
    value: Operand
    memref: Operand
    index: Exprs


Access: TypeAlias = Load | Store | VectorLoad | VectorStore
"""What reads or writes elements at affine indices."""


class Prefetch(KeptInPlace):
    """Say that memref[index] will be used: often where locality is 3, once where it is 0. Nothing is read."""

    name = "affine.prefetch"
    memref: Operand
    index: Exprs
    is_write: bool = False
    locality: int = 3
    is_data: bool = True


class DelinearizeIndex(Pure):
    """results = the digits of linear_index in a mixed-radix system, the most significant one first, rounded down

    Each but the first result is at least 0 and below its number of the basis. The basis has a number for each result or
    for each but the first: `static_basis` has those that are known, and None for those in `basis`, in order.
    """

    name = "affine.delinearize_index"
    results: Results
    linear_index: Operand
    basis: Operands
    static_basis: Static

    @property
    def radices(self) -> Mixed:
        """The basis, its numbers and values together."""
        return mixed(self.static_basis, self.basis)


class LinearizeIndex(Pure):
    """result = the number whose digits are indices in a mixed-radix system, the most significant one first

    The basis is as in delinearize_index. `disjoint` promises that each digit is at least 0 and below its number.
    """

    name = "affine.linearize_index"
    result: Result
    indices: Operands
    basis: Operands
    static_basis: Static
    disjoint: bool = False

    @property
    def radices(self) -> Mixed:
        """The basis, its numbers and values together."""
        return mixed(self.static_basis, self.basis)


class DmaStart(KeptInPlace):
    """Begin to copy `elements` elements from source[source_index] on to target[target_index] on

    Both ends are contiguous. With `stride` = (distance, count) the one in the memory space of the lower number is
    chunks of count elements that start distance apart. tag[tag_index] is busy until a dma_wait for it; before that, the
    target must not be used, and the source must not be written.
    """

    name = "affine.dma_start"
    source: Operand
    source_index: Exprs
    target: Operand
    target_index: Exprs
    tag: Operand
    tag_index: Exprs
    elements: Operand
    stride: Operands = ()


class DmaWait(KeptInPlace):
    """Wait until the copy of `elements` elements that made tag[tag_index] busy is complete."""

    name = "affine.dma_wait"
    tag: Operand
    tag_index: Exprs
    elements: Operand


class Yield(Pure):
    """Hand values to the loop or condition around."""

    name = "affine.yield"
    is_terminator = True
    values: Operands
