"""For what a kernel is optimized, what may round in another way, and the numbers that recipes choose."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import field, fields, replace
from typing import Literal

from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.native import native_target
from affdsl.codegen.targets.baseline import BASELINE
from affdsl.codegen.targets.target import Target
from affdsl.codegen.threads import cores, of_environment, wanted
from affdsl.frozen import FrozenValue

RECIPES: Mapping[str, str] = {
    "chains": "nests that make and read arrays, as one",
    "joined": "nests over one matrix, as one",
    "through": "strips of rows through all nests",
    "products": "products of matrices",
    "sweeps": "time steps, tile by tile",
    "rows": "short rows as a whole",
    "diagonals": "sums along diagonals",
    "straight": "short loops as straight code",
    "panels": "blocks of a loop, strip by strip",
    "outer": "a loop around others on vectors",
    "vectors": "inner loops on vectors",
    "colours": "every second iteration of a loop, without a question",
}
"""What the recipes are about that can be left out, in the order in which they are tried."""


class Choices(FrozenValue):
    """What recipes choose where more than one number is right. Each of them keeps to what registers and caches hold.

    Attributes
    ----------
    left_out
        Those of `RECIPES` that are not taken, though they may fit.
    most_threads
        How many threads there are at most; 0 is as many as the caller has.
    product_rows, product_columns, product_terms
        The tile of a product: how many rows and columns of the result, and how many terms of each sum it adds. A panel
        of B with so many terms stays in the nearest cache, or next to it. Columns are those of numbers of 64 bits,
        of narrower ones there are as many more. They are so few that all panels of a tile stay in the last cache,
        which others use, too, or in the second one where that is large: then sums add fewer terms as well.
    register_rows, register_vectors
        How many rows of the result are in registers, and how many vectors of each of them.
    lone_rows
        How many rows of one vector are in registers instead, where products and sums are operations of their own and a
        product takes its number of A from memory: then each of these is in one product only.
    block_rows, block_columns
        How many rows a block of a factorization has, and how many columns are solved for at once with those before.
    sweep_steps, sweep_planes, sweep_rows
        The tile of sweeps in time: how many time steps, planes of arrays with three dimensions, and rows.
    sums, sum_vectors
        How many sums run at once, or rows that add to one vector, and in how many vectors one sum is made.
    strip_vectors
        How many vectors a strip has, of a loop that sums up what it has made before.
    shared_rows
        How many rows run at once that have an array in common.
    outer_vectors
        How many vectors of a loop around others run at once.
    searched
        How many iterations a strip has whose searches are made before what they find is used.
    band_rows
        How many rows of its result a band of a chain of nests makes.
    jammed_steps, recurrences
        How many time steps of a recurrence run at once, and how many recurrences along rows.

    >>> print(Choices())
    what recipes choose by themselves
    >>> print(Choices(left_out=("sweeps",), sums=4))
    without sweeps, sums = 4
    """

    left_out: tuple[str, ...] = ()
    most_threads: int = 0
    product_rows: int = 128
    product_columns: int = 1536
    product_terms: int = 384
    register_rows: int = 8
    register_vectors: int = 2
    lone_rows: int = 12
    block_rows: int = 64
    block_columns: int = 16
    sweep_steps: int = 16
    sweep_planes: int = 8
    sweep_rows: int = 16
    sums: int = 8
    sum_vectors: int = 4
    strip_vectors: int = 4
    shared_rows: int = 4
    outer_vectors: int = 4
    searched: int = 512
    band_rows: int = 32
    jammed_steps: int = 4
    recurrences: int = 8

    def numbers(self) -> dict[str, int]:
        """The numbers that are not those of `Choices()`, by their names."""
        return {name: n for name in NUMBERS if (n := getattr(self, name)) != getattr(USUAL, name)}

    def __str__(self) -> str:
        if self == AS_IT_WAS:
            return "as it was"
        said = [f"without {name}" for name in self.left_out]
        numbers = self.numbers()
        said += ["on one thread"] if numbers.pop("most_threads", 0) == 1 else []
        said += [f"{name} = {n}" for name, n in numbers.items()]
        return ", ".join(said) or "what recipes choose by themselves"


NUMBERS = tuple(each.name for each in fields(Choices) if each.name != "left_out")
USUAL = Choices()
AS_IT_WAS = Choices(left_out=(*RECIPES,), most_threads=1)
"""No recipe at all: the kernel as it was."""


class Watched(Choices):
    """Choices that know which numbers recipes have asked for.

    >>> watched = Watched()
    >>> watched.sums
    8
    >>> watched.asked
    {'sums'}
    """

    @property
    def asked(self) -> set[str]:
        """The names of the numbers that somebody has read."""
        found: set[str] = self.__dict__.setdefault("_asked", set())
        return found

    def __getattribute__(self, name: str) -> object:
        if name in NUMBERS:
            self.asked.add(name)
        return super().__getattribute__(name)


VARIATIONS: tuple[Mapping[str, int], ...] = tuple(
    {name: number} for name in NUMBERS if (usual := getattr(USUAL, name)) for number in (usual // 2, 2 * usual)
)
"""What may be better than the usual numbers."""
OF_RECIPE = {"sweeps": "sweep_steps", "products": "product_terms", "outer": "outer_vectors"}
"""A number that a recipe asks for when all else about a nest is right."""


def to_be_timed(asked: Set[str], threads: int) -> list[Choices]:
    """The choices to time in any case, beside the usual ones.

    The kernel as it was is one of them, the recipes on one thread, and what comes of it without a recipe that was
    taken.
    """
    first = [AS_IT_WAS]
    first += [replace(USUAL, most_threads=1)] if threads > 1 else []
    return first + [replace(USUAL, left_out=(name,)) for name, number in OF_RECIPE.items() if number in asked]


def with_other_numbers(asked: Set[str]) -> list[Choices]:
    """The usual choices with other numbers, of those that were asked for."""
    return [varied(row) for row in VARIATIONS if asked >= row.keys()]


def together(times: Mapping[Choices, float]) -> Choices | None:
    """The numbers of the two fastest choices that are faster than the usual one and change different numbers, as one.

    >>> times = {USUAL: 3.0, varied({"sums": 16}): 1.0, varied({"sums": 4}): 2.0, varied({"shared_rows": 8}): 2.5}
    >>> print(together(times))
    sums = 16, shared_rows = 8
    """
    better = [each for each, seconds in times.items() if seconds < times[USUAL] and not each.left_out]
    first, *others = sorted(better, key=lambda each: times[each]) or [USUAL]
    for other in others:
        if first.numbers().keys().isdisjoint(other.numbers()):
            return varied({**first.numbers(), **other.numbers()})
    return None


def varied(numbers: Mapping[str, int]) -> Choices:
    """The usual choices with some other numbers."""
    return Choices(**numbers)  # type: ignore[arg-type]


class Options(FrozenValue):
    """What recipes ask of whoever calls.

    Attributes
    ----------
    target
        The vector registers and the caches.
    threads
        How many threads there are; 1 leaves all loops sequential.
    contract, reassociate, reciprocal, approximate
        What may round in another way, as the steps of these names have it.
    no_nans, no_signed_zeros
        What minima and maxima need not care for, as the step `extremes` has it.
    choices
        The numbers that recipes choose.
    shortest_sum
        How long sums are at least that are made in another order, beside what recipes ask for.
    """

    target: Target
    threads: int = 1
    contract: bool = False
    reassociate: bool = False
    reciprocal: bool = False
    approximate: bool = False
    no_nans: bool = False
    no_signed_zeros: bool = False
    choices: Choices = field(default_factory=Choices)
    shortest_sum: int = 0

    @property
    def tail(self) -> Literal["masked", "scalar"]:
        """How the iterations run that whole vectors leave over."""
        return "masked" if self.target.has_masks else "scalar"


def targets() -> Mapping[str, Target]:
    """The targets that there are, by their names; "native" is this machine."""
    return {"native": native_target(), **{target.name: target for target in (*TARGETS, BASELINE)}}


def available_threads() -> int:
    """How many threads this process may use at once: as many as it has cores, and no more than loops run on."""
    limit = wanted() or of_environment()
    return min(cores(), limit) if limit else cores()
