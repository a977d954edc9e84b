"""Invalid programs are refused at the line at which mlir-opt refuses them, with the words that the rule needs."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from affdsl.errors import AffdslError
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.mlir.batches import Chunk, judge, split

FILES = sorted((Path(__file__).parent / "invalid").glob("*.mlir"))
EXPECTED = re.compile(r"// error @([+-]\d+)((?: \{\{.*?\}\})+)$", re.M)


@dataclass(frozen=True)
class Case:
    """A program, the line of its file at which it is wrong, and what a message about that must contain."""

    chunk: Chunk
    line: int
    words: tuple[str, ...]


def cases(path: Path) -> list[Case]:
    return [case(chunk) for chunk in split(path)]


def case(chunk: Chunk) -> Case:
    found = list(EXPECTED.finditer(chunk.text))
    assert len(found) == 1, f"{chunk.name} must say once where it is wrong: // error @+1 {{{{word}}}}"
    line = chunk.line + chunk.text.count("\n", 0, found[0].start()) + int(found[0][1])
    return Case(chunk, line, tuple(re.findall(r"\{\{(.*?)\}\}", found[0][2])))


CASES = [case for path in FILES for case in cases(path)]


def test_there_are_enough():
    assert len(CASES) >= 400


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mlir_opt_refuses_them_there(path):
    found = cases(path)
    verdicts = judge([case.chunk.in_place() for case in found], "--allow-unregistered-dialect")
    for case, verdict in zip(found, verdicts, strict=True):
        assert not verdict.crashed
        assert verdict.output is None, f"{path.name}:{case.line} is accepted"
        assert verdict.errors[0][0] == case.line, f"{path.name}:{case.line} is refused at {verdict.errors[0]}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.chunk.path.stem}:{case.line}")
def test_they_are_refused(case):
    file = case.chunk.path.name
    with pytest.raises(AffdslError) as caught:
        verify(parse(case.chunk.in_place(), file))
    message = str(caught.value)
    assert message.startswith(f"{file}:{case.line}:"), message
    said = message.split("\n")[0]  # without the line of the program that a message may show
    assert not [word for word in case.words if word not in said], message
