"""Programs that do everything that arith and math do to all pairs of corner values of a type, numbers and vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from affdsl.ir.dialects import arith, math

INTEGERS = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "index": "i8"}
FLOATS = {"f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8"}
DTYPES = INTEGERS | FLOATS
"""The NumPy types of arrays; those of bf16 hold the bits."""
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
LANES = 4


@dataclass(frozen=True)
class Table:
    """A function @f(number of elements, inputs, outputs): each output is one operation on the inputs."""

    name: str
    inputs: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    """The operation on %x0 and %x1, and the element type of its result."""
    lanes: bool

    @property
    def text(self) -> str:
        """The module."""
        outputs = [type for _, type in self.rows]
        arguments = [f"%in{k}: memref<?x{type}>" for k, type in enumerate(self.inputs)]
        arguments += [f"%out{k}: memref<?x{type}>" for k, type in enumerate(outputs)]
        kind = "vector_" if self.lanes else ""
        lines = [f"func.func @f(%n: index, {', '.join(arguments)}) {{", "affine.for %i = 0 to %n step"]
        lines[-1] += f" {LANES if self.lanes else 1} {{"
        for k, type in enumerate(self.inputs):
            lines.append(f"%x{k} = affine.{kind}load %in{k}[%i] : {self._accessed(type)}")
        for k, (operation, type) in enumerate(self.rows):
            lines.append(f"%r{k} = {operation}")
            lines.append(f"affine.{kind}store %r{k}, %out{k}[%i] : {self._accessed(type)}")
        return "\n".join([*lines, "}", "return", "}"])

    def _accessed(self, type: str) -> str:
        return f"memref<?x{type}>" + (f", vector<{LANES}x{type}>" if self.lanes else "")

    def arguments(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """All combinations of corner values, and arrays for the results."""
        grids = np.meshgrid(*(corners(type) for type in self.inputs), indexing="ij")
        size = -(-grids[0].size // LANES) * LANES
        given = [np.resize(grid.ravel(), size) for grid in grids]
        return given, [np.zeros(size, DTYPES[type]) for _, type in self.rows]


def corners(type: str) -> np.ndarray:
    """Numbers at the ends of a type, at those of others, and around its width."""
    if type in INTEGERS:
        bits = BITS[type]
        if bits == 1:
            return np.array([False, True])
        numbers = {0, 1, 2, 3, 7, -1, -2, -5, bits - 1, bits, bits + 1, -bits, *(-(1 << bits - 1) + k for k in (0, 1))}
        return np.array(sorted(numbers | {(1 << bits - 1) - k for k in (1, 2)}), DTYPES[type])
    ends = [sign * 2.0**k for k in (0, 7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1)]
    found = {*ends, 0.0, 0.5, -0.5, 0.99, -0.99, 2.5, -2.5, 1e-40, 65504.0, 65520.0, 1e30, 1e300, np.inf, -np.inf}
    for end in ends:
        for single in (np.float32(end), np.float64(end)):
            found |= {
                float(np.nextafter(single, type_of(to))) for to in (0, np.inf * end) for type_of in [single.dtype.type]
            }
    numbers = np.array([*sorted(found), -0.0, np.nan])
    with np.errstate(over="ignore"):
        if type != "bf16":
            return np.unique(numbers.astype(DTYPES[type]).view(f"u{BITS[type] // 8}")).view(DTYPES[type])
        halves = numbers.astype("f4").view("u4") >> 16
    return np.unique(np.concatenate([halves, halves + 1])).astype("u2")


def tables() -> Iterator[Table]:
    """Arithmetic of each type, and the conversions of each."""
    for lanes, type in itertools.product((False, True), DTYPES):
        yield Table(f"{type}{' lanes' * lanes}", (type, type), tuple(_arithmetic(type, lanes)), lanes)
        yield Table(f"from {type}{' lanes' * lanes}", (type,), tuple(_conversions(type, lanes)), lanes)


def _arithmetic(type: str, lanes: bool) -> Iterator[tuple[str, str]]:
    shown = _shown(type, lanes)
    kinds = [f"arith.{kind}" for kind in (arith.INTEGER_BINARY if type in INTEGERS else arith.FLOAT_BINARY)]
    kinds += ["math.copysign"] if type in FLOATS else ["math.ipowi"] if type not in ("i1", "index") else []
    yield from ((f"{kind} %x0, %x1 : {shown}", type) for kind in kinds)
    unary = ["arith.negf"] if type in FLOATS else [f"math.{kind}" for kind in math.INTEGER_UNARY if type != "index"]
    yield from ((f"{kind} %x0 : {shown}", type) for kind in unary)


def _conversions(type: str, lanes: bool) -> Iterator[tuple[str, str]]:
    for target in DTYPES:
        for kind in _casts(type, target):
            yield f"arith.{kind} %x0 : {_shown(type, lanes)} to {_shown(target, lanes)}", target


def _casts(source: str, target: str) -> Sequence[str]:
    """The kinds of arith that convert one type to another."""
    longer, shorter = BITS[source] < BITS[target], BITS[source] > BITS[target]
    match (source in FLOATS, target in FLOATS):
        case _ if source == target:
            return ()
        case (True, True):
            return ("extf",) if longer else ("truncf",) if shorter else ()
        case _ if "index" in (source, target):
            return () if {source, target} & {*FLOATS} else ("index_cast", "index_castui")
        case (True, False):
            return "fptosi", "fptoui"
        case (False, True):
            return "sitofp", "uitofp"
    return ("extsi", "extui") if longer else ("trunci",)


def _shown(type: str, lanes: bool) -> str:
    return f"vector<{LANES}x{type}>" if lanes else type


def differ(type: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays differ, to the bit; all NaN are alike."""
    if type == "bf16":
        a, b = ((each.astype("u4") << 16).view("f4") for each in (a, b))
    if type not in FLOATS:
        return a != b
    bits = f"u{a.itemsize}"
    return (a.view(bits) != b.view(bits)) & ~(np.isnan(a) & np.isnan(b))
