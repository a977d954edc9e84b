"""Every operation that works lane by lane, on every type: as a table that is made of the dialects, and as programs.

A row is what an operation does to numbers. The same text is a loop over numbers, which says by the interpreter what is
right, and a loop over vectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from affdsl.errors import AffdslError
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.verifier import verify
from affdsl.ir.verifier.types import cast
from affdsl.mlir.readers import parse

DTYPES = {
    "i1": "?", "i7": "i1", "i8": "i1", "i16": "i2", "i24": "i4", "i32": "i4", "i40": "i8", "i64": "i8", "index": "i8",
    "f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8",
}  # fmt: skip
"""The types of lanes, and what NumPy has for them."""
FLOATS = tuple(type for type in DTYPES if "f" in type)
INTEGERS = tuple(type for type in DTYPES if type not in FLOATS)
VECTORS = 2
"""So many vectors each loop runs over."""
LOADED, ONE, SCALAR, SAME = "loaded", "one number for all lanes", "a number", "the first operand"
Form: TypeAlias = str | int | float
"""Where an operand comes from; a number is a constant."""


@dataclass(frozen=True)
class Row:
    """An operation, as text.

    $0, $1 and so on are its operands, %r is its result, and <t> stands for a type, of which vectors have vectors.
    """

    text: str
    types: tuple[str, ...]
    result: str
    forms: tuple[Form, ...]

    def function(self, lanes: int, *, vectors: bool) -> Func | None:
        """A loop over vectors of so many lanes, or over as many numbers; None where the rules forbid that."""
        count = VECTORS * lanes
        step, kind = (lanes, "vector_") if vectors else (1, "")
        before, body, names = list[str](), list[str](), list[str]()

        def type(of: str) -> str:
            return f"vector<{lanes}x{of}>" if vectors else of

        def memory(of: str) -> str:
            return f"memref<{count}x{of}>"

        def accessed(of: str) -> str:
            return f"{memory(of)}, {type(of)}" if vectors else memory(of)

        for k, (of, form) in enumerate(zip(self.types, self.forms, strict=True)):
            names.append(names[0] if form == SAME else f"%x{k}")
            if form == LOADED:
                body.append(f"%x{k} = affine.{kind}load %A{k}[%i] : {accessed(of)}")
            elif form in (ONE, SCALAR):
                name = f"%s{k}" if vectors and form == ONE else f"%x{k}"
                before.append(f"{name} = affine.load %A{k}[0] : {memory(of)}")
                if name[1] == "s":
                    before.append(f"%x{k} = vector.broadcast {name} : {of} to {type(of)}")
            elif not isinstance(form, str):
                shown = constant(form, of)
                shown = f"dense<{shown}> : {type(of)}" if vectors else shown + f" : {of}" * (of != "i1")
                before.append(f"%x{k} = arith.constant {shown}")
        text = re.sub(r"\$(\d)", lambda found: names[int(found[1])], self.text)
        body.append(re.sub(r"<(\w+)>", lambda found: type(found[1]), text))
        body.append(f"affine.{kind}store %r, %R[%i] : {accessed(self.result)}")
        arguments = [f"%A{k}: {memory(of)}" for k, of in enumerate(self.types)] + [f"%R: {memory(self.result)}"]
        head = f"func.func @f({', '.join(arguments)}) {{"
        loop = f"affine.for %i = 0 to {count} step {step} {{"
        return _verified("\n".join([head, *before, loop, *body, "}", "return", "}"]))

    def arrays(self, lanes: int, seed: int) -> list[np.ndarray[Any, Any]]:
        """What the loop reads, and what it writes."""
        given = [numbers(of, VECTORS * lanes, seed + k) for k, of in enumerate(self.types)]
        return [*given, np.zeros(VECTORS * lanes, DTYPES[self.result])]


def _verified(text: str) -> Func | None:
    try:
        module = parse(text)
        verify(module)
    except AffdslError:
        return None
    return module.functions[0]


def constant(number: float, type: str) -> str:
    """A number of a type in MLIR's text."""
    if type == "i1":
        return "true" if number else "false"
    return repr(float(number)) if type in FLOATS else str(number)


def bits(type: str) -> int:
    """The width of an integer."""
    return 64 if type == "index" else int(type[1:])


def ends(type: str) -> list[int]:
    """The least and the largest integer of a type."""
    top = 1 << bits(type) - 1
    return [0, 1] if type == "i1" else [-top, top - 1]


def numbers(type: str, count: int, seed: int) -> np.ndarray[Any, Any]:
    """Numbers in some order: those at the ends of what a type has and of what others have, and what is beside them."""
    random = np.random.default_rng(seed)
    if type in INTEGERS:
        least, largest = ends(type)
        near = [
            s * (1 << k) + d for k in (0, 1, 6, 7, 8, 15, 16, 23, 31, 32, 53, 63) for s in (-1, 1) for d in (-1, 0, 1)
        ]
        found = np.array([n for n in [least, largest, *near] if least <= n <= largest], DTYPES[type])
        return np.resize(random.permutation(found), count)
    powers = [s * 2.0**k for k in (0, 7, 8, 15, 16, 31, 32, 63, 64) for s in (-1, 1)]
    beside = [float(np.nextafter(x, y)) for x in powers for y in (-np.inf, np.inf)]
    odd = [0.0, -0.0, 0.5, -0.99, 2.5, 255.9, 1e-40, 65504.0, 65520.0, 1e30, -1e30, np.inf, -np.inf, np.nan]
    found = np.resize(random.permutation(np.array([*powers, *beside, *odd])), count)
    with np.errstate(all="ignore"):
        short = found.astype("f4")
        return (short.view("u4") >> 16).astype("u2") if type == "bf16" else found.astype(DTYPES[type])


