"""Random kernels for several types: each one is the kernel that has its type written in place of the variable."""

from __future__ import annotations

import linecache
from itertools import product
from random import Random

import pytest

import affdsl as af
from tests.effort import some

FLOATS, WHOLE = ("f16", "f32", "f64"), ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
MIXED = (*FLOATS, "i32", "u8", "c64", "c128")


class Writer:
    """Writes the body of a kernel of x: T[M, N], y: T[N], k: U[N], a: T."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0

    def number(self, of: str, depth: int = 0) -> str:
        """An expression of a type, inside of loops i and j."""
        other = "U" if of == "T" else "T"
        leaves = {"T": ["x[i, j]", "y[j]", "a", "s", "t[j]"], "U": ["k[j]", "k[N - 1 - j]"]}[of]
        if depth > 2 or self.random.random() < 0.3:
            return self.random.choice([*leaves, f"{of}({self.random.randint(0, 5)})", f"{of}(j)"])
        left, right = self.number(of, depth + 1), self.number(of, depth + 1)
        return self.random.choice([
            f"({left} {self.random.choice('+-*')} {right})", f"({left} + {self.random.randint(1, 9)})",
            f"{of}({self.number(other, depth + 1)})", f"af.cast({self.number(other, depth + 1)}, {of})",
            f"af.select({self.condition(depth + 1)}, {left}, {right})", f"af.max({left}, {right})",
        ])  # fmt: skip

    def condition(self, depth: int = 0) -> str:
        of = self.random.choice("TU")
        return f"{self.number(of, depth + 1)} {self.random.choice(['<', '!=', '=='])} {self.number(of, depth + 1)}"

    def statement(self, indent: str) -> str:
        """A line or a block, inside of loops i and j."""
        self.names += 1
        name = f"v{self.names}"
        return indent + self.random.choice([
            f"y[j] = {self.number('T')}", f"x[i, j] += {self.number('T')}", f"k[j] = {self.number('U')}",
            f"t[j] = {self.number('T')}", f"s += {self.number('T')}",
            f"with af.if_({self.condition()}):\n{indent}    y[j] = {self.number('T')}",
            self.choice(name, indent),
            f"with af.for_(j, iter_args=U(1)) as (p{name}, {name}): af.yield_({name} + {self.number('U')})",
        ])  # fmt: skip

    def choice(self, name: str, indent: str) -> str:
        """A branch with a result, which is stored."""
        lines = [
            f"with af.if_({self.condition()}, T) as {name}:", f"    af.yield_({self.number('T')})",
            "with af.else_():", f"    af.yield_({self.number('T')})", f"t[j] = {name}",
        ]  # fmt: skip
        return f"\n{indent}".join(lines)

    def body(self) -> str:
        lines = [self.statement("        ") for _ in range(self.random.randint(1, 5))]
        return "\n".join(lines)


def text(random: Random) -> str:
    """The source of a kernel f, in which T and U stand for types."""
    arrays = random.choice(("T[M, N]", "af.strided(T[M, N])", "af.const(T[M, N])"))
    body = Writer(random).body()
    if "const" in arrays and "x[i, j] +=" in body:
        arrays = "T[M, N]"
    return f"""@af.kernel(contract={random.choice((True, False))})
def f(x: {arrays}, y: T[N], k: U[N], a: T = 2):
    t, s = af.alloc(T[N]), af.var(T(0))
    with af.for_(N) as i:
        t[i] = 0
    with af.for_(M) as i, af.for_(N) as j:
{body}
    return t, s
"""


def kernel_of(source: str, file: str, **names: object) -> af.Kernel:
    """The kernel that a text defines; it is where messages find it."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found = {"af": af, "M": M, "N": N, **names}
    exec(compile(source, file, "exec"), found)
    return found["f"]


M, N = af.symbols("M N")


def outcome(source: str, asked: str = "", **names: object) -> str:
    """The MLIR of the kernel that a text defines, or of one of it, or the error that it gets."""
    try:
        made = kernel_of(source, "<random>", **names)
        return (made[asked] if asked else made).mlir()
    except af.ProgramError as error:
        return f"{type(error).__name__} {error}"


@pytest.mark.parametrize("seed", some(range(400), 10))
def test_one_of_them_is_the_kernel_with_its_type_in_place(seed: int):
    """The same IR, and where a type has no such operation the same error."""
    random = Random(seed)
    source = text(random)
    first, second = (random.sample(random.choice((FLOATS, WHOLE, MIXED)), 2) for _ in "TU")
    for t, u in product(first, second):
        plain = outcome(source, T=getattr(af, t), U=getattr(af, u))
        variables = {
            of: af.dtypes(of, *(getattr(af, name) for name in sorted(names, key=wanted.__ne__)))
            for of, names, wanted in (("T", first, t), ("U", second, u))
        }
        made = outcome(source, f"{t}, {u}", **variables)
        assert made.replace(f"@f_{t}_{u}(", "@f(").replace(f"\n    this is f for T = {t}, U = {u}", "") == plain, source


def test_many_are_right():
    """Both kernels and refusals are compared."""
    found = [outcome(text(Random(seed)), T=af.f32, U=af.i32) for seed in range(30)]
    assert sum(each.startswith("module") for each in found) >= 10
