"""A function and the steps that were done to it, each of them tried before it is taken."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.passes.advice.verbs import done
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.passes.legality.proposals import Request, Step
from affdsl.passes.transforms.loops.nests import instead
from affdsl.passes.transforms.settle import settled

Loop: TypeAlias = affine.For | affine.Parallel
_MAKES_NO_BOUNDS = frozenset({"reverse"})
"""Verbs behind which nothing is left to simplify."""


class Program(Frozen):
    """A function, the module that it stands in, and what is known of it."""

    function: Func
    module: Module

    def after(self, step: Step) -> Program:
        """The program after a step. Raises IllegalTransform."""
        made = done(Request(step, self.function, self.module))
        if step.verb not in _MAKES_NO_BOUNDS:
            made = settled(made, self.function).function
        return Program(made, instead(self.module, self.function, made))

    @cached_property
    def dependences(self) -> Dependences:
        """Those of the function."""
        return Dependences(self.function, self.module)

    def graph(self, owner: Value | None) -> MemRefDependenceGraph:
        """What must stay behind what in the body of a loop, or of the function."""
        return MemRefDependenceGraph(self.dependences, self.block(owner))

    def block(self, owner: Value | None) -> Block:
        """The body of a loop, or of the function; empty where the loop is gone."""
        if owner is None:
            return self.function.body
        loop = self.loop(owner)
        return () if loop is None else loop.body

    def loop(self, iv: Value) -> Loop | None:
        """The loop of an induction variable; None where it is gone, or of another kind."""
        return next((op for op in self.loops if iv_of(op) is iv), None)

    def owner(self, loop: Loop) -> Value | None:
        """The loop in whose body another one stands; None for the body of the function."""
        return next((iv_of(op) for op in self.loops if loop in op.body), None)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """All affine loops, in the order of the text."""
        return tuple(op for op in walk(self.function) if isinstance(op, Loop))

    def place(self, iv: Value) -> str:
        """Where the user wrote a loop."""
        loop = self.loop(iv)
        return str(loop.location) if loop is not None and loop.location is not None else "nowhere"

    def is_parallel(self, iv: Value) -> bool:
        """Whether the iterations of a loop may run in any order."""
        found = of_loop(self.dependences, iv)
        return found is not None and found.is_parallel

    @cached_property
    def contiguous(self) -> int:
        """How many accesses of innermost loops go along rows."""
        inner = [loop for loop in self.loops if is_innermost(loop)]
        found = (
            ([*loop.binds()][-1], op)
            for loop in inner
            for op in walk(loop)
            if isinstance(op, affine.Load | affine.Store)
        )
        return sum(dict(op.index[-1].terms).get(iv) == 1 for iv, op in found if op.index)

    @cached_property
    def buffers(self) -> tuple[memref.Allocation, ...]:
        """What the function allocates, in the order of the text."""
        return tuple(op for op in walk(self.function) if isinstance(op, memref.Allocation))

    def accesses(self, buffer: Value) -> tuple[Access, ...]:
        """The loads and stores of a buffer."""
        every = self.dependences.accesses.inside(self.function)
        return tuple(a for a in every if a.buffer.root is buffer and not isinstance(a.op, memref.Dealloc))


def is_innermost(loop: Op) -> bool:
    """Whether a loop holds no other one."""
    return not any(isinstance(op, Loop) for op in walk(loop) if op is not loop)


def iv_of(loop: Loop) -> Value:
    """The induction variable of a loop, the first one of a parallel band: it stands for the loop."""
    return next(loop.binds())
