"""Random programs with buffers of their own: written and read in loops, before and behind them, under conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import func, memref
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse

MOST = 14
"""The size of the arrays: no index is larger."""


@dataclass
class _Writer:
    """Writes one program, a line at a time."""

    random: Random
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    names: int = 0

    def add(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def index(self, ivs: list[str], mostly: str = "") -> str:
        """Something between 0 and 12, where each counter is between 0 and 6."""
        choices = [mostly] * 4 if mostly else []
        choices += ["0", "3", *ivs, *(f"6 - {iv}" for iv in ivs), *(f"{iv} + 1" for iv in ivs)]
        return self.random.choice(choices)

    def element(self, buffer: str, ivs: list[str]) -> str:
        return f"{buffer}[]" if buffer == "%t" else f"{buffer}[{self.index(ivs, ivs[-1] if ivs else '')}]"

    def statement(self, ivs: list[str], room: int) -> None:
        kind = self.random.choice(["write", "write", "read", "read", "read", "if", "loop", "update"])
        if kind == "if" and ivs:
            iv = self.random.choice(ivs)
            condition = self.random.choice(["(d0) : (d0 - 2 >= 0)", "(d0) : (d0 == 0)", "(d0) : (-d0 + 3 >= 0)"])
            self.add(f"affine.if affine_set<{condition}>({iv}) {{")
            self.block(ivs, 0, 1)
            self.add("}")
        elif kind == "loop" and room:
            self.loop(ivs, room - 1)
        elif kind == "write":
            self.write(self.random.choice(["%t", "%u"]), ivs, self.value(ivs))
        elif kind == "update":
            buffer = self.random.choice(["%t", "%u"])
            element = self.element(buffer, ivs)
            old, new = self.name(), self.name()
            self.add(f"{old} = affine.load {element} : {TYPES[buffer]}")
            self.add(f"{new} = arith.addi {old}, {self.value(ivs)} : i64")
            self.add(f"affine.store {new}, {element} : {TYPES[buffer]}")
        else:
            self.read(self.random.choice(["%t", "%u"]), ivs)

    def value(self, ivs: list[str]) -> str:
        """A number that shows where it comes from."""
        value = self.name()
        self.add(f"{value} = affine.load %A[{self.index(ivs)}, {self.index(ivs)}] : {TYPES['%A']}")
        return value

    def write(self, buffer: str, ivs: list[str], value: str) -> None:
        self.add(f"affine.store {value}, {self.element(buffer, ivs)} : {TYPES[buffer]}")

    def read(self, buffer: str, ivs: list[str]) -> None:
        """Combine an element with all that was read before."""
        value, old, new, factor = self.name(), self.name(), self.name(), self.name()
        place = f"%B[{self.index(ivs, ivs[0] if ivs else '')}]"
        self.add(f"{value} = affine.load {self.element(buffer, ivs)} : {TYPES[buffer]}")
        self.add(f"{old} = affine.load {place} : {TYPES['%B']}")
        self.add(f"{factor} = arith.muli {old}, %three : i64")
        self.add(f"{new} = arith.addi {factor}, {value} : i64")
        self.add(f"affine.store {new}, {place} : {TYPES['%B']}")

    def block(self, ivs: list[str], room: int, least: int) -> None:
        self.depth += 1
        for _ in range(self.random.randint(least, 3)):
            self.statement(ivs, room)
        self.depth -= 1

    def loop(self, ivs: list[str], room: int) -> None:
        iv = f"%i{len(self.lines)}"
        lower = self.random.choice(["0", "0", "0", "1"])
        upper = self.random.choice(["%n", "%n", "4", "6", *(f"affine_map<(d0) -> (d0 + 1)>({v})" for v in ivs[-1:])])
        step = self.random.choice(["", "", "", " step 2"])
        self.add(f"affine.for {iv} = {lower} to {upper}{step} {{")
        if self.random.random() < 0.6:  # more often what can be made private
            self.depth += 1
            self.write("%t", [*ivs, iv], self.value([*ivs, iv]))
            self.depth -= 1
        self.block([*ivs, iv], room, 1)
        self.add("}")


TYPES = {
    "%t": "memref<i64>",
    "%u": f"memref<{MOST}xi64>",
    "%A": f"memref<{MOST}x{MOST}xi64>",
    "%B": f"memref<{MOST}xi64>",
}


def generate(seed: int) -> func.Func:
    """The program of a seed: a function of an array that it reads, one that it writes, and a size."""
    random = Random(seed)
    writer = _Writer(random)
    writer.add("%three = arith.constant 3 : i64")
    outer = random.random() < 0.3
    ivs: list[str] = []
    if outer:
        writer.add("affine.for %o = 0 to 3 {")
        ivs = ["%o"]
    where = random.choice(("alloc", "alloca"))
    for buffer in ("%t", "%u"):
        writer.add(f"{buffer} = memref.{where}() : {TYPES[buffer]}")
    if random.random() < 0.4:
        for buffer in ("%t", "%u"):
            writer.write(buffer, ivs, writer.value(ivs))
    for _ in range(random.randint(1, 2)):
        writer.loop(ivs, 1)
        if random.random() < 0.3:
            writer.read(random.choice(["%t", "%u"]), ivs)
    if where == "alloc":
        for buffer in ("%t", "%u"):
            writer.add(f"memref.dealloc {buffer} : {TYPES[buffer]}")
    if outer:
        writer.add("}")
    text = "\n".join(writer.lines)
    function = parse(
        f"func.func @f(%A: {TYPES['%A']}, %B: {TYPES['%B']}, %n: index) {{\n{text}\n  return\n}}", f"seed {seed}"
    ).functions[0]
    verify(function)
    return function


def arguments(n: int) -> tuple[np.ndarray, np.ndarray, int]:
    random = np.random.default_rng(7)
    return random.integers(-99, 99, (MOST, MOST)), random.integers(-99, 99, MOST), n


def result(function: func.Func, n: int, order: str = "forward") -> list[bytes]:
    """What a program leaves in its arrays. Raises InterpreterError where it reads what nobody wrote."""
    given = arguments(n)
    run(function, *given, order=order)
    return [a.tobytes() for a in given[:2]]


def buffers(function: func.Func) -> list[Value]:
    return [op.result for op in walk(function) if isinstance(op, memref.Alloc | memref.Alloca)]


def made(function: func.Func, buffer: Value) -> Op:
    return next(op for op in walk(function) if buffer in op.defines())
