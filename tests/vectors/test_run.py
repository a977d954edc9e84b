"""A few of the random programs of `python -m tests.vectors.run`, and that what it looks for would be found."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from tests.effort import some
from tests.harness.reading import function
from tests.oracles import require
from tests.vectors.check import TARGETS, Report, check, version
from tests.vectors.generator import generate
from tests.vectors.together import by_c, by_mlir

WRONG = {
    "outside": "%v = affine.vector_load %A[0] : memref<?xf32>, vector<4xf32>\n"
    "affine.vector_store %v, %A[0] : memref<?xf32>, vector<4xf32>",
    "before": "%v = affine.vector_load %A[-1] : memref<?xf32>, vector<2xf32>\n"
    "affine.vector_store %v, %A[0] : memref<?xf32>, vector<2xf32>",
}


@pytest.mark.parametrize("seeds", some([range(3), range(3, 6), *(range(k, k + 25) for k in range(6, 506, 25))], 1))
def test_programs_on_vectors_do_the_same(seeds: Sequence[int]) -> None:
    require("mlir-opt-22")
    report = check(seeds, ["native"])
    assert report.wrong == []
    assert report.judged["native"] == len(seeds)
    assert report.judged["mlir-opt"] > 0


def test_most_loops_are_vectorized() -> None:
    report = Report()
    for seed in range(30):
        version(generate(seed), report)
    assert report.vectorized >= 0.85 * report.nests
    assert report.outer > 0


def test_programs_have_what_vectorizers_are_tried_with() -> None:
    texts = [generate(seed).text for seed in range(100)]
    found = Counter(word for text in texts for word in WORDS if word in text)
    assert min(found[word] for word in WORDS) >= 2, found


WORDS = (
    "iter_args", "affine.if", "scf.if", "arith.select", "arith.extsi", "arith.trunci", "arith.extf", "arith.sitofp",
    "memref.load", "* -1", "* 2", "* 3", "arith.divui", "step 2", "min affine_map", "max affine_map", "memref<?x?x",
)  # fmt: skip


@pytest.mark.parametrize(("name", "guard"), [("outside", "end"), ("before", "start")])
def test_what_touches_other_memory_is_found(name: str, guard: str) -> None:
    f = function(f"func.func @f(%A: memref<?xf32>) {{\n{WRONG[name]}\nreturn\n}}".replace("?", "3"))
    (((left),),) = by_c([f], [[[np.zeros(3, np.float32)]]], TARGETS["baseline"][0], guard=guard)
    assert isinstance(left, str)


def test_several_functions_are_one_program_with_arguments_of_their_own() -> None:
    text = """func.func @f(%A: memref<2xf32>) {{
      %c = arith.constant {}.0 : f32
      affine.store %c, %A[1] : memref<2xf32>
      return
    }}"""
    functions = [function(text.format(k)) for k in range(3)]
    runs = [[[np.zeros(2, np.float32)], [np.ones(2, np.float32)]] for _ in functions]
    for found in (by_c(functions, runs, TARGETS["baseline"][0]), by_mlir(functions, runs)):
        for k, left in enumerate(found):
            assert [[list(array) for array in arrays] for arrays in left] == [[[0, k]], [[1, k]]]
