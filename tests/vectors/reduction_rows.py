"""The reductions of the table: what a loop does, and what it is by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from tests.vectors.models import COMBINE, FLOATS, INTEGERS, TYPES, Lanes, Step, Type, best, in_lanes, in_order, neutral

_PREDICATES = {"f": ("ogt", "oge", "olt", "ole"), "i": ("sgt", "sge", "slt", "sle", "ugt", "uge", "ult", "ule")}
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
_SEVERAL = ("add", "min", "max")


@dataclass(frozen=True)
class One:
    """A number that a loop carries: the kind that combines it, what starts it in all lanes, and an iteration of it."""

    kind: str
    none: Any
    step: Step


@dataclass(frozen=True, eq=False)
class Row:
    """A reduction: the body of the loop, and what it gives.

    Attributes
    ----------
    body
        Operations on what is carried, %t0, %t1, ... and what is read, %a and %b; `{T}` is the type.
    types
        Those of what is carried.
    parts
        What is carried, each by itself; empty for the best number and its place, with this `predicate`.
    in_memory
        Whether the only number that is carried stands in an array instead.
    """

    name: str
    type: Type
    body: str
    yields: tuple[str, ...]
    types: tuple[Type, ...]
    parts: tuple[One, ...] = ()
    predicate: str = ""
    in_memory: bool = False

    def __str__(self) -> str:
        return f"{self.name} of {self.type.name}"

    @property
    def is_rounded(self) -> bool:
        """Whether another order gives another result."""
        return any(part.kind in ("addf", "mulf") for part in self.parts)

    def text(self, most: int, trips: int | None) -> str:
        """A function of two arrays, the starts, and the results by start and number of iterations."""
        size, element = len(self.starts()), self.type.name
        places = range(len(self.types))
        starts = [f"%X{k}: memref<{size}x{t.name}>" for k, t in enumerate(self.types)]
        results = [f"%R{k}: memref<{size}x{most + 1}x{t.name}>" for k, t in enumerate(self.types)]
        arrays = [f"%{array}: memref<{most}x{element}>" for array in "AB"]
        named = [t.name for t in self.types]
        begin = "\n".join(f"%x{k} = affine.load %X{k}[%s] : memref<{size}x{t}>" for k, t in enumerate(named))
        stores = [f", %R{k}[%s, %n] : memref<{size}x{most + 1}x{t}>" for k, t in enumerate(named)]
        end = "affine_map<(d0) -> (d0)>(%n)" if trips is None else f"{trips}"
        counts = f"0 to {most + 1}" if trips is None else f"{trips} to {trips + 1}"
        body = self.body.replace("{T}", element)
        if self.in_memory:
            (store,) = stores
            loop = f"affine.store %x0{store}\naffine.for %i = 0 to {end} {{\n%t0 = affine.load {store[2:]}"
            last, after = f"affine.store {self.yields[0]}{store}", ""
        else:
            carried = ", ".join(f"%t{k} = %x{k}" for k in places)
            loop = f"%r:{len(named)} = affine.for %i = 0 to {end} iter_args({carried}) -> ({', '.join(named)}) {{"
            last = f"affine.yield {', '.join(self.yields)} : {', '.join(named)}"
            after = "\n".join(f"affine.store %r#{k}{store}" for k, store in enumerate(stores))
        reads = "\n".join(f"%{a.lower()} = affine.load %{a}[%i] : memref<{most}x{element}>" for a in "AB")
        return (
            f"func.func @f({', '.join([*arrays, *starts, *results])}) {{\naffine.for %s = 0 to {size} {{\n"
            f"affine.for %n = {counts} {{\n{begin}\n{loop}\n{reads}\n{body}\n{last}\n}}\n{after}\n}}\n}}\nreturn\n}}"
        )

    def starts(self) -> list[tuple[Any, ...]]:
        """What the loop starts with: what changes nothing, and two others."""
        random = Random(f"start of {self}")
        if self.predicate:
            return [(number, -1) for number in _numbers(self.type, 3, random, special=False)]
        others = _numbers(self.type, 2 * len(self.parts), random, special=False)
        if self.types[0].name == "i1":
            return [(False,), (True,)]
        return [
            tuple(part.none for part in self.parts), tuple(others[: len(self.parts)]), tuple(others[len(self.parts) :])
        ]  # fmt: skip

    def numbers(self, most: int, *, special: bool) -> list[Lanes]:
        """What the arrays hold."""
        random = Random(f"{self} {special}")
        return [_numbers(self.type, most, random, special=special) for _ in "AB"]

    def model(
        self, start: Sequence[Any], arrays: Sequence[Lanes], counts: Iterable[int], width: int, tail: str, *,
        reassociate: bool,
    ) -> Iterator[tuple[int, list[Any]]]:  # fmt: skip
        """By number of iterations what the loop gives."""
        with np.errstate(all="ignore"):
            if self.predicate:
                found = [best(arrays[0][:n], self.predicate, arrays[0].dtype.type(start[0])) for n in counts]
                yield from zip(counts, map(list, found), strict=True)
                return
            columns = [
                self._in_lanes(k, start[k], arrays, counts, width, tail)
                if part.kind in ("addf", "mulf") and reassociate
                else self._in_order(k, start[k], arrays, counts)
                for k, part in enumerate(self.parts)
            ]
            yield from zip(counts, map(list, zip(*columns, strict=True)), strict=True)

    def _in_order(self, k: int, start: Any, arrays: Sequence[Lanes], counts: Iterable[int]) -> list[Any]:
        now = self.types[k].rounded(np.asarray([start], self.types[k].computed))
        prefixes = [now, *in_order(self.parts[k].step, now, *arrays)]
        return [prefixes[n][0] for n in counts]

    def _in_lanes(
        self, k: int, start: Any, arrays: Sequence[Lanes], counts: Iterable[int], width: int, tail: str
    ) -> list[Any]:
        part, type = self.parts[k], self.types[k]
        combine = COMBINE[part.kind]

        def rounded(x: Lanes, y: Lanes) -> Lanes:
            return type.rounded(combine(x, y))

        first = type.rounded(np.asarray([start], type.computed))
        a, b = arrays
        return [in_lanes(part.step, rounded, part.none, first, a[:n], b[:n], width, tail)[0] for n in counts]


def _numbers(type: Type, count: int, random: Random, *, special: bool) -> Lanes:
    if type.name == "i1":
        return np.array([random.random() < 0.5 for _ in range(count)])
    if not type.is_float:
        info = np.iinfo(type.stored)
        ranges = ((info.min, info.max), (-3, 3))
        return np.array([random.randint(*random.choice(ranges)) for _ in range(count)], type.computed)
    found = [
        random.choice((random.uniform(-2, 2), random.uniform(0.9, 1.1), float(random.randint(-2, 2))))
        for _ in range(count)
    ]
    if special:
        found = [random.choice((number, number, number, random.choice(_SPECIAL))) for number in found]
    return type.rounded(np.array(found, type.computed))


def _step(kind: str, type: Type, *, operands: str = "a") -> Step:
    """What is carried, combined with one or more of what is read."""
    combine = COMBINE[kind]

    def step(carried: Lanes, a: Lanes, b: Lanes) -> Lanes:
        for each in operands:
            carried = type.rounded(combine(carried, a if each == "a" else b))
        return carried

    return step


def _fma(type: Type) -> Step:
    """The product and the sum, rounded once."""
    narrow = type.computed.type

    def step(carried: Lanes, a: Lanes, b: Lanes) -> Lanes:
        found = a * b + carried
        for k in np.flatnonzero(np.isfinite(found)):
            exact = Fraction(float(a[k])) * Fraction(float(b[k])) + Fraction(float(carried[k]))
            found[k] = _nearest(exact, narrow) if exact else found[k]
        return found

    return step


def _nearest(exact: Fraction, type: Any) -> Any:
    """The float that is nearest to a number; of two that are as near the even one."""
    first = type(float(exact))
    around = (np.nextafter(first, type(-np.inf)), first, np.nextafter(first, type(np.inf)))
    bits = f"u{np.dtype(type).itemsize}"
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(np.asarray(x).view(bits)) & 1))


def _single(kind: str, type: Type, **changed: Any) -> Row:
    one = One(kind, neutral(kind, type), _step(kind, type))
    row = {"name": kind, "type": type, "body": f"%u = arith.{kind} %t0, %a : {{T}}", "yields": ("%u",)}
    return Row(**{**row, "types": (type,), "parts": (one,), **changed})


def _kinds(type: Type) -> list[str]:
    return [kind for kind in COMBINE if kind.endswith("f") == type.is_float]


def _rows() -> Iterator[Row]:
    for type in (*INTEGERS, *FLOATS):
        for kind in _kinds(type):
            yield _single(kind, type)
            yield _single(kind, type, name=f"{kind} in memory", in_memory=True)
            chain = f"%v = arith.{kind} %t0, %a : {{T}}\n%u = arith.{kind} %b, %v : {{T}}"
            two = One(kind, neutral(kind, type), _step(kind, type, operands="ab"))
            yield _single(kind, type, name=f"chain of {kind}", body=chain, parts=(two,))
        yield from _special(type)
    yield from _logical()


def _special(type: Type) -> Iterator[Row]:
    """Differences, sums under a condition, several at once, the best number with its place; sums of products."""
    letter = "f" if type.is_float else "i"
    add, none = COMBINE[f"add{letter}"], neutral(f"add{letter}", type)

    def minus(carried: Lanes, a: Lanes, b: Lanes) -> Lanes:
        return type.rounded(carried - a)

    def chosen(carried: Lanes, a: Lanes, b: Lanes) -> Lanes:
        return np.where(a < b, type.rounded(add(carried, a)), carried)

    difference, condition = One(f"add{letter}", none, minus), One(f"add{letter}", none, chosen)
    predicate = "olt" if type.is_float else "slt"
    compare = f"%c = arith.cmp{letter} {predicate}, %a, %b : {{T}}"
    yield _single(
        f"add{letter}", type, name="difference", body=f"%u = arith.sub{letter} %t0, %a : {{T}}", parts=(difference,)
    )
    branch = (
        f"scf.if %c -> ({{T}}) {{\n%v = arith.add{letter} %t0, %a : {{T}}\nscf.yield %v : {{T}}\n"
        "} else {\nscf.yield %t0 : {T}\n}"
    )
    yield _single(f"add{letter}", type, name="sum if", body=f"{compare}\n%u = {branch}", parts=(condition,))
    kinds = [
        f"{each}{'si' if each != 'add' else 'i'}" if letter == "i" else f"{each}{'imumf' if each != 'add' else 'f'}"
        for each in _SEVERAL
    ]
    yield Row(
        "several", type, "\n".join(f"%u{k} = arith.{kind} %t{k}, %a : {{T}}" for k, kind in enumerate(kinds)),
        ("%u0", "%u1", "%u2"), (type,) * 3, tuple(One(kind, neutral(kind, type), _step(kind, type)) for kind in kinds),
    )  # fmt: skip
    for each in _PREDICATES[letter]:
        body = (
            f"%c = arith.cmp{letter} {each}, %a, %t0 : {{T}}\n%u = arith.select %c, %a, %t0 : {{T}}\n"
            "%p = arith.select %c, %i, %t1 : index"
        )
        yield Row(f"best by {each}", type, body, ("%u", "%p"), (type, TYPES["index"]), predicate=each)
    if type.name in ("f32", "f64"):
        yield _single(
            "addf", type, name="fma", body="%u = math.fma %a, %b, %t0 : {T}", parts=(One("addf", none, _fma(type)),)
        )


def _logical() -> Iterator[Row]:
    """Whether any, or all, iterations find something."""
    boolean = Type("i1", np.dtype(np.bool_), np.dtype(np.bool_))
    combines: dict[str, Callable[..., Lanes]] = {
        "any by ori": np.logical_or,
        "all by andi": np.logical_and,
        "odd by xori": np.logical_xor,
    }
    for type, compare in ((TYPES["f32"], "cmpf olt"), (TYPES["i32"], "cmpi slt"), (TYPES["i8"], "cmpi slt")):
        for name, combine in combines.items():
            kind = name.split()[-1]

            def step(carried: Lanes, a: Lanes, b: Lanes, combine: Callable[..., Lanes] = combine) -> Lanes:
                return combine(carried, a < b)

            body = f"%c = arith.{compare}, %a, %b : {{T}}\n%u = arith.{kind} %t0, %c : i1"
            yield Row(name, type, body, ("%u",), (boolean,), (One(kind, kind == "andi", step),))


ROWS = tuple(_rows())
