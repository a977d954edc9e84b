"""Which iterations of a producer make what an iteration of its consumer reads: the computation slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import tree_of
from affdsl.ir.traverse import holders
from affdsl.ir.written import spell_tree
from affdsl.passes.analysis.access import Access, Accesses, met
from affdsl.passes.analysis.polyhedral import Dim, Map, UnknownError, function_of, hull_of, merged, set_of, spending
from affdsl.passes.analysis.relations import BUDGET, at_depth, same_element
from affdsl.passes.simplify import simplify_bounds
from affdsl.passes.simplify.places import domain_of, loop_facts


class LoopSlice(Frozen):
    """The iterations of one loop of the producer: from the largest `lower` to below the smallest `upper`."""

    loop: affine.For
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]

    @property
    def runs_once(self) -> bool:
        """Whether it plainly has one iteration."""
        return len(self.lower) == len(self.upper) == 1 and self.upper[0] - self.lower[0] == Affine.of(1)


class Slice(Frozen):
    """The iterations of a producer that make what one iteration of the outer loops of its consumer reads.

    Attributes
    ----------
    ivs
        The induction variables of these outer loops of the consumer.
    loops
        For each loop of the producer, outer ones first, which of its iterations run: bounds over `ivs`, symbols, and
        outer loops of the producer where its own bounds read them.
    is_box
        Whether each loop has exactly the iterations that are needed, wherever any are.
    """

    ivs: tuple[Value, ...]
    loops: tuple[LoopSlice, ...]
    is_box: bool

    @property
    def is_one_iteration(self) -> bool:
        """Whether one iteration of the innermost loops is all that runs."""
        return all(loop.runs_once for loop in self.loops)

    def bounds(self) -> dict[Value, LoopSlice]:
        """The iterations of each loop by its induction variable."""
        return {each.loop.iv: each for each in self.loops}

    def renamed(self, new: Mapping[Value, Value], source: affine.For) -> Slice:
        """The same slice of a producer that is like this one, with other values."""
        loops = {op.iv: op for op in holders(source) if isinstance(op, affine.For)}

        def moved(each: LoopSlice) -> LoopSlice:
            lower, upper = (tuple([e.substitute(new) for e in side]) for side in (each.lower, each.upper))
            return LoopSlice(loops[new[each.loop.iv]], lower, upper)

        return Slice(tuple([new[iv] for iv in self.ivs]), tuple(map(moved, self.loops)), self.is_box)

    def maps(self) -> Iterator[tuple[str, str]]:
        """The lower and the upper map of each loop, as mlir-opt writes them."""
        for each in self.loops:
            yield self._map(each.loop, each.lower), self._map(each.loop, each.upper)

    def __str__(self) -> str:
        return "\n".join(f"lbs[{k}] : {lower}\nubs[{k}] : {upper}" for k, (lower, upper) in enumerate(self.maps()))

    def _map(self, loop: affine.For, exprs: Sequence[Affine]) -> str:
        dims = [*self.ivs, *self._outer(loop, exprs)]
        symbols = [v for v in dict.fromkeys(v for e in exprs for v in e.values()) if v not in dims]
        names = {v: f"d{k}" for k, v in enumerate(dims)} | {v: f"s{k}" for k, v in enumerate(symbols)}
        heading = f"({', '.join(names[v] for v in dims)})"
        if symbols:
            heading += f"[{', '.join(names[v] for v in symbols)}]"
        return f"{heading} -> ({', '.join(spell_tree(tree_of(e, names.__getitem__)) for e in exprs)})"

    def _outer(self, loop: affine.For, exprs: Sequence[Affine]) -> Iterator[Value]:
        read = {v for e in exprs for v in e.values()}
        for each in self.loops:
            if each.loop is loop:
                return
            if each.loop.iv in read:
                yield each.loop.iv


Links: TypeAlias = Sequence[tuple[Access, Access]]
"""Accesses of one nest, each with one of another that touches the same elements."""


def slice_of(accesses: Accesses, source: affine.For, links: Links, depth: int, path: Sequence[Op]) -> Slice:
    """The slice of a producer for one iteration of the outer loops of its consumer.

    A loop takes all iterations between the first and the last one that stores an element which some read may load; what
    the bounds of the loop itself leave out stays out.

    Parameters
    ----------
    links
        The stores of the producer, each with a read of the consumer that loads what it stores. For siblings, of which
        the one is to run where the other reads the same, they are reads.
    depth
        How many loops around the consumer stay in one iteration, with those around the producer.
    path
        From the function to the operation inside of these loops before which the slice is to run.

    Raises
    ------
    UnknownError
        Where the elements of an access are not known, where no bounds of loops say which iterations are needed, or
        where isl needs too long.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
    ...   affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...   affine.for %j = 1 to %n {
    ...     %a = affine.load %A[%j - 1] : memref<?xf32>
    ...     affine.store %a, %B[%j] : memref<?xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> of = Accesses(f)
    >>> print(slice_of(of, f.body[0], [of.all[:2]], 1, [f, f.body[1], f.body[1].body[0]]))
    lbs[0] : (d0) -> (d0 - 1)
    ubs[0] : (d0) -> (d0)
    """
    return _sliced(accesses, source, links, depth, path, within_bounds=True)


def needed_slice(accesses: Accesses, source: affine.For, links: Links, depth: int, path: Sequence[Op]) -> Slice:
    """What `slice_of` gives, before the bounds of the loops themselves are taken into account.

    These leave nothing out where the nest has an iteration for each one of the other nest: then the two are the same.
    """
    return _sliced(accesses, source, links, depth, path, within_bounds=False)


def _sliced(
    accesses: Accesses, source: affine.For, links: Links, depth: int, path: Sequence[Op], *, within_bounds: bool
) -> Slice:
    """The iterations that are needed, and of these those within the bounds of the loops, if that is asked for."""
    needed = _Needed(accesses, source, links, depth)
    context = domain_of(path)
    found: list[LoopSlice] = []
    is_box = True
    for loop in (op for op in holders(source) if isinstance(op, affine.For)):
        lower, upper = loop.lower, loop.upper
        if (ends := needed.ends(loop)) is not None:
            low, high, is_whole = ends
            is_box = is_box and is_whole
            lower = (*_on_steps(loop, low), *lower) if within_bounds else tuple(_on_steps(loop, low))
            upper = (*high, *upper) if within_bounds else tuple(high)
        lower, upper = simplify_bounds(lower, "max", context), simplify_bounds(upper, "min", context)
        found.append(LoopSlice(loop, lower, upper))
        if within_bounds:
            context = context.knowing(loop_facts(loop.iv, lower, upper, loop.step))
    return Slice(needed.ivs, tuple(found), is_box)


class _Needed:
    """The iterations of a nest that touch what one iteration of the outer loops of another touches."""

    def __init__(self, accesses: Accesses, source: affine.For, links: Links, depth: int) -> None:
        self.depth = depth
        self.around = len(accesses.domains[source].ivs)
        self._unknown_around = accesses.domains[source].unknown
        self.ivs = links[0][1].ivs[:depth]
        self._pairs: dict[Access, list[Map]] = {}
        params: dict[Value, None] = {}
        with spending(BUDGET):
            for first, second in links:
                self._pairs.setdefault(first, []).append(self._between(first, second))
                params |= dict.fromkeys((*first.relation.params, *second.relation.params))
        known = {*accesses.function.args, *(v for op in accesses.function.body for v in op.defines())}
        self._params = tuple(v for v in params if v in known and v not in self.ivs)

    def _between(self, store: Access, read: Access) -> Map:
        """From iterations of the outer loops of a read to those of a store of what it reads."""
        for unknown in (*store.unknown, *read.unknown):
            if unknown not in self._unknown_around:  # whether they run at all is the same for both
                raise UnknownError(unknown)
        first, second = met(store, read)
        pairs = at_depth(same_element(first.relation, second.relation), self.around + 1, self.around)
        return merged(pairs.reverse().project_out(Dim.in_, self.depth, len(read.ivs) - self.depth))

    def ends(self, loop: affine.For) -> tuple[list[Affine], list[Affine], bool] | None:
        """The bounds of the smallest range around the needed iterations of a loop, and whether it has no others.

        None where no store in the loop is read.
        """
        with spending(BUDGET):
            iterations = self._iterations(loop)
            if iterations is None:
                return None
            if iterations.is_empty():
                return [Affine()], [Affine()], True
            points = iterations.wrap().flatten()
            hull = hull_of(points, (*self.ivs, loop.iv), self._params)
            around = set_of(hull, (*self.ivs, loop.iv), self._params)
            outer = points.project_out(Dim.set, len(self.ivs), 1).add_dims(Dim.set, 1)
            is_whole = bool(around.intersect(outer).is_subset(points))
            only = None if is_whole else function_of(iterations, self.ivs, self._params)
        if only is not None:
            return [only], [only + 1], True
        lower, upper = zip(*(sides(constraint, loop.iv) for constraint in hull), strict=True)
        return [e for each in lower for e in each], [e for each in upper for e in each], is_whole

    def _iterations(self, loop: affine.For) -> Map | None:
        """From iterations of the outer loops of the consumer to those of a loop."""
        found: Map | None = None
        for store, pairs in self._pairs.items():
            if loop not in store.domain.loops:
                continue
            level = store.domain.loops.index(loop)
            for each in pairs:
                line = each.project_out(Dim.out, level + 1, each.dim(Dim.out) - level - 1)
                line = line.project_out(Dim.out, 0, level)
                found = line if found is None else found.union(line)
        return None if found is None else merged(found)


def sides(constraint: Constraint, iv: Value) -> tuple[list[Affine], list[Affine]]:
    """The lower and upper bounds of an induction variable that a constraint gives."""
    factor = dict(constraint.expr.terms).get(iv, 0)
    rest = constraint.expr - iv * factor
    lower, upper = [], []
    for sign in (1, -1) if constraint.equality else (1,):
        if factor * sign > 0:
            lower.append((-(rest * sign)).ceildiv(factor * sign))
        elif factor * sign < 0:
            upper.append((rest * sign) // (-factor * sign) + 1)
    return lower, upper


def _on_steps(loop: affine.For, lower: Sequence[Affine]) -> Iterator[Affine]:
    """Lower bounds moved up to where the loop has an iteration. Raises UnknownError where it begins anywhere."""
    if loop.step > 1 and len(loop.lower) > 1:
        raise UnknownError("a loop with a step begins at the largest of several bounds")
    for bound in lower:
        yield loop.lower[0] + (bound - loop.lower[0]).ceildiv(loop.step) * loop.step if loop.step > 1 else bound
