"""What a program does before and after a pass, and what mlir-opt makes of it by its own pass of that name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from random import Random

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.numeric import dtype
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType, Type
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.harness.judges import meaningful_runs
from tests.mlir.batches import judge
from tests.oracles import mlir_opt

INDICES = (0, 1, 2, 3, 5, 7, 8)
ENDS = (
    -(2**63), -(2**63) + 1, -(2**62), -(2**32), -8, -7, -1, 0, 1, 2, 7, 2**32, 2**62, 2**63 - 8, 2**63 - 2, 2**63 - 1,
)  # fmt: skip
"""Numbers around which 64-bit arithmetic goes wrong."""
UNKNOWN = "--allow-unregistered-dialect"


def parsed(text: str) -> func.Module:
    """A module that keeps the rules."""
    module = parse(text)
    verify(module)
    return module


def shown(module: func.Module, *passes: str) -> str:
    """A module as mlir-opt prints it, after passes of its own."""
    verify(module)
    return mlir_opt(print_op(module), UNKNOWN, *passes)


def both(
    made: Sequence[func.Module], clean: Sequence[str], texts: Sequence[str], passes: Sequence[str]
) -> list[tuple[str, str]]:
    """Modules after passes of mlir-opt, each beside what it makes of a text: two runs of it, however many they are."""
    return list(zip(all_shown(made, *clean), _judged(texts, *passes), strict=True))


def all_shown(modules: Sequence[func.Module], *passes: str) -> list[str]:
    """Modules as mlir-opt prints them, after passes of its own, by one run of it."""
    for module in modules:
        verify(module)
    return _judged([print_op(module) for module in modules], *passes)


def _judged(texts: Sequence[str], *passes: str) -> list[str]:
    outputs = []
    for text, verdict in zip(texts, judge(texts, UNKNOWN, *passes), strict=True):
        assert verdict.output is not None, f"{verdict.errors or 'mlir-opt crashes'}\n{text}"
        outputs.append(verdict.output)
    return outputs


def differences(theirs: str, ours: str) -> list[str]:
    """The lines that only one of two texts has, marked by - for theirs and + for ours, maps and headers left out."""
    lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), lineterm="", n=0)
    return [line[0] + " ".join(line[1:].split()) for line in lines if not line.startswith(("---", "+++", "@@"))]


def assert_alike(
    before: func.Module,
    after: func.Module,
    numbers: Sequence[int] = INDICES,
    *,
    size: int = 9,
    runs: int = 12,
    seed: int = 0,
) -> int:
    """Run each public function with a body of both modules on random arguments; how many runs had a meaning.

    A run of the program before that breaks a rule, as with an index out of bounds, says nothing.
    """
    verify(after)
    random, meant = Random(seed), 0
    for old in before.functions:
        if not (old.external or old.private):
            (new,) = [f for f in after.functions if f.symbol == old.symbol]
            inputs = ([_argument(a.type, random, numbers, size) for a in old.args] for _ in range(runs))
            meant += meaningful_runs(((old, before), (new, after)), inputs)
    return meant


def _argument(type: Type, random: Random, numbers: Sequence[int], size: int) -> object:
    match type:
        case IndexType():
            return random.choice(numbers)
        case IntegerType(width):
            return random.randrange(2) if width == 1 else random.randint(-100, 100)
        case FloatType():
            return dtype(type).type(random.randint(-64, 64) / 8)
        case MemRefType(shape, element) if isinstance(element, IndexType | IntegerType | FloatType):
            sizes = tuple(size if n is None else n for n in shape)
            count = int(np.prod(sizes))
            values = [random.randint(-64, 64) for _ in range(count)]
            if isinstance(element, IndexType):
                values = [random.choice(numbers) for _ in values]
            return np.array(values, dtype(element)).reshape(sizes)
    raise TypeError(f"no arguments of type {type} are made here")
