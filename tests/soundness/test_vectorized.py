"""Each loop of the programs that other compilers get wrong, on vectors of some widths: refused, or right."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import Tail, vectorize
from tests.harness.judges import instead
from tests.soundness.programs import PROGRAMS, interpreted

WAYS: tuple[tuple[int, Tail], ...] = (
    (2, "scalar"),
    (3, "masked"),
    (4, "overlapped"),
    (4, "halved"),
    (3, "early"),
    (4, "scalar"),
    (8, "masked"),
    (4, "folded"),
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_loop_is_refused_or_right(name: str) -> None:
    program = PROGRAMS[name]
    module = parse(program.text)
    for function in module.functions:
        for loop in [op for op in walk(function) if isinstance(op, affine.For)]:
            for width, tail in WAYS:
                try:
                    made = vectorize(function, loop.iv, width, tail=tail, module=module)
                except IllegalTransform:
                    continue
                after = instead(module, function, made)
                verify(after)
                assert " ".join(interpreted(after)) == program.prints, (loop.iv.hint, width, tail)


def test_most_of_them_have_a_loop_on_vectors() -> None:
    count = 0
    for program in PROGRAMS.values():
        module = parse(program.text)
        loops = [(f, op) for f in module.functions for op in walk(f) if isinstance(op, affine.For)]
        count += any(_may_be(f, op, module) for f, op in loops)
    assert count >= 0.8 * len(PROGRAMS)


def _may_be(f, loop, module) -> bool:
    try:
        vectorize(f, loop.iv, 2, module=module)
    except IllegalTransform:
        return False
    return True
