"""The one doorway to isl: affine expressions and constraints as sets and maps with named dimensions, and questions.

A question has three answers: yes, no, and None for "unknown": isl ran out of its budget of operations, or a product
or quotient with a symbol is in the way. Unknown never counts as yes.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from affdsl.errors import AffdslError, public
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value, parts_of
from affdsl.later import Later

if TYPE_CHECKING:
    import islpy as isl

    Set: TypeAlias = isl.Set
    Map: TypeAlias = isl.Map
    Dim: TypeAlias = isl.dim_type
    Ast: TypeAlias = isl.AstNode
    AstExpr: TypeAlias = isl.AstExpr
    Function: TypeAlias = isl.PwAff
else:
    # The import takes longer than all questions about most programs: loops that are boxes need no isl (see `grid`).
    isl = Later("islpy")
    Set, Map, Dim = (Later("islpy", name) for name in ("Set", "Map", "dim_type"))
    Ast, AstExpr = (Later("islpy", name) for name in ("AstNode", "AstExpr"))
    Function = Later("islpy", "PwAff")
"""What other modules need to say of isl."""

Answer = TypeVar("Answer")
Columns: TypeAlias = "Mapping[isl.dim_type, Sequence[Value | Affine | None]]"
"""What the columns of isl's rows stand for, by their kinds."""

BUDGET = 20_000
"""How many operations isl may spend on one question: enough for a few dozen constraints, a few milliseconds."""
MOST_LOOPS, MOST_QUOTIENTS = 20, 24
"""Loops inside each other, and quotients of one set, beyond which isl is not asked (decision 71): an operation of its
takes ever longer, and it is asked about each loop. What takes 10 milliseconds for 10 loops takes 4 seconds for 30."""
_ZERO = Affine()


@public
class UnknownError(AffdslError):
    """isl has no answer: the expression is not affine, or the budget is spent.

    >>> import affdsl as af
    >>> from affdsl.ir.expr import Constraint, Value
    >>> from affdsl.ir.types import INDEX
    >>> from affdsl.passes.analysis.polyhedral import set_of
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> try:
    ...     set_of([Constraint(i * n)], [i, n])
    ... except af.UnknownError as error:
    ...     print("semi-affine" in str(error))
    True
    """


def is_empty(constraints: Iterable[Constraint], budget: int = BUDGET) -> bool | None:
    """Whether no integers satisfy all constraints.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> is_empty([Constraint(i * 2 - n * 4 - 1, equality=True)])
    True
    >>> print(is_empty([Constraint(i * n - 1)]))
    None
    """
    question = _question_about(tuple(constraints), _ZERO)
    return question.answer(None, lambda: bool(question.set.is_empty()), budget)


def implies(constraints: Iterable[Constraint], claim: Constraint, budget: int = BUDGET) -> bool | None:
    """Whether the claim holds wherever all constraints do.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> implies([Constraint(i - j), Constraint(Affine.of(j))], Constraint(i + j))
    True
    """
    question = _question_about(tuple(constraints), claim.expr)

    def no_point_against() -> bool:
        expr = question.aff(claim.expr)
        zero = isl.Aff.zero_on_domain(expr.get_domain_local_space())
        against = expr.ne_set(zero) if claim.equality else expr.lt_set(zero)
        return bool(question.set.intersect(against).is_empty())

    return question.answer(claim, no_point_against, budget)


def minimum(expr: Affine, constraints: Iterable[Constraint] = (), budget: int = BUDGET) -> int | None:
    """The smallest value of expr where all constraints hold; None where there is none or it is unknown."""
    value = _optimum(expr, constraints, -1, budget)
    return None if value is None else -value


def maximum(expr: Affine, constraints: Iterable[Constraint] = (), budget: int = BUDGET) -> int | None:
    """The largest value of expr where all constraints hold; None where there is none or it is unknown.

    >>> from affdsl.ir.types import INDEX
    >>> i = Value(INDEX, "i")
    >>> maximum(i % 8 + i // 8, [Constraint(Affine.of(i)), Constraint(20 - i)])
    8
    """
    return _optimum(expr, constraints, 1, budget)


