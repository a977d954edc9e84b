"""Loads in each iteration the vectors that the next one works on."""

from __future__ import annotations

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.load_order import kept_ahead
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import like, rewrite, walk, with_fields
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.trip_count import runs_at_least
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.an_iteration_ahead import last_iteration, named, require_whole_steps, why_it_is_stored
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.scalar_replace.carried import carrying, if_it_runs, written_out


def load_ahead(function: Func, buffer: Value, iv: Value, *, module: Module | None = None) -> Func:
    """Load in each iteration the vectors of an array that the next one works on, and run the last one behind the loop.

        for j by 8: { a = A[j :+ 8]; B[j :+ 8] = S(a) }
            ->   a = A[lower :+ 8]
                 for j by 8, a: { n = A[j + 8 :+ 8]; B[j :+ 8] = S(a); yield n }
                 B[upper - 8 :+ 8] = S(a)

    A core takes a load for a reader of a store before it whose address ends in the same 12 bits, and lets it wait. So
    it is with the next vector of A where A lies a line in front of B in its page, as arrays do that are made one after
    the other, and are as long as pages. Here that vector is loaded before the store. The loads are marked, so that no
    compiler puts them behind it. All runs in the order in which it did; if the loop may not run, all is put under the
    condition that it does.

    Parameters
    ----------
    buffer
        The array, a memref.
    iv
        The induction variable of an affine.for that carries no values, with a whole number of steps between its bounds.
    module
        What the function stands in: the functions that it calls.

    Raises
    ------
    IllegalTransform
        If no load of a vector of the array stands right in the loop, or the loop carries values, or ends within a step;
        or if a load depends on what is known in the loop only, or may load what the loop stores.

    References
    ----------
    Lam, "Software pipelining: an effective scheduling technique for VLIW machines", PLDI 1988.
    Intel 64 and IA-32 Architectures Optimization Reference Manual, "Memory disambiguation": aliasing of 4 KiB.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<64xf32>, %B: memref<64xf32>) {
    ...   affine.for %j = 0 to 64 step 16 {
    ...     %a = affine.vector_load %A[%j] : memref<64xf32>, vector<16xf32>
    ...     affine.vector_store %a, %B[%j] : memref<64xf32>, vector<16xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(load_ahead(f, f.args[0], f.body[0].iv))
    func.func @f(%A: memref<64xf32>, %B: memref<64xf32>) {
      %a = affine.vector_load %A[0] : memref<64xf32>, vector<16xf32>
      %0 = affine.for %j = 0 to 48 step 16 iter_args(%a_0 = %a) -> (vector<16xf32>) {
        %a_1 = affine.vector_load %A[%j + 16] {affdsl.ahead} : memref<64xf32>, vector<16xf32>
        affine.vector_store %a_0, %B[%j] : memref<64xf32>, vector<16xf32>
        affine.yield %a_1 : vector<16xf32>
      }
      affine.vector_store %0, %B[48] : memref<64xf32>, vector<16xf32>
      return
    }
    """
    what = f"load vectors of {name(buffer)} in loop {name(iv)} an iteration ahead"
    loop = loop_of(function, iv, what)
    loads = [op for op in loop.body if isinstance(op, affine.VectorLoad) and op.memref is buffer]
    if not loads:
        raise refusal(
            loop, what, f"no load of a vector of {name(buffer)} stands right in its body; vectorize makes some"
        )
    require_whole_steps(loop, what)
    with unwarned():  # what the analysis gives up on counts as stored
        dependences = Dependences(function, module)
        _require_early(loop, loads, dependences, what)
        runs = runs_at_least(loop, 1, dependences.accesses)
    index = written_out(loop)
    before, following, starts, carried, values = [], [], [], [], {}
    for op in loads:
        start, kept, later = (like(op.result) for _ in range(3))
        at = [
            tuple(e.substitute({loop.iv: place}) for e in index[op]) for place in (loop.lower[0], loop.iv + loop.step)
        ]
        before.append(with_fields(op, result=start, index=at[0], written=None))
        following.append(kept_ahead(with_fields(op, result=later, index=at[1], written=None)))
        starts.append(start)
        carried.append(kept)
        values[op.result] = kept
    loaded = tuple(op.result for op in following)
    body = (*following, *(op for op in loop.body if op not in loads))
    made = renamed(carrying(loop, body, starts, carried, loaded), values)
    behind = last_iteration(made, {*loaded})
    made = with_fields(made, upper=(loop.upper[0] - loop.step,), written=None)
    new = (*before, made, *behind) if runs else if_it_runs(loop, before, made, behind)
    return rewrite(function, lambda op: new if op is loop else None)


def _require_early(loop: affine.For, loads: list[affine.VectorLoad], dependences: Dependences, what: str) -> None:
    """Raise IllegalTransform unless each load may come an iteration earlier."""
    index = written_out(loop)
    inside = {v for op in walk(loop) for values in (op.defines(), op.binds()) for v in values}
    accesses = [a for a in dependences.compared if loop.iv in a.ivs]
    for op in loads:
        late = next((v for e in index[op] for v in e.values() if v in inside and v is not loop.iv), None)
        reason = why_it_is_stored(op, accesses, dependences)
        if op.memref in inside:
            reason = "the loop makes the buffer, or the view of it, that it loads from"
        elif late is not None:
            reason = f"its place depends on {name(late)}, which the iteration before does not know"
        if reason:
            raise refusal(op, what, f"{named(op)}: {reason}")
