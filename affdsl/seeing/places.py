"""Of which loops of a kernel the instructions of its assembly are, and of which of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from affdsl.codegen.assembly import Instruction
from affdsl.codegen.assembly_loops import AssemblyLoop
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import users
from affdsl.seeing.loop_names import Loop, counters

MOST = 0.7
"""Such a share of its instructions is of the loop of the kernel that an innermost loop is; compilers move some."""


class LoopOf(FrozenValue):
    """One loop of a kernel: the operation, and which of its counters counts it."""

    op: Loop
    number: int = 0

    @property
    def iv(self) -> Value | None:
        """The counter; None of a loop that has none."""
        ivs = counters(self.op)
        return ivs[self.number] if ivs else None


Chain = tuple[LoopOf, ...]
"""The loops around something, the outermost first."""


class Places:
    """The loops around each line of a C file, and the operation that it was written for."""

    def __init__(self, source: str, origins: Mapping[int, tuple[Op, ...]]) -> None:
        self._origins = origins
        self._begun = dict(_begun(source.split("\n"), origins))
        self._users: dict[Op, dict[Value, list[Op]]] = {}
        lines = source.split("\n")
        others = (n for n, ops in origins.items() if lines[n - 1].lstrip().startswith("for (") and n not in self._begun)
        self._with_others = {loop for line in others for loop in self._around(line)}

    def line(self, instruction: Instruction) -> int | None:
        """The line of C, of a loop of the kernel or inside of one, for which an instruction is; None if none is."""
        return next((n for n in instruction.lines if n in self._origins), None)

    def location(self, line: int) -> Location | None:
        """Where the user wrote what a line of C is: a value that a step made is of where it is used."""
        first, op = self._origins[line][0], self._origins[line][-1]
        if first not in self._users:
            self._users[first] = users(first)
        found, seen = op, {op}
        while found.location is None:
            reading = [each for value in found.defines() for each in self._users[first].get(value, ())]
            following = next((each for each in reading if each not in seen), None)
            if following is None:
                return None
            seen.add(following)
            found = following
        return found.location

    def has_others(self, loop: LoopOf) -> bool:
        """Whether C has a loop inside of one that is none of the kernel, as over the lanes of a vector."""
        return loop in self._with_others

    def begins(self, instruction: Instruction) -> LoopOf | None:
        """The loop in whose first line of C, which counts and compares, an instruction stands."""
        line = self.line(instruction)
        return None if line is None else self._begun.get(line)

    def chain(self, instruction: Instruction) -> Chain:
        """The loops around an instruction, those around the calls of inlined functions first."""
        return tuple(loop for line in reversed(instruction.lines) for loop in self._around(line))

    def _around(self, line: int) -> Iterator[LoopOf]:
        ops = self._origins.get(line, ())
        begun = self._begun.get(line)
        for op in ops:
            if isinstance(op, Loop):
                last = begun.number + 1 if begun is not None and begun.op is op else len(counters(op))
                yield from (LoopOf(op, k) for k in range(last if counters(op) else 1))


def _begun(lines: Sequence[str], origins: Mapping[int, tuple[Op, ...]]) -> Iterator[tuple[int, LoopOf]]:
    """The lines that begin loops."""
    number: Counter[Op] = Counter()
    for line, (*_, op) in sorted(origins.items()):
        text = lines[line - 1].lstrip()
        if isinstance(op, Loop) and text.startswith(("for (", "while (")):
            yield line, LoopOf(op, number[op] % max(len(counters(op)), 1))
            number[op] += 1


def chains(loops: Sequence[AssemblyLoop], places: Places) -> dict[AssemblyLoop, Chain]:
    """Which loop of the kernel each loop of the assembly is, as the last one of a chain; empty where none is.

    A compiler may make several loops of one, none, or one of two. An innermost one is that loop which most of its
    instructions are of, or one around it if only that counts in it. Another one is what the loops inside of it and its
    own instructions have around them.
    """
    found: dict[AssemblyLoop, Chain] = {}
    unrolled: list[AssemblyLoop] = []
    for loop in sorted(loops, key=lambda each: -each.depth):
        inner = [found[each] for each in loop.inner if found[each]]
        own = [(places.chain(each), places.begins(each)) for each in loop.own()]
        # What begins a loop inside stands in front of it.
        begun = {chain[-1] for chain in inner}
        known = [chain[:-1] if begins in begun and chain[-1:] == (begins,) else chain for chain, begins in own if chain]
        counting = {begins for _, begins in own}
        around = _common([*inner, *([_most(known)] if known else [])])
        if not inner and counting.isdisjoint(around):
            unrolled += [loop] if around and _is_short(around[-1].op) else []
        elif not inner:
            around = next(around[:k] for k in range(len(around), 0, -1) if around[k - 1] in counting)
        if around in inner and _counts_itself(loop, around[-1], found, places):
            around = around[:-1]
        found[loop] = around
    for loop in unrolled:
        if found[loop][-2:-1] and not any(found[loop][:-1] == chain for chain in found.values()):
            found[loop] = found[loop][:-1]
    return found


def _is_short(op: Loop) -> bool:
    """Whether the number of iterations is fixed, so that a compiler may leave none of the loop."""
    if not isinstance(op, affine.For) or len(op.lower) != 1 or len(op.upper) != 1:
        return False
    return (op.upper[0] - op.lower[0]).is_constant


def _common(chains: Sequence[Chain]) -> Chain:
    """The loops that some chains begin with alike."""
    alike = takewhile(lambda loops: len({*loops}) == 1, zip(*chains, strict=False))
    return tuple(loops[0] for loops in alike)


def _most(chains: Sequence[Chain]) -> Chain:
    """The innermost loop in which most of some instructions are, with those around it."""
    counted = Counter(chain[: k + 1] for chain in chains for k in range(len(chain)))
    good = [chain for chain, count in counted.items() if count >= MOST * len(chains)]
    return max(good, key=len, default=())


def _counts_itself(loop: AssemblyLoop, of: LoopOf, found: Mapping[AssemblyLoop, Chain], places: Places) -> bool:
    """Whether a loop inside is that loop of the kernel, and not a part of one iteration of it."""
    if isinstance(of.op, scf.While) or not places.has_others(of):
        return True
    same = (inner for inner in loop.inner if found[inner] and found[inner][-1] == of)
    return any(places.begins(each) == of for inner in same for each in inner.all())
