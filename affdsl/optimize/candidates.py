"""Which choices are worth a try: those that change what recipes have asked for, the most promising ones first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace

from affdsl.codegen.targets.target import Target
from affdsl.frozen import FrozenValue
from affdsl.optimize.choices import AS_IT_WAS, USUAL, Choices
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.product import register_tile

MOST = 8
"""How many candidates are timed at most."""
LOADS, SUMS, WAIT = 2, 2, 4
"""How many vectors a core loads in a cycle, how many products and sums it begins, and after how many cycles one ends:
what is usual of the processors of the last ten years."""
FAR = 4.0
"""How much longer an iteration of a sweep takes whose numbers come from memory, beside one on those in a cache."""

VARIATIONS: tuple[Mapping[str, int], ...] = (
    {"product_terms": 256},
    {"product_terms": 256, "product_rows": 256},
    {"product_terms": 512, "product_rows": 64},
    {"product_columns": 4096},
    {"register_rows": 12, "register_vectors": 2},
    {"register_rows": 6, "register_vectors": 4},
    {"register_rows": 4, "register_vectors": 3},
    {"lone_rows": 16},
    {"lone_rows": 20},
    {"block_rows": 32},
    {"block_rows": 128},
    {"block_columns": 32},
    {"strip_vectors": 2},
    {"strip_vectors": 8},
    {"sweep_steps": 8},
    {"sweep_steps": 32},
    {"sweep_rows": 32},
    {"sweep_steps": 8, "sweep_rows": 32},
    {"sweep_planes": 16, "sweep_rows": 32},
    {"sums": 4},
    {"sums": 16},
    {"sum_vectors": 8},
    {"shared_rows": 2},
    {"shared_rows": 8},
    {"outer_vectors": 1},
    {"outer_vectors": 2},
    {"outer_vectors": 8},
    {"searched": 128},
    {"searched": 2048},
    {"band_rows": 16},
    {"band_rows": 64},
    {"jammed_steps": 2},
    {"jammed_steps": 8},
    {"recurrences": 4},
    {"recurrences": 16},
)  # fmt: skip
"""What may be better than the usual numbers."""
OF_RECIPE = {"sweeps": "sweep_steps", "products": "product_terms", "outer": "outer_vectors"}
"""A number that a recipe asks for when all else about a nest is right."""


class Machine(FrozenValue):
    """What the model knows of where a kernel runs, and of its arrays.

    Attributes
    ----------
    bits
        Of the widest number.
    row
        Bytes of all arrays that lie along one line of the longest dimension.
    contract
        Whether a product and a sum may be one operation.
    """

    target: Target
    bits: int = 64
    row: int = 1 << 13
    contract: bool = False

    def cache(self, level: int, usual: int) -> int:
        """Bytes of a cache, counted from 1."""
        return self.target.caches[level - 1] if len(self.target.caches) >= level else usual


def candidates(asked: Set[str], options: Options, machine: Machine) -> list[Choices]:
    """The choices to time beside the usual ones, the most promising first.

    The kernel as it was is one of them, the recipes on one thread, and what comes of it without a recipe that was
    taken; then other numbers, of those that were asked for.
    """
    first = [AS_IT_WAS]
    first += [replace(USUAL, most_threads=1)] if options.threads > 1 else []
    first += [replace(USUAL, left_out=(name,)) for name, number in OF_RECIPE.items() if number in asked]
    others = [varied(row) for row in VARIATIONS if asked >= row.keys()]
    return [*first, *sorted(others, key=lambda each: expected(each, asked, machine))]


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


def expected(choices: Choices, asked: Set[str], machine: Machine) -> float:
    """How long it takes with some choices, as the model has it: 1 if nothing waits.

    It multiplies what recipes cost whose numbers were asked for.
    """
    cost = 1.0
    for number, part in _PARTS.items():
        cost *= part(choices, machine) if number in asked else 1.0
    return cost


def _product(choices: Choices, machine: Machine) -> float:
    """A tile in registers: what is loaded, and waited for, beside its products; and how often the result moves."""
    rows, vectors = register_tile(choices, machine.target, contract=machine.contract)
    products = rows * vectors
    cycles = max(products / SUMS, (rows + vectors) / LOADS, WAIT)
    panel = choices.product_terms * vectors * machine.target.width // 8
    cycles *= 1.1 if panel > machine.cache(1, 32 << 10) * 3 // 4 else 1.0
    moved = 2 * products / LOADS + WAIT
    block = choices.product_rows * choices.product_terms * machine.bits // 8
    far = 1.1 if block > machine.cache(2, 1 << 20) // 2 else 1.0
    return far * SUMS * (cycles + moved / choices.product_terms) / products


def _sweeps(choices: Choices, machine: Machine) -> float:
    """A tile in time: what comes from memory for each step, if a tile stays in the second cache, and its edges."""
    steps, rows = choices.sweep_steps, choices.sweep_rows
    fits = (rows + steps) * machine.row <= machine.cache(2, 1 << 20) // 2
    return 1 + FAR * ((1 + steps / rows) / steps if fits else 1.0) + 1 / rows


def _chains(number: str) -> Callable[[Choices, Machine], float]:
    """So many at once, each of which waits for itself, in as many registers, and as many for what they share."""

    def cost(choices: Choices, machine: Machine) -> float:
        many: int = getattr(choices, number)
        waits = max(1.0, SUMS * WAIT / many)
        return waits * (2.0 if many + 2 > machine.target.registers else 1.0)

    return cost


def _shared(choices: Choices, machine: Machine) -> float:
    """Rows at once that load one array in common."""
    rows = choices.shared_rows
    return (1 + 1 / rows) * (2.0 if 2 * rows + 2 > machine.target.registers else 1.0)


def _blocks(choices: Choices, machine: Machine) -> float:
    """Blocks of a factorization: what is no product in them grows with them, and products are short in small ones."""
    return (
        1 + choices.block_rows / 512 + 8 / choices.block_rows + choices.block_columns / 256 + 2 / choices.block_columns
    )


_PARTS: Mapping[str, Callable[[Choices, Machine], float]] = {
    "product_terms": _product,
    "block_rows": _blocks,
    "sweep_steps": _sweeps,
    "shared_rows": _shared,
    **{number: _chains(number) for number in ("sums", "sum_vectors", "outer_vectors", "jammed_steps", "recurrences")},
}
"""What recipes cost, by a number that each of them asks for."""
