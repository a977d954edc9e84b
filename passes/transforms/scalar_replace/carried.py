"""Keeps in values what one iteration of a loop leaves in memory for the next ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Block, Lanewise, Op
from affdsl.ir.dialects import affine, arith, func, scf, vector
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import holders, like, likes, rewrite, walk, with_fields
from affdsl.ir.types import I1, INDEX, IndexType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.trip_count import runs_at_least
from affdsl.passes.legality.proposals import Proposal
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.running import so_that_it_runs
from affdsl.passes.legality.words import name
from affdsl.passes.lowering.carried_variables import variables_replaced
from affdsl.passes.transforms.hoist import may_meet
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS, Faults
from affdsl.passes.transforms.scalar_replace.branches import out_of_branches
from affdsl.passes.transforms.scalar_replace.elements import changed_under_conditions
from affdsl.passes.transforms.scalar_replace.idle import without_idle_variables

MOST_ITERATIONS = 4
"""How many iterations a value is kept at most."""

Index = tuple[Affine, ...]
Load = affine.Load | affine.VectorLoad | vector.MaskedLoad
Store = affine.Store | affine.VectorStore | vector.MaskedStore
_Masked = vector.MaskedLoad | vector.MaskedStore
Loop = affine.For | scf.For
LoopT = TypeVar("LoopT", bound=affine.For | scf.For)


def scalar_replace(function: func.Func, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """The function with what the iterations of one loop leave for later ones carried in values, not in memory.

        for i: { a = A[i - 1]; A[i] = S(a) }   ->   a0 = A[lower - 1]; for i, a = a0: { b = S(a); A[i] = b; yield b }

    A load right in the body gets the value that a store or load right in the body stored or loaded some iterations
    before, at most MOST_ITERATIONS, if that is certainly what the element holds. The first values are loaded before
    the loop, and nothing is carried of an element that several loads read and nothing changes. Where a load is of the
    same element in each iteration, and nothing else touches it, the store to it moves behind the loop. Buffers of one
    element that the function makes are carried also where they are changed under conditions, and in loops inside of
    this one. So is an element of an array that is changed under a condition, if it may be stored in any case: then no
    other thread may use it meanwhile. What both branches of a condition store last is stored behind it, if what they
    load may then be carried. If the loop may not run, what would then be stored, or loaded and fail, is put under the
    condition that it does:

        for k: A[i] = S(A[i])   ->   if lower < upper: { a0 = A[i]; a1 = for k, a = a0: yield S(a); A[i] = a1 }

    Of a loop whose bounds come from data, an scf.for, loads are replaced that are of one element in all iterations. So
    are loads by a mask, where nothing but stores by the same mask sees what their lanes are that it leaves out.

    Raises
    ------
    ValueError
        If no affine.for or scf.for of the function has this induction variable.
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
    loop = next((op for op in holders(function) if isinstance(op, Loop) and op.iv is iv), None)
    if loop is None:
        raise ValueError(f"{shown(iv)} is no induction variable of an affine.for or scf.for of @{function.symbol}")
    with unwarned():  # what the analysis gives up on is told as a reason
        has_branches = any(isinstance(op, affine.If | scf.If) for op in walk(loop))
        elements = changed_under_conditions(Dependences(function, module), loop, module) if has_branches else []
        changed = variables_replaced(function, loop, elements)
        if changed is not None:
            function = changed
            loop = next(op for op in holders(function) if isinstance(op, Loop) and op.iv is iv)
        search = _Search(Dependences(function, module), loop)
        plan = search.plan()
        apart = out_of_branches(function, loop, module) if has_branches and plan is None else None
        if apart is not None and (found := _Search(Dependences(apart[0], module), apart[1]).plan()) is not None:
            (function, loop), plan = apart, found
    if plan is None and changed is not None:
        return without_idle_variables(function, iv)
    if plan is None:
        what = f"keep in values what loop {name(iv)} loads"
        facts = so_that_it_runs(function, loop) if isinstance(loop, affine.For) else ()
        reason = "\n".join(search.reasons) or "no load stands right in its body"
        raise refusal(loop, what, reason, candidates=(Proposal(assumes=facts),) * bool(facts))
    before, inside, after, values = _with_chains(loop, plan.chains, plan.sinking)
    new = if_it_runs(loop, before, inside, after) if plan.is_guarded else (*before, inside, *after)
    made = renamed(rewrite(function, lambda op: new if op is loop else None), values)
    return without_idle_variables(made, iv)


class _Chain(Frozen):
    """That a load gives what another operation stored or loaded some iterations before."""

    load: Load
    index: Index
    producer: Load | Store
    iterations: int


