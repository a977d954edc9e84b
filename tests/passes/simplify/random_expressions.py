"""Random affine expressions, conditions and bounds in random loop nests, simplified and compared point by point.

    python -m tests.passes.simplify.random_expressions --count 100000 --seed 1

Each case is a path through a program (a contract, loops with steps and several bounds, conditions, values defined by
affine.apply, min and max) and something to simplify at its end. The judge computes with Python's integers from the
tree that the expression was built from, at points that the path itself can reach: the first and last iterations, some
in between, and sizes up to the ends of 64 bits.
"""

import random
import sys
from collections import Counter
from dataclasses import dataclass

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import INDEX
from affdsl.passes.analysis import polyhedral
from affdsl.passes.simplify import NEVER, domain_of, simplify, simplify_bounds, simplify_constraints
from tests.harness.command import parser

INDEX_MIN, INDEX_MAX = -(1 << 63), (1 << 63) - 1
POINTS = 20
PROGRAMS = 12
SIZES = (-9, -1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 24, 31, 64, 100, 1 << 31, (1 << 62) + 1, INDEX_MAX, INDEX_MIN)
DIVISORS = (1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16, 32, 64, 100)
FACTORS = (-32, -8, -7, -4, -3, -2, -1, -1, 2, 3, 4, 5, 8, 16, 24, 64)
CONSTANTS = (-65, -16, -9, -8, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 31, 63, 64, 200)


class WrongError(AssertionError):
    """Something was simplified to what it is not."""


@dataclass
class Program:
    """A path, and the values that are in scope at its end."""

    path: list[Op]
    symbols: list[Value]
    dims: list[Value]

    @property
    def values(self):
        return self.symbols + self.dims


def tree(rng, program, depth, semi):
    """(operator, left, right), a value or a number."""
    values = program.values
    if depth == 0 or rng.random() < 0.12:
        return rng.choice(values) if values and rng.random() < 0.8 else rng.choice(CONSTANTS)
    kind = rng.choice("++++--***////%%%cc")
    left = tree(rng, program, depth - 1, semi)
    if kind in "+-":
        return kind, left, tree(rng, program, depth - 1, semi)
    if semi and program.symbols and rng.random() < 0.3:
        return kind, left, rng.choice(program.symbols)
    return kind, left, rng.choice(FACTORS if kind == "*" else DIVISORS)


def blocked(rng, program):
    """What tiling and flattening leave behind: (a*x + b*y + c) divided by something that nearly fits."""
    values = program.values or [3]
    size, inner = rng.choice((2, 4, 8, 16, 32, 64)), rng.choice((1, 2, 4, 8))
    sum_ = ("+", ("*", rng.choice(values), size * inner), ("*", rng.choice(values), rng.choice((1, -1, inner))))
    sum_ = ("+", sum_, rng.choice((0, 0, 1, -1, size - 1, 3)))
    return (rng.choice("//%c"), sum_, size * rng.choice((1, inner)))


def flattened(rng, program):
    """The same with a symbol for a size."""
    if not program.symbols:
        return blocked(rng, program)
    size, values = rng.choice(program.symbols), program.values
    sum_ = ("+", ("*", rng.choice(values), size), ("+", rng.choice(values), rng.choice((0, 0, 0, 1, -1))))
    return (rng.choice("/%c"), sum_, size)


def build(node):
    """The tree as an expression."""
    match node:
        case int() | Value():
            return Affine.of(node)
        case ("+", a, b):
            return build(a) + build(b)
        case ("-", a, b):
            return build(a) - build(b)
        case ("*", a, b):
            return build(a) * build(b)
        case ("/", a, b):
            return build(a) // build(b)
        case ("%", a, b):
            return build(a) % build(b)
        case ("c", a, b):
            return build(a).ceildiv(build(b))


def compute(node, env):
    """The integer that the tree stands for; ZeroDivisionError where a divisor is not positive."""
    match node:
        case int():
            return node
        case Value():
            return env[node]
        case (kind, a, b):
            x, y = compute(a, env), compute(b, env)
            if kind in "/%c" and y <= 0:
                raise ZeroDivisionError
            return {"+": x + y, "-": x - y, "*": x * y}[kind] if kind in "+-*" else divide(kind, x, y)


