"""Programs of n parts that follow each other, or stand in each other, as MLIR text, by n."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from affdsl.ir.dialects.vector import MOST_LANES
from affdsl.ir.nesting import DEEPEST

ARRAY = "memref<100000xf64>"
HEAD = f"%A: {ARRAY}, %x: f64, %n: index"
STORE = f"affine.store %x, %A[%i] : {ARRAY}"


@dataclass(frozen=True)
class Program:
    """A program by its size, with the smallest size that is worth a measurement, and the largest one."""

    text: Callable[[int], str]
    start: int
    most: int | None = None
    """The largest size that there is, where there is one."""


def _function(lines: Iterable[str], name: str = "f") -> str:
    return "\n".join((f"func.func @{name}({HEAD}) {{", *lines, "return }\n"))


def _each(line: str) -> Callable[[int], str]:
    """A function of n such lines, in which $ is the number of the line, $1 the next one, and $2 twice the number."""
    return lambda n: _function(_numbered(line, k) for k in range(1, n + 1))


def _numbered(line: str, k: int) -> str:
    return line.replace("$1", str(k + 1)).replace("$0", str(k - 1)).replace("$2", str(2 * k)).replace("$", str(k))


def _chain(first: str, line: str, last: str) -> Callable[[int], str]:
    """A function of n lines each of which reads what the one before gives."""
    return lambda n: _function((first, *(_numbered(line, k) for k in range(1, n)), last.replace("$", str(n - 1))))


def _in_a_loop(line: str) -> Callable[[int], str]:
    return lambda n: _function(("affine.for %i = 0 to 1000 {", *(_numbered(line, k) for k in range(n)), "}"))


def _functions(n: int) -> str:
    return "".join(_function((f"affine.for %i = 0 to %n {{ {STORE} }}",), f"f{k}") for k in range(n))


def _nest(n: int) -> str:
    loops = (f"affine.for %i{k} = 0 to %n {{" for k in range(n))
    return _function((*loops, f"affine.store %x, %A[%i{n - 1}] : {ARRAY}", "}" * n))


def _nest_of_quotients(n: int) -> str:
    loops = (f"affine.for %i{k} = 0 to %n {{" for k in range(n))
    index = ", ".join(f"%i{k} mod 2, %i{k} floordiv 2" for k in range(n))
    array = f"memref<{'?x' * (2 * n)}f64>"
    inside = (f"%v = affine.load %B[{index}] : {array}", f"affine.store %v, %C[{index}] : {array}")
    return _function((*loops, *inside, "}" * n)).replace(HEAD, f"{HEAD}, %B: {array}, %C: {array}")


def _choice(n: int) -> str:
    """One of n + 1 cases: each further one stands in the other branch of the one before."""
    cases = (
        f"affine.if affine_set<(d0) : (d0 - {k} == 0)>(%i) {{ affine.store %x, %A[{k}] : {ARRAY} }} else {{"
        for k in range(n)
    )
    return _function(("affine.for %i = 0 to 1000 {", *cases, STORE, "}" * (n + 1)))


def _results(n: int) -> str:
    """The smallest of n numbers, and a loop that ends at the smallest of n."""
    exprs = ", ".join(f"d0 * {k + 1} + {k}" for k in range(n))
    least = f"%m = affine.min affine_map<(d0) -> ({exprs})>(%n)"
    loop = f"affine.for %i = 0 to min affine_map<(d0) -> ({exprs})>(%n) {{ {STORE} }}"
    return _function((least, loop, f"affine.store %x, %A[symbol(%m)] : {ARRAY}"))


def _carried(n: int) -> str:
    """A loop that carries n numbers, each of which is the next one an iteration later."""
    inits, types = ", ".join(f"%a{k} = %x" for k in range(n)), ", ".join(["f64"] * n)
    rotated = ", ".join(f"%a{(k + 1) % n}" for k in range(n))
    loop = f"%r:{n} = affine.for %i = 0 to %n iter_args({inits}) -> ({types}) {{ affine.yield {rotated} : {types} }}"
    return _function((loop, f"affine.store %r#0, %A[0] : {ARRAY}"))


def _lanes(n: int) -> str:
    type = f"{ARRAY}, vector<{n}xf64>"
    load, store = f"%v = affine.vector_load %A[%i] : {type}", f"affine.vector_store %w, %A[%i] : {type}"
    return _function(("affine.for %i = 0 to 1000 {", load, f"%w = arith.addf %v, %v : vector<{n}xf64>", store, "}"))


def _nested(step: str) -> Callable[[int], str]:
    """A subscript with a step around itself n times: e is what is inside, k a small number, m a large one, all new."""

    def text(n: int) -> str:
        expr = "%i"
        for k in range(n):
            expr = step.format(e=expr, k=k % 5 + 2, m=997 - k)
        load = f"%v = affine.load %A[{expr}] : {ARRAY}"
        return _function(("affine.for %i = 0 to %n {", load, f"affine.store %v, %A[%i] : {ARRAY}", "}"))

    return text


def _applied_in_a_loop(expr: str) -> Callable[[int], str]:
    """n affine.apply of an expression that read each other, the first of them the counter of a loop."""

    def text(n: int) -> str:
        lines = (f"%v{k} = affine.apply affine_map<(d0) -> ({expr})>(%v{k - 1})" for k in range(1, n + 1))
        use = f"affine.store %x, %A[%v{n}] : {ARRAY}"
        return _function(
            ("affine.for %v0 = 0 to %n {", *(_numbered(line, k) for k, line in enumerate(lines)), use, "}")
        )

    return text


def _splat(n: int) -> str:
    """A constant of n * n numbers that are all the same."""
    type = f"memref<{n}x{n}xf64>"
    return f'memref.global "private" constant @g : {type} = dense<1.0>\n' + _function(
        (
            f"%g = memref.get_global @g : {type}",
            f"%v = affine.load %g[0, 0] : {type}",
            f"affine.store %v, %A[0] : {ARRAY}",
        )
    )


PROGRAMS: Mapping[str, Program] = {
    "constants": Program(_each("%c$ = arith.constant $.0 : f64"), 1000),
    "stores": Program(_each(f"%c$ = arith.constant $.0 : f64\naffine.store %c$, %A[$] : {ARRAY}"), 250),
    "one element": Program(_each(f"%c$ = arith.constant $.0 : f64\naffine.store %c$, %A[0] : {ARRAY}"), 250),
    "symbolic": Program(
        _each(f"%c$ = affine.load %A[symbol(%n) + $] : {ARRAY}\naffine.store %c$, %A[symbol(%n) + $1] : {ARRAY}"), 50
    ),
    "copies": Program(_each(f"%c$ = affine.load %A[$] : {ARRAY}\naffine.store %c$, %A[$1] : {ARRAY}"), 100),
    "sum of floats": Program(
        _chain(
            "%v0 = arith.addf %x, %x : f64", "%v$ = arith.addf %v$0, %x : f64", f"affine.store %v$, %A[0] : {ARRAY}"
        ),
        500,
    ),
    "sum of indices": Program(
        _chain(
            "%v0 = arith.addi %n, %n : index",
            "%v$ = arith.addi %v$0, %n : index",
            f"memref.store %x, %A[%v$] : {ARRAY}",
        ),
        250,
    ),
    "applied": Program(
        _chain(
            "%v0 = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%n)",
            "%v$ = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 1)>(%v$0, %n)",
            f"memref.store %x, %A[%v$] : {ARRAY}",
        ),
        50,
    ),
    "loops": Program(_each(f"affine.for %i = 0 to %n {{ {STORE} }}"), 25),
    "conditions": Program(
        _each(
            f"affine.if affine_set<()[s0] : (s0 - $ >= 0)>()[%n] {{ affine.store %x, %A[$] : {ARRAY} }}",
        ),
        50,
    ),
    "one loop": Program(
        _in_a_loop(
            f"%c$ = affine.load %A[%i + $] : {ARRAY}\n%d$ = arith.addf %c$, %x : f64\n"
            f"affine.store %d$, %A[%i + $2] : {ARRAY}"
        ),
        10,
    ),
    "functions": Program(_functions, 25),
    "loops alike": Program(_each(f"affine.for %i = 0 to %n {{ %v = affine.load %A[%i + 1] : {ARRAY}\n{STORE} }}"), 25),
    "nest": Program(_nest, 8, DEEPEST),
    "quotients": Program(_nest_of_quotients, 4, DEEPEST),
    "choice": Program(_choice, 8, DEEPEST - 1),
    "results": Program(_results, 250),
    "carried": Program(_carried, 100),
    "lanes": Program(_lanes, 512, MOST_LANES),
    "floordiv of sums": Program(_nested("({e} floordiv {k} + %i mod {k})"), 4),
    "mod of mod": Program(_nested("({e} + {k}) mod {m}"), 4),
    "ceildiv": Program(_nested("({e} + %i) ceildiv {k}"), 4),
    "mod by a size": Program(_nested("({e} + {k}) mod symbol(%n)"), 4),
    "applied sums": Program(_applied_in_a_loop("d0 + d0 floordiv 3 + 1"), 10),
    "applied mods": Program(_applied_in_a_loop("(d0 + $) mod 1$7"), 10),
    "splat": Program(_splat, 1000),
}
