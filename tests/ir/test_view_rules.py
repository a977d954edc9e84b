"""The verifier on views, transfers and the loops of scf: it accepts what mlir-opt accepts, and says what is wrong.

`view_rules.txt` has one piece of a function for each case, below what is said of it.
"""

import re
from bisect import bisect
from pathlib import Path

import pytest

from affdsl.errors import VerificationError
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests import oracles

ARGUMENTS = (
    "%A: memref<8x16xf32>, %n: index, %D: memref<?x?xf32>, %S: memref<8x16xf32, strided<[32, 2], offset: 5>>, "
    "%Y: memref<?x?xf32, strided<[?, ?], offset: ?>>, %U: memref<*xf32>, %c: i1, %f: f32, %i: i32, %b8: memref<64xi8>, "
    "%tag: memref<1xi32>, %sh: memref<2xindex>, %AM: memref<8x16xf32, affine_map<(d0, d1) -> (d1, d0)>>"
)
START = f"func.func @f({ARGUMENTS}) {{\n%c0 = arith.constant 0 : index\n%c5 = arith.constant 5 : index\n"
CASES = re.split(r"\n(?=// (?:accepted|refused))", Path(__file__).with_name("view_rules.txt").read_text().rstrip())
PROGRAMS = [f"{START}{case.split(chr(10), 1)[1]}\nreturn\n}}\n" for case in CASES]


def verdict(text: str) -> str:
    try:
        verify(parse(text))
    except VerificationError as problem:
        first = str(problem).split("\n")[0]
        return "// refused: " + re.sub(r"^<mlir>:\d+:\d+: [\w.]+(?: block)?: ", "", first)
    return "// accepted"


@pytest.mark.parametrize("number", range(len(CASES)))
def test_verdicts(number):
    assert verdict(PROGRAMS[number]) == CASES[number].split("\n")[0]


def test_mlir_opt_agrees():
    accepted, refused = (
        [f"module {{\n{text}}}\n" for text, case in zip(PROGRAMS, CASES, strict=True) if case[3] == first]
        for first in "ar"
    )
    oracles.mlir_opt("// -----\n".join(accepted), "--split-input-file")
    with pytest.raises(AssertionError) as failure:
        oracles.mlir_opt("// -----\n".join(refused), "--split-input-file")
    begins = [1 + sum(text.count("\n") + 1 for text in refused[:k]) for k in range(len(refused))]
    wrong = {bisect(begins, int(line)) - 1 for line in re.findall(r"<stdin>:(\d+):\d+: error:", str(failure.value))}
    assert wrong == set(range(len(refused)))


def test_a_file_counts_lines_and_columns():
    line = "%e = memref.collapse_shape %A [[0]] : memref<8xf32> into memref<9xf32>"
    text = f"func.func @f(%A: memref<8xf32>) {{\n  {line}\n  return\n}}"
    with pytest.raises(VerificationError, match=r"^x\.mlir:2:8: memref\.collapse_shape: dimension 0 has size 9, but"):
        verify(parse(text, "x.mlir"))
