"""Keeps in values what one iteration of a loop leaves in memory for the next ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import IndexType
from passes.affine_loop_invariant_code_motion import may_meet
from passes.affine_loop_invariant_code_motion.faults import Faults
from passes.affine_scalrep.variables import variables_replaced
from passes.analysis.access import Access
from passes.analysis.dependence import AnalysisWarning, Dependences
from passes.analysis.trip_count import TripCount, trip_count
from passes.legality import refusal
from passes.legality_words import name
from passes.renaming import renamed

MOST_ITERATIONS = 4
"""How many iterations a value is kept at most."""

Index = tuple[Affine, ...]
Load = affine.Load | affine.VectorLoad
Store = affine.Store | affine.VectorStore


def scalar_replace(function: func.Func, iv: Value, module: func.Module | None = None) -> func.Func:
    """The function with what the iterations of one loop leave for later ones carried in values, not in memory.

        for i: { a = A[i - 1]; A[i] = S(a) }   ->   a0 = A[lower - 1]; for i, a = a0: { b = S(a); A[i] = b; yield b }

    A load right in the body gets the value that a store or load right in the body stored or loaded some iterations
    before, at most MOST_ITERATIONS, if that is certainly what the element holds. The first values are loaded before
    the loop. Where a load is of the same element in each iteration, and nothing else touches it, the store to it
    moves behind the loop. Buffers of one element that the function makes are carried also where they are changed under
    conditions, and in loops inside of this one.

    Raises
    ------
    ValueError
        If no affine.for of the function has this induction variable.
    IllegalTransform
        If no load can be replaced: with the reason for each of them.

    References
    ----------
    Callahan, Carr, Kennedy, "Improving register allocation for subscripted variables", PLDI 1990.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<9xf32>) {
    ...     affine.for %i = 1 to 9 {
    ...       %a = affine.load %A[%i - 1] : memref<9xf32>
    ...       %b = arith.addf %a, %a : f32
    ...       affine.store %b, %A[%i] : memref<9xf32>
    ...     }
    ...     return
    ... }''').functions[0]
    >>> print(scalar_replace(function, function.body[0].iv))
    func.func @f(%A: memref<9xf32>) {
      %a = affine.load %A[0] : memref<9xf32>
      %0 = affine.for %i = 1 to 9 iter_args(%a_0 = %a) -> (f32) {
        %b = arith.addf %a_0, %a_0 : f32
        affine.store %b, %A[%i] : memref<9xf32>
        affine.yield %b : f32
      }
      return
    }
    """
    loop = next((op for op in walk(function) if isinstance(op, affine.For) and op.iv is iv), None)
    if loop is None:
        raise ValueError(f"{shown(iv)} is no induction variable of an affine.for of @{function.symbol}")
    changed = variables_replaced(function, loop)
    if changed is not None:
        function = changed
        loop = next(op for op in walk(function) if isinstance(op, affine.For) and op.iv is iv)
    with warnings.catch_warnings():  # what the analysis gives up on is told as a reason
        warnings.simplefilter("ignore", AnalysisWarning)
        search = _Search(Dependences(function, module), loop)
        chains = search.chains()
        if not chains and changed is not None:
            return function
        if not chains:
            what = f"keep in values what loop {name(iv)} loads"
            raise refusal(loop, what, "\n".join(search.reasons) or "no load stands right in its body")
        new, values = _with_chains(loop, chains, search.sinking(chains))
    return renamed(rewrite(function, lambda op: new if op is loop else None), values)


@dataclass(frozen=True, eq=False)
class _Chain:
    """That a load gives what another operation stored or loaded some iterations before."""

    load: Load
    index: Index
    producer: Load | Store
    iterations: int


class _Search:
    """Looks for what the loads in the body of one loop give."""

    def __init__(self, dependences: Dependences, loop: affine.For) -> None:
        self.reasons: list[str] = []
        self._dependences = dependences
        self._loop = loop
        self._around = len(dependences.of.domains[loop].ivs)
        self._accesses = [a for a in dependences.accesses if loop.iv in a.ivs]
        self._at = {a.op: a for a in self._accesses if isinstance(a.op, Load | Store)}
        self._inside = {v for op in walk(loop) for values in (op.defines(), op.binds()) for v in values}
        self._applied = _written_out(loop)
        self._trips: TripCount | None = None
        self._faults = Faults(dependences.of)

    def chains(self) -> list[_Chain]:
        """A chain for each load that can be replaced."""
        found: list[_Chain] = []
        for op in self._loop.body:
            if isinstance(op, Load):
                chain = self._chain(op)
                if isinstance(chain, _Chain):
                    found.append(chain)
                else:
                    self.reasons.append(f"{op_name(op)} of {shown(op.memref)} stays: {chain}")
        return found

    def _chain(self, load: Load) -> _Chain | str:
        if len(self._loop.lower) != 1:
            return "the loop has several lower bounds"
        if load.memref in self._inside:
            return "the loop makes the buffer, or the view of it, that it loads from"
        index = self._composed(load.index)
        if any(v in self._inside and v is not self._loop.iv for e in index for v in e.values()):
            return "its subscripts are not known before the loop"
        writers = self._writers(load)
        if len(writers) > 1:
            return "several stores may have written what it loads"
        if writers and not isinstance(writers[0].op, Store):
            return f"{op_name(writers[0].op)} may have written what it loads"
        found = self._producer(load, index, [w.op for w in writers])
        if found is None:
            return "no operation right in the body stores or loads the same elements a few iterations before"
        producer, iterations = found
        if writers and not self._is_distance(writers[0], self._at[load], iterations):
            return f"it is not certain that it loads what was stored {iterations} iterations before"
        firsts = _firsts(self._loop, load, index, iterations)
        if not self._runs(iterations) and not all(self._faults.are_impossible(f, self._loop) for f in firsts):
            return f"the loop may run less than {iterations} times, and a load before it fail"
        return _Chain(load, index, producer, iterations)

    def _writers(self, load: Load) -> list[Access]:
        """The accesses in the loop that may write what a load of the same run of the loop gives."""
        access = self._at[load]
        may_alias = self._dependences.of.storage.may_alias
        return [
            a
            for a in self._accesses
            if a.kind == "write" and may_alias(a.buffer, access.buffer) and self._depths(a, access)
        ]

    def _depths(self, write: Access, read: Access) -> list[int]:
        """The depths, from that of the loop on, at which a read depends on a write."""
        common = self._dependences.common(write, read)
        depths = range(self._around + 1, common + 2)
        return [d for d in depths if self._dependences.at(write, read, d) is not None]

    def _producer(self, load: Load, index: Index, writers: Sequence[Op]) -> tuple[Load | Store, int] | None:
        """What stored, or if nothing does that, loaded, the elements of a load last, and how many iterations before."""
        body = self._loop.body[::-1]
        stores: list[Load | Store] = [op for op in body if isinstance(op, Store) and op in writers]
        loads: list[Load | Store] = [op for op in body if isinstance(op, Load) and op is not load]
        able = [
            op
            for op in (stores if writers else loads)
            if op.memref is load.memref and _value(op).type == load.result.type
        ]
        for iterations in range(1, MOST_ITERATIONS + 1):
            later = {self._loop.iv: self._loop.iv + iterations * self._loop.step}
            wanted = tuple(e.substitute(later) for e in index)
            for op in able:
                if self._composed(op.index) == wanted:
                    return op, iterations
        return None

    def _is_distance(self, write: Access, read: Access, iterations: int) -> bool:
        """Whether a read sees an earlier write of the same run of the loop after so many iterations, and not before."""
        depth = self._around + 1
        if self._depths(write, read) != [depth]:
            return False
        found = self._dependences.at(write, read, depth)
        return found is not None and found.is_exact and found.distances[-1].low == iterations * self._loop.step

    def _composed(self, index: Index) -> Index:
        """Subscripts where what affine.apply makes in the body is written out."""
        while any(v in self._applied for e in index for v in e.values()):
            index = tuple(e.substitute(self._applied) for e in index)
        return index

    def _runs(self, iterations: int) -> bool:
        if self._trips is None:
            self._trips = trip_count(self._loop, self._loop.iv, self._dependences.of)
        return self._trips.low >= iterations

    def sinking(self, chains: Sequence[_Chain]) -> dict[Op, _Chain]:
        """The stores of chains that may stand behind the loop: nothing else in it needs to see them."""
        replaced = {chain.load for chain in chains}
        found: dict[Op, _Chain] = {}
        for chain in chains:
            op = chain.producer
            if not isinstance(op, Store) or self._loop.iv in {v for e in chain.index for v in e.values()}:
                continue
            mine = self._at[op]
            others = [a for a in self._accesses if a.op is not op and a.op not in replaced]
            if self._runs(1) and not any(may_meet(self._dependences.of, mine, a, self._around) for a in others):
                found[op] = chain
        return found


# --- Below: the new loop


def _written_out(loop: affine.For) -> dict[Value, Affine]:
    """What stands for the values of affine.apply and the constants in the body of a loop, where they are subscripts."""
    found: dict[Value, Affine] = {}
    for op in loop.body:
        match op:
            case affine.Apply(result=result, expr=expr):
                found[result] = expr
            case arith.Constant(result=result, value=int(number)) if isinstance(result.type, IndexType):
                found[result] = Affine.of(number)
    return found


def _value(op: Load | Store) -> Value:
    return op.value if isinstance(op, Store) else op.result


def _firsts(loop: affine.For, load: Load, index: Index, iterations: int) -> list[Load]:
    """What a load gives in the first iterations, loaded before the loop."""
    found = []
    for k in range(iterations):
        at = tuple(e.substitute({loop.iv: loop.lower[0] + k * loop.step}) for e in index)
        result = Value(load.result.type, load.result.hint, load.result.location)
        found.append(with_fields(load, result=result, index=at, written=None))
    return found


def _with_chains(
    loop: affine.For, chains: Sequence[_Chain], sinking: Mapping[Op, _Chain]
) -> tuple[tuple[Op, ...], dict[Value, Value]]:
    """The loop, with what stands before and behind it, and the values that stand for those of the loads."""
    before: list[Op] = []
    inits: list[Value] = []
    carried: list[Value] = []
    yielded: list[Value] = []
    values: dict[Value, Value] = {}
    newest: dict[_Chain, int] = {}
    for chain in chains:
        firsts = _firsts(loop, chain.load, chain.index, chain.iterations)
        old = chain.load.result
        # The first of these is what was stored one iteration before, the last what the load gives now.
        kept = [Value(old.type, old.hint, old.location) for _ in firsts]
        newest[chain] = len(carried)
        before += firsts
        inits += [first.result for first in reversed(firsts)]
        carried += kept
        yielded += [_value(chain.producer), *kept[:-1]]
        values[old] = kept[-1]
    results = [Value(v.type) for v in carried]
    gone = {chain.load for chain in chains} | sinking.keys()
    body = tuple(op for op in loop.body if op not in gone)
    end = affine.Yield(tuple(yielded), location=loop.location)
    if loop.results:
        last = body[-1]
        assert isinstance(last, affine.Yield), "a loop with results ends with affine.yield"
        end, body = with_fields(last, values=(*last.values, *yielded)), body[:-1]
    new = with_fields(
        loop,
        body=(*body, end),
        inits=(*loop.inits, *inits),
        carried=(*loop.carried, *carried),
        results=(*loop.results, *results),
        ends=(),
    )
    after = [
        with_fields(store, value=results[newest[chain]], index=chain.index, written=None)
        for store, chain in sinking.items()
    ]
    return (*before, new, *after), values
