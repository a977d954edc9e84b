"""The restructurings that are always legal, one after the other in random programs: each takes what the others make."""

from collections import Counter
from random import Random

from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.coalesce import coalesce
from affdsl.passes.transforms.index_set_split import index_set_split
from affdsl.passes.transforms.peel import peel
from affdsl.passes.transforms.strip_mine import strip_mine
from affdsl.passes.transforms.unroll import unroll, unroll_full
from affdsl.passes.transforms.unswitch import unswitch
from tests.harness.reading import loops
from tests.passes.transforms.loops_before_and_after import on_random_programs

STEPS = {
    "unroll": lambda func, loop, k: unroll(func, loop.iv, k),
    "unroll_full": lambda func, loop, k: unroll_full(func, loop.iv),
    "peel first": lambda func, loop, k: peel(func, loop.iv, first=k),
    "peel last": lambda func, loop, k: peel(func, loop.iv, last=k - 1),
    "strip_mine": lambda func, loop, k: strip_mine(func, loop.iv, k),
    "index_set_split": lambda func, loop, k: index_set_split(func, loop.iv, k - 1),
    "coalesce": lambda func, loop, k: coalesce(func, [loop.iv, *[op.iv for op in loop.body[:1] if hasattr(op, "iv")]]),
    "unswitch": lambda func, loop, k: unswitch(func, loop.iv),
}
LENGTH = 3


def test_sequences():
    done = Counter()
    random = Random(1)

    def several(func, iv):
        taken = 0
        for _ in range(40):
            name = random.choice(tuple(STEPS))
            left = loops(func)
            if taken == LENGTH or not left:
                break
            try:
                func = STEPS[name](func, random.choice(left), random.choice((2, 2, 3, 4)))
            except IllegalTransform:
                continue
            done[name] += 1
            taken += 1
        return func

    found = on_random_programs(range(2000, 2030), several)
    assert found.compared > 40
    assert all(done[name] for name in STEPS)
