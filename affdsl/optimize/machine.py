"""What a core does in a cycle, and how far its caches are: all that is known of a machine, in one place.

The figures are those of cores with registers of 256 bits as makers and measurements give them (Zen 3, Skylake; Fog,
"Instruction tables"; uops.info): they tell programs apart, and are not those of one model. Caches are those of the
target; `measured` has the clock and the bandwidths of this machine.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from affdsl.codegen.roofline import Roofline, shared
from affdsl.codegen.targets.target import Target
from affdsl.frozen import FrozenValue
from affdsl.ir.types import ComplexType, FloatType, IntegerType, MemRefType, Type, VectorType

LARGE = 2 << 20
"""From this size on a second cache answers later than a small one does, and the last cache behind it much later."""
USUAL_CACHES = (32 << 10, 1 << 20, 32 << 20)
"""Bytes of the caches of a machine that nobody asked: the nearest, the second and the last one."""
LINE = 64
"""Bytes of a line of the caches."""
PAGE = 4 << 10
"""Bytes of a page of memory, and between lines that have one place in the nearest cache, as on x86."""
USUAL_RATES = (32.0, 12.0, 5.0)
"""Bytes a cycle that come to the nearest cache from the second one, from the last one, and from memory."""


MASKED_STORE = 16.0
"""Cycles of a store under a mask, where not every instruction takes one: measured on Zen 3."""
USUAL_WIDTH = 256
"""Bits of the registers of vectors for which all figures are."""


class Level(FrozenValue):
    """A cache, or the memory.

    Attributes
    ----------
    bytes
        How many it holds; None of the memory.
    rate
        How many of them one core gets from it in a cycle.
    """

    name: str
    bytes: int | None
    rate: float


class Machine(FrozenValue):
    """A core and what it shares with others; times are in cycles.

    Attributes
    ----------
    levels
        The caches, the nearest first, and the memory.
    clock
        Cycles a second.
    issue
        How many operations of any kind a core begins in a cycle.
    floats, integers, loads, stores, moves
        How many of each kind it begins at most; moves go between lanes of registers.
    wide
        How many operations on vectors, of any kind but loads and stores.
    parts
        In how many parts, one after the other, the quotients of a register are made.
    products
        Operations of a product of integers in a register, of 32 bits and of 64.
    turn
        How long a loop takes for an iteration at least.
    entry
        How long it takes to begin and end a loop.
    sum, product, quotient, function
        After which time the result is there; of functions such as exp those that nothing better is known of.
    handed_over
        How much longer a function takes for a lane of 64 bits than for a number: vectors are in no register meanwhile.
    forward
        After which time an element is loaded that was stored just before.
    blocked
        The same where a vector is loaded of which a part was stored just before: it waits until that is in the cache.
    blocked_next
        How long another one waits that waits meanwhile.
    halves
        In how many parts, one after the other, a vector as long as a line is loaded, stored, and multiplied and added.
    into_two
        How many times as long a vector takes to be stored into two lines as into one.
    spilled_loads, spilled_moves
        Loads and moves for a number that is needed and has no register: compilers that tune for some machines keep it
        in memory, and in a register of vectors for others.
    short
        Moves of a shuffle of two registers with lanes of less than 32 bits.
    masked_store
        How long a store under a mask takes.
    pages
        How many pages are known at once without a second look, and `lookup` how much time one takes.
    window
        How many operations are looked at beyond the oldest one that waits.
    miss
        How much time is lost by a branch that was not foreseen.
    wake
        How long it takes until threads run that waited for work.
    """

    target: Target
    levels: tuple[Level, ...]
    clock: float = 3.0e9
    issue: float = 4.0
    floats: float = 2.0
    integers: float = 3.0
    loads: float = 2.0
    stores: float = 1.0
    moves: float = 1.0
    wide: float = 4.0
    parts: float = 1.0
    products: tuple[float, float] = (2.0, 4.0)
    turn: float = 1.5
    entry: float = 6.0
    sum: float = 3.0
    product: float = 3.5
    quotient: float = 13.0
    function: float = 40.0
    handed_over: float = 0.0
    forward: float = 5.0
    blocked: float = 20.0
    blocked_next: float = 0.0
    halves: float = 1.0
    into_two: float = 2.3
    spilled_loads: float = 1.0
    spilled_moves: float = 0.0
    short: float = 2.0
    masked_store: float = MASKED_STORE
    pages: int = 64
    lookup: float = 2.5
    window: float = 200.0
    miss: float = 20.0
    wake: float = 6000.0


def has_large_cache(target: Target) -> bool:
    """Whether the second cache of a machine is large, as far as that is known."""
    return len(target.caches) > 1 and target.caches[1] >= LARGE


def usual(target: Target) -> Machine:
    """A machine as they usually are, with the caches of a target: what is chosen for it is chosen on all machines."""
    sizes = shared(target.caches) or USUAL_CACHES
    rates = (0.0, *USUAL_RATES[:-1])
    levels = [Level(f"L{k}", size, rate) for k, (size, rate) in enumerate(zip(sizes, rates, strict=False), 1)]
    levels.append(Level("memory", None, USUAL_RATES[-1]))
    masked = 1.0 if target.has_masks else MASKED_STORE
    found = Machine(target, (*levels,), masked_store=masked)
    found = _wider(found) if target.width > USUAL_WIDTH else found
    return _on_zen4(found) if target.core == "zen4" else found


def _wider(machine: Machine) -> Machine:
    """What differs with registers of 512 bits, on the cores that have them.

    Two units are left for these, and quotients and roots of one take 2.5 to 4.3 times as long as of a number. The cores
    are wider, and begin a sum every 2 cycles (measured on a successor of Golden Cove; uops.info). There, sines of
    doubles in lanes take 1.17 times as long as one by one, exponentials 1.24, logarithms 1.33; in 256 bits as long.
    """
    return replace(machine, wide=2.0, parts=3.0, issue=6.0, turn=1.25, window=500.0, sum=2.0, handed_over=3.0)


def _on_zen4(machine: Machine) -> Machine:
    """What differs on a Zen 4, which takes registers of 512 bits in halves, wherever they begin.

    One is loaded in 1 cycle, or 1.65 where it lies in two lines, and stored in 2 to 2.5; a sum or a product begins each
    cycle, both in one instruction as well, and quotients and roots twice as long after each other as of 256 bits or of
    a number; `vpermi2w`, `vpermi2b`, `vpmulld` and `vpmullq` are one operation; a sum is there after 3 cycles, a branch
    that was not foreseen loses 15, and loads that wait for a part that was stored take 25 each, one after the other
    (all measured, by a chain of additions as the clock; uops.info has the same of instructions).
    On Sapphire Rapids two are loaded and one is stored in a cycle, stores into two lines take 2.3 times as long, and
    shuffles of two registers with short lanes are three operations.
    """
    found = replace(machine, halves=2.0, parts=2.0, products=(1.0, 1.0), into_two=1.0, short=1.0, sum=3.0, miss=15.0)
    return replace(found, blocked=25.0, blocked_next=25.0, spilled_loads=0.0, spilled_moves=1.0)


def measured(target: Target, roof: Roofline) -> Machine:
    """This machine, where its roofline was measured on one thread."""
    machine = usual(target)
    # Products and sums, two registers of them in a cycle, or one where these are made in halves.
    clock = roof.flops["f64"] / (2 * 2 * target.lanes(64) / machine.halves)
    levels = tuple(Level(each.name, each.bytes, each.bandwidth / clock) for each in roof.levels)
    return replace(machine, levels=levels, clock=clock)


def element_of(type: Type) -> Type:
    """What lanes are, or elements."""
    return type.element if isinstance(type, VectorType | MemRefType) else type


def lanes_of(type: Type) -> int:
    """How many numbers a value is."""
    return prod(type.shape) if isinstance(type, VectorType) else 1


def bits_of(type: Type) -> int:
    """How many bits each of them has; those that count have 64."""
    element = element_of(type)
    if isinstance(element, ComplexType):
        return 2 * element.part.width
    return element.width if isinstance(element, FloatType | IntegerType) else 64


def registers_of(type: Type, machine: Machine) -> float:
    """How many registers a value takes."""
    if not isinstance(type, VectorType):
        return 1.0
    return float(-(-lanes_of(type) * bits_of(type) // machine.target.width))