def equal_everywhere(a: Affine, b: Affine, constraints: Iterable[Constraint] = (), budget: int = BUDGET) -> bool | None:
    """Whether a and b are equal wherever all constraints hold; without constraints, for all integers."""
    return implies(constraints, Constraint(a - b, equality=True), budget)


def name_of(value: Value) -> str:
    """What isl calls a value: its hint and its number, so that it is readable and no other value's."""
    return _name(value.hint, value.id)


@lru_cache(maxsize=10_000)
def _name(hint: str, id: int) -> str:
    number = str(id) if id >= 0 else f"m{-id}"
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', hint) or 'v'}_{number}"


def space_of(dims: Sequence[Value], params: Sequence[Value] = ()) -> isl.Space:
    """The space of sets over dims, in this order, with params fixed but unknown. All in the context of this thread."""
    return isl.Space.create_from_names(context(), set=[*map(name_of, dims)], params=[*map(name_of, params)])


def set_of(constraints: Iterable[Constraint], dims: Sequence[Value], params: Sequence[Value] = ()) -> isl.Set:
    """The points of dims where all constraints hold.

    Raises UnknownError where one is semi-affine, and where there are too many dims.
    """
    listed = tuple(constraints)
    return _place_of_loops(dims, params, listed).set(listed)


def map_of(
    exprs: Sequence[Affine], constraints: Iterable[Constraint], dims: Sequence[Value], params: Sequence[Value] = ()
) -> isl.Map:
    """From the points of dims where all constraints hold to the values of exprs. Raises UnknownError as `set_of`."""
    listed = tuple(constraints)
    place = _place_of_loops(dims, params, listed, exprs)
    images = isl.AffList.alloc(context(), len(exprs))
    for expr in exprs:
        images = images.add(place.aff(expr))
    function = isl.MultiAff.from_aff_list(place.to(len(exprs)), images)
    return isl.Map.from_multi_aff(function).intersect_domain(place.set(listed))


Points = TypeVar("Points", "Set", "Map")


def merged(points: Points) -> Points:
    """The same set or map in fewer parts, as isl's `coalesce` makes it.

    Equalities of each part are looked for first: without, isl of islpy 2026.2.2 may read a null pointer where it wraps
    the bounds of one part around another, which ends the process.
    """
    return points.coalesce() if _parts(points) <= 1 else points.detect_equalities().coalesce()


def _parts(points: Set | Map) -> int:
    return points.n_basic_map() if isinstance(points, isl.Map) else points.n_basic_set()


def count_of(points: Set) -> int:
    """How many points a set has that has an end and no parameters. Raises UnknownError for any other.

    Of those isl's `count_val` says 0, or how many there are for all parameters together; of too many points, and where
    its budget is spent, it gives what is no number, the latter without a word of islpy's.
    """
    _require_numbers(points)
    counted = points.count_val()
    if counted.to_str() is None:
        raise UnknownError("isl needs more operations than it may have")
    if not counted.is_int():
        raise UnknownError("isl counts no points that are so many")
    return counted.to_python()


def points_of(points: Set) -> list[tuple[int, ...]]:
    """The points of a set that `count_of` takes, which says whether they are too many."""
    _require_numbers(points)
    found: list[tuple[int, ...]] = []
    points.foreach_point(lambda point: found.append(_coordinates(point, points.dim(isl.dim_type.set))))
    return found


def sample_of(points: Set) -> tuple[int, ...]:
    """A point of a set, for some parameters. Raises UnknownError if it has none: isl gives what has no coordinates."""
    point = points.sample_point()
    if point.is_void():
        raise UnknownError("isl finds no point of a set")
    return _coordinates(point, points.dim(isl.dim_type.set))


def _coordinates(point: isl.Point, dims: int) -> tuple[int, ...]:
    return tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(dims))


def _require_numbers(points: Set) -> None:
    if points.dim(isl.dim_type.param) or not points.is_bounded():
        raise UnknownError("isl counts no points of a set that has no end, or parameters")


