"""Stores vectors past the caches."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.streaming import streamed
from affdsl.ir.traverse import rewrite, walk
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of


def stream(function: Func, buffer: Value, iv: Value, least: int, *, module: Module | None = None) -> Func:
    """Store the vectors of an array in a loop past the caches, where the array has at least so many bytes.

    A store that goes by the caches reads a line of memory first, and writes it back later; one that goes past them
    only writes. It pays where nobody reads the array soon, and where it is larger than what the caches would keep of
    it. It takes vectors that begin at multiples of their length (`align`): others are stored as ever, and so are all
    where the machine has no such stores, or nobody says how long the array is. Nothing is computed in another way.

    Parameters
    ----------
    buffer
        The array, a memref.
    iv
        The induction variable of an affine.for that stores vectors to it.
    least
        From how many bytes of the whole array on, at least 0.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If the loop stores no vector to the array.

    References
    ----------
    Intel 64 and IA-32 Architectures Optimization Reference Manual, "Non-temporal stores and software write-combining".

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<32xf32>, %x: vector<16xf32>) {
    ...   affine.for %i = 0 to 32 step 16 { affine.vector_store %x, %A[%i] : memref<32xf32>, vector<16xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(stream(f, f.args[0], f.body[0].iv, 4096).body[0])
    affine.for %i = 0 to 32 step 16 {
      affine.vector_store %x, %A[%i] {affdsl.stream = 4096 : i64} : memref<32xf32>, vector<16xf32>
    }
    """
    what = f"store the vectors of {name(buffer)} in loop {name(iv)} past the caches"
    if least < 0:
        raise ValueError(f"an array has 0 bytes or more, not {least}")
    loop = loop_of(function, iv, what)
    stores = {op for op in walk(loop) if isinstance(op, affine.VectorStore) and op.memref is buffer}
    if not stores:
        raise refusal(loop, what, f"it stores no vector to {name(buffer)}; vectorize makes vectors")

    def rule(op: Op) -> Op | None:
        return streamed(op, least) if isinstance(op, affine.VectorStore) and op in stores else None

    return rewrite(function, rule)
