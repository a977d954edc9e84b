"""Where an access leaves its array: the sizes and iterations, an example of them, and words for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import spell
from affdsl.ir.types import IndexType, MemRefType
from affdsl.passes.analysis.bounds.claims import Claim, Demand
from affdsl.passes.analysis.bounds.size_conditions import involved, sizes_where
from affdsl.passes.analysis.linearized import adjusted, is_affine
from affdsl.passes.analysis.polyhedral import (
    Dim,
    Set,
    UnknownError,
    linear_of,
    merged,
    name_of,
    number_of,
    params_of,
    sample_of,
)
from affdsl.passes.analysis.relations import fixed, map_from, remembered

OTHER_SIZE, OTHER_NUMBER = 8, 1
"""What an example has for the size of an array, and for an index argument, of which nothing depends."""


class Example(Frozen):
    """Sizes and an iteration with which an access leaves its array.

    Attributes
    ----------
    claim
        What does not hold.
    arguments
        The index arguments of the function.
    shapes
        The sizes of its array arguments.
    iteration
        The induction variables around the access.
    index
        The subscripts there.
    sizes
        Those of the array; None where one is not known.
    counted
        What the variables are there that the user has of these loops.
    """

    demand: Demand
    claim: Claim
    arguments: dict[Value, int]
    shapes: dict[Value, tuple[int, ...]]
    iteration: dict[Value, int]
    index: tuple[int, ...]
    sizes: tuple[int | None, ...]
    counted: dict[Value, int]

    def said(self, *, imperative: bool = False) -> str:
        """What the access does, and what is wrong with it: `reads A[5] when i = 4, but dimension 0 of A has size 5`."""
        demand, axis = self.demand, self.claim.axis
        verb = demand.verb.removesuffix("s") if imperative else demand.verb
        name = demand.memref.hint or "the array" if demand.memref is not None else "the array"
        loops = ", ".join(f"{iv.hint or 'a loop'} = {n}" for iv, n in self.counted.items())
        when = f" when {loops}" if loops else ""
        match self.claim.end, demand.verb:
            case "divisor", _:
                return f"{verb} by {self.index[axis]}{when}"
            case "apart", _:
                element = f"{name}[{', '.join(map(str, self.index))}]"
                if demand.verb == "copies":
                    return f"{verb} {element}, which is in both, to another place{when}"
                return f"{verb} it with {demand.names[0]} and {demand.names[1]}, which both have {element}{when}"
            case "call", _ if self.sizes:
                got, wanted = self.sizes
                return (
                    f"{verb} it with {demand.names[0]} of size {got} in dimension {axis}, which must be {wanted}{when}"
                )
            case "call", _:
                given = ", ".join(f"{name} = {n}" for name, n in zip(demand.names, self.index, strict=True))
                return f"{verb} it with {given or 'arguments that do not fit'}{when}"
            case "size", "copies":
                from_, to = self.sizes[2 * axis : 2 * axis + 2]
                return f"{verb} dimension {axis} of size {from_} to one of size {to}{when}"
            case "size", _:
                more = f" of the {self.sizes[0]} in dimension {axis} of {name}" if self.sizes else ""
                return f"{verb} {self.index[0]} elements{more}{when}"
            case end, "views":
                place, size = f"{self.index[0]} to {self.index[1]} of dimension {axis} of {name}", self.sizes[0]
            case end, _:
                place, size = f"{name}[{', '.join(map(str, self.index))}]", self.sizes[axis]
        return f"{verb} {place}{when}, but dimension {axis} of {name} " + (
            "begins at 0" if end == "lower" else f"has size {size}"
        )


class BrokenClaims:
    """Where one operation breaks some of its claims.

    `sizes` are what a call of the function decides, among them `extents`: of arrays of which the function says nothing.
    """

    def __init__(
        self,
        demand: Demand,
        claims: tuple[Claim, ...],
        function: func.Func,
        sizes: tuple[Value, ...],
        extents: Mapping[tuple[Value, int], Value],
    ) -> None:
        self.demand = demand
        self.claims = claims
        self.function = function
        self.sizes = sizes
        self._extents = extents
        shown = (*(c.expr for c in claims), *map(Affine.of, demand.domain.locals))
        self.domain = demand.domain.where((demand.breaks,))
        self.relation = self.domain.relation(shown)

    def reached(self) -> Set:
        """The sizes with which it runs."""
        relation = self.demand.domain.relation(()) if self.demand.breaks else self.relation
        return remembered(("reached", relation), lambda: self._natural(map_from(relation).domain()).params())

    def against(self, claim: Claim) -> Set:
        """The sizes with which a claim does not hold in some iteration."""
        key = "against", self.relation, self.claims.index(claim)
        return remembered(key, lambda: self._points_against(claim).params())

    def fails(self, claim: Claim) -> bool:
        """Whether there are such sizes."""
        key = "fails", self.relation, self.claims.index(claim)
        return not remembered(key, lambda: bool(self._points_against(claim).is_empty()))

    def _points(self) -> Set:
        """Iterations, each with the values of claims and locals there."""
        return remembered(("points", self.relation), lambda: self._natural(map_from(self.relation).wrap().flatten()))

    def _natural(self, points: Set) -> Set:
        """The points for which no array has a negative size."""
        extents = [v for v in self.relation.params if v in self._extents.values()]
        if not extents:
            return points
        return points.intersect_params(sizes_where([Constraint(Affine.of(v)) for v in extents], extents))

    def _points_against(self, claim: Claim) -> Set:
        position = self.relation.dims + self.claims.index(claim)
        key = "points against", self.relation, position
        return remembered(key, lambda: self._points().upper_bound_val(Dim.set, position, number_of(-1)))

    def from_data(self, claims: Sequence[Claim]) -> tuple[str, ...]:
        """The numbers that no argument says and on which it depends whether claims hold, as reasons."""
        found: dict[str, None] = {}
        for value in self.relation.params:
            if value in self.sizes:
                continue
            for claim in claims:
                if involved(self.against(claim), (value,)):
                    found[f"{f'%{value.hint}' if value.hint else 'an index'} is known only at run time"] = None
        return tuple(found)

    def example(self, claim: Claim, sizes: Mapping[Value, int] | None = None) -> Example | None:
        """Sizes, or those given, and an iteration with which a claim does not hold: evaluated, not only solved.

        None if there are none, or if the contract has more to say than isl can express. Raises UnknownError where isl
        needs too long.
        """
        points, params = self._points_against(claim), self.relation.params
        if sizes is None:
            if points.is_empty():
                return None
            found = _some_params(points)
            numbers = {v: found.get(name_of(v), 0) for v in params}
        else:
            numbers = {v: sizes[v] for v in params}
        points = fixed(points, numbers)
        if points.is_empty():
            return None
        return self._made(claim, {**numbers, **(sizes or {})}, _point(points, last=claim.end == "upper"))

    def _made(self, claim: Claim, params: dict[Value, int], point: tuple[int, ...]) -> Example | None:
        demand, domain = self.demand, self.domain
        locals = point[len(domain.ivs) + len(self.claims) :]
        iteration = dict(zip(domain.ivs, point, strict=False))
        inside = {**iteration, **dict(zip(domain.locals, locals, strict=True))}
        env = {**params, **inside}
        runs = all(any(all(c.holds(env) for c in part) for part in clause) for clause in domain.clauses)
        if not runs or claim.expr.evaluate(env) >= 0:
            raise UnknownError("isl and the evaluation of its answer disagree")
        arguments = {
            v: params.get(v, OTHER_SIZE if self._is_size(v) else OTHER_NUMBER)
            for v in self.function.args
            if isinstance(v.type, IndexType)
        }
        facts = [c for c in self.function.assumes if not is_affine(c.expr)]
        try:
            everything = adjusted({**params, **arguments}, facts)
        except ZeroDivisionError:
            return None
        arguments = {v: everything[v] for v in arguments}
        shown = (*(demand.index or ()), *(s for s in demand.sizes if s is not None))
        others = dict.fromkeys((v for e in shown for v in e.values()), OTHER_SIZE)  # nothing depends on these
        try:
            shapes = self._shapes(everything)
            allowed = all(c.holds(everything) for c in self.function.assumes)
            env = {**others, **everything, **inside}
            allowed &= all(any(all(c.holds(env) for c in part) for part in clause) for clause in domain.clauses)
            allowed &= claim.expr.evaluate(env) < 0
            index = tuple(e.evaluate(env) for e in demand.index or ())
            sizes = tuple(None if s is None else s.evaluate(env) for s in demand.sizes)
            counted = {iv: demand.counted(iv).evaluate(env) for iv in iteration}
        except ZeroDivisionError:
            return None
        if not allowed or any(n < 0 for shape in shapes.values() for n in shape):
            return None
        return Example(demand, claim, arguments, shapes, iteration, index, sizes, counted)

    def _is_size(self, value: Value) -> bool:
        return any(e.value is value for shape in self.function.shapes for e in shape or ())

    def _shapes(self, numbers: Mapping[Value, int]) -> dict[Value, tuple[int, ...]]:
        """The sizes of the array arguments."""
        found = {}
        for position, value in enumerate(self.function.args):
            if not isinstance(value.type, MemRefType):
                continue
            promised = self.function.shapes[position] if self.function.shapes else None
            if promised is not None:
                found[value] = tuple(e.evaluate(numbers) for e in promised)
                continue
            symbols = [self._extents.get((value, axis)) for axis in range(value.type.rank)]
            said = [OTHER_SIZE if s is None else numbers.get(s, OTHER_SIZE) for s in symbols]
            found[value] = tuple(m if n is None else n for n, m in zip(value.type.shape, said, strict=True))
        return found

    def words(self, access: str, example: Example) -> tuple[str, str]:
        """That an access is wrong, for all sizes if that can be said, and an example with numbers."""
        given = ", ".join(f"{v.hint} = {n}" for v, n in example.arguments.items() if v in self.relation.params)
        said = f"for example with {given} it {example.said()}" if given else f"it {example.said()}"
        if example.claim.end == "apart":
            name = (self.demand.memref.hint if self.demand.memref is not None else "") or "an array"
            return f"{access} is given two parts of {name} that overlap, and writes to one", said
        general = self._in_general(example.claim)
        if self.demand.verb == "calls":
            wrong = "leads out of bounds" if self.demand.breaks else "does not keep to what that assumes"
            if self.demand.sizes:
                wrong = "is given arrays whose sizes do not fit"
            return f"{access} {wrong}", said
        if self.demand.verb == "divides":
            return f"{access} divides by a number that is not positive", said
        if general is None:
            return f"{access} is out of bounds", said
        place, when = general
        name = self.demand.memref.hint if self.demand.memref is not None else ""
        return f"{access} {self.demand.verb} {name}[{place}] when {when}", said

    def _in_general(self, claim: Claim) -> tuple[str, str] | None:
        """The subscripts of one wrong access, and its iteration, over the sizes: `N` and `i = N - 1`."""
        domain, index = self.demand.domain, self.demand.index
        if self.demand.verb not in ("reads", "writes") or not index or claim.end not in ("lower", "upper"):
            return None
        used = [iv for iv in domain.ivs if any(iv in e.values() for e in index)]
        if not used or any(v in domain.locals for e in index for v in e.values()):
            return None
        points = self._points_against(claim)
        dims = points.dim(Dim.set)
        points = points.project_out(Dim.set, len(domain.ivs), dims - len(domain.ivs))
        if any(part.dim(Dim.div) for part in points.get_basic_sets()):
            return None  # lexmin fails on some divisions
        ends = (points.lexmax(), points.lexmin())
        for end in ends if claim.end == "upper" else reversed(ends):
            exprs = _as_expressions(end, self.relation.params)
            if exprs is not None and points.params().is_subset(end.params()):  # isl loses none of the sizes
                new = dict(zip(domain.ivs, exprs, strict=True))
                place = ", ".join(spell(e.substitute(new)) for e in index)
                counted = {iv: spell(self.demand.counted(iv).substitute(new)) for iv in used}
                return place, ", ".join(f"{iv.hint or 'a loop'} = {said}" for iv, said in counted.items())
        return None


def _point(points: Set, *, last: bool) -> tuple[int, ...]:
    """The first or last point, by dimension where there is one such. (Set.lexmin fails on some divisions.)"""
    for k in range(points.dim(Dim.set)):
        end = points.dim_max_val(k) if last else points.dim_min_val(k)
        if end.is_int():
            points = points.fix_val(Dim.set, k, end)
    return sample_of(points)


def _some_params(points: Set) -> dict[str, int]:
    """Values of the parameters for which a set has a point: the smallest where there are such."""
    flat = points.params().from_params()
    names = [str(flat.get_dim_name(Dim.param, k)) for k in range(flat.dim(Dim.param))]
    return dict(zip(names, _point(flat.move_dims(Dim.set, 0, Dim.param, 0, len(names)), last=False), strict=True))


def _as_expressions(points: Set, params: Sequence[Value]) -> tuple[Affine, ...] | None:
    """The dimensions of a set that has one point for each value of the parameters, if linear expressions say it."""
    parts = merged(points).get_basic_sets()
    if len(parts) != 1 or parts[0].dim(Dim.div):
        return None
    columns = {Dim.param: params_of(points, params)}
    dims, found = range(points.dim(Dim.set)), dict[int, Affine]()
    for row in parts[0].get_constraints():
        factors = {k: n for k in dims if (n := row.get_coefficient_val(Dim.set, k).to_python())}
        if not row.is_equality() or len(factors) != 1:
            continue
        ((k, factor),) = factors.items()
        if abs(factor) != 1:
            continue
        found[k] = linear_of(row, columns) * -factor
    return tuple(found[k] for k in dims) if len(found) == len(dims) else None