class _Plan(FrozenValue):
    """What becomes of a loop: its chains, the stores that stand behind it, and whether all that is done if it runs."""

    chains: Sequence[_Chain]
    sinking: Mapping[Op, _Chain]
    is_guarded: bool


class _Search:
    """Looks for what the loads in the body of one loop give."""

    def __init__(self, dependences: Dependences, loop: Loop) -> None:
        self.reasons: list[str] = []
        self._dependences = dependences
        self._loop = loop
        self._around = len(dependences.accesses.domains[loop].ivs)
        self._accesses = [a for a in dependences.compared if loop.iv in a.ivs]
        self._at = {a.op: a for a in self._accesses if isinstance(a.op, Load | Store)}
        self._inside = {v for op in walk(loop) for values in (op.defines(), op.binds()) for v in values}
        self._index = written_out(loop)
        self._runs_for: dict[int, bool] = {}
        self._faults = Faults(dependences.accesses)
        self._is_parallel = any(
            isinstance(around, affine.Parallel | scf.Parallel) for around in dependences.accesses.domains[loop].loops
        )
        self._writes: dict[Buffer, list[Access]] = defaultdict(list)
        self._touching: dict[Buffer, list[Access]] = defaultdict(list)
        for access in self._accesses:
            self._touching[access.buffer].append(access)
            if access.kind == "write":
                self._writes[access.buffer].append(access)
        self._able: dict[Hashable, list[Load | Store]] = defaultdict(list)
        for op in reversed(loop.body):
            if isinstance(op, Load | Store):
                self._able[isinstance(op, Store), op.memref, self._index[op], _value(op).type, _mask(op)].append(op)

    def plan(self) -> _Plan | None:
        """What to do with the loads that can be replaced; None if there are none."""
        chains = self._chains()
        sinking = self._sinking(chains)
        is_guarded = not self._runs(1) and (
            bool(sinking) or self._is_parallel or not all(self._may_load_before(chain, 1) for chain in chains)
        )
        return _Plan(chains, sinking, is_guarded) if chains else None

    def _chains(self) -> list[_Chain]:
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
        if isinstance(self._loop, affine.For) and len(self._loop.lower) != 1:
            return "the loop has several lower bounds"
        if load.memref in self._inside:
            return "the loop makes the buffer, or the view of it, that it loads from"
        index = self._index[load]
        if any(v in self._inside and v is not self._loop.iv for e in index for v in e.values()):
            return "its subscripts are not known before the loop"
        if isinstance(self._loop, scf.For) and self._is_moving(index):
            return f"the bounds of the loop come from data, and its subscripts change with {shown(self._loop.iv)}"
        if isinstance(load, vector.MaskedLoad) and (reason := self._why_its_lanes_matter(load, index)):
            return reason
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
        chain = _Chain(load, index, producer, iterations)
        if iterations > 1 and not self._may_load_before(chain, 2):
            return f"the loop may run less than {iterations} times, and a load before it fail"
        return chain

    def _why_its_lanes_matter(self, load: vector.MaskedLoad, index: Index) -> str:
        """Why a load by a mask cannot be replaced by what was stored, which is something else where none is set."""
        if load.mask in self._inside:
            return "its mask is not known before the loop"
        if load.pass_thru in self._inside and _constant_of(self._loop, load) is None:
            return "what it gives where its mask leaves out a lane is not known before the loop"
        if self._is_moving(index):
            return "it goes by a mask, and is of other elements in each iteration"
        seen = {load.result}
        for op in walk(self._loop):
            read = seen.intersection(op.reads())
            if isinstance(op, Lanewise | vector.Fma) and not _may_fail(op):
                seen.update(op.defines() if read else ())
            elif read and not (isinstance(op, vector.MaskedStore) and op.mask is load.mask):
                return f"{op_name(op)} sees the lanes that its mask leaves out"
        return ""

    def _may_load_before(self, chain: _Chain, first: int) -> bool:
        """Whether what a load gives from some iteration on may be loaded before the loop, which then need not run."""
        if self._runs(chain.iterations):
            return True
        firsts = _firsts(self._loop, chain.load, chain.index, chain.iterations)[first - 1 :]
        return not self._is_parallel and all(self._faults.are_impossible(each, self._loop) for each in firsts)

    def _writers(self, load: Load) -> list[Access]:
        """The accesses in the loop that may write what a load of the same run of the loop gives: two, if more do."""
        access = self._at[load]
        may_alias = self._dependences.accesses.storage.may_alias
        found = (
            a
            for buffer, writes in self._writes.items()
            if may_alias(buffer, access.buffer)
            for a in writes
            if self._depths(a, access)
        )
        return list(islice(found, 2))

    def _depths(self, write: Access, read: Access) -> tuple[int, ...]:
        """The depths, from that of the loop on, at which a read depends on a write."""
        return self._dependences.depths(write, read, self._around + 1)

    def _producer(self, load: Load, index: Index, writers: Sequence[Op]) -> tuple[Load | Store, int] | None:
        """What stored, or if nothing does that, loaded, the elements of a load last, and how many iterations before."""
        for iterations in range(1, MOST_ITERATIONS + 1):
            wanted = index
            if isinstance(self._loop, affine.For):
                later = {self._loop.iv: self._loop.iv + iterations * self._loop.step}
                wanted = tuple(e.substitute(later) for e in index)
            for op in self._able.get((bool(writers), load.memref, wanted, load.result.type, _mask(load)), ()):
                if op in writers if writers else op is not load:
                    return op, iterations
            if wanted == index:
                break
        return None

    def _is_distance(self, write: Access, read: Access, iterations: int) -> bool:
        """Whether a read sees an earlier write of the same run of the loop after so many iterations, and not before."""
        depth = self._around + 1
        if self._depths(write, read) != (depth,):
            return False
        if isinstance(self._loop, scf.For) or isinstance(read.op, vector.MaskedLoad):
            return True  # it is of one element in each lane, which each iteration writes
        found = self._dependences.at(write, read, depth)
        return found is not None and found.is_exact and found.distances[-1].low == iterations * self._loop.step

    def _is_moving(self, index: Index) -> bool:
        return self._loop.iv in {v for e in index for v in e.values()}

    def _runs(self, iterations: int) -> bool:
        loop, found = self._loop, self._runs_for.get(iterations)
        if found is None:
            found = isinstance(loop, affine.For) and runs_at_least(loop, iterations, self._dependences.accesses)
            self._runs_for[iterations] = found
        return found

    def _sinking(self, chains: Sequence[_Chain]) -> dict[Op, _Chain]:
        """The stores of chains that may stand behind the loop: nothing else in it needs to see them."""
        of = self._dependences.accesses
        replaced = {chain.load for chain in chains}
        found: dict[Op, _Chain] = {}
        for chain in chains:
            op = chain.producer
            if not isinstance(op, Store) or self._is_moving(chain.index):
                continue
            mine = self._at[op]
            others = (
                a
                for buffer, accesses in self._touching.items()
                if of.storage.may_alias(buffer, mine.buffer)
                for a in accesses
                if a.op is not op and a.op not in replaced
            )
            if not any(may_meet(of, mine, a, self._around) for a in others):
                found[op] = chain
        return found


