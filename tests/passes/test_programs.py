"""Passes on files of programs: mlir-opt makes the same, what is to stay does, and programs do what they did before."""

import functools

import pytest

from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import run_pipeline
from tests.fuzz.check import pipelines
from tests.passes.compare import assert_alike, both, parsed
from tests.passes.program_files import FOLDER, program_file

FILES = [program_file(path.stem) for path in sorted(FOLDER.glob("*.mlir"))]
CASES = [
    (file, run, program, f"{run}: {program.name}")
    for file in FILES
    for run in file.runs
    for program in file.programs.values()
]


def chosen(condition):
    return [pytest.param(*case, id=name) for *case, name in CASES if condition(*case)]


def is_compared(file, run, program):
    return not (program.stays or program.becomes or program.excepted & {run, "mlir-opt"})


def after(run, module):
    return run_pipeline(module, pipelines([run])[-1])


@functools.cache
def compared(file, run):
    """By name, the text of what the pass makes of each program beside that of what mlir-opt makes of it."""
    texts = {p.name: p.text for p in file.programs.values() if is_compared(file, run, p)}
    made = [after(run, parsed(text)) for text in texts.values()]
    passes = ",".join((pipelines([run])[-1].removeprefix("builtin.module(").removesuffix(")"), *file.clean))
    theirs = [f"--pass-pipeline=builtin.module({passes})"]
    return dict(zip(texts, both(made, [f"--{name}" for name in file.clean], [*texts.values()], theirs), strict=True))


@pytest.mark.parametrize(("file", "run", "program"), chosen(is_compared))
def test_the_same_as_mlir_opt(file, run, program):
    ours, theirs = compared(file, run)[program.name]
    for flag in file.flags:
        theirs = theirs.replace(f" {flag}", "")
    assert ours == theirs


@pytest.mark.parametrize(("file", "run", "program"), chosen(lambda file, run, program: program.becomes))
def test_it_becomes_what_is_said(file, run, program):
    assert print_op(after(run, parsed(program.text))) == print_op(parsed(program.becomes))


@pytest.mark.parametrize(("file", "run", "program"), chosen(lambda file, run, program: program.stays))
def test_it_stays(file, run, program):
    before = parsed(program.text)
    assert after(run, before) is before


@pytest.mark.parametrize(
    ("file", "run", "program"),
    chosen(lambda file, run, program: file.meant and not program.stays and "run" not in program.excepted),
)
def test_it_does_the_same(file, run, program):
    before = parsed(program.text)
    assert assert_alike(before, after(run, before), **file.given) >= file.meant


@pytest.mark.parametrize(("file", "run", "program"), chosen(lambda file, run, program: file.is_fixed_point))
def test_the_pass_leaves_what_it_made(file, run, program):
    made = after(run, parsed(program.text))
    assert after(run, made) is made
