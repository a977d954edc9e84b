"""Why nests run as one, or stay apart: the figures of each two of them, and what lies between them before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.passes.legality.proposals import Step
from affdsl.passes.optimize.figures import Goal, figures_of
from affdsl.passes.optimize.fusion import Decision, Fusion
from affdsl.passes.optimize.program import iv_of
from affdsl.passes.optimize.storage import storage


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
    stored = [f"    {each}" for each in storage(fusion)]
    return "\n".join([*lines, "storage:" if stored else "storage: it makes no arrays", *stored])


def _last(fusion: Fusion) -> Iterator[Decision]:
    """What came of each two loops in the end: those that were fused, and those that are there still."""
    last = {each.what: each for each in fusion.decisions if len(each.what) == 2}
    left = {iv_of(loop) for loop in fusion.program.loops}
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
