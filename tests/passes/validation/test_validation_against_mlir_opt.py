"""What mlir-opt gets wrong is found: its results are checked against what they were made of."""

import re
import subprocess
from pathlib import Path

import pytest

from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.validation import validate
from tests.oracles import TIMEOUT, require
from tests.soundness import programs
from tests.soundness.programs import PROGRAMS


def said(name):
    """What the result of mlir-opt is: right, wrong, or none that keeps the rules."""
    text = (Path(programs.__file__).parent / f"{name}.mlir").read_text(encoding="utf-8")
    (found,) = re.findall(r"^// mlir-opt 22\.1\.8: (.*)$", text, re.M)
    return found


RESULTS = {name: said(name) for name in PROGRAMS if said(name) in ("right", "wrong-code", "wrong-ir")}


def test_there_are_enough():
    assert len(RESULTS) == 43
    assert [*RESULTS.values()].count("right") == 8


@pytest.mark.parametrize("name", RESULTS)
def test_wrong_results_are_found_and_right_ones_are_not(name):
    program = PROGRAMS[name]
    command = [require("mlir-opt-22"), "-", f"--pass-pipeline={program.pipeline}"]
    done = subprocess.run(command, input=program.text, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    made = parse(done.stdout)
    verify(made)
    report = validate(parse(program.text), made, most_iterations=20_000)
    assert (report.failure is None) == (RESULTS[name] == "right"), f"{RESULTS[name]}: {report}"
