"""Why nests run as one, or stay apart: the figures of each two of them, and what lies between them before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from passes.analysis.boxes import width_of
from passes.legality.proposals import Step
from passes.optimize.figures import Goal, figures_of
from passes.optimize.fusion import Decision, Fusion
from passes.optimize.program import Program
from passes.transforms.fuse.costs import SIZE


def explained(fusion: Fusion, said: Sequence[str]) -> str:
    """Of each two nests their figures at each depth, as the reference of loop fusion prints them, and what was chosen;
    of those that stay apart, why; and the storage before and after.

    Parameters
    ----------
    said
        The steps of the fusion, as their reader knows them.
    """
    words = {step: text for (step, _), text in zip(fusion.steps, said, strict=True)}
    lines = [line for decision in _last(fusion) for line in _of_loops(decision, fusion.goal, words)]
    return "\n".join([*lines, "storage:", *(f"    {line}" for line in storage(fusion))])


def storage(fusion: Fusion) -> Sequence[str]:
    """What the function makes for itself, before and after, a line for each buffer.

    `rows: N x M f32 -> 3 x M f32; 4000000 -> 12000 bytes, by way of memory -> L1`
    """
    lines = []
    for old, new in fusion.buffers.items():
        before = fusion.start, old
        after = None if new is None else (fusion.program, new)
        shapes = [shape_of(*before), "nothing" if after is None else shape_of(*after)]
        bytes = [_bytes(*before, fusion.goal), 0 if after is None else _bytes(*after, fusion.goal)]
        levels = [fusion.goal.level(each) for each in bytes] if after is not None else []
        ways = f", by way of {' -> '.join(dict.fromkeys(levels))}" if levels else ""
        same = shapes[0] == shapes[1]
        name = old.hint or "an array"
        if same:
            lines.append(f"{name}: {shapes[0]} as before{_why_kept(fusion, old)}")
        else:
            lines.append(f"{name}: {' -> '.join(shapes)}; {bytes[0]} -> {bytes[1]} bytes{ways}")
    return lines


def shape_of(program: Program, buffer: Value) -> str:
    """The sizes of a buffer with the names that they have, and the type of its elements."""
    shown = " x ".join(spell(size) for size in _sizes(program, buffer))
    return f"{shown} {_type(buffer).element}".strip()


def _bytes(program: Program, buffer: Value, goal: Goal) -> int:
    """How many bytes a buffer takes, for the sizes that are aimed at."""
    given = goal.numbers(program)
    sizes = (size.evaluate({v: given.get(v, SIZE) for v in size.values()}) for size in _sizes(program, buffer))
    return prod(sizes) * (width_of(_type(buffer).element) or 1)


def _sizes(program: Program, buffer: Value) -> Sequence[Affine]:
    """The sizes of a buffer, in terms of the arguments of the function where these say them."""
    made = next(op for op in program.buffers if op.result is buffer)
    applied = {op.result: op.expr for op in walk(program.function) if isinstance(op, affine.Apply)}
    dynamic = iter(made.sizes)
    sizes = [Affine.of(each if each is not None else next(dynamic)) for each in _type(buffer).shape]
    return [applied.get(size.value, size) if size.value is not None else size for size in sizes]


def _type(buffer: Value) -> MemRefType:
    assert isinstance(buffer.type, MemRefType)
    return buffer.type


def _why_kept(fusion: Fusion, buffer: Value) -> str:
    reasons = [each.reason for each in fusion.decisions if each.what == (buffer,) and not each.taken]
    return f": {reasons[-1]}" if reasons else ""


def _last(fusion: Fusion) -> Iterator[Decision]:
    """What came of each two loops in the end: those that were fused, and those that are there still."""
    last = {each.what: each for each in fusion.decisions if len(each.what) == 2}
    left = {loop.iv for loop in fusion.program.loops}
    return (each for each in last.values() if each.taken or left.issuperset(each.what))


def _of_loops(decision: Decision, goal: Goal, words: Mapping[Step, str]) -> Iterator[str]:
    program = decision.before
    graph = program.graph(decision.owner)
    source, sink = (graph.node(iv) for iv in decision.what)
    names = [f"{iv.hint} ({program.place(iv)})" for iv in decision.what]
    yield f"loops {' and '.join(names)}"
    figures = figures_of(program, graph, source, sink, goal) if source in graph.producers(sink) else None
    if figures is not None:
        yield from (f"    {line}" for line in figures.lines())
    if decision.taken:
        steps = [step for step, _ in decision.taken]
        computed = next((step for step in steps if step.verb == "compute_at"), None)
        chosen = " and ".join(words[step] for step in steps)
        if computed is None or figures is None:
            yield f"    chosen: {chosen}, at depth 1, additional compute fraction: 0.00%"
        else:
            depth = next(k for k, loop in enumerate(figures.pair.loops, 1) if computed.arguments[1] in [*loop.binds()])
            yield f"    chosen: {chosen}, at depth {depth}"
    else:
        first, *rest = decision.reason.splitlines() or [""]
        yield f"    left apart: {first}"
        yield from (f"        {line}" for line in rest)