def written_out(loop: Loop) -> dict[Load | Store, Index]:
    """The subscripts of the loads and stores in the body of a loop, over values that are not made by affine.apply."""
    made: dict[Value, Affine] = {}
    found: dict[Load | Store, Index] = {}
    for op in loop.body:
        match op:
            case affine.Apply(result=result, expr=expr):
                made[result] = expr.substitute(made)
            case arith.Constant(result=result, value=int(number)) if isinstance(result.type, IndexType):
                made[result] = Affine.of(number)
            case affine.Load() | affine.VectorLoad() | affine.Store() | affine.VectorStore():
                found[op] = tuple(e.substitute(made) for e in op.index)
            case vector.MaskedLoad() | vector.MaskedStore():
                found[op] = tuple(Affine.of(v).substitute(made) for v in op.indices)
    return found


def _value(op: Load | Store) -> Value:
    return op.value if isinstance(op, Store) else op.result


def _firsts(loop: Loop, load: Load, index: Index, iterations: int) -> list[Load]:
    """What a load gives in the first iterations, loaded before the loop; by a mask, at the subscripts that it has."""
    found = []
    for k in range(iterations):
        at = index
        if isinstance(loop, affine.For):
            at = tuple(e.substitute({loop.iv: loop.lower[0] + k * loop.step}) for e in index)
        result = like(load.result)
        new = {} if isinstance(load, _Masked) else {"index": at, "written": None}
        found.append(with_fields(load, result=result, **new))
    return found


def _placed(loop: Loop, op: Load | Store, index: Index) -> list[Op]:
    """An access outside of its loop, after what it needs from there."""
    if not isinstance(op, _Masked):
        return [op]
    applied = {e: affine.Apply(Value(INDEX), e) for e in index if e.value is None}
    new: dict[str, object] = {"indices": tuple(e.value or applied[e].result for e in index)}
    made: list[Op] = [*applied.values()]
    if isinstance(op, vector.MaskedLoad) and (constant := _constant_of(loop, op)) is not None:
        nothing = Value(op.result.type)
        made.append(with_fields(constant, result=nothing))
        new["pass_thru"] = nothing
    return [*made, with_fields(op, **new)]