def divide(kind, x, y):
    return {"/": x // y, "%": x % y, "c": -(-x // y)}[kind]


def program_of(rng):
    """A random path."""
    names = iter("ijkpqrst")
    symbols = [Value(INDEX, name) for name in ("n", "m")[: rng.choice((0, 1, 1, 2))]]
    program = Program([], symbols, [])
    steps = [rng.choice((add_loop, add_loop, add_band, add_condition, add_value)) for _ in range(rng.randint(1, 4))]
    ops = []
    for step in steps:
        step(rng, program, ops, names)
    ops.append(("leaf", affine.Apply(Value(INDEX), Affine())))
    program.path = nested(ops, func.Func("f", tuple(symbols), (), assumes=tuple(assumptions(rng, symbols))))
    return program


def assumptions(rng, symbols):
    for s in symbols:
        kind = rng.randrange(6)
        if kind <= 2:
            yield Constraint(s - rng.choice((0, 1, 1, 2, 8, -3)))
        if kind in (1, 3):
            yield Constraint(rng.choice((4, 9, 64, 1 << 40)) - s)
        if kind == 4:
            yield Constraint(s % rng.choice((2, 4, 8, 6)) - rng.choice((0, 0, 1)), equality=True)
    if len(symbols) == 2 and rng.random() < 0.4:
        yield Constraint(symbols[0] - symbols[1] * rng.choice((1, 2, 4)), equality=rng.random() < 0.3)


def bound(rng, program, low):
    kind = rng.randrange(7)
    if kind <= 2 or not program.values:
        return Affine.of(rng.choice((0, 0, 0, 1, 3, -4, 8) if low else (1, 2, 4, 8, 8, 10, 16, 64, 65)))
    value = rng.choice(program.values)
    if kind <= 4:
        return value + rng.choice((0, 0, 1, -1, 8, 4) if not low else (0, 0, 1, -3))
    if kind == 5:
        return value * rng.choice((2, 4, 8, -1)) + rng.choice(CONSTANTS)
    return build((rng.choice("/%c"), ("+", value, rng.choice((0, 3))), rng.choice((2, 4, 8))))


def bounds(rng, program, low):
    return tuple(bound(rng, program, low) for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3))))


def step_of(rng):
    return rng.choice((1, 1, 1, 2, 3, 4, 8, 32))


def add_loop(rng, program, ops, names):
    iv = Value(INDEX, next(names))
    ops.append(("loop", affine.For(iv, bounds(rng, program, True), bounds(rng, program, False), (), step_of(rng))))
    program.dims.append(iv)


def add_band(rng, program, ops, names):
    ivs = (Value(INDEX, next(names)), Value(INDEX, next(names)))
    lower, upper = (tuple(bounds(rng, program, low) for _ in ivs) for low in (True, False))
    ops.append(("loop", affine.Parallel(ivs, lower, upper, tuple(step_of(rng) for _ in ivs), ())))
    program.dims.extend(ivs)


def add_condition(rng, program, ops, names):
    condition = tuple(build_constraint(c) for c in constraints(rng, program, rng.choice((1, 1, 2))))
    ops.append((rng.choice(("then", "then", "orelse")), affine.If(condition, ())))


def add_value(rng, program, ops, names):
    result = Value(INDEX, next(names))
    exprs = tuple(build(tree(rng, program, rng.choice((1, 2)), False)) for _ in range(rng.choice((1, 2, 3))))
    op = affine.Apply(result, exprs[0]) if len(exprs) == 1 else rng.choice((affine.Min, affine.Max))(result, exprs)
    ops.append(("value", op))
    program.dims.append(result)


def nested(ops, function):
    """The path through the operations, each in the block of the one before; values stand before what follows them."""
    block, path = (), []
    for role, op in reversed(ops):
        match role:
            case "leaf":
                block, path = (op,), [op]
            case "value":
                block = (op, *block)
            case "loop":
                new = type(op)(**{**vars(op), "body": block})
                block, path = (new,), [new, *path]
            case _:
                new = affine.If(op.condition, block if role == "then" else (), block if role == "orelse" else ())
                block, path = (new,), [new, *path]
    return [func.Func("f", function.args, block, assumes=function.assumes), *path]


