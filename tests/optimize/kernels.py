"""Random kernels of the kinds that recipes are about: products, sweeps, sums, recurrences, and what stands between.

Some are on complex numbers or unsigned integers, on views, along loops that run down, or load indices of any type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np

import affdsl as af
from affdsl.lang.annotations import ArrayType
from tests.strided.views import view

EDGE = 2
"""So many elements each array has more on each side than loops run over."""
SHAPES = {"A": "NN", "B": "NN", "C": "NN", "P": "NK", "Q": "KM", "R": "NM", "x": "N", "y": "N", "z": "M"}
"""The arrays, by the sizes of their dimensions."""
TYPES = ("f64", "f64", "f64", "f32", "f32", "f32", "i64", "i32", "i16", "u16", "i8", "u8")
RARE = ("c128", "c128", "c128", "c64", "c64", "c64", "u64", "u32")
INDICES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
"""The types of the elements of an array of indices."""
Sizes = Mapping[str, int]


class Writer:
    """Writes one random kernel as Python."""

    def __init__(self, seed: int) -> None:
        self.random, self.more = Random(f"kernel {seed}"), Random(f"more {seed}")
        self.type = self.random.choice(TYPES)
        self.type = self.more.choice((self.type, self.type, self.more.choice(RARE)))
        self.index = self.more.choice(("i32", self.more.choice(INDICES)))
        self.views = {name for name in SHAPES if self.more.random() < 0.4} if self.more.random() < 0.3 else set()
        self.runs_down = self.more.choice((0, 0, 0.3))
        self.lines: list[str] = []
        self.indent, self.made = 1, 0
        pieces: tuple[Callable[[], None], ...] = (
            self.product, self.product, self.factorization, self.sweeps, self.sweeps, self.sums, self.sums,
            self.pointwise, self.mixed, self.recurrence, self.table, self.gathered, self.meeting,
        )  # fmt: skip
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            self.random.choice(pieces)()
        if self.index != "i32":
            self.looked_up()

    @property
    def text(self) -> str:
        """The kernel: all arrays are its arguments, so that all that it changes is seen."""
        arrays = [f"{name}: {self.annotation(name)}" for name in SHAPES]
        head = f"def f(steps: af.index, {', '.join(arrays)}, where: af.{self.index}[N], alpha: af.{self.type}):"
        return "\n".join(["@af.kernel", head, "    af.assume(steps >= 0)", *self.lines, ""])

    def annotation(self, array: str) -> str:
        """The type of an array, which may be a view."""
        type = f"af.{self.type}[{', '.join(f'{s} + {2 * EDGE}' for s in SHAPES[array])}]"
        return f"af.strided({type})" if array in self.views else type

    def say(self, line: str) -> None:
        """A line of the body."""
        self.lines.append(f"{'    ' * self.indent}{line}")

    def name(self, like: str) -> str:
        """A new name."""
        self.made += 1
        return f"{like}{self.made}"

    @contextmanager
    def loop(self, like: str, *bounds: object) -> Iterator[str]:
        """A loop, whose body is what is said inside; it may run down."""
        name = self.name(like)
        if self.more.random() < self.runs_down:
            first, end = bounds if len(bounds) > 1 else (0, *bounds)
            bounds = f"{end} - 1", f"{first} - 1", -1
        self.say(f"with af.for_({', '.join(map(str, bounds))}) as {name}:")
        self.indent += 1
        yield name
        self.indent -= 1

    @contextmanager
    def maybe(self, condition: str) -> Iterator[None]:
        """Perhaps a condition around what is said inside."""
        asks = self.random.random() < 0.15
        if asks:
            self.say(f"with af.if_({condition}):")
            self.indent += 1
        yield
        self.indent -= asks

    def chance(self, share: float) -> bool:
        """Whether something that so many have comes."""
        return self.random.random() < share

    def number(self) -> str:
        """A factor that keeps numbers small, if there are such."""
        return self.random.choice(("0.5", "0.25", "0.125") if self.type[0] in "fc" else ("1", "2", "3"))

    def best(self, best: str, a: str, b: str) -> str:
        """The least or greatest of two numbers; of complex ones, which have no order, something else of both."""
        return f"{a} + {b} * {self.number()}" if self.type[0] == "c" else f"af.{best}({a}, {b})"

    def product(self) -> None:
        """A sum of products of matrices, transposed or not, of whole ones or triangles, in any order of loops."""
        target, left, right, size = self.random.choice(
            (("R", "P", "Q", "NMK"), ("C", "A", "B", "NNN"), ("C", "A", "A", "NNN"), ("B", "B", "A", "NNN"))
        )
        triangle = self.random.choice(("", "", "j <= i", "k < i", "k > i")) if size == "NNN" else ""
        order = "ijk" if triangle else "".join(self.random.sample("ijk", 3))
        names: dict[str, str] = {}
        has_init = order[2] == "k" and self.chance(0.4)
        has_end = order[2] == "k" and self.chance(0.3)

        def inside(depth: int) -> None:
            if depth == 3:
                self.say(f"{cell} {sign} {factors}".format(**names))
                return
            letter = order[depth]
            if letter == "k" and has_init:
                self.say(f"{cell} = {self.random.choice(('0', f'{cell} * {self.number()}'))}".format(**names))
            bounds = [size["ijk".index(letter)]]
            if triangle[:1] == letter:
                bounds = {"j <= i": ["{i} + 1"], "k < i": ["{i}"], "k > i": ["{i} + 1", "N"]}[triangle]
            bounds = [bound.format(**names) for bound in bounds]
            with self.loop(letter, *bounds) as names[letter]:
                inside(depth + 1)
            if letter == "k" and has_end:
                beside = "R[{{i}}, {{j}}]" if size == "NMK" else "A[{{i}}, {{j}}]"
                more = self.random.choice((" * {}", " + {}", f" - {beside} * {{}}")).format(self.number())
                self.say(f"{cell} = {cell}{more}".format(**names))

        def at(array: str, first: str, second: str) -> str:
            pair = [f"{{{first}}} + {self.random.randint(0, 2)}", f"{{{second}}} + {self.random.randint(0, 2)}"]
            if size == "NNN" and self.chance(0.3):
                pair.reverse()
            return f"{array}[{', '.join(pair)}]"

        cell = f"{target}[{{i}} + 1, {{j}}]"
        factors = f"{at(left, 'i', 'k')} * {at(right, 'k', 'j')}"
        factors = f"alpha * {factors}" if self.chance(0.3) else factors
        sign = self.random.choice(("+=", "+=", "-="))
        inside(0)

    def factorization(self) -> None:
        """A matrix that is changed by products with parts of itself."""
        with self.loop("k", "N") as k:
            with self.loop("i", f"{k} + 1", "N") as i:
                self.say(f"A[{i}, {k}] = A[{i}, {k}] * {self.number()}")
                if self.chance(0.5):
                    with self.loop("j", f"{k} + 1", "N") as j:
                        self.say(f"A[{i}, {j}] -= A[{i}, {k}] * A[{k}, {j}]")
            if self.chance(0.3):
                with self.loop("i", f"{k} + 1", "N") as i, self.loop("j", f"{k} + 1", f"{i} + 1") as j:
                    self.say(f"A[{i}, {j}] -= A[{i}, {k}] * A[{j}, {k}]")

    def sweeps(self) -> None:
        """Stencils that go over planes or rows in each time step, one array to the next or in place."""
        arrays, rank = self.random.choice(((["A", "B", "C"], 2), (["A", "B"], 2), (["x", "y"], 1), (["A"], 2)))
        with self.loop("t", "steps"):
            for k, source in enumerate(arrays if self.chance(0.8) else arrays[:1]):
                self.sweep(source, arrays[(k + 1) % len(arrays)], rank)

    def sweep(self, source: str, target: str, rank: int) -> None:
        """One sweep."""
        loops = [self.loop("s", EDGE, f"N + {EDGE}") for _ in range(rank)]
        names = [loop.__enter__() for loop in loops]
        reads = []
        for _ in range(self.random.randint(1, 4)):
            moves = [self.random.choice((-2, -1, -1, 0, 0, 0, 1, 1, 2)) for _ in names]
            reads.append(f"{source}[{', '.join(f'{n} + {m}' for n, m in zip(names, moves, strict=True))}]")
        sum_ = f"({' + '.join(reads).replace('+ -', '- ')}) * {self.number()}"
        sum_ = f"({sum_}) / alpha" if self.type[0] == "f" and self.chance(0.15) else sum_
        with self.maybe(f"{names[0]} > 3"):
            self.say(f"{target}[{', '.join(names)}] = {sum_}")
        for loop in reversed(loops):
            loop.__exit__(None, None, None)

    def sums(self) -> None:
        """Sums of rows or columns, in memory or in a variable, perhaps two in one loop, or a maximum."""
        kind = self.random.randrange(4)
        if kind == 0:
            with self.loop("i", "N") as i:
                self.say(f"s = af.var(x[{i}])")
                with self.loop("j", "M") as j:
                    self.say(f"s += R[{i}, {j}] * z[{j}]")
                self.say(f"x[{i}] = s")
            return
        loops = [("i", "N"), ("j", "M")]
        (first, n), (second, m) = loops if self.chance(0.5) else loops[::-1]
        with self.loop(first, n) as a, self.loop(second, m) as b:
            i, j = (a, b) if first == "i" else (b, a)
            if kind == 1:
                self.say(f"x[{i}] = {self.best('max', f'x[{i}]', f'R[{i}, {j} + 1]')}")
                return
            with self.maybe(f"{j} < 5"):
                self.say(f"x[{i}] += R[{i}, {j}] * z[{j}]")
            if kind == 2:
                self.say(f"z[{j} + 1] += R[{i}, {j}] * y[{i}]")

    def pointwise(self) -> None:
        """Nests that pass arrays on, element by element, along rows, columns, from behind, or every second one."""
        self.say(f"T{self.made} = af.alloc(af.{self.type}[N + 1, N + 1])")
        local = f"T{self.made}"
        with self.loop("i", "N + 1") as i, self.loop("j", "N + 1") as j:
            self.say(f"{local}[{i}, {j}] = {self.place('A', i, j)} * {self.number()} + alpha")
        with self.loop("i", "N") as i, self.loop("j", "N") as j:
            self.say(f"B[{i}, {j} + 1] = {local}[{i}, {j} + 1] + {local}[{i} + 1, {j}] * {self.place('C', i, j)}")
        if self.chance(0.3):
            with self.loop("i", "N // 2") as i, self.loop("j", "N") as j:
                self.say(f"C[2 * {i}, {j}] = B[2 * {i} + 1, {j}] - {local}[{i}, {j}]")

    def mixed(self) -> None:
        """Sums and differences of products, of such sums, and of numbers."""
        with self.loop("i", "N") as i, self.loop("j", "N") as j:

            def term(depth: int) -> str:
                if depth and self.chance(0.8):
                    return f"({term(depth - 1)} {self.random.choice('+++++-')} {term(depth - 1)})"
                first, second = (f"{array}[{i} + 1, {j} + 1]" for array in self.random.sample("ABC", 2))
                return self.random.choice((f"{first} * {second}", f"{first} * {self.number()}", f"{second} * alpha"))

            for array in "ABC":
                number = self.random.choice((" + alpha", f" + {self.number()}", ""))
                self.say(f"{array}[{i}, {j}] = {term(2)}{number}")

    def place(self, array: str, i: str, j: str) -> str:
        """An element of a square array."""
        return self.random.choice(
            (f"{array}[{i}, {j}]", f"{array}[{j}, {i}]", f"{array}[{i}, N - {j}]", f"{array}[N - {i}, {j} + 1]")
        )

    def recurrence(self) -> None:
        """What each iteration takes from the one before it, in one dimension or two, perhaps repeated."""
        if self.chance(0.4):
            with self.loop("i", 1, "N") as i:
                self.say(f"x[{i}] = x[{i} - 1] * {self.number()} + y[{i}]")
            return
        with self.loop("t", "steps"), self.loop("i", 1, "N") as i, self.loop("j", 1, "N") as j:
            read = self.random.choice(("A[{0} + 1, {1}]", "A[{0}, {1} + 1]", "B[{0}, {1}]")).format(i, j)
            self.say(f"A[{i}, {j}] = (A[{i} - 1, {j}] + A[{i}, {j} - 1] + {read}) * {self.number()}")

    def table(self) -> None:
        """Dynamic programs, whose elements are the least or greatest of several."""
        best = self.random.choice(("min", "max"))
        if self.chance(0.5):
            with self.loop("k", "N") as k, self.loop("i", "N") as i, self.loop("j", "N") as j:
                sum_ = f"B[{i}, {k}] + B[{k}, {j}]"
                self.say(f"B[{i}, {j}] = {self.best(best, f'B[{i}, {j}]', sum_)}")
            return
        with self.loop("i", 1, "N") as i, self.loop("j", 1, "N") as j:
            diagonal = f"A[{i} - 1, {j} - 1] + B[{i}, {j}]"
            before = self.best(best, f"A[{i} - 1, {j}]", f"A[{i}, {j} - 1]")
            self.say(f"A[{i}, {j}] = {self.best(best, before, diagonal)}")

    def meeting(self) -> None:
        """Stores that meet themselves: of those to one element, the last one counts."""
        half = "N // 2 + 1"
        with self.loop("i", half) as i, self.loop("j", half) as j:
            rows = [f"x[{i} + {j}]", f"x[{i} - {j} + N // 2]", f"x[{j} + 1]", f"x[{i} // 2 + {j}]"]
            place = self.random.choice((*rows, f"A[{i} + {j}, {j}]", f"A[{i} + {j}, {i} // 2]"))
            values = (f"y[{i}] + alpha", f"y[{j} + 1]", f"R[{i}, 0] * y[{j}]", f"x[{i}] * {self.number()}")
            value = self.random.choice(values)
            with self.maybe(f"{i} > 1"):
                if self.chance(0.3):
                    with self.loop("k", self.random.choice(("M", "3"))) as k:
                        self.say(f"{place} = {value} + z[{k}]")
                else:
                    self.say(f"{place} = {value}")

    def gathered(self) -> None:
        """Elements that data name."""
        with self.loop("i", "N") as i:
            self.say(self.random.choice((f"x[{i}] += y[where[{i}]]", f"y[where[{i}]] += x[{i}]")))

    def looked_up(self) -> None:
        """Elements and rows that data name, as they are or after arithmetic on what names them."""
        with self.loop("i", "N") as i:
            k = f"where[{i}]"
            place = self.more.choice((k, f"af.index({k}) // 2", f"af.index({k}) // 3 + 1", f"af.index({k}) % 5"))
            self.say(
                self.more.choice(
                    (
                        f"x[{i}] = y[{place}] * {self.number()} + alpha",
                        f"y[{i}] += A[{place}, {i} + 1] * x[{place}]",
                        f"A[{place}, {i}] = y[{i}] + alpha",
                        f"x[{i}] = x[{place}] + y[{i}]",
                    )
                )
            )
        if self.more.random() < 0.5:
            with self.loop("i", "N") as i, self.loop("j", "N") as j:
                self.say(f"C[{i}, {j}] += A[where[{i}], {j}] * B[where[{j}], {j}]")


def random_kernel(seed: int) -> tuple[af.Kernel, str]:
    """The kernel of a seed, and its text."""
    text = Writer(seed).text
    names: dict[str, object] = {"af": af, **dict(zip("NMK", af.symbols("N M K"), strict=True))}
    exec(compile(text, f"<kernel {seed}>", "exec"), names)
    made = names["f"]
    assert isinstance(made, af.Kernel)
    return made, text


def arguments(made: af.Kernel, sizes: Sizes, *, seed: int) -> dict[str, Any]:
    """Random arguments: elements of arrays of floats are halves, so that few operations round and many could."""
    random = np.random.default_rng(seed)
    type = made.program.parameters[1].type
    assert isinstance(type, ArrayType)
    dtype = type.dtype.numpy
    assert dtype is not None
    is_float, is_complex = dtype.kind in "fc", dtype.kind == "c"
    found: dict[str, Any] = {"steps": sizes["steps"], "alpha": 1.7 if is_float else 3}
    for parameter in made.program.parameters:
        if not isinstance(parameter.type, ArrayType) or parameter.name == "where":
            continue
        shape = [sizes[s] + 2 * EDGE for s in SHAPES[parameter.name]]
        numbers = random.integers(-8, 9, shape)
        numbers = numbers + 1j * random.integers(-8, 9, shape) if is_complex else numbers
        array = (numbers / 2 if is_float else numbers).astype(dtype)
        found[parameter.name] = view(Random(seed), array, written=True).array if parameter.type.strided else array
    where = next(p.type for p in made.program.parameters if p.name == "where")
    assert isinstance(where, ArrayType)
    assert where.dtype.numpy is not None
    found["where"] = random.integers(0, sizes["N"] + 2 * EDGE, sizes["N"]).astype(where.dtype.numpy)
    return found
