"""Random kernels with indices that are data, as Python text, and data with which one access leaves its array."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

LANES = 4
HUGE = (2**40, 2**62, 2**63 - 1, -(2**63), -(2**62), -1, -2)
CALLEES = """
@af.kernel
def put(dst: af.i64[N], idx: af.i64[L]):
    with af.for_(L) as i:
        dst[idx[i]] = af.i64(i)


@af.kernel
def get(src: af.i64[N], idx: af.i64[L], got: af.i64[L]):
    with af.parallel(L) as i:
        got[i] = src[idx[i]] + 1

"""
PIPELINES = ("", "", "canonicalize,cse", "affine-loop-unroll{unroll-factor=3}", "affine-loop-tile{tile-size=3}")


@dataclass(frozen=True)
class Spot:
    """An access whose index is data, read from a table.

    `value` + `offset` is the index along `axis` of the array, which has size `size` there; `lanes` elements are
    touched from there on. `guard` is the table that says where the access is made at all.
    """

    line: str
    array: str
    table: str
    size: int
    axis: int = 0
    offset: int = 0
    lanes: int = 1
    guard: str = ""
    is_bound: bool = False
    """Whether the table has numbers of iterations, not indices."""


@dataclass
class Program:
    """The text of a kernel, its arguments, and its spots."""

    text: str
    arguments: dict[str, np.ndarray]
    spots: list[Spot]
    pipeline: str = ""


@dataclass(frozen=True)
class Planted:
    """A spot that leaves its array in one iteration: what an error must say."""

    spot: Spot
    index: int
    lane: int


@dataclass
class _Maker:
    random: Random
    n: int
    trips: int
    parameters: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, np.ndarray] = field(default_factory=dict)
    spots: list[Spot] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    count: int = 0

    def array(self, stem: str, shape: str, values: np.ndarray, dtype: str = "i64") -> str:
        name = f"{stem}{self.count}"
        self.parameters[name] = f"af.{dtype}[{shape}]"
        self.arguments[name] = values.astype(dtype.replace("i", "int").replace("u", "uint"))
        return name

    def table(self, low: int, high: int) -> str:
        """Indices from low on to below high, each at most once."""
        values = np.array(self.random.sample(range(low, high), self.trips))
        return self.array("x", "L", values, self.random.choice(("i64", "i64", "i32")))

    def numbers(self, *shape: int) -> np.ndarray:
        return np.array([self.random.randint(-99, 99) for _ in range(int(np.prod(shape)))]).reshape(shape)

    def statement(self) -> list[str]:
        """A loop whose body has a spot."""
        self.count += 1
        kind = self.random.choice(
            ("write", "read", "update", "rows", "columns", "shifted", "load", "store", "chosen", "asked", "local",
             "bound", "put", "get")
        )  # fmt: skip
        if kind in ("put", "get"):
            return self.call(kind)
        is_parallel = self.random.random() < 0.5
        loop = f"with af.{'parallel' if is_parallel else 'for_'}(L) as i:"
        body = self.body(kind)
        guard = ""
        if self.random.random() < 0.4:
            guard = self.array("c", "L", np.array([self.random.randint(0, 1) for _ in range(self.trips)]))
            body = [f"with af.if_({guard}[i] > 0):", *(f"    {line}" for line in body)]
        last = self.spots.pop()
        self.spots.append(Spot(last.line.strip(), last.array, last.table, last.size, last.axis, last.offset, last.lanes,
                               guard, last.is_bound))  # fmt: skip
        return [loop, *(f"    {line}" for line in body)]

    def body(self, kind: str) -> list[str]:
        n, trips = self.n, self.trips
        match kind:
            case "write" | "update":
                table, array = self.table(0, n), self.array("w", "N", self.numbers(n))
                line = f"{array}[{table}[i]] {'=' if kind == 'write' else '+='} af.i64(i) + 1"
                return self.spot([line], array, table, n)
            case "read" | "chosen" | "asked":
                table, array = self.table(0, n), self.array("r", "N", self.numbers(n))
                to = self.array("w", "L", self.numbers(trips))
                if kind == "asked":
                    return self.spot([f"with af.if_({array}[{table}[i]] > 0):", f"    {to}[i] = 7"], array, table, n)
                of = f"{array}[{table}[i]]"
                of = f"af.select({to}[i] > 0, {of}, af.i64(3))" if kind == "chosen" else f"{of} * 2"
                return self.spot([f"{to}[i] = {of}"], array, table, n)
            case "rows":
                table, array = self.table(0, n), self.array("v", "N, L", self.numbers(n, trips))
                return self.spot([f"{array}[{table}[i], i] += 5"], array, table, n)
            case "columns":
                table, array = self.table(0, n), self.array("v", "L, N", self.numbers(trips, n))
                return self.spot([f"{array}[L - 1 - i, {table}[i]] = af.i64(i)"], array, table, n, axis=1)
            case "shifted":
                shift = self.random.randint(1, 3)
                table, array = self.table(-shift, n - shift), self.array("w", "N", self.numbers(n))
                return self.spot([f"{array}[{table}[i] + {shift}] = af.i64(i)"], array, table, n, offset=shift)
            case "load":
                table, array = self.table(0, n - LANES + 1), self.array("r", "N", self.numbers(n))
                to = self.array("w", f"{LANES} * L", self.numbers(LANES * trips))
                load = f"v = af.vector_load({array}, ({table}[i],), {LANES})"
                return self.spot([load, f"af.vector_store(v, {to}, ({LANES} * i,))"], array, table, n, lanes=LANES)
            case "store":
                table, array = self.table(0, n - LANES + 1), self.array("w", "L, N", self.numbers(trips, n))
                of = self.array("r", f"{LANES} * L", self.numbers(LANES * trips))
                store = f"af.vector_store(af.vector_load({of}, ({LANES} * i,), {LANES}), {array}, (i, {table}[i]))"
                return self.spot([store], array, table, n, axis=1, lanes=LANES)
            case "local":
                name, to = f"t{self.count}", self.array("w", "L", self.numbers(trips))
                table = self.table(0, n)
                self.before += [
                    f"{name} = af.alloc(af.i64[N])",
                    "with af.for_(N) as k:",
                    f"    {name}[k] = af.i64(k) * 3",
                ]
                return self.spot([f"{to}[i] = {name}[{table}[i]]"], name, table, n)
            case "bound":
                table = self.array("b", "L", np.array([self.random.randint(0, n) for _ in range(trips)]))
                array = self.array("v", "L, N", self.numbers(trips, n))
                lines = [f"with af.for_({table}[i]) as j:", f"    {array}[i, j] += af.i64(j)"]
                return self.spot(lines, array, table, n, axis=1, at=1, is_bound=True)
        raise AssertionError(kind)

    def spot(
        self,
        lines: list[str],
        array: str,
        table: str,
        size: int,
        *,
        axis: int = 0,
        offset: int = 0,
        lanes: int = 1,
        at: int = 0,
        is_bound: bool = False,
    ) -> list[str]:
        self.spots.append(Spot(lines[at], array, table, size, axis, offset, lanes, "", is_bound))
        return lines

    def call(self, kind: str) -> list[str]:
        table = self.array("x", "L", np.array(self.random.sample(range(self.n), self.trips)))
        array = self.array("w", "N", self.numbers(self.n))
        if kind == "put":
            self.spots.append(Spot("dst[idx[i]] = af.i64(i)", "dst", table, self.n))
            return [f"put({array}, {table})"]
        to = self.array("g", "L", self.numbers(self.trips))
        self.spots.append(Spot("got[i] = src[idx[i]] + 1", "src", table, self.n))
        return [f"get({array}, {table}, {to})"]


def generate(seed: int) -> Program:
    """A kernel called `kernel`."""
    random = Random(seed)
    trips = random.randint(2, 9)
    maker = _Maker(random, random.randint(trips + LANES, 24), trips)
    maker.array("n", "N", maker.numbers(maker.n))  # which says what N is
    lines = [line for _ in range(random.randint(1, 4)) for line in maker.statement()]
    if random.random() < 0.25:
        lines = ["with af.for_(2) as again:", *(f"    {line}" for line in lines)]
    parameters = ",\n    ".join(f"{name}: {type}" for name, type in maker.parameters.items())
    body = "\n".join(f"    {line}" for line in (*maker.before, *lines))
    text = (
        f'import affdsl as af\n\nN, L = af.symbols("N L")\n\n{CALLEES}\n@af.kernel(boundscheck=CHECKED)\n'
        f"def kernel(\n    {parameters},\n):\n{body}\n"
    )
    return Program(text, maker.arguments, maker.spots, random.choice(PIPELINES))


def plant(program: Program, random: Random) -> tuple[dict[str, np.ndarray], Planted | None]:
    """Arguments with which one access leaves its array, and what must be said of it.

    Now and then it stands behind a condition that does not hold: then nothing is said.
    """
    arguments = {name: array.copy() for name, array in program.arguments.items()}
    spot = random.choice(program.spots)
    table = arguments[spot.table]
    at = random.randrange(len(table))
    if spot.is_bound:
        table[at] = spot.size + random.choice((1, 2, 1000, 2**40))
        index, lane = spot.size, 0
    else:
        numbers = [*HUGE, spot.size, spot.size + 1, spot.size - spot.lanes + 1]
        value = random.choice([n for n in numbers if np.iinfo(table.dtype).min <= n <= np.iinfo(table.dtype).max])
        table[at] = value - spot.offset if -(2**31) < value < 2**31 else value
        index = _wrapped(int(table[at]) + spot.offset, table.dtype)
        lane = 0 if not 0 <= index < spot.size else spot.size - index
    if spot.guard:
        holds = random.random() < 0.8
        arguments[spot.guard][at] = int(holds)
        if not holds:
            return arguments, None
    return arguments, Planted(spot, index + lane, lane)


def _wrapped(number: int, dtype: np.dtype) -> int:
    bits = 8 * dtype.itemsize
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