def constraints(rng, program, count):
    """Trees of constraints, with whether they are equalities."""
    result = []
    for _ in range(count):
        node = tree(rng, program, rng.choice((1, 2, 2, 3)), False)
        if rng.random() < 0.4:
            node = ("+", node, rng.choice(CONSTANTS))
        result.append((node, rng.random() < 0.2))
        if rng.random() < 0.2:  # one of the same or opposite form
            result.append((("+", ("*", node, rng.choice((1, -1, 2))), rng.choice(CONSTANTS)), rng.random() < 0.3))
    return result


def build_constraint(part):
    return Constraint(build(part[0]), part[1])


def point(rng, program):
    """Values that the path can reach, or None where this attempt does not get to its end."""
    function, *inner = program.path
    env = {s: rng.choice(SIZES) if rng.random() < 0.7 else rng.randint(-20, 80) for s in program.symbols}
    if not all(fact.holds(env) for fact in function.assumes):
        return None
    block = function.body
    for op in inner:
        for other in block:
            if other is op:
                break
            if not define(other, env):
                return None
        match op:
            case affine.For():
                loops, block = [(op.iv, op.lower, op.upper, op.step)], op.body
            case affine.Parallel():
                loops, block = list(zip(op.ivs, op.lower, op.upper, op.steps, strict=True)), op.body
            case affine.If():
                loops = []
                holds = all(c.holds(env) for c in op.condition)
                if holds != bool(op.then):
                    return None
                block = op.then or op.orelse
            case _:
                return env
        chosen = {}
        for iv, lower, upper, step in loops:
            runs = range(max(e.evaluate(env) for e in lower), min(e.evaluate(env) for e in upper), step)
            if not runs:
                return None
            last = (runs.stop - runs.start - 1) // step
            chosen[iv] = runs.start + step * rng.choice((0, last, rng.randint(0, last)))
            if not INDEX_MIN <= chosen[iv] <= INDEX_MAX:
                return None
        env |= chosen
    raise AssertionError("the path has no end")


def define(op, env):
    """Compute a value of the path; False where it does not fit into an index."""
    match op:
        case affine.Apply():
            number = op.expr.evaluate(env)
        case affine.Min():
            number = min(e.evaluate(env) for e in op.exprs)
        case affine.Max():
            number = max(e.evaluate(env) for e in op.exprs)
    env[op.result] = number
    return INDEX_MIN <= number <= INDEX_MAX


def points(rng, program):
    tried = (point(rng, program) for _ in range(POINTS))
    return [env for env in tried if env is not None]


def check_expression(rng, program, context, envs, seen):
    node = rng.choice((tree, blocked, flattened, tree))
    if node is tree:
        node = tree(rng, program, rng.choice((2, 3, 3, 4, 5)), rng.random() < 0.25)
    else:
        node = node(rng, program)
    expr = build(node)
    simple = simplify(expr, context)
    what = f"{spell(expr)} -> {spell(simple)}"
    if simplify(simple, context) != simple:
        raise WrongError(f"{what} -> {spell(simplify(simple, context))} is no fixed point")
    if not set(simple.values()) <= set(expr.values()):
        raise WrongError(f"{what} reads more values")
    for env in envs:
        number = attempt(node, env)
        if number is None:
            continue
        if simple.evaluate(env) != number:
            raise WrongError(f"{what} at {env}: {number}, not {simple.evaluate(env)}")
        if larger := overgrown(expr, simple, env):
            raise WrongError(f"{what} at {env} divides {larger}, larger than what was divided before")
    if simple != expr:
        seen["expressions simplified"] += 1
        proved = polyhedral.equal_everywhere(expr, simple, context.relevant([expr]))
        if proved is False:
            raise WrongError(f"{what} is not equal everywhere, says isl")
        seen["of these proved by isl"] += proved is True