def hull_of(points: Set, dims: Sequence[Value], params: Sequence[Value]) -> list[Constraint]:
    """Constraints over dims and params that hold for all points, and that no others of their directions make tighter.

    They are those of the points themselves where these are convex and have no gaps. Other parameters may be any.
    """
    space = space_of((), params).params()
    hull = merged(without_others(points, params).remove_divs().align_params(space)).simple_hull()
    columns: Columns = {isl.dim_type.param: params_of(hull, params), isl.dim_type.set: dims}
    return [Constraint(linear_of(row, columns), row.is_equality()) for row in hull.get_constraints()]


def without_others(points: Set, values: Sequence[Value]) -> Set:
    """A set for any parameters but those that stand for some values."""
    for k, value in reversed([*enumerate(params_of(points, values))]):
        if value is None:
            points = points.project_out(isl.dim_type.param, k, 1)
    return points


def params_of(of: Set | Map | isl.BasicSet | isl.Aff | isl.LocalSpace, values: Iterable[Value]) -> list[Value | None]:
    """Which of some values each parameter stands for, None for none of them."""
    named = {name_of(value): value for value in values}
    return [named.get(str(of.get_dim_name(isl.dim_type.param, k))) for k in range(of.dim(isl.dim_type.param))]


def linear_of(row: isl.Constraint | isl.Aff, columns: Columns) -> Affine:
    """A row of isl, without fractions, over what its columns stand for.

    Raises UnknownError where it has a factor in a column that stands for nothing.
    """
    found = Affine.of(row.get_constant_val().to_python())
    for kind, terms in columns.items():
        for k, term in enumerate(terms):
            factor = row.get_coefficient_val(kind, k).to_python()
            if factor and term is None:
                raise UnknownError("the condition is about a number that no argument says")
            found += 0 if term is None else term * factor
    return found


