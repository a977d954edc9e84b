"""What cannot be vectorized, or gains nothing by it, is left as it was: to the letter."""

import pytest

import affdsl as af
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.mlir_opt.affine_super_vectorize import affine_super_vectorize
from tests.passes.transforms.test_vectorize import REFUSED, read

N = af.symbols("N")

GAINS_NOTHING = {
    "a column": """affine.for %i = 0 to %n {
      %a = affine.load %C[%i, 0] : memref<?x?xf32>
      affine.store %a, %C[%i, 1] : memref<?x?xf32>
    }""",
    "elements far apart": """affine.for %i = 0 to %n {
      %a = affine.load %A[%i * 64] : memref<?xf32>
      affine.store %a, %B[%i * 64] : memref<?xf32>
    }""",
    "the same element": """affine.for %i = 0 to %n {
      affine.store %x, %A[0] : memref<?xf32>
    }""",
    "nothing": "affine.for %i = 0 to %n { }",
}


LEFT = GAINS_NOTHING | {name: body for name, (body, _) in REFUSED.items() if body.count("affine.for") == 1}
del LEFT["a column"]  # which the pass reads and writes as mlir-opt does, element by element of a vector


@pytest.mark.parametrize("name", LEFT)
def test_the_pass_leaves_it_alone(name: str) -> None:
    function = read(LEFT[name])
    text = print_op(function)
    module = parse(text)
    made = affine_super_vectorize(module, virtual_vector_size=(4,), vectorize_reductions=True)
    assert made is module
    assert print_op(made) == print_op(parse(text))
    assert print_op(function) == text


def test_a_schedule_stays_as_it_was() -> None:
    @af.kernel
    def running(A: af.f32[N], B: af.f32[N]) -> None:
        with af.for_(1, N) as i:
            A[i] = A[i - 1] * B[i]
        with af.for_(N) as j:
            B[j] = 2 * A[j]

    schedule = af.Schedule(running)
    done = schedule.vectorize("j", 4)
    for before in (schedule, done):
        text, steps = str(before.kernel()), str(before)
        with pytest.raises(af.IllegalTransform):
            before.vectorize("i", 4)
        assert (str(before.kernel()), str(before)) == (text, steps)
