"""Random kernels of loops up and down, while loops and branches, beside the same program in Python."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import affdsl as af

S = af.symbols("S")
RANGES = (("N - 1", "-1", -1), ("5", "N - 4", -2), ("0", "N", 1), ("N", "1", -3), ("7", "-3", -4), ("1", "N + 2", 2))
CONDITIONS = ("x[0] > {}", "s % 3 == {}", "(s < {}) & (x[1] > 0)")
DEEPEST, MOST_LOOPS = 3, 2


class Writer:
    """Writes one random program twice: as a kernel and in Python."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.kernel: list[str] = []
        self.python: list[str] = []
        self.counters: list[str] = []
        self.variables = ["s"]
        """What the blocks around have made, and may be changed."""
        self.steps: list[str] = []
        """Of the loops around, the innermost last, what stands before a continue; `-` where none may be."""
        self.made = 0
        self.block(1, ["x[0]", "x[1]", "s"])

    @property
    def texts(self) -> tuple[str, str]:
        """The kernel, and the function in Python."""
        head, last = "(N: S, x: af.i64[2]):\n    s = af.var(af.i64(1))", "    x[0] += s\n"
        kernel = "\n".join((f"@af.kernel\ndef f{head}", *self.kernel, last))
        return kernel, "\n".join(("def f(N, x):\n    s = 1", *self.python, last))

    def block(self, indent: int, values: list[str], *, branch: bool = False) -> bool:
        """A few statements that may read some values; whether a break or continue ends them in all cases.

        In a branch, one may be the last. The block may have a variable of its own.
        """
        if is_own := self.random.random() < 0.3:
            own, start = self.name(), self.expression(values)
            self.both(indent, f"{own} = af.var(af.i64(0) + {start})", f"{own} = {start}")
            self.variables.append(own)
            values = [*values, own]
        ended = self.statements(indent, values, branch=branch)
        if is_own:
            self.variables.pop()
        return ended

    def statements(self, indent: int, values: list[str], *, branch: bool) -> bool:
        """The statements of a block."""
        for _ in range(self.random.randint(1, 3)):
            kind, is_shallow = self.random.random(), indent <= DEEPEST
            may_loop = is_shallow and len(self.counters) < MOST_LOOPS
            if may_loop and kind < 0.25:
                self.count(indent, values)
            elif may_loop and kind < 0.45:
                self.repeat(indent, values)
            elif is_shallow and kind < 0.65:
                if self.choose(indent, values):
                    return True
            elif kind < 0.8:
                self.both(indent, f"{self.random.choice(self.variables)} += {self.expression(values)}")
            else:
                k = self.random.randint(0, 1)
                self.both(indent, f"x[{k}] = {self.expression(values)} + x[{k}] - x[{1 - k}]")
        return branch and bool(self.steps) and self.random.random() < 0.4 and self.leave(indent)

    def leave(self, indent: int) -> bool:
        """The end of a loop, or of one of its iterations."""
        step = self.steps[-1]
        word = "break" if step == "-" else self.random.choice(("break", "continue"))
        if word == "continue" and step:
            self.both(indent, step)
        self.both(indent, f"af.{word}_()", word)
        return True

    def both(self, indent: int, kernel: str, python: str = "") -> None:
        """A line of each of the two."""
        self.kernel.append(f"{'    ' * indent}{kernel}")
        self.python.append(f"{'    ' * indent}{python or kernel}")

    def name(self) -> str:
        """A new name."""
        self.made += 1
        return f"v{self.made}"

    def count(self, indent: int, values: list[str]) -> None:
        """A loop up or down, whose bounds may be that of the loop around."""
        i, choices = self.name(), list(RANGES)
        for outer in (name for name in self.counters[-1:] if name.startswith("int(")):
            choices += [(outer[4:-1], "-1", -1), ("N - 1", outer[4:-1], -1)]
        start, stop, step = self.random.choice(choices)
        self.both(
            indent, f"with af.for_({start}, {stop}, {step}) as {i}:", f"for {i} in range({start}, {stop}, {step}):"
        )
        self.inside(indent, values, f"int({i})", "")

    def repeat(self, indent: int, values: list[str]) -> None:
        """A while loop that carries a number, or changes a variable."""
        w, last = self.name(), self.random.randint(0, 4)
        more = self.random.choice(("", " & (x[0] < 50)", " & (s < 9)"))
        condition = f"({w} < {last}){more}"
        if self.random.random() < 0.5:
            self.both(indent, f"with af.while_(lambda {w}: {condition}, iter_args=af.i64(0)) as {w}:", f"{w} = 0")
            step, before = f"af.yield_({w} + 1)", "-"
        else:
            self.both(indent, f"{w} = af.var(af.i64(0))", f"{w} = 0")
            self.kernel.append(f"{'    ' * indent}with af.while_(lambda: {condition}):")
            step = before = f"{w} += 1"
        self.python.append(f"{'    ' * indent}while {condition}:")
        if not self.inside(indent, values, w, before):
            self.both(indent + 1, step, f"{w} += 1")

    def inside(self, indent: int, values: list[str], counter: str, step: str) -> bool:
        """The body of a loop; whether all its iterations end early."""
        self.counters.append(counter)
        self.steps.append(step)
        ended = self.block(indent + 1, [*values, counter])
        self.counters.pop()
        self.steps.pop()
        return ended

    def choose(self, indent: int, values: list[str]) -> bool:
        """A branch with up to three conditions; whether a break or continue ends all its blocks."""
        ended = []
        for position in range(self.random.randint(1, 3)):
            word, condition = ("elif", "if")[position == 0], self.condition()
            self.both(indent, f"with af.{word}_({condition}):", f"{word} {condition}:")
            ended.append(self.block(indent + 1, values, branch=True))
        if self.random.random() < 0.5:
            self.both(indent, "with af.else_():", "else:")
            return all([*ended, self.block(indent + 1, values, branch=True)])
        return False

    def condition(self) -> str:
        """Something that holds or does not."""
        known = [f"{name[4:-1]} > {{}}" for name in self.counters if name.startswith("int(")]
        return self.random.choice([*CONDITIONS, *known]).format(self.random.randint(-2, 3))

    def expression(self, values: list[str]) -> str:
        """A number."""
        value, other, kind = self.random.choice(values), self.random.choice([*values, "4"]), self.random.random()
        if kind < 0.4:
            return value
        return f"({value} + {other})" if kind < 0.8 else f"({value} * {self.random.randint(-2, 3)} - {other})"


def program(seed: int) -> tuple[af.Kernel, Callable[..., object], str]:
    """A random kernel, the same in Python, and the kernel's text."""
    kernel, python = Writer(seed).texts
    built: dict[str, object] = {"af": af, "S": S, "int": af.i64}
    plain: dict[str, object] = {}
    exec(compile(kernel, f"<seed {seed}>", "exec"), built)
    exec(compile(python, f"<seed {seed} in Python>", "exec"), plain)
    made, wanted = built["f"], plain["f"]
    assert isinstance(made, af.Kernel)
    assert callable(wanted)
    return made, wanted, kernel
