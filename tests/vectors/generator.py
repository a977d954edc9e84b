"""Random loops that vectorizers like: unit and other strides, reductions, conditions, casts, mostly no recurrences.

A program is text of MLIR with the arguments of its runs. Every array has exactly the elements that its accesses need,
so that whatever else is touched is outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import MemRefType
from tests.harness.reading import function

ELEMENTS = ("f32", "f32", "f64", "f64", "i32", "i32", "i64", "i8", "i16")
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f32": 32, "f64": 64}
FLOATS = ("addf", "addf", "subf", "mulf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf", "divf")
INTEGERS = ("addi", "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
REDUCED = {
    "f": ("addf", "addf", "mulf", "maximumf", "minimumf", "maxnumf"),
    "i": ("addi", "addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"),
}
GATHERED = 5
"""Elements of an array that is read at places that are data."""
RUNS = 3


@dataclass(frozen=True)
class Index:
    """A subscript: numbers times induction variables and sizes, and a constant."""

    terms: Mapping[str, int]
    constant: int = 0

    def at(self, known: Mapping[str, int]) -> int:
        """What it is where the names are known."""
        return sum(number * known[name] for name, number in self.terms.items()) + self.constant

    def __str__(self) -> str:
        parts = [f"{self._name(name)} * {number}" for name, number in self.terms.items() if number]
        return " + ".join([*parts, str(self.constant)])

    @staticmethod
    def _name(name: str) -> str:
        return f"symbol(%{name})" if name in "nm" else f"%{name}"


@dataclass
class Array:
    """An array, and its sizes in each run, which grow with its accesses."""

    name: str
    element: str
    rank: int
    sizes: list[list[int]]

    @property
    def type(self) -> str:
        return f"memref<{'?x' * self.rank}{self.element}>"


@dataclass
class Loop:
    """A loop: its bounds as text, and the numbers that it counts where the ones around it are known."""

    iv: str
    text: str
    lower: tuple[Index, ...]
    upper: tuple[Index, ...]
    step: int

    def numbers(self, known: Mapping[str, int]) -> range:
        return range(max(e.at(known) for e in self.lower), min(e.at(known) for e in self.upper), self.step)


@dataclass(frozen=True)
class Generated:
    """A program: its text, the induction variables of each of its nests from outside in, the arguments of each run."""

    seed: int
    text: str
    nests: tuple[tuple[str, ...], ...]
    runs: tuple[tuple[Any, ...], ...]


def function_of(program: Generated) -> Func:
    """The function of a program, whose contract says which arguments are the sizes of its arrays."""
    made = function(program.text)
    sizes = iter(made.args[len(program.runs[0]) - sum(np.ndim(x) for x in program.runs[0]) :])
    shapes = tuple(
        tuple(Affine.of(next(sizes)) for _ in v.type.shape) if isinstance(v.type, MemRefType) else None
        for v in made.args
    )
    found: Func = with_fields(made, shapes=shapes)
    return found


def generate(seed: int, nests: int | None = None) -> Generated:
    """The program of a seed, with as many nests as are asked for.

    >>> generate(1).text == generate(1).text
    True
    """
    return _Writer(Random(seed)).program(seed, nests)


@dataclass
class _Writer:
    """Writes one program, some lines at a time."""

    random: Random
    lines: list[str] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    conditions: list[Index] = field(default_factory=list)
    count: int = 0

    def program(self, seed: int, nests: int | None) -> Generated:
        random = self.random
        self.known = [{"n": n, "m": m} for n, m in self._sizes()]
        self.elements = random.sample(sorted(set(ELEMENTS)), random.choice((1, 2, 2, 3)))
        for element in self.elements:
            for rank in random.choices((1, 1, 2), k=random.choice((2, 3, 4))):
                empty = [[0] * rank for _ in self.known]
                self.arrays.append(Array(f"A{len(self.arrays)}", element, rank, empty))
        self.written = random.sample(self.arrays, max(1, len(self.arrays) // 2))
        self.read = [a for a in self.arrays if a not in self.written] or self.arrays
        found = tuple(self._nest() for _ in range(nests or random.choice((1, 1, 2))))
        names = [f"%{a.name}_{d}: index" for a in self.arrays for d in range(a.rank)]
        arguments = ", ".join([*(f"%{a.name}: {a.type}" for a in self.arrays), "%n: index", "%m: index", *names])
        text = "\n".join((f"func.func @f({arguments}) {{", *self.lines, "return", "}"))
        return Generated(seed, text, found, tuple(self._run(k) for k in range(len(self.known))))

    def _sizes(self) -> Iterator[tuple[int, int]]:
        yield self.random.randint(17, 36), self.random.randint(2, 4)
        yield self.random.randint(5, 20), self.random.randint(1, 3)
        yield self.random.randint(0, 6), self.random.randint(0, 2)

    def _run(self, k: int) -> tuple[Any, ...]:
        random = np.random.default_rng(self.random.randint(0, 10**9))
        given: list[Any] = []
        for array in self.arrays:
            shape, stored = array.sizes[k], np.dtype(f"{array.element[0]}{BITS[array.element] // 8}")
            if stored.kind == "f":
                numbers = np.where(random.random(shape) < 0.5, random.normal(size=shape), random.integers(-3, 4, shape))
                numbers = np.where(random.random(shape) < 0.02, np.nan, numbers)
            else:
                info = np.iinfo(stored)
                numbers = random.integers(info.min, info.max, shape, endpoint=True, dtype=stored)
                numbers = np.where(random.random(shape) < 0.7, random.integers(-3, 4, shape), numbers)
            given.append(np.ascontiguousarray(numbers, stored))
        return (*given, *self.known[k].values(), *(n for array in self.arrays for n in array.sizes[k]))

    # Text

    def new(self, operation: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {operation}")
        return f"%v{self.count}"

    def below(self, probability: float) -> bool:
        return self.random.random() < probability

    # Loops

    def _nest(self) -> tuple[str, ...]:
        depth = self.random.choice((1, 1, 1, 2, 2, 3))
        ivs = tuple(f"i{self.count}_{k}" for k in range(depth))
        self._loop(ivs)
        return ivs

    def _loop(self, ivs: Sequence[str]) -> None:
        random = self.random
        loop = self._bounds(ivs[0], is_outer=len(ivs) > 1)
        carried: list[tuple[str, str, str]] = []
        if self.below(0.3):
            for _ in range(random.choice((1, 1, 2))):
                element = random.choice(self.elements)
                start = self.expression(element, 0)
                self.count += 1
                carried.append((f"%c{self.count}", element, start))
        head = loop.text
        if carried:
            self.count += 1
            result = f"%r{self.count}"
            types = ", ".join(element for _, element, _ in carried)
            starts = ", ".join(f"{name} = {start}" for name, _, start in carried)
            head = f"{result}:{len(carried)} = {loop.text} iter_args({starts}) -> ({types})"
        self.lines.append(f"{head} {{")
        self.loops.append(loop)
        if len(ivs) > 1:
            if self.below(0.3):
                self._statement()
            self._loop(ivs[1:])
            if self.below(0.2):
                self._statement()
        else:
            for _ in range(random.choice((1, 1, 2, 3))):
                self._statement()
        if carried:
            yields = [self._update(name, element) for name, element, _ in carried]
            self.lines.append(f"affine.yield {', '.join(yields)} : {types}")
        self.loops.pop()
        self.lines.append("}")
        if carried:
            for k, (_, element, _) in enumerate(carried):
                self._store(element, f"{result}#{k}")

    def _update(self, name: str, element: str) -> str:
        kinds = REDUCED[element[0]]
        if self.below(0.15):
            return self.expression(element, 1)
        value = self.expression(element, 2)
        if self.below(0.2):
            return self._chosen(element, value, name)
        return self.new(f"arith.{self.random.choice(kinds)} {name}, {value} : {element}")

    def _bounds(self, iv: str, *, is_outer: bool) -> Loop:
        random, size = self.random, "m" if is_outer else "n"
        lower = [Index({}, random.choice((0, 0, 0, 0, 1, 2)))]
        upper = [Index({size: 1}, random.choice((0, 0, 0, -1, 1)))]
        step = 1 if self.below(0.85) else random.choice((2, 3))
        if self.below(0.15):
            upper = [Index({}, random.choice((1, 4, 8, 16, 17, 24)) if not is_outer else 3)]
        if self.loops and self.below(0.15):
            around = random.choice(self.loops).iv
            if self.below(0.5):
                lower = [Index({around: 1}, random.choice((0, 1)))]
            else:
                upper = [Index({around: 1}, random.choice((1, 4)))]
        if self.below(0.06):
            upper.append(Index({"n": 1}, random.choice((-2, 0))))
        if self.below(0.04):
            lower.append(Index({}, random.choice((1, 3))))
        text = f"affine.for %{iv} = {self._bound('max', lower)} to {self._bound('min', upper)} step {step}"
        return Loop(iv, text, tuple(lower), tuple(upper), step)

    def _bound(self, extreme: str, of: Sequence[Index]) -> str:
        ivs = list(dict.fromkeys(name for e in of for name in e.terms if name not in "nm"))
        letters = {iv: f"d{k}" for k, iv in enumerate(ivs)} | {"n": "s0", "m": "s1"}
        shown = [" + ".join([*(letters[n] for n in e.terms), str(e.constant)]) for e in of]
        dims = ", ".join(letters[iv] for iv in ivs)
        given = ", ".join(f"%{iv}" for iv in ivs)
        return f"{extreme if len(of) > 1 else ''} affine_map<({dims})[s0, s1] -> ({', '.join(shown)})>({given})[%n, %m]"

    def _places(self, k: int) -> Iterator[dict[str, int]]:
        """The iterations of the loops around in a run, where the conditions around hold."""

        def inside(loops: Sequence[Loop], known: dict[str, int]) -> Iterator[dict[str, int]]:
            if not loops:
                yield known
                return
            for number in loops[0].numbers(known):
                yield from inside(loops[1:], {**known, loops[0].iv: number})

        for place in inside(self.loops, dict(self.known[k])):
            if all(condition.at(place) >= 0 for condition in self.conditions):
                yield place

    # Accesses

    def _access(self, array: Array) -> str:
        """The subscripts of an access, with which the array grows."""
        index = [self._subscript(last=d == array.rank - 1) for d in range(array.rank)]
        places = [list(self._places(k)) for k in range(len(self.known))]
        for d, e in enumerate(index):
            least = min((e.at(place) for each in places for place in each), default=0)
            index[d] = e = Index(e.terms, e.constant - least if least < 0 or self.below(0.5) else e.constant)
            for sizes, each in zip(array.sizes, places, strict=True):
                sizes[d] = max(sizes[d], 1 + max((e.at(place) for place in each), default=-1))
        return f"%{array.name}[{', '.join(map(str, index))}] : {array.type}"

    def _subscript(self, *, last: bool) -> Index:
        random = self.random
        if not self.loops:
            return Index({}, random.randint(0, 2))
        inner = self.loops[-1].iv
        outer = random.choice(self.loops).iv
        chosen = inner if self.below(0.8 if last else 0.3) else outer
        if self.below(0.08):
            return Index({}, random.randint(0, 2))
        number = random.choices((1, 2, 3, -1, -2), (80, 7, 3, 8, 2))[0]
        terms = {chosen: number}
        if number < 0:
            terms["n"] = -number
        if self.below(0.08) and outer != chosen:
            terms[outer] = 1
        return Index(terms, random.choice((0, 0, 0, 1, 2, 3, 8)))

    def _load(self, element: str) -> str:
        pool = self.read if self.below(0.85) else self.arrays
        known = [a for a in pool if a.element == element]
        others = [a for a in pool if a.element != element]
        if not known or (others and self.below(0.2)):
            other = self.random.choice(others)
            return self._cast(self._load(other.element), other.element, element)
        if self.below(0.03) and any(a.element == "i32" and a.rank == 1 for a in self.read):
            gathered = next((a for a in known if a.rank == 1), None)
            if gathered is not None:
                return self._gather(gathered)
        return self.new(f"affine.load {self._access(self.random.choice(known))}")

    def _gather(self, array: Array) -> str:
        place = self.new(f"arith.index_cast {self._load('i32')} : i32 to index")
        size = self.new(f"arith.constant {GATHERED} : index")
        inside = self.new(f"arith.remui {place}, {size} : index")
        for sizes in array.sizes:
            sizes[0] = max(sizes[0], GATHERED)
        return self.new(f"memref.load %{array.name}[{inside}] : {array.type}")

    def _store(self, element: str, value: str) -> None:
        pool = self.written if self.below(0.9) else self.arrays
        array = self.random.choice([a for a in pool if a.element == element] or pool)
        value = self._cast(value, element, array.element)
        self.lines.append(f"affine.store {value}, {self._access(array)}")

    # Statements and expressions

    def _statement(self, depth: int = 1) -> None:
        random = self.random
        way = random.choices(("store", "update", "affine", "data", "both"), (60, 12, 10 * depth, 8 * depth, 6 * depth))[
            0
        ]
        element = random.choice(self.written).element
        match way:
            case "update":
                array = random.choice([a for a in self.written if a.element == element])
                place = self._access(array)
                before = self.new(f"affine.load {place}")
                value = self.expression(element, 2)
                kind = random.choice(REDUCED[element[0]])
                after = self.new(f"arith.{kind} {before}, {value} : {element}")
                self.lines.append(f"affine.store {after}, {place}")
            case "affine" if self.loops:
                condition = self._condition()
                ivs = [name for name in condition.terms if name not in "nm"]
                dims = ", ".join(f"d{k}" for k in range(len(ivs)))
                letters = {iv: f"d{k}" for k, iv in enumerate(ivs)} | {"n": "s0", "m": "s1"}
                shown = " + ".join(
                    [*(f"{letters[n]} * {c}" for n, c in condition.terms.items()), str(condition.constant)]
                )
                given = ", ".join(f"%{iv}" for iv in ivs)
                self.lines.append(f"affine.if affine_set<({dims})[s0, s1] : ({shown} >= 0)>({given})[%n, %m] {{")
                self.conditions.append(condition)
                self._statement(0)
                self.conditions.pop()
                if self.below(0.3):
                    self.lines.append("} else {")
                    self._statement(0)
                self.lines.append("}")
            case "data" if self.loops:
                self.lines.append(f"scf.if {self._compare()} {{")
                self._statement(0)
                if self.below(0.3):
                    self.lines.append("} else {")
                    self._statement(0)
                self.lines.append("}")
            case "both" if self.loops:
                self._store(element, self._branches(element))
            case _:
                self._store(element, self.expression(element, random.choice((1, 2, 2, 3))))

    def _branches(self, element: str) -> str:
        """A value by one of two branches, one of which may divide by what the condition says is not 0."""
        divisor = self._load(element) if element[0] == "i" and self.below(0.5) else None
        if divisor is None:
            condition = self._compare()
        else:
            zero = self.new(f"arith.constant 0 : {element}")
            condition = self.new(f"arith.cmpi ne, {divisor}, {zero} : {element}")
        made = self.new(f"scf.if {condition} -> ({element}) {{")
        value = self.expression(element, 1)
        if divisor is not None:
            value = self.new(f"arith.{self.random.choice(('divui', 'remui'))} {value}, {divisor} : {element}")
        self.lines += [f"scf.yield {value} : {element}", "} else {"]
        other = self.expression(element, 1)
        self.lines += [f"scf.yield {other} : {element}", "}"]
        return made

    def _condition(self) -> Index:
        iv = self.random.choice(self.loops).iv
        number = self.random.choice((1, 1, -1))
        terms = {iv: number} if number > 0 else {iv: -1, "n": 1}
        return Index(terms, -self.random.randint(0, 5))

    def _compare(self) -> str:
        element = self.random.choice(self.elements)
        letter = element[0]
        predicate = self.random.choice(
            ("ogt", "olt", "oge", "une", "ult") if letter == "f" else ("sgt", "slt", "ne", "ult")
        )
        left, right = self.expression(element, 0), self.expression(element, 0)
        return self.new(f"arith.cmp{letter} {predicate}, {left}, {right} : {element}")

    def _chosen(self, element: str, a: str, b: str) -> str:
        """The better one of two values."""
        predicate = (
            self.random.choice(("ogt", "olt", "ole")) if element[0] == "f" else self.random.choice(("sgt", "sle"))
        )
        condition = self.new(f"arith.cmp{element[0]} {predicate}, {a}, {b} : {element}")
        return self.new(f"arith.select {condition}, {a}, {b} : {element}")

    def expression(self, element: str, depth: int) -> str:
        """A value of a type."""
        random = self.random
        if depth == 0:
            if self.below(0.12):
                number = (
                    f"{random.choice((0.5, -1.25, 3.0))}" if element[0] == "f" else f"{random.choice((-2, 1, 3, 7))}"
                )
                return self.new(f"arith.constant {number} : {element}")
            if self.loops and self.below(0.06):
                return self._of_index(random.choice(self.loops).iv, element)
            return self._load(element)
        way = random.choices(("binary", "product", "choice", "unary", "leaf"), (50, 12, 10, 10, 18))[0]
        a = self.expression(element, depth - 1)
        if way == "leaf":
            return a
        if way == "unary":
            return self._unary(element, a)
        b = self.expression(element, random.randint(0, depth - 1))
        if way == "choice":
            condition = self._compare()
            return self.new(f"arith.select {condition}, {a}, {b} : {element}")
        if way == "product":
            letter = element[0]
            product = self.new(f"arith.mul{letter} {a}, {b} : {element}")
            return self.new(f"arith.add{letter} {product}, {self.expression(element, 0)} : {element}")
        kind = random.choice(FLOATS if element[0] == "f" else INTEGERS)
        return self.new(f"arith.{kind} {a}, {b} : {element}")

    def _unary(self, element: str, a: str) -> str:
        if element[0] == "f":
            operation = self.random.choice(("arith.negf", "math.absf", "math.sqrt", "math.floor"))
            return self.new(f"{operation} {a} : {element}")
        number = self.new(f"arith.constant {self.random.randint(1, BITS[element] - 1)} : {element}")
        return self.new(
            f"arith.{self.random.choice(('shli', 'shrsi', 'shrui', 'divui', 'remui'))} {a}, {number} : {element}"
        )

    def _of_index(self, iv: str, element: str) -> str:
        number = self.new(f"arith.index_cast %{iv} : index to i32")
        return self._cast(number, "i32", element)

    def _cast(self, value: str, given: str, wanted: str) -> str:
        if given == wanted:
            return value
        narrower = BITS[wanted] < BITS[given]
        match given[0], wanted[0]:
            case "i", "i":
                kind = "trunci" if narrower else self.random.choice(("extsi", "extui"))
            case "f", "f":
                kind = "truncf" if narrower else "extf"
            case "i", _:
                kind = self.random.choice(("sitofp", "uitofp"))
            case _:
                return self._rounded(value, given, wanted)
        return self.new(f"arith.{kind} {value} : {given} to {wanted}")

    def _rounded(self, value: str, given: str, wanted: str) -> str:
        """An integer of a float: of its bits, since not every float has one. Those of NaN differ between machines."""
        bits = f"i{BITS[given]}"
        is_number = self.new(f"arith.cmpf ord, {value}, {value} : {given}")
        other = self.new(f"arith.constant 0.0 : {given}")
        number = self.new(f"arith.select {is_number}, {value}, {other} : {given}")
        made = self.new(f"arith.bitcast {number} : {given} to {bits}")
        return self._cast(made, bits, wanted)