def as_floats(array: np.ndarray[Any, Any], type: str) -> np.ndarray[Any, Any]:
    """Numbers that NumPy has no type for as such of a wider type."""
    return (array.astype("u4") << 16).view("f4") if type == "bf16" else array


@cache
def conversions() -> tuple[Row, ...]:
    """Every conversion between every two types that the rules allow, rounded in every way that there is."""
    return tuple(_conversions())


def _conversions() -> Iterator[Row]:
    values = {str(value.type): value for value in _one_of_each()}
    for kind, source, target in product(arith.CASTS, DTYPES, DTYPES):
        if any(cast(arith.Cast(values[target], kind, values[source]))):
            continue
        for mode in ("", *arith.ROUNDING) if kind == "truncf" else ("",):
            yield Row(f"%r = arith.{kind} $0 {mode} : <{source}> to <{target}>", (source,), target, (LOADED,))


def _one_of_each() -> tuple[Value, ...]:
    """A value of each type."""
    return parse(f"func.func private @f({', '.join(DTYPES)})").functions[0].args


@cache
def operations() -> tuple[Row, ...]:
    """Every other operation on every type, of vectors, of numbers that are the same in all lanes, and of constants.

    The rules forbid some of them.
    """
    return tuple(_operations())


def _pairs(type: str) -> Iterator[tuple[Form, Form]]:
    """Where two operands come from."""
    known: Sequence[float] = (0.0, -0.0, 1.0, -2.5) if type in FLOATS else (0, 1, 2, 3, bits(type) - 1, -1, *ends(type))
    yield from ((LOADED, LOADED), (LOADED, SAME), (LOADED, ONE), (ONE, LOADED))
    for number in dict.fromkeys(known):
        if type in FLOATS or ends(type)[0] <= number <= ends(type)[1]:
            yield from ((LOADED, number), (number, LOADED))


def _operations() -> Iterator[Row]:
    for type in DTYPES:
        is_float = type in FLOATS
        pairs = [*_pairs(type)]
        for kind in arith.FLOAT_BINARY if is_float else arith.INTEGER_BINARY:
            yield from (Row(f"%r = arith.{kind} $0, $1 : <{type}>", (type,) * 2, type, pair) for pair in pairs)
        for predicate in arith.FLOAT_PREDICATES if is_float else arith.INTEGER_PREDICATES:
            compared = f"= arith.cmp{'f' if is_float else 'i'} {predicate}, $0, $1 : <{type}>"
            chosen = f"%c {compared}\n%r = arith.select %c, $0, $1 : <i1>, <{type}>"
            for pair in pairs:
                yield Row(f"%r {compared}", (type,) * 2, "i1", pair)
                yield Row(chosen, (type,) * 2, type, pair)
        for kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS) if is_float else math.INTEGER_UNARY:
            yield Row(f"%r = math.{kind} $0 : <{type}>", (type,), "i1" if kind in math.FLOAT_TESTS else type, (LOADED,))
        if is_float:
            yield Row(f"%r = arith.negf $0 : <{type}>", (type,), type, (LOADED,))
            for kind in math.FLOAT_BINARY:
                yield from (Row(f"%r = math.{kind} $0, $1 : <{type}>", (type,) * 2, type, pair) for pair in pairs[:4])
            for forms in ((LOADED, LOADED, LOADED), (LOADED, ONE, LOADED), (LOADED, LOADED, 2.0)):
                yield Row(f"%r = math.fma $0, $1, $2 : <{type}>", (type,) * 3, type, forms)
        for forms in product((LOADED, ONE, SCALAR, 1), (LOADED, ONE), (LOADED, ONE, 0)):
            condition = "i1" if forms[0] == SCALAR else "<i1>"
            text = f"%r = arith.select $0, $1, $2 : {condition}, <{type}>"
            yield Row(text.replace(": i1, ", ": "), ("i1", type, type), type, forms)
    yield from _masks()


def _masks() -> Iterator[Row]:
    """Masks of what is compared in lanes of one width, for lanes of another one."""
    for source, target in product(DTYPES, DTYPES):
        less = f"arith.cmp{'f olt' if source in FLOATS else 'i ult'}, $0, $1 : <{source}>"
        other = f"arith.cmp{'f uge' if target in FLOATS else 'i sge'}, $2, $3 : <{target}>"
        types = (source, source, target, target)
        chosen = f"arith.select %m, $2, $3 : <i1>, <{target}>"
        yield Row(f"%m = {less}\n%r = {chosen}", types, target, (LOADED,) * 4)
        yield Row(
            f"%a = {less}\n%b = {other}\n%m = arith.xori %a, %b : <i1>\n%r = {chosen}", types, target, (LOADED,) * 4
        )
        for predicate in arith.INTEGER_PREDICATES if (source, target) in (("i8", "f64"), ("f64", "i32")) else ():
            of_masks = f"%a = {less}\n%b = {other}\n%m = arith.cmpi {predicate}, %a, %b : <i1>"
            yield Row(f"{of_masks}\n%r = {chosen}", types, target, (LOADED,) * 4)
        for kind in arith.CASTS:
            cast = f"arith.{kind} %m : <i1> to <{target}>"
            yield Row(f"%m = {less}\n%r = {cast}", (source, source), target, (LOADED, LOADED))