def check_constraints(rng, program, context, envs, seen):
    parts = constraints(rng, program, rng.choice((1, 2, 2, 3, 4)))
    given = tuple(map(build_constraint, parts))
    simple = simplify_constraints(given, context)
    what = f"{shown(given)} -> {shown(simple)}"
    if simplify_constraints(simple, context) != simple:
        raise WrongError(f"{what} -> {shown(simplify_constraints(simple, context))} is no fixed point")
    if len(simple) > len(given):
        raise WrongError(f"{what} is longer")
    for env in envs:
        numbers = [(attempt(node, env), equality) for node, equality in parts]
        if any(n is None for n, _ in numbers):
            continue
        holds = all(n == 0 if equality else n >= 0 for n, equality in numbers)
        if holds != all(c.holds(env) for c in simple):
            raise WrongError(f"{what} at {env}: {holds}")
        seen["points where a condition holds"] += holds
    seen["conditions simplified"] += simple != given
    seen["conditions that never hold"] += simple == NEVER


def check_bounds(rng, program, context, envs, seen):
    kind = rng.choice(("min", "max"))
    nodes = [tree(rng, program, rng.choice((0, 1, 1, 2)), False) for _ in range(rng.randint(2, 4))]
    if rng.random() < 0.5:
        nodes.append(("+", rng.choice(nodes), rng.choice(CONSTANTS)))
    given = tuple(map(build, nodes))
    simple = simplify_bounds(given, kind, context)
    what = f"{kind}({', '.join(map(spell, given))}) -> ({', '.join(map(spell, simple))})"
    if simplify_bounds(simple, kind, context) != simple:
        raise WrongError(f"{what} is no fixed point")
    if not 1 <= len(simple) <= len(given):
        raise WrongError(f"{what} has a wrong length")
    choose = min if kind == "min" else max
    for env in envs:
        numbers = [attempt(node, env) for node in nodes]
        if None not in numbers and choose(numbers) != choose(e.evaluate(env) for e in simple):
            raise WrongError(f"{what} at {env}")
    seen["bounds simplified"] += simple != given


def attempt(node, env):
    """The number of a tree, or None where it divides by what is not positive."""
    try:
        return compute(node, env)
    except ZeroDivisionError:
        return None


def overgrown(before, after, env):
    """A number that `after` divides and that is larger than the parts of what `before` divides, or None.

    Constructors of expressions keep the constant of a dividend between 0 and the divisor, so that much is allowed.
    """
    most = max((size for size, _, _ in dividends(before, env)), default=0)
    return next((n for _, n, divisor in dividends(after, env) if abs(n) > most + divisor), None)


def dividends(expr, env):
    """For each division: the sum of the magnitudes of the dividend's parts, the dividend, the divisor."""
    for atom, _ in expr.terms:
        yield from divided(atom, env)


def divided(atom, env):
    match atom:
        case Product(factors):
            for factor in factors:
                yield from divided(factor, env)
        case FloorDiv(dividend, divisor):
            yield from dividends(dividend, env)
            yield from dividends(Affine.of(divisor), env)
            parts = [abs(c * Affine.of(a).evaluate(env)) for a, c in dividend.terms]
            yield sum(parts, abs(dividend.constant)), dividend.evaluate(env), Affine.of(divisor).evaluate(env)


def shown(condition):
    return f"({', '.join(map(spell_constraint, condition))})"


def check(seed, seen):
    """One case. Raises WrongError, naming the program."""
    rng = random.Random(seed)
    for _ in range(PROGRAMS):  # most random paths lead nowhere; a few of those are enough
        program = program_of(rng)
        envs = points(rng, program)
        if len(envs) > 2 or rng.random() < 0.05:
            break
    context = domain_of(program.path)
    seen["cases"] += 1
    seen["points"] += len(envs)
    seen["cases without a point"] += not envs
    for env in envs:
        wrong = [f for f in context.facts if not f.holds(env)]
        if wrong:
            raise WrongError(f"seed {seed}: the path reaches {env}, where the domain says {shown(wrong)}")
    try:
        rng.choice((check_expression,) * 4 + (check_constraints, check_bounds))(rng, program, context, envs, seen)
    except WrongError as wrong:
        raise WrongError(f"seed {seed}: {wrong}\nwhere {shown(context.facts)}") from None


def main():
    options = parser("tests.passes.simplify.random_expressions", __doc__, 1000).parse_args()
    seen, failed = Counter(), 0
    for case in range(options.count):
        try:
            check(options.seed * 1_000_000_007 + case, seen)
        except WrongError as wrong:
            failed += 1
            print(wrong, file=sys.stderr)
    print(", ".join(f"{number} {what}" for what, number in seen.items()) + f", {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
