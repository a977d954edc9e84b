"""Random nests of two loops over small arrays of integers, full of updates, and of what only looks like one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

SIZE = 24
ARRAYS = ("A", "B", "C", "D")
KINDS = ("addi", "muli", "maxsi", "minui", "xori", "andi", "ori", "subi")


def nest(seed: int) -> str:
    """A module with one function over `ARRAYS`, a function of the seed. All bounds of loops are numbers."""
    return _Nest(Random(seed)).text()


class _Nest:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.count = 0

    def text(self) -> str:
        choose = self.random.choice
        bounds = [f"{choose((0, 1))} to {choose((3, 4, 6))} step {choose((1, 1, 2))}" for _ in range(2)]
        self.add(f"affine.for %i = {bounds[0]} {{")
        for _ in range(choose((0, 0, 1))):
            self.statement(("i",))
        if choose((True, True, False)):
            self.add(f"affine.for %j = {bounds[1]} {{")
            for _ in range(choose((1, 1, 2, 3))):
                self.statement(("i", "j"))
            self.add("}")
        elif choose((True, False)):
            self.through_values(bounds[1])
        for _ in range(choose((0, 1, 1))):
            self.statement(("i",))
        self.add("}")
        arguments = ", ".join(f"%{name}: memref<{SIZE}xi32>" for name in ARRAYS)
        return "\n".join([f"func.func @f({arguments}) {{", *self.lines, "return", "}", ""])

    def add(self, line: str) -> None:
        self.lines.append(line)

    def new(self, right: str) -> str:
        self.count += 1
        self.add(f"%v{self.count} = {right}")
        return f"%v{self.count}"

    def place(self, ivs: tuple[str, ...]) -> str:
        """An element of an array."""
        iv = self.random.choice(ivs)
        index = self.random.choice(("3", f"%{iv}", f"%{iv}", f"%{iv} floordiv 2", f"%{iv} mod 2", f"%{iv} * 2 + 1"))
        if len(ivs) == 2 and self.random.random() < 0.3:
            index = self.random.choice(("%i + %j", "%i * 3 + %j", "%i - %j + 6"))
        return f"%{self.random.choice(ARRAYS[:2])}[{index}]"

    def load(self, place: str) -> str:
        return self.new(f"affine.load {place} : memref<{SIZE}xi32>")

    def store(self, value: str, place: str) -> None:
        self.add(f"affine.store {value}, {place} : memref<{SIZE}xi32>")

    def other(self, ivs: tuple[str, ...]) -> str:
        """Something to combine with: mostly of an array that is never written."""
        return self.load(f"%D[%{ivs[-1]}]" if self.random.random() < 0.8 else self.place(ivs))

    def combined(self, kind: str, left: str, right: str) -> str:
        return self.new(f"arith.{kind} {left}, {right} : i32")

    def statement(self, ivs: tuple[str, ...]) -> None:
        forms: list[Callable[[tuple[str, ...]], None]] = [
            self.update, self.update, self.update, self.chain, self.reversed, self.seen, self.elsewhere,
            self.interleaved, self.chosen, self.leaked, self.plain, self.copy, self.conditional, self.private,
            self.private, self.either, self.two_kinds,
        ]  # fmt: skip
        self.random.choice(forms)(ivs)

    def update(self, ivs: tuple[str, ...]) -> None:
        place, kind = self.place(ivs), self.random.choice(KINDS)
        old, x = self.load(place), self.other(ivs)
        self.store(self.combined(kind, old, x), place)

    def chain(self, ivs: tuple[str, ...]) -> None:
        """(x + s) + y"""
        place, kind = self.place(ivs), self.random.choice(KINDS[:-1])
        old, x, y = self.load(place), self.other(ivs), self.other(ivs)
        self.store(self.combined(kind, self.combined(kind, x, old), y), place)

    def reversed(self, ivs: tuple[str, ...]) -> None:
        """x - s"""
        place = self.place(ivs)
        old, x = self.load(place), self.other(ivs)
        self.store(self.combined("subi", x, old), place)

    def seen(self, ivs: tuple[str, ...]) -> None:
        """A sum that is also stored elsewhere."""
        place = self.place(ivs)
        new = self.combined("addi", self.load(place), self.other(ivs))
        self.store(new, place)
        self.store(new, f"%C[%{ivs[-1]}]")

    def elsewhere(self, ivs: tuple[str, ...]) -> None:
        self.store(self.combined("addi", self.load(self.place(ivs)), self.other(ivs)), self.place(ivs))

    def interleaved(self, ivs: tuple[str, ...]) -> None:
        """Both are loaded before one is stored: if they are one element, the first sum is lost."""
        first = self.place(ivs)
        places = [first, self.random.choice((first, self.place(ivs)))]
        old = [self.load(p) for p in places]
        new = [self.combined("addi", o, self.other(ivs)) for o in old]
        for value, place in zip(new, places, strict=True):
            self.store(value, place)

    def chosen(self, ivs: tuple[str, ...]) -> None:
        """A minimum or a maximum by comparison and choice."""
        place = self.place(ivs)
        a, b = self.random.sample((self.load(place), self.other(ivs)), 2)
        test = self.new(f"arith.cmpi {self.random.choice(('slt', 'sge', 'ugt', 'ule'))}, {a}, {b} : i32")
        first, second = self.random.sample((a, b), 2)
        self.store(self.new(f"arith.select {test}, {first}, {second} : i32"), place)

    def leaked(self, ivs: tuple[str, ...]) -> None:
        """The place of a maximum: the comparison also chooses something else."""
        place = self.place(ivs)
        old, x = self.load(place), self.other(ivs)
        test = self.new(f"arith.cmpi sge, {old}, {x} : i32")
        self.store(self.new(f"arith.select {test}, {old}, {x} : i32"), place)
        self.store(self.new(f"arith.select {test}, {self.load('%C[0]')}, {self.load('%D[1]')} : i32"), "%C[0]")

    def plain(self, ivs: tuple[str, ...]) -> None:
        self.store(self.other(ivs), self.place(ivs))

    def copy(self, ivs: tuple[str, ...]) -> None:
        self.store(self.load(self.place(ivs)), f"%C[%{ivs[0]}]")

    def conditional(self, ivs: tuple[str, ...]) -> None:
        self.add(
            f"affine.if affine_set<(d) : (d mod {self.random.choice((2, 3))} == 0)>(%{self.random.choice(ivs)}) {{"
        )
        self.update(ivs)
        self.add("}")

    def either(self, ivs: tuple[str, ...]) -> None:
        """s + x, or s, or something else, by what does not depend on s; or does."""
        place = self.place(ivs)
        old, x = self.load(place), self.other(ivs)
        tested = self.random.choice((x, x, old))
        new = self.combined("addi", old, x)
        test = self.new(f"arith.cmpi slt, {tested}, {self.load('%D[2]')} : i32")
        other = self.random.choice((old, old, x))
        self.store(self.new(f"arith.select {test}, {new}, {other} : i32"), place)

    def two_kinds(self, ivs: tuple[str, ...]) -> None:
        place = self.place(ivs)
        for kind in self.random.choices(KINDS, k=2):
            self.store(self.combined(kind, self.load(place), self.other(ivs)), place)

    def private(self, ivs: tuple[str, ...]) -> None:
        """An element that is written, and then read."""
        place = self.random.choice(("%C[5]", f"%C[%{ivs[-1]}]", "%C[%i mod 2]"))
        self.store(self.other(ivs), place)
        self.store(self.load(place), f"%A[%{ivs[-1]} * 2 + 9]")

    def through_values(self, bounds: str) -> None:
        """A loop with iter_args, between a load and a store."""
        place, kind = self.place(("i",)), self.random.choice(KINDS)
        first = [self.load(place), self.load("%D[7]")]
        self.add(f"%r:2 = affine.for %j = {bounds} iter_args(%s = {first[0]}, %t = {first[1]}) -> (i32, i32) {{")
        x = self.load("%D[%j]")
        new = [self.combined(kind, "%s", x), self.combined("addi", "%t", self.load("%D[%i]"))]
        handed = self.random.choice((new, new, new, new[::-1], ["%t", new[1]], [new[0], "%t"], ["%t", "%s"]))
        self.add(f"affine.yield {', '.join(handed)} : i32, i32")
        self.add("}")
        self.store("%r#0", place)
        self.store("%r#1", "%C[%i]")
