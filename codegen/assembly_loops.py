"""The loops of a function in assembly: what jumps back to where every way in leads through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from affdsl.codegen.assembly import Function, Instruction

_ALWAYS = frozenset(("jmp", "b", "j", "br", "jr", "ret", "retq", "ud2", "tail"))
"""What does not go on with the next instruction: jumps without a condition, and returns of the processors we know."""
_JUMPS = ("j", "b", "cb", "tb", "loop")
"""How jumps begin there."""


@dataclass(eq=False)
class AssemblyLoop:
    """A loop of the instructions.

    Attributes
    ----------
    function
        The function of C of which it is part.
    items
        Its instructions and labels in the order of the text, with each loop inside of it in one piece.
    back
        The jumps to its begin.
    inner
        The loops right inside of it.
    depth
        How many loops are around it.
    """

    function: Function
    items: list[Instruction | str | AssemblyLoop] = field(default_factory=list)
    back: list[Instruction] = field(default_factory=list)
    inner: list[AssemblyLoop] = field(default_factory=list)
    depth: int = 0

    def own(self) -> list[Instruction]:
        """The instructions that are in no loop inside of it."""
        return [item for item in self.items if isinstance(item, Instruction)]

    def all(self) -> list[Instruction]:
        """All of its instructions."""
        return [*self.own(), *(each for loop in self.inner for each in loop.all())]


@dataclass(eq=False)
class _Block:
    """Instructions that run one after the other, and where they go on."""

    items: list[Instruction | str] = field(default_factory=list)
    after: list[int] = field(default_factory=list)

    @property
    def last(self) -> Instruction | None:
        return next((item for item in reversed(self.items) if isinstance(item, Instruction)), None)


def loops(function: Function) -> list[AssemblyLoop]:
    """The loops of a function, each before those inside of it.

    >>> from affdsl.codegen.assembly import Function, Instruction as I
    >>> f = Function("f", [".L1", ".L2", I("addq $1, %rax"), I("jne .L2"), I("jne .L1"), I("ret")])
    >>> [(loop.depth, [each.text for each in loop.own()]) for loop in loops(f)]
    [(0, ['jne .L1']), (1, ['addq $1, %rax', 'jne .L2'])]
    """
    blocks = _blocks(function)
    bodies = _bodies(blocks)
    heads = sorted(bodies, key=lambda head: (-len(bodies[head]), head))
    found: dict[int, AssemblyLoop] = {}
    for head in heads:
        around = [other for other in found if head in bodies[other] and bodies[head] <= bodies[other]]
        made = found[head] = AssemblyLoop(function, depth=len(around))
        if around:
            found[around[-1]].inner.append(made)
    innermost = {block: head for head in heads for block in bodies[head]}
    for head, loop in found.items():
        put: set[int] = set()
        for block in sorted(bodies[head]):
            inside = [other for other in heads if found[other] in loop.inner and block in bodies[other]]
            if innermost[block] == head:
                loop.items += blocks[block].items
            elif inside and inside[0] not in put:
                put.add(inside[0])
                loop.items.append(found[inside[0]])
        tails = (blocks[block].last for block in sorted(bodies[head]) if head in blocks[block].after)
        loop.back = [last for last in tails if last is not None]
    return list(found.values())


def _blocks(function: Function) -> list[_Block]:
    """The blocks of a function, which begin at labels and end with jumps."""
    blocks = [_Block()]
    for item in function.items:
        last = blocks[-1].last
        if (isinstance(item, str) and blocks[-1].items) or (last is not None and _jumps(last)):
            blocks.append(_Block())
        blocks[-1].items.append(item)
    at = {item: k for k, block in enumerate(blocks) for item in block.items if isinstance(item, str)}
    for k, block in enumerate(blocks):
        last = block.last
        if last is None or last.mnemonic not in _ALWAYS:
            block.after += [k + 1] if k + 1 < len(blocks) else []
        if last is not None and _jumps(last) and last.mnemonic != "ret":
            # A jump to an address goes wherever a table says.
            block.after += [at[label] for label in last.labels() or function.targets if label in at]
    return blocks


def _jumps(instruction: Instruction) -> bool:
    """Whether something may not go on with the next instruction."""
    mnemonic = instruction.mnemonic
    if mnemonic in _ALWAYS:
        return True
    return mnemonic.startswith(_JUMPS) and bool(instruction.labels())


def _bodies(blocks: Sequence[_Block]) -> dict[int, frozenset[int]]:
    """The blocks of each natural loop, by the block in which it begins."""
    before: dict[int, list[int]] = {}
    order, seen, waiting = list[int](), {0}, [(0, iter(blocks[0].after))]
    while waiting:  # in the order in which they are left, so that ways lead from the last to the first
        block, after = waiting[-1]
        for following in after:
            before.setdefault(following, []).append(block)
            if following not in seen:
                seen.add(following)
                waiting.append((following, iter(blocks[following].after)))
                break
        else:
            order.append(block)
            waiting.pop()
    everything = (1 << len(blocks)) - 1
    through = dict.fromkeys(order, everything) | {0: 1}  # the blocks that every way to a block leads through, as bits
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            if block == 0:
                continue
            met = everything
            for each in before[block]:
                met &= through[each]
            if met | 1 << block != through[block]:
                through[block], changed = met | 1 << block, True
    bodies: dict[int, set[int]] = {}
    for block in order:
        for head in blocks[block].after:
            if through[block] >> head & 1:
                body, left = bodies.setdefault(head, {head}), [block]
                while left:
                    each = left.pop()
                    if each not in body:
                        body.add(each)
                        left += before[each]
    return {head: frozenset(body) for head, body in bodies.items()}