def quotients_of(parts: Iterable[isl.Aff], columns: Columns) -> list[Affine]:
    """Expressions of isl, rounded down, of which each may have those before it as divisions."""
    found: list[Affine] = []
    for part in parts:
        whole = part.get_denominator_val()
        found.append(linear_of(part.scale_val(whole), {**columns, isl.dim_type.div: found}) // whole.to_python())
    return found


def divisions_of(local: isl.Aff | isl.LocalSpace) -> list[isl.Aff]:
    """The floor divisions that are computed first."""
    return [local.get_div(k) for k in range(local.dim(isl.dim_type.div))]


def expr_of(aff: isl.Aff, columns: Sequence[Value]) -> Affine:
    """An isl expression over some inputs, rounded down."""
    return quotients_of((*divisions_of(aff), aff), {isl.dim_type.in_: columns})[-1]


def function_of(pairs: Map, dims: Sequence[Value], params: Sequence[Value]) -> Affine | None:
    """The expression over dims and params that says which one number belongs to each point; None where none does."""
    if not pairs.is_single_valued():
        return None
    if any(value is None for value in params_of(pairs, params)):
        return None
    pairs = pairs.align_params(space_of((), params).params())
    pairs = pairs.move_dims(isl.dim_type.in_, len(dims), isl.dim_type.param, 0, pairs.dim(isl.dim_type.param))
    pieces = numbers_of(pairs, pairs.dim_min(0))
    return expr_of(pieces[0][1], (*dims, *params)) if len(pieces) == 1 else None


def numbers_of(pairs: Map, function: Function) -> list[tuple[Set, isl.Aff]]:
    """The pieces of a function that gives a number for each input of a map, as `dim_min` and `dim_max` make it.

    Raises UnknownError where isl loses an input, as it does with some redundant constraints (see `last_of`).
    """
    if not pairs.domain().is_subset(function.domain()):
        raise UnknownError("isl finds no end for an input that has outputs")
    return pieces_of(function)


def pieces_of(function: Function) -> list[tuple[Set, isl.Aff]]:
    """Where a function is which expression: few pieces, where isl sees it."""
    return function.coalesce().get_pieces()


def ast_of(points: Set) -> Ast:
    """Loops that visit the points of a set in the order of its dimensions. Raises isl's errors: see `spending`."""
    order = isl.UnionMap.from_map(isl.Map.identity(points.get_space().map_from_set()).intersect_domain(points))
    return isl.AstBuild.from_context(isl.Set.universe(points.get_space().params())).node_from_schedule_map(order)


def kind_of(part: Ast | AstExpr) -> str:
    """What a part of such loops is: "for", "if", "block", "user"; "int", "id"; or an operation: "add", "max", ..."""
    kind: object = part.get_type()
    if isinstance(part, isl.AstExpr) and kind == isl.ast_expr_type.op:
        kind = part.get_op_type()
    return str(kind).rpartition(".")[2].rstrip("_")


@contextmanager
def spending(budget: int = BUDGET) -> Iterator[None]:
    """Let the isl operations inside spend so many operations together; then they raise UnknownError.

    So does any other error of isl: an answer that it does not give is not known. A budget within a budget is not
    possible: the inner one ends the outer one.
    """
    spent = context()
    spent.reset_operations()
    spent.set_max_operations(budget)
    try:
        yield
    except isl.Error as error:
        if "maximal number of operations" not in str(error):
            raise UnknownError(f"isl fails: {error}") from error
        raise UnknownError(f"isl needs more than {budget} operations") from None
    finally:
        spent.set_max_operations(0)
        spent.reset_operations()


def closure(kinds: int, steps: Iterable[tuple[int, Map, int]]) -> dict[tuple[int, int], Map]:
    """All paths of one step or more, where each step goes from points of one kind to those of another, or the same.

    Raises UnknownError where isl finds only more pairs than there are paths, and isl's errors: see `spending`.
    """
    spaces: dict[int, isl.Space] = {}
    union: isl.UnionMap | None = None
    for start, pairs, end in steps:
        named = pairs.set_tuple_name(isl.dim_type.in_, f"k{start}").set_tuple_name(isl.dim_type.out, f"k{end}")
        spaces[start], spaces[end] = named.get_space().domain(), named.get_space().range()
        part = isl.UnionMap.from_map(named)
        union = part if union is None else union.union(part)
    if union is None:
        return {}
    paths, is_exact = union.transitive_closure()
    if not is_exact:
        raise UnknownError("isl does not find how far steps lead that are taken any number of times")
    found = {}
    for start in range(kinds):
        for end in range(kinds):
            if start in spaces and end in spaces:
                space = spaces[start].map_from_domain_and_range(spaces[end]).align_params(paths.get_space())
                pairs = paths.extract_map(space)
                if not pairs.is_empty():
                    found[start, end] = pairs.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    return found


def spelled_anew(pairs: Map) -> Map:
    """The same pairs, read from their text: nothing is left of how isl came to them."""
    return isl.Map(str(pairs), context=context())


_threads = threading.local()


def context() -> isl.Context:
    """The isl context of this thread: isl's objects must not meet those of another context."""
    found: isl.Context | None = getattr(_threads, "context", None)
    if found is None:
        found = _threads.context = isl.Context()
    return found


_Columns: TypeAlias = "dict[Atom, tuple[Dim, int]]"


def _ask(question: Callable[[], Answer], budget: int) -> Answer | None:
    """What isl answers, or None where it does not."""
    try:
        with spending(budget):
            return question()
    except UnknownError:
        return None


class _Question:
    """Constraints and expressions in a space of their own, where a semi-affine atom is a dimension like a value."""

    def __init__(self, constraints: tuple[Constraint, ...], *exprs: Affine) -> None:
        self.constraints = constraints
        atoms: dict[Atom, None] = {}
        for expr in (*(c.expr for c in self.constraints), *exprs):
            _collect(expr, atoms, set())
        self.opaque = [atom for atom in atoms if not isinstance(atom, Value)]
        self._place = _place(tuple(atoms))
        self._answers: dict[Constraint | None, bool] = {}

    def answer(self, claim: Constraint | None, find: Callable[[], bool], budget: int) -> bool | None:
        """What isl finds, now or before, of a claim or, without one, of the constraints alone; None if it is unknown.

        Where a semi-affine atom may be any integer, a yes holds all the more, and a no says nothing.
        """
        found = self._answers.get(claim)
        if found is None:
            found = _ask(find, budget)
            if found is not None and len(self._answers) < MOST_CLAIMS:
                self._answers[claim] = found
        return None if found is False and self.opaque else found

    @cached_property
    def set(self) -> isl.Set:
        return self._place.set(self.constraints)

    def aff(self, expr: Affine) -> isl.Aff:
        return self._place.aff(expr)

    def has(self, expr: Affine) -> bool:
        """Whether the space has a dimension for all that an expression is made of."""
        atoms: dict[Atom, None] = {}
        _collect(expr, atoms, set())
        return atoms.keys() <= self._place.columns.keys()


class _Points:
    """The points where all constraints of a list hold, and those of the longer lists that begin with it."""

    __slots__ = ("longer", "set")

    def __init__(self, set: isl.BasicSet) -> None:
        self.set = set
        self.longer: dict[Constraint, _Points] = {}


class _Place:
    """A space, and what constraints say in it: the same ones are asked about again and again, outer loops' first."""

    def __init__(self, space: isl.Space, columns: _Columns) -> None:
        self.local, self.columns = isl.LocalSpace.from_space(space), columns
        self._zero = isl.Aff.zero_on_domain(self.local)
        self._parts: dict[Constraint, isl.BasicSet] = {}
        self._maps: dict[int, isl.Space] = {}
        self._all = _Points(isl.BasicSet.universe(space))
        self._lists = 0

    def set(self, constraints: Iterable[Constraint]) -> isl.Set:
        """The points where all constraints hold. Raises UnknownError where one is semi-affine."""
        points = self._all
        for constraint in constraints:
            found = points.longer.get(constraint)
            if found is None:
                found = _Points(points.set.intersect(self._part(constraint)))
                if self._lists < MOST_POINTS:
                    points.longer[constraint] = found
                    self._lists += 1
            points = found
        return points.set.to_set()

    def _part(self, constraint: Constraint) -> isl.BasicSet:
        part = self._parts.get(constraint)
        if part is None:
            aff = self.aff(constraint.expr)
            part = aff.zero_basic_set() if constraint.equality else aff.ge_basic_set(self._zero)
            if len(self._parts) < MOST_PARTS:
                self._parts[constraint] = part
        return part

    def aff(self, expr: Affine) -> isl.Aff:
        """An expression. Raises UnknownError where it is semi-affine."""
        return _aff(expr, self.local, self.columns)

    def to(self, dims: int) -> isl.Space:
        """The space of maps from here to so many dimensions."""
        found = self._maps.get(dims)
        if found is None:
            space = self.local.get_space()
            results = isl.Space.create_from_names(context(), set=[f"r{k}" for k in range(dims)]).align_params(space)
            found = self._maps[dims] = space.map_from_domain_and_range(results)
        return found


class _Kept(threading.local):
    """What this thread has asked last: places, and questions by their constraints, since much is asked of the same."""

    def __init__(self) -> None:
        self.places: OrderedDict[object, _Place] = OrderedDict()
        self.questions: OrderedDict[tuple[Constraint, ...], _Question] = OrderedDict()
        self.numbers: dict[int, isl.Val] = {}


_kept = _Kept()
MOST_QUESTIONS, MOST_CLAIMS, MOST_NUMBERS = 500, 100, 500
"""How many questions each thread keeps, with how many answers each, and how many numbers."""
MOST_PLACES, MOST_PARTS, MOST_POINTS = 200, 500, 200
"""How many spaces each thread keeps, and of how many constraints, and lists of them, in each."""


def _place(dims: Sequence[Atom], params: Sequence[Value] = ()) -> _Place:
    """The place for a space: its dimensions are called as values are now, which may get other names."""
    names = [name_of(a) if isinstance(a, Value) else f"opaque{k}" for k, a in enumerate(dims)]
    of_params = [*map(name_of, params)]
    key = (tuple(dims), tuple(params), tuple(names), tuple(of_params))
    found = _kept.places.get(key)
    if found is not None:
        _kept.places.move_to_end(key)
        return found
    columns: _Columns = {value: (isl.dim_type.param, k) for k, value in enumerate(params)}
    columns |= {atom: (isl.dim_type.in_, k) for k, atom in enumerate(dims)}
    found = _Place(isl.Space.create_from_names(context(), set=names, params=of_params), columns)
    _kept.places[key] = found
    if len(_kept.places) > MOST_PLACES:
        _kept.places.popitem(last=False)
    return found


def _place_of_loops(
    dims: Sequence[Value], params: Sequence[Value], constraints: Sequence[Constraint], exprs: Sequence[Affine] = ()
) -> _Place:
    if len(dims) > MOST_LOOPS:
        raise UnknownError(f"isl is not asked about more than {MOST_LOOPS} loops inside each other")
    parts = frozenset(parts_of(*exprs)).union(*(c.parts for c in constraints))
    if sum(isinstance(part, FloorDiv) for part in parts) > MOST_QUOTIENTS:
        raise UnknownError(f"isl is not asked about more than {MOST_QUOTIENTS} quotients together")
    return _place(dims, params)


def _question_about(constraints: tuple[Constraint, ...], expr: Affine) -> _Question:
    """A question about an expression: one from before, if that was about nothing else and had the same constraints."""
    kept = _kept.questions
    found = kept.get(constraints)
    if found is not None and found.has(expr):
        kept.move_to_end(constraints)
        return found
    found = _Question(constraints, expr)
    if not found.opaque:  # of another question those would be too many
        kept[constraints] = found
        if len(kept) > MOST_QUESTIONS:
            kept.popitem(last=False)
    return found


def _collect(expr: Affine, atoms: dict[Atom, None], seen: set[Atom]) -> None:
    for atom, _ in expr.terms:
        match atom:
            case FloorDiv(dividend, int()) if atom.depth <= DEEPEST_QUOTIENT:
                if atom not in seen:
                    seen.add(atom)
                    _collect(dividend, atoms, seen)
            case _:
                atoms[atom] = None


def _optimum(expr: Affine, constraints: Iterable[Constraint], sign: int, budget: int) -> int | None:
    """The maximum of sign * expr."""
    question = _question_about(tuple(constraints), expr)
    if question.opaque:
        return None

    def largest() -> isl.Val:
        return question.set.max_val(question.aff(expr * sign))

    value = _ask(largest, budget)
    return value.to_python() if value is not None and value.is_int() else None


DEEPEST_QUOTIENT = 10
"""Quotients inside each other, beyond which isl is not asked: each is a variable there, and tied to all the others."""


def _aff(expr: Affine, local: isl.LocalSpace, columns: _Columns, done: dict[Atom, isl.Aff] | None = None) -> isl.Aff:
    floors: dict[Atom, isl.Aff] = {} if done is None else done
    result = isl.Aff.zero_on_domain(local).set_constant_val(number_of(expr.constant))
    for atom, c in expr.terms:
        column = columns.get(atom)
        if column is not None:
            result = result.add_coefficient_val(*column, number_of(c))
            continue
        match atom:
            case FloorDiv(dividend, int() as divisor) if atom.depth <= DEEPEST_QUOTIENT:
                floor = floors.get(atom)
                if floor is None:
                    inside = _aff(dividend, local, columns, floors)
                    floor = floors[atom] = inside.scale_down_val(number_of(divisor)).floor()
                result = result.add(floor.scale_val(number_of(c)))
            case FloorDiv(_, int()):
                raise UnknownError(f"isl is not asked about more than {DEEPEST_QUOTIENT} quotients inside each other")
            case FloorDiv() | Product():
                raise UnknownError(f"isl cannot express the semi-affine {Affine.of(atom)}")
            case Value():
                raise UnknownError(f"{atom!r} is no dimension and no parameter of the set")
    return result


def number_of(n: int) -> isl.Val:
    """A number as isl has it, of any size, in the context of this thread."""
    found = _kept.numbers.get(n)
    if found is None:
        found = _number(n)
        if len(_kept.numbers) < MOST_NUMBERS:
            _kept.numbers[n] = found
    return found


def _number(n: int) -> isl.Val:
    if -(1 << 63) <= n < 1 << 63:
        return isl.Val.int_from_si(context(), n)
    return isl.Val.read_from_str(context(), str(n))
