"""A kernel run on one part of its arrays after the other, each with some elements more around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

import affdsl as af
from affdsl.lang.annotations import ArrayType
from tests.harness.judges import copied

Halo = Sequence[tuple[int, int]]


def in_parts(
    kernel: af.Kernel, arguments: Sequence[object], of: str, halo: Halo, cuts: Sequence[Sequence[int]]
) -> np.ndarray:
    """An output, made of parts between cuts: each is what the kernel leaves in the middle of a part and its halo.

    Where inputs are longer than the output, the halo is what they are longer by, and parts of the output have none.
    Arrays whose sizes are numbers are given whole.
    """
    parameters = kernel.program.parameters
    position = [p.name for p in parameters].index(of)
    made = np.empty_like(arguments[position])
    shapes = [x.shape for x in map(np.asarray, arguments) if x.ndim == made.ndim]
    longest = tuple(map(max, zip(*shapes, strict=True)))
    is_longer = longest != made.shape
    for part in product(*(zip((0, *c), (*c, n), strict=True) for c, n in zip(cuts, made.shape, strict=True))):
        around = [
            (max(a - low, 0), min(b + high, n)) for (a, b), (low, high), n in zip(part, halo, longest, strict=True)
        ]
        given = list(arguments)
        for k, (p, x) in enumerate(zip(parameters, arguments, strict=True)):
            if isinstance(x, np.ndarray) and x.ndim == made.ndim and not any(e.is_constant for e in p.type.shape):
                given[k] = x[tuple(slice(*ends) for ends in (part if is_longer and x.shape == made.shape else around))]
        given = copied(given)
        kernel.interpret(*given)
        inside = tuple(slice(a - first, b - first) for (a, b), (first, _) in zip(part, around, strict=True))
        made[tuple(slice(*ends) for ends in part)] = given[position][... if is_longer else inside]
    return made


def whole(kernel: af.Kernel, arguments: Sequence[object], of: str) -> np.ndarray:
    """The output of a kernel that runs on the whole arrays."""
    given = copied(arguments)
    kernel.interpret(*given)
    found = given[[p.name for p in kernel.program.parameters].index(of)]
    assert isinstance(found, np.ndarray)
    return found


def arguments(kernel: af.Kernel, size: int, seed: int) -> list[object]:
    """Random arrays, all sizes of which come from one, and numbers."""
    random = np.random.default_rng(seed)
    sizes = {symbol: size + k for k, symbol in enumerate(kernel.program.sizes)}
    made: list[object] = []
    for p in kernel.program.parameters:
        if isinstance(p.type, ArrayType):
            shape = tuple(e.evaluate(sizes) for e in p.type.shape)
            is_whole = p.type.dtype.kind != "float"
            made.append(
                (random.integers(0, 2, shape) if is_whole else random.normal(size=shape)).astype(p.type.dtype.numpy)
            )
        else:
            made.append(0.5 if p.type == af.f64 else 2)
    return made
