"""Conditions on the sizes of a function: sets of isl's parameters as constraints, evaluated and written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value
from affdsl.ir.spelling import spell
from affdsl.passes.analysis.polyhedral import (
    Columns,
    Dim,
    Set,
    UnknownError,
    divisions_of,
    linear_of,
    merged,
    name_of,
    params_of,
    quotients_of,
    set_of,
    without_others,
)
from affdsl.passes.analysis.relations import Alternatives


def sizes_where(constraints: Sequence[Constraint], sizes: Sequence[Value]) -> Set:
    """The sizes for which all constraints hold, as isl's parameters. Raises UnknownError where one is semi-affine."""
    return set_of(constraints, (), sizes).params()


def alternatives(points: Set, sizes: Sequence[Value]) -> Alternatives:
    """A set of parameters as constraints: those of one alternative hold in every point, in no other.

    Raises UnknownError where a parameter is none of sizes.

    >>> from affdsl.ir.types import INDEX
    >>> n, m = Value(INDEX, "N"), Value(INDEX, "M")
    >>> even = sizes_where([Constraint(n % 2, equality=True), Constraint(n - m - 1)], [n, m])
    >>> print(written(alternatives(even, [n, m])))
    N % 2 == 0 and N > M
    """
    found = []
    known = merged(points).compute_divs().remove_unknown_divs()
    if not known.is_equal(points):
        raise UnknownError("isl cannot say a condition on the sizes as divisions")
    for part in known.get_basic_sets():
        local = part.get_local_space()
        columns: Columns = {Dim.param: params_of(local, sizes)}
        columns = {**columns, Dim.div: quotients_of(divisions_of(local), columns)}
        constraints = []
        for row in part.get_constraints():
            total = linear_of(row, columns)
            constraint = Constraint(total, bool(row.is_equality()))
            if not (total.is_constant and constraint.holds({})):
                constraints.append(constraint)
        found.append(tuple(constraints))
    return tuple(found)


def opposite(points: Set, contract: Set, sizes: Sequence[Value]) -> Alternatives:
    """The sizes that a contract allows and that are not in a set: as a person would say it, alternatives may overlap.

    Raises UnknownError as `alternatives`.

    >>> from affdsl.ir.types import INDEX
    >>> n, m = Value(INDEX, "N"), Value(INDEX, "M")
    >>> natural = sizes_where([Constraint(Affine.of(n)), Constraint(Affine.of(m))], [n, m])
    >>> empty = sizes_where([Constraint(Affine.of(n), equality=True), Constraint(m - 1)], [n, m])
    >>> written(opposite(empty, natural, [n, m]))
    'N >= 1 or M == 0'
    """
    against = alternatives(points.gist(contract), sizes)
    if len(against) != 1:
        return alternatives(contract.subtract(points).gist(contract), sizes)
    negations = [Constraint(-c.expr - 1) for c in against[0]]
    negations += [Constraint(c.expr - 1) for c in against[0] if c.equality]
    order = {v: k for k, v in enumerate(sizes)}
    negations.sort(key=lambda c: min((order[v] for v in c.values()), default=0))
    found: list[tuple[Constraint, ...]] = []
    for negation in negations:
        part = sizes_where([negation], sizes).intersect(contract).detect_equalities().gist(contract)
        if not part.is_empty():
            found += alternatives(part, sizes)
    return tuple(found)


def holds(condition: Alternatives, sizes: Mapping[Value, int]) -> bool:
    """Whether a condition holds for these sizes.

    >>> from affdsl.ir.types import INDEX
    >>> n = Value(INDEX, "N")
    >>> holds(((Constraint(n - 2),), (Constraint(-n),)), {n: 1})
    False
    """
    return any(all(c.holds(sizes) for c in constraints) for constraints in condition)


def written(condition: Alternatives) -> str:
    """A condition as Python has it: `N >= 2 and M <= N`.

    >>> from affdsl.ir.types import INDEX
    >>> n, m = Value(INDEX, "N"), Value(INDEX, "M")
    >>> written(((Constraint(n - 2), Constraint(m - n * 2, equality=True)),))
    'N >= 2 and M == 2 * N'
    """
    if not condition:
        return "never"
    parts = [" and ".join(map(comparison, constraints)) or "always" for constraints in condition]
    return parts[0] if len(parts) == 1 else " or ".join(f"({part})" if " and " in part else part for part in parts)


def assumption(condition: Alternatives) -> str:
    """The call that states a condition in a kernel; "" where no conjunction says it.

    >>> from affdsl.ir.types import INDEX
    >>> assumption(((Constraint(Value(INDEX, "N") - 2),),))
    'affdsl.assume(N >= 2)'
    """
    if len(condition) != 1 or not condition[0]:
        return ""
    return f"affdsl.assume({', '.join(map(comparison, condition[0]))})"


def is_finite(points: Set, sizes: Sequence[Value]) -> bool:
    """Whether only finitely many values of some sizes occur in a set of parameters."""
    flat = without_others(points, sizes).from_params()
    return bool(flat.move_dims(Dim.set, 0, Dim.param, 0, flat.dim(Dim.param)).is_bounded())


def involved(points: Set, sizes: Sequence[Value]) -> tuple[Value, ...]:
    """The sizes of which a set of parameters says something, in order."""
    found = []
    for value in sizes:
        k = points.find_dim_by_name(Dim.param, name_of(value))
        if k >= 0 and points.involves_dims(Dim.param, k, 1):
            found.append(value)
    return tuple(found)


def in_python(expr: Affine) -> str:
    """An expression as a person writes it in a kernel.

    >>> from affdsl.ir.types import INDEX
    >>> i, p = Value(INDEX, "i"), Value(INDEX, "p")
    >>> in_python(i % p + i // 4)
    'i % p + i // 4'
    """
    return spell(expr).replace(" floordiv ", " // ").replace(" mod ", " % ")


def comparison(constraint: Constraint) -> str:
    """One constraint with what is added on the left and what is subtracted on the right.

    >>> from affdsl.ir.types import INDEX
    >>> n, m = Value(INDEX, "N"), Value(INDEX, "M")
    >>> comparison(Constraint(n - m - 1))
    'N > M'
    """
    expr, is_equality = constraint.expr, constraint.equality
    more, less, constant = Affine(), Affine(), expr.constant
    if any(isinstance(atom, FloorDiv) for atom, _ in expr.terms):
        rest = expr - constant
        sign = -1 if spell(rest).startswith("-") else 1
        operator = "==" if is_equality else ">=" if sign > 0 else "<="
        return f"{_python(rest * sign)} {operator} {-constant * sign}"
    for atom, c in expr.terms:
        if c > 0:
            more += Affine(((atom, c),))
        else:
            less += Affine(((atom, -c),))
    if not more.terms:
        return f"{_python(less)} {'==' if is_equality else '<='} {constant}"
    if constant == -1 and less.terms and not is_equality:
        return f"{_python(more)} > {_python(less)}"
    return f"{_python(more + max(constant, 0))} {'==' if is_equality else '>='} {_python(less - min(constant, 0))}"


def _python(expr: Affine) -> str:
    match expr.terms:
        case ((Value() as value, c),) if c > 1 and not expr.constant:
            return f"{c} * {value.hint}"
    return in_python(expr)
