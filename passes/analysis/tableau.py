"""Access relations and dependences as tableaux: one row for each constraint, one column for each variable.

This is how MLIR shows a FlatAffineRelation, and how its explanations of dependence checks are written. Rows and columns
stand in the order in which the program has its loops and subscripts, each row once; nothing else is normalised, but for
distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Value
from affdsl.ir.spelling import called
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.dependence import Dependence
from affdsl.passes.analysis.polyhedral import Dim, Set, UnknownError, merged, name_of, spending
from affdsl.passes.analysis.relations import BUDGET, Alternatives, Relation, at_depth, iterator, local, same_element

MOST_SYSTEMS = 1000
"""How many systems a tableau has at most: each alternative of a condition doubles them."""


class Coefficients(FrozenValue):
    """The coefficients of a constraint, the constant last: their sum is 0, or at least 0."""

    numbers: tuple[int, ...]
    equality: bool

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.numbers))} {'=' if self.equality else '>='} 0"


class Tableau(FrozenValue):
    """Integer points that satisfy all rows of one of some systems; all points of none. Printed, with named columns.

    Attributes
    ----------
    names
        What the columns are called, without that of the constant: the dimensions, then symbols, then locals, of which
        a row says only that there are such numbers. Elements are `m0`, `m1` ..., counters of the sink `i'`.
    named
        Which of the dimensions are counters of loops: `Value` in `mlir()`, and the others `None`.
    symbols, locals
        How many of the columns are symbols, and locals.
    systems
        The rows of each system.
    """

    names: tuple[str, ...]
    named: tuple[bool, ...]
    symbols: int
    locals: int
    systems: tuple[tuple[Coefficients, ...], ...]

    def __str__(self) -> str:
        """The rows below the names of their columns.

        >>> print(Tableau(("i", "N"), (True,), 1, 0, ((Coefficients((-1, 1, -1), False),),)))
         i  N  const
        -1  1     -1  >= 0
        """
        heads = (*self.names, "const")
        numbers = [[*map(str, row.numbers)] for rows in self.systems for row in rows]
        widths = [max(map(len, column)) for column in zip(heads, *numbers, strict=True)]

        def line(cells: Iterable[str], end: str = "") -> str:
            return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)) + end

        def of(row: Coefficients) -> str:
            return line(map(str, row.numbers), f"  {'=' if row.equality else '>='} 0")

        shown = ["\n".join((line(heads), *map(of, rows))) for rows in self.systems]
        return "\nor\n".join(shown) if shown else f"{line(heads)}\nno points"

    def mlir(self) -> str:
        """As MLIR dumps a FlatAffineRelation: it counts all dimensions as range, and names no column."""
        head = f"Domain: 0, Range: {len(self.named)}, Symbols: {self.symbols}, Locals: {self.locals}"
        words = [*("Value" if n else "None" for n in self.named), *["Value"] * self.symbols, *["Local"] * self.locals]
        columns = f"({' '.join((*words, 'const'))})"
        if not self.systems:
            return f"{head}\nno points"
        shown = ("\n".join((f"{len(rows)} constraints", columns, *map(str, rows))) for rows in self.systems)
        return f"{head}\n" + "\nor\n".join(shown)


def relation_tableau(access: Access) -> Tableau:
    """From the iterations of an access to the elements that it touches. Raises UnknownError where it is too large.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.access import accesses
    >>> module = parse('''
    ... func.func @f(%A: memref<20x40xf32>) {
    ...   affine.for %i = 0 to 10 { affine.for %j = 0 to 7 {
    ...     %a = affine.load %A[%i + %j, %i + 2 * %j + 3] : memref<20x40xf32>
    ...   } }
    ...   return
    ... }''')
    >>> (load,) = accesses(module.functions[0])
    >>> print(relation_tableau(load))
     i   j  m0  m1  const
     1   1  -1   0      0  = 0
     1   2   0  -1      3  = 0
     1   0   0   0      0  >= 0
    -1   0   0   0      9  >= 0
     0   1   0   0      0  >= 0
     0  -1   0   0      6  >= 0
    """
    of = access.relation
    ivs, where = _ivs(of), _elements(of)
    names = (*_hints(access), *map(called, where))
    return _tableau(names, (*ivs, *where), ivs, of.params, _locals(of), (_meaning(of, where), *of.clauses))


def inverse_tableau(access: Access) -> Tableau:
    """From elements to the iterations that touch them: the relation with its columns in another order."""
    of = access.relation
    ivs, where = _ivs(of), _elements(of)
    names = (*map(called, where), *_hints(access))
    return _tableau(names, (*where, *ivs), ivs, of.params, _locals(of), (_meaning(of, where), *of.clauses))


def domain_tableau(access: Access) -> Tableau:
    """The iterations of an access; the elements that they touch are locals."""
    of = access.relation
    ivs, where = _ivs(of), _elements(of)
    return _tableau(_hints(access), ivs, ivs, of.params, (*where, *_locals(of)), (_meaning(of, where), *of.clauses))


def composition_tableau(source: Access, sink: Access) -> Tableau:
    """From the iterations of source to those of sink that touch a common element, in whatever order they run.

    Raises ValueError for accesses to different buffers.
    """
    return _composed(source, sink, ())


def dependence_tableau(dependence: Dependence) -> Tableau:
    """The pairs of iterations that depend: the composition, and the order of the iterations at its depth.

    Raises ValueError for accesses to different buffers that may be one.
    """
    start, count = dependence.source.relation.dims, dependence.depth - 1
    order = [Constraint(iterator(start + k) - iterator(k), equality=True) for k in range(count)]
    if dependence.loop is not None:
        order.append(Constraint(iterator(start + count) - iterator(count) - 1))
    return _composed(dependence.source, dependence.sink, order)


def distance_tableau(dependence: Dependence) -> Tableau:
    """The distances of a dependence, exactly: how much larger each common induction variable is in the sink.

    This is what MLIR calls the dependence polyhedron. The rows are isl's, sorted.

    Raises UnknownError where isl needs too long, and ValueError for accesses to different buffers that may be one.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.dependence import dependences
    >>> module = parse('''
    ... func.func @f(%A: memref<9x9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 { affine.for %j = 0 to 9 {
    ...     affine.store %x, %A[%i, %j] : memref<9x9xf32>
    ...     %a = affine.load %A[%i - 2, %j] : memref<9x9xf32>
    ...   } }
    ...   return
    ... }''')
    >>> (flow,) = dependences(module.functions[0]).all()
    >>> print(distance_tableau(flow))
    i' - i  j' - j  const
         1       0     -2  = 0
         0       1      0  = 0
    """
    _refuse_two_buffers(dependence.source, dependence.sink)
    source, sink = met(dependence.source, dependence.sink)
    first, second, common = source.relation, sink.relation, len(dependence.distances)
    with spending(BUDGET):
        pairs = at_depth(same_element(first, second), dependence.depth, common)
        pairs = pairs.project_out(Dim.in_, common, first.dims - common)
        names = tuple(f"{name}' - {name}" for name in _hints(dependence.source)[:common])
        params = tuple(dict.fromkeys((*first.params, *second.params)))
        return _of_isl(pairs.project_out(Dim.out, common, second.dims - common).deltas(), names, params)


def _ivs(of: Relation) -> tuple[Value, ...]:
    return tuple(map(iterator, range(of.dims)))


def _hints(access: Access, mark: str = "") -> tuple[str, ...]:
    """What the counters around an access are called."""
    return tuple(f"{called(iv) or f'i{k}'}{mark}" for k, iv in enumerate(access.ivs))


def _symbols(params: Sequence[Value]) -> tuple[str, ...]:
    return tuple(called(v) or f"s{k}" for k, v in enumerate(params))


def _locals(of: Relation) -> tuple[Value, ...]:
    return tuple(map(local, range(of.locals)))


def _elements(of: Relation) -> tuple[Value, ...]:
    return tuple(Value(INDEX, f"m{k}") for k in range(len(of.index)))


def _meaning(of: Relation, where: Sequence[Value]) -> Alternatives:
    """That an element is the one at the index of a relation."""
    return (tuple(Constraint(e - m, equality=True) for e, m in zip(of.index, where, strict=True)),)


def _refuse_two_buffers(source: Access, sink: Access) -> None:
    if source.buffer is not sink.buffer:
        raise ValueError(
            f"{source.buffer.name} and {sink.buffer.name} are two buffers: which of their elements may be one is not "
            "known; ask for two accesses to one buffer"
        )


def _composed(source: Access, sink: Access, order: Iterable[Constraint]) -> Tableau:
    _refuse_two_buffers(source, sink)
    source, sink = met(source, sink)
    first, second = source.relation, sink.relation
    ivs = tuple(map(iterator, range(first.dims + second.dims)))
    locals = tuple(map(local, range(first.locals + second.locals)))
    moved: dict[Value, Value] = {iterator(k): ivs[first.dims + k] for k in range(second.dims)}
    moved |= {local(k): locals[first.locals + k] for k in range(second.locals)}
    index = [e.substitute(moved) for e in second.index]
    meeting = tuple(Constraint(b - a, equality=True) for a, b in zip(first.index, index, strict=True))
    later = tuple(
        tuple(tuple(Constraint(c.expr.substitute(moved), c.equality) for c in constraints) for constraints in clause)
        for clause in second.clauses
    )
    params = tuple(dict.fromkeys((*first.params, *second.params)))
    names = (*_hints(source), *_hints(sink, "'"))
    return _tableau(names, ivs, ivs, params, locals, ((meeting,), *first.clauses, *later, (tuple(order),)))


def _tableau(
    names: tuple[str, ...],
    dims: Sequence[Value],
    named: Sequence[Value],
    params: Sequence[Value],
    locals: Sequence[Value],
    clauses: Sequence[Alternatives],
) -> Tableau:
    """The tableau of what holds where one alternative of each clause does. Raises UnknownError if it is too large."""
    count = prod(map(len, clauses))
    if count > MOST_SYSTEMS:
        raise UnknownError(f"it has {count} systems of constraints, and at most {MOST_SYSTEMS} are shown")
    systems = [tuple(c for constraints in chosen for c in constraints) for chosen in product(*clauses)]
    divisions: dict[Atom, None] = {}
    for constraints in systems:
        for c in constraints:
            _collect(c.expr, divisions)
    columns: dict[Atom, int] = {v: k for k, v in enumerate((*dims, *params, *locals, *divisions))}
    more = tuple(f"q{k}" for k in range(len(locals) + len(divisions)))
    return Tableau(
        (*names, *_symbols(params), *more),
        tuple(v in named for v in dims),
        len(params),
        len(more),
        tuple(tuple(dict.fromkeys(_rows(constraints, columns))) for constraints in systems),
    )


def _collect(expr: Affine, divisions: dict[Atom, None]) -> None:
    """The floor divisions of an expression, the inner ones first."""
    for atom, _ in expr.terms:
        if isinstance(atom, FloorDiv) and atom not in divisions:
            _collect(atom.dividend, divisions)
            divisions[atom] = None


def _rows(constraints: Sequence[Constraint], columns: Mapping[Atom, int]) -> Iterator[Coefficients]:
    """The equalities, the inequalities, and what each division that occurs is."""
    divisions: dict[Atom, None] = {}
    for c in constraints:
        _collect(c.expr, divisions)
    for equality in (True, False):
        yield from (_row(c.expr, columns, c.equality) for c in constraints if c.equality == equality)
    for atom in divisions:
        match atom:
            case FloorDiv(dividend, int() as divisor):
                rest = _row(dividend, columns, False).numbers
                floor = columns[atom]
                yield Coefficients((*rest[:floor], -divisor, *rest[floor + 1 :]), False)
                minus = [-n for n in rest]
                yield Coefficients((*minus[:floor], divisor, *minus[floor + 1 : -1], minus[-1] + divisor - 1), False)


def _row(expr: Affine, columns: Mapping[Atom, int], equality: bool) -> Coefficients:
    numbers = [0] * len(columns)
    for atom, c in expr.terms:
        numbers[columns[atom]] += c
    return Coefficients((*numbers, expr.constant), equality)


def _of_isl(points: Set, names: tuple[str, ...], values: Sequence[Value]) -> Tableau:
    """The tableau of a set, each of its parts a system; its parameters stand for some values."""
    parts = merged(points).remove_redundancies().get_basic_sets()
    dims, params = points.dim(Dim.set), points.dim(Dim.param)
    most = max((part.dim(Dim.div) for part in parts), default=0)
    systems = []
    for part in parts:
        rows = []
        for constraint in part.get_constraints():
            numbers = [
                constraint.get_coefficient_val(kind, k).to_python() if k < part.dim(kind) else 0
                for kind, count in ((Dim.set, dims), (Dim.param, params), (Dim.div, most))
                for k in range(count)
            ]
            numbers.append(constraint.get_constant_val().to_python())
            equality = bool(constraint.is_equality())
            sign = -1 if equality and next((n for n in numbers if n), 0) < 0 else 1
            rows.append(Coefficients(tuple(n * sign for n in numbers), equality))
        systems.append(
            tuple(sorted(rows, key=lambda row: (not row.equality, [-abs(n) for n in row.numbers], row.numbers)))
        )
    symbols = dict(zip(map(name_of, values), _symbols(values), strict=True))
    names = (
        *names,
        *(symbols[str(points.get_dim_name(Dim.param, k))] for k in range(params)),
        *(f"q{k}" for k in range(most)),
    )
    return Tableau(names, (False,) * dims, params, most, tuple(systems))