def _constant_of(loop: Loop, load: vector.MaskedLoad) -> arith.Constant | None:
    """The constant in the body of a loop that a load gives where its mask leaves out a lane."""
    found = (op for op in loop.body if isinstance(op, arith.Constant) and op.result is load.pass_thru)
    return next(found, None)


def _may_fail(op: Op) -> bool:
    """Whether an operation on numbers fails for some of them."""
    return getattr(op, "kind", "") in (*OPEN_KINDS, *OPEN_CASTS, "ipowi")


def _mask(op: Load | Store) -> Value | None:
    """What says which lanes an access touches; None where it is all of them."""
    return op.mask if isinstance(op, _Masked) else None


def _with_chains(
    loop: Loop, chains: Sequence[_Chain], sinking: Mapping[Op, _Chain]
) -> tuple[tuple[Op, ...], Loop, tuple[Op, ...], dict[Value, Value]]:
    """What stands before the loop, the loop, what stands behind it, and the values that stand for the loads'."""
    before: list[Op] = []
    inits: list[Value] = []
    carried: list[Value] = []
    yielded: list[Value] = []
    values: dict[Value, Value] = {}
    newest: dict[_Chain, int] = {}
    for chain in chains:
        firsts = _firsts(loop, chain.load, chain.index, chain.iterations)
        old = chain.load.result
        if isinstance(chain.producer, Load) and all(loop.iv not in e.values() for e in chain.index):
            before += _placed(loop, firsts[0], chain.index)  # one element, which nothing in the loop changes
            values[old] = firsts[0].result
            continue
        # The first of these is what was stored one iteration before, the last what the load gives now.
        kept = [like(old) for _ in firsts]
        newest[chain] = len(carried)
        before += [op for first in firsts for op in _placed(loop, first, chain.index)]
        inits += [first.result for first in reversed(firsts)]
        carried += kept
        yielded += [_value(chain.producer), *kept[:-1]]
        values[old] = kept[-1]
    gone = {chain.load for chain in chains} | sinking.keys()
    new = carrying(loop, [op for op in loop.body if op not in gone], inits, carried, yielded)
    results = new.results[len(loop.results) :]
    after: list[Op] = []
    for chain in sinking.values():
        store = chain.producer
        assert isinstance(store, Store)
        new_index = {} if isinstance(store, _Masked) else {"index": chain.index, "written": None}
        after += _placed(loop, with_fields(store, value=results[newest[chain]], **new_index), chain.index)
    return tuple(before), new, tuple(after), values


def carrying(
    loop: LoopT, body: Sequence[Op], inits: Sequence[Value], carried: Sequence[Value], yielded: Sequence[Value]
) -> LoopT:
    """A loop with another body that carries some values, behind those that it carried before."""
    end: Op = _yield_of(loop)(tuple(yielded), location=loop.location)
    if loop.results:
        body, last = body[:-1], body[-1]
        assert isinstance(last, affine.Yield | scf.Yield), "a loop with results ends with a yield"
        end = with_fields(last, values=(*last.values, *yielded))
    results = (*loop.results, *(Value(v.type) for v in carried))
    inits, carried = (*loop.inits, *inits), (*loop.carried, *carried)
    return with_fields(loop, body=(*body, end), inits=inits, carried=carried, results=results, ends=())


def if_it_runs(loop: Loop, before: Sequence[Op], new: Loop, after: Sequence[Op]) -> tuple[Op, ...]:
    """A loop with what stands around it, done only where it runs: otherwise it gives what it is given.

    What is loaded before it and stored behind it is then touched only by iterations that touch it anyway.
    """
    at, end = loop.location, _yield_of(loop)
    inner = likes(loop.results)
    new = with_fields(new, results=(*inner, *new.results[len(inner) :]))
    then: Block = (*before, new, *after)
    orelse: Block = ()
    if inner:
        then, orelse = (*then, end(inner, location=at)), (end(loop.inits, location=at),)
    if isinstance(loop, affine.For):
        runs = tuple(Constraint(upper - lower - 1) for upper in loop.upper for lower in loop.lower)
        return (affine.If(runs, then, orelse, loop.results, location=at),)
    less = arith.Compare(Value(I1, "runs"), "cmpi", "ult" if loop.is_unsigned else "slt", loop.lower, loop.upper,
                         location=at)  # fmt: skip
    return less, scf.If(less.result, then, orelse, loop.results, location=at)


def _yield_of(loop: Loop) -> type[affine.Yield] | type[scf.Yield]:
    return affine.Yield if isinstance(loop, affine.For) else scf.Yield
