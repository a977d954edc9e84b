"""Programs to plant faults into: kernels for all sizes, random programs, and what transformations make of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.transforms.distribute import distribute
from affdsl.passes.transforms.index_set_split import index_set_split
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.peel import peel
from affdsl.passes.transforms.reverse import reverse
from affdsl.passes.transforms.shift import shift
from affdsl.passes.transforms.skew import skew
from affdsl.passes.transforms.strip_mine import strip_mine
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.passes.analysis.programs import generate as generate_small

_TYPE = {"M": "memref<?x?xf64>", "V": "memref<?xf64>", "S": "index"}


def _kernel(arguments: str, body: str) -> str:
    """A function whose arguments are given as A:M x:V n:S; all sizes are those that its accesses need, or more."""
    given = ", ".join(f"%{name}: {_TYPE[kind]}" for name, kind in (a.split(":") for a in arguments.split()))
    for kind, type in _TYPE.items():
        body = body.replace(f": {kind}\n", f": {type}\n")
    return f"func.func @k({given}) {{\n{body}\n  return\n}}"


KERNELS = {
    "matmul": _kernel("A:M B:M C:M n:S", """
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n { affine.for %j = 0 to %n {
    affine.store %zero, %C[%i, %j] : M
    affine.for %k = 0 to %n {
      %a = affine.load %A[%i, %k] : M
      %b = affine.load %B[%k, %j] : M
      %c = affine.load %C[%i, %j] : M
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %c, %p : f64
      affine.store %s, %C[%i, %j] : M
    }
  } }"""),
    "triangular matrix product": _kernel("A:M B:M n:S", """
  affine.for %i = 0 to %n { affine.for %j = 0 to %n {
    affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to %n {
      %a = affine.load %A[%k, %i] : M
      %b = affine.load %B[%k, %j] : M
      %c = affine.load %B[%i, %j] : M
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %c, %p : f64
      affine.store %s, %B[%i, %j] : M
    }
  } }"""),
    "two sweeps": _kernel("A:V B:V n:S t:S", """
  affine.for %s = 0 to %t {
    affine.for %i = 1 to %n {
      %a = affine.load %A[%i - 1] : V
      %b = affine.load %A[%i] : V
      %c = affine.load %A[%i + 1] : V
      %p = arith.addf %a, %b : f64
      %q = arith.addf %p, %c : f64
      affine.store %q, %B[%i] : V
    }
    affine.for %i = 1 to %n {
      %b = affine.load %B[%i] : V
      affine.store %b, %A[%i] : V
    }
  }"""),
    "in place": _kernel("A:V n:S t:S", """
  affine.for %s = 0 to %t { affine.for %i = 1 to %n {
    %a = affine.load %A[%i - 1] : V
    %b = affine.load %A[%i] : V
    %c = affine.load %A[%i + 1] : V
    %p = arith.subf %a, %b : f64
    %q = arith.mulf %p, %c : f64
    affine.store %q, %A[%i] : V
  } }"""),
    "a buffer between": _kernel("A:V B:V C:V n:S", """
  %T = memref.alloc(%n) : memref<?xf64>
  %U = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : V
    %b = affine.load %B[%i] : V
    %p = arith.mulf %a, %b : f64
    %m = arith.subf %a, %b : f64
    affine.store %p, %T[%i] : V
    affine.store %m, %U[%i] : V
  }
  affine.for %i = 0 to %n {
    %t = affine.load %T[%i] : V
    %u = affine.load %U[%i] : V
    %d = arith.subf %t, %u : f64
    affine.store %d, %C[%i] : V
  }"""),
    "private rows": _kernel("A:M B:M n:S", """
  affine.for %i = 0 to %n {
    %T = memref.alloc(%n) : memref<?xf64>
    %U = memref.alloc(%n) : memref<?xf64>
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : M
      %s = arith.addf %a, %a : f64
      %p = arith.mulf %a, %a : f64
      affine.store %s, %T[%j] : V
      affine.store %p, %U[%j] : V
    }
    affine.for %j = 1 to %n {
      %t = affine.load %T[%j - 1] : V
      %u = affine.load %U[%j] : V
      %d = arith.subf %t, %u : f64
      affine.store %d, %B[%i, %j] : M
    }
  }"""),
    "rows beside each other": _kernel("A:M B:M n:S", """
  affine.parallel (%i) = (0) to (symbol(%n)) {
    %T = memref.alloc(%n) : memref<?xf64>
    %U = memref.alloc(%n) : memref<?xf64>
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : M
      %p = arith.mulf %a, %a : f64
      affine.store %a, %T[%j] : V
      affine.store %p, %U[%j] : V
    }
    affine.for %j = 0 to %n {
      %t = affine.load %T[%j] : V
      %u = affine.load %U[-%j + symbol(%n) - 1] : V
      %d = arith.subf %t, %u : f64
      affine.store %d, %B[%i, %j] : M
    }
  }"""),
    "guards": _kernel("A:M B:M n:S m:S", """
  affine.for %i = 0 to %n { affine.for %j = 0 to %m {
    affine.if affine_set<(d0, d1) : (d0 - d1 - 1 >= 0)>(%i, %j) {
      %a = affine.load %A[%i, %j] : M
      affine.store %a, %B[%i, %j] : M
    } else {
      %b = affine.load %A[%j, %i] : M
      %c = arith.mulf %b, %b : f64
      affine.store %c, %B[%i, %j] : M
    }
    affine.if affine_set<(d0, d1)[s0] : (d0 - 2 >= 0, s0 - d1 - 3 >= 0)>(%i, %j)[%m] {
      %b = affine.load %B[%i, %j] : M
      %a = affine.load %A[%i - 2, %j + 2] : M
      %d = arith.subf %b, %a : f64
      affine.store %d, %B[%i, %j] : M
    }
  } }"""),
    "a guarded row": _kernel("A:M x:V n:S", """
  affine.for %i = 0 to %n {
    affine.if affine_set<(d0)[s0] : (s0 - d0 - 2 >= 0)>(%i)[%n] {
      %v = affine.load %x[%i + 1] : V
      affine.store %v, %A[%i, 0] : M
    }
    affine.for %j = 1 to %n {
      %l = affine.load %A[%i, %j - 1] : M
      %y = affine.load %x[%j] : V
      %s = arith.addf %l, %y : f64
      affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%j) {
        affine.store %s, %A[%i, %j] : M
      }
    }
  }"""),
    "a carried sum": _kernel("A:M x:V y:V n:S", """
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    %r = affine.for %j = 0 to %n iter_args(%s = %zero) -> (f64) {
      %a = affine.load %A[%i, %j] : M
      %v = affine.load %x[%j] : V
      %p = arith.mulf %a, %v : f64
      %t = arith.addf %s, %p : f64
      affine.yield %t : f64
    }
    affine.store %r, %y[%i] : V
  }"""),
    "a decomposition": _kernel("A:M n:S", """
  affine.for %k = 0 to %n {
    affine.for %i = affine_map<(d0) -> (d0 + 1)>(%k) to %n {
      %p = affine.load %A[%k, %k] : M
      %a = affine.load %A[%i, %k] : M
      %q = arith.divf %a, %p : f64
      affine.store %q, %A[%i, %k] : M
      affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to %n {
        %l = affine.load %A[%i, %k] : M
        %u = affine.load %A[%k, %j] : M
        %m = arith.mulf %l, %u : f64
        %b = affine.load %A[%i, %j] : M
        %d = arith.subf %b, %m : f64
        affine.store %d, %A[%i, %j] : M
      }
    }
  }"""),
}  # fmt: skip
"""Kernels whose sizes are symbols."""

PASSES = (
    "affine-loop-tile{tile-size=2}", "affine-loop-tile{tile-size=4}", "affine-loop-tile{tile-size=3 separate=true}",
    "affine-loop-unroll{unroll-factor=2}", "affine-loop-unroll{unroll-factor=4}",
    "affine-loop-unroll-jam{unroll-jam-factor=2}", "affine-loop-unroll-jam{unroll-jam-factor=3}", "affine-scalrep",
    "affine-loop-coalescing", "affine-parallelize", "affine-loop-normalize", "affine-loop-invariant-code-motion",
    "test-affine-loop-unswitch", "affine-data-copy-generate{generate-dma=false fast-mem-space=0}",
)  # fmt: skip
LOOPS: dict[str, Callable[[Func, Value, Random], Func]] = {
    "peel first": lambda f, iv, random: peel(f, iv, first=random.choice((1, 2))),
    "peel last": lambda f, iv, random: peel(f, iv, last=random.choice((1, 2))),
    "split": lambda f, iv, random: index_set_split(f, iv, random.choice((1, 2, 5))),
    "strip-mine": lambda f, iv, random: strip_mine(f, iv, random.choice((2, 3, 4))),
    "shift": lambda f, iv, random: shift(f, iv, random.choice((-2, 1, 3))),
    "reverse": lambda f, iv, _: reverse(f, iv),
    "distribute": lambda f, iv, _: distribute(f, iv),
}
"""What is done to one loop."""
PAIRS: dict[str, Callable[[Func, Value, Value, Random], Func]] = {
    "interchange": lambda f, outer, inner, _: interchange(f, outer, inner),
    "skew": lambda f, outer, inner, random: skew(f, outer, inner, random.choice((1, 2))),
}
"""What is done to a loop and the one inside of it."""


@dataclass(frozen=True)
class Case:
    """A program and what is made of it, by name; nothing, where both are one."""

    name: str
    steps: tuple[str, ...]
    before: Module
    after: Module

    @property
    def title(self) -> str:
        """What it is called."""
        return " / ".join((self.name, *self.steps))


def cases(random: Random) -> Iterator[Case]:
    """Cases without end: a kernel or a random program, in two of three cases with one or two transformations."""
    while True:
        name, before = _program(random)
        after, steps = before, []
        for _ in range(random.choice((0, 1, 2))):
            step, made = _transformed(after, random)
            if made is not None and str(made) != str(after):
                after, steps = made, [*steps, step]
        yield Case(name, tuple(steps), before, after)


def _program(random: Random) -> tuple[str, Module]:
    kind = random.choice(("kernel", "kernel", "kernel", "random", "small"))
    if kind == "kernel":
        name = random.choice(tuple(KERNELS))
        return name, parse(KERNELS[name])
    seed = random.randrange(100_000)
    return (f"random {seed}", parse(mlir(generate(seed)))) if kind == "random" else (
        f"small random {seed}", generate_small(seed).module)  # fmt: skip


def _transformed(module: Module, random: Random) -> tuple[str, Module | None]:
    """A random transformation, and what it makes; None where it refuses."""
    function = next(f for f in module.functions if not (f.private or f.external))
    loops = [op for op in walk(function) if isinstance(op, affine.For)]
    step = random.choice((*PASSES, *PASSES, *(*LOOPS, *PAIRS) * 2))
    try:
        if step in PASSES:
            return step, run_pipeline(module, f"builtin.module(func.func({step}))")
        if not loops:
            return step, None
        loop = random.choice(loops)
        inner = next((op for op in loop.body if isinstance(op, affine.For)), loop)
        made = LOOPS[step](function, loop.iv, random) if step in LOOPS else PAIRS[step](
            function, loop.iv, inner.iv, random)  # fmt: skip
        whole = with_fields(module, body=tuple(made if op is function else op for op in module.body))
        verify(whole)
    except AffdslError:
        return step, None
    return step, whole
