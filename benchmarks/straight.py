"""Programs of n parts that follow each other, or stand in each other, as MLIR text: each doubles with n."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

ARRAY = "memref<100000xf64>"
HEAD = f"%A: {ARRAY}, %x: f64, %n: index"
STORE = f"affine.store %x, %A[%i] : {ARRAY}"


@dataclass(frozen=True)
class Program:
    """A program by its size, with the smallest size that is worth a measurement."""

    text: Callable[[int], str]
    start: int


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
    "nest": Program(_nest, 8),
}
