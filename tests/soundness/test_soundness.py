"""What other compilers get wrong is right here: as it is and after each pass, by every way to run it.

What a pass leaves as it is needs no second run; a pass that is registered later is tried without a line here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from affdsl.errors import AffdslError
from affdsl.ir.dialects import func
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.pipeline.registry import BY_NAME, OURS
from tests.effort import TRIES_ALL, some
from tests.fuzz.check import EVERY_PASS, UNTOUCHED, pipelines
from tests.soundness.programs import PROGRAMS, Modules, Program, compiled, interpreted, lowered


def passes_of(program: Program) -> set[str]:
    """The passes of the pipeline under which others get a program wrong."""
    passes = re.findall(r"([\w-]+)(?=[,)])", re.sub(r"\{.*?\}", "", program.pipeline))
    assert passes, program.pipeline
    return set(passes)


def known(program: Program) -> bool:
    """Whether all of them are passes here."""
    return passes_of(program) <= BY_NAME.keys()


NAMES = list(EVERY_PASS)
LOWER = "builtin.module(lower-affine)"
OWN = "the pipeline under which others are wrong"
OWN_PIPELINES = {name: program.pipeline for name, program in PROGRAMS.items() if known(program)}
ALONE = dict(zip(["no pass", *NAMES], pipelines(NAMES), strict=False))
ALONE |= {name: pipelines([name + {"affdsl-optimize": "{target=avx2 threads=2}"}.get(name, "")])[1] for name in OURS}
TOGETHER = {"all": pipelines(NAMES)[-1], "all backwards": pipelines(NAMES[::-1])[-1]}
EVERY = (*ALONE, *TOGETHER, OWN)
FIRST = (*TOGETHER, OWN, *(name for first in range(3) for name in [*ALONE][first::3]))
ELSEWHERE = some(FIRST, len(TOGETHER) + 1 + len(ALONE) // 3)
"""Of each third pass by itself, and of all together, the results are also compiled, and read back as text."""


@dataclass
class Outcome:
    """The programs that a pipeline changed, and what it said to those that it failed on."""

    changed: dict[str, func.Module] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


@functools.cache
def read() -> Modules:
    return {name: parse(program.text) for name, program in PROGRAMS.items()}


@functools.cache
def after(way: str) -> Outcome:
    """What one of EVERY makes of the programs: of each third one in turn, or of all in the long run.

    Under the pipeline that others get a program wrong with, all are tried each time.
    """
    outcome = Outcome()
    for number, (name, module) in enumerate(read().items()):
        if not TRIES_ALL and way not in ("no pass", OWN) and (number + EVERY.index(way)) % 3:
            continue
        pipeline = OWN_PIPELINES.get(name, UNTOUCHED) if way == OWN else {**ALONE, **TOGETHER}[way]
        try:
            made = run_pipeline(module, pipeline) if pipeline else module
        except AffdslError as error:
            outcome.failed[name] = f"{error}: {error.__cause__}"
            continue
        if way == "no pass" or print_op(made) != print_op(module):
            outcome.changed[name] = made
    return outcome


def wrong(modules: Modules, judge: Callable[[Modules], list[str]]) -> dict[str, str]:
    """The programs that print something else by some way to run them; where that fails, which programs it fails on."""
    if not modules:
        return {}
    try:
        found = judge(modules)
        assert len(found) == len(modules), f"{len(found)} outputs of {len(modules)} programs: {found}"
    except (AffdslError, AssertionError) as error:
        if len(modules) == 1:
            return dict.fromkeys(modules, f"{type(error).__name__}: {error}")
        items, half = [*modules.items()], len(modules) // 2
        return {**wrong(dict(items[:half]), judge), **wrong(dict(items[half:]), judge)}
    pairs = zip(modules, found, strict=True)
    return {name: f"prints {prints}" for name, prints in pairs if prints != PROGRAMS[name].prints}


def by_interpreter(modules: Modules) -> list[str]:
    return [" ".join(interpreted(module)) for module in modules.values()]


def test_the_programs_keep_the_rules() -> None:
    assert len(PROGRAMS) == 51
    for module in read().values():
        verify(module)


@pytest.mark.parametrize("way", EVERY)
def test_interpreter(way: str) -> None:
    outcome = after(way)
    assert outcome.failed == {}
    assert wrong(outcome.changed, by_interpreter) == {}


@pytest.mark.parametrize("way", ELSEWHERE)
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_through_text(way: str, generic: bool) -> None:
    again = {}
    for name, module in after(way).changed.items():
        text = print_op(module, generic=generic)
        again[name] = parse(text)
        verify(again[name])
        assert print_op(again[name], generic=generic) == text, name
    assert wrong(again, by_interpreter) == {}


@pytest.mark.parametrize("way", ELSEWHERE)
def test_c(way: str) -> None:
    assert wrong(after(way).changed, compiled) == {}


@pytest.mark.parametrize("way", ELSEWHERE)
def test_llvm(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    ready = {
        # What mlir-opt gets wrong here is the lowering itself: ours comes first.
        name: run_pipeline(module, LOWER) if "lower-affine" in PROGRAMS[name].pipeline else module
        for name, module in after(way).changed.items()
    }
    assert wrong(ready, lambda modules: lowered(modules, lambda: capfd.readouterr().out)) == {}


def test_c_reads_and_writes_what_is_its_own() -> None:
    flags = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    assert wrong(after("all").changed, lambda modules: compiled(modules, flags)) == {}


@pytest.mark.parametrize("name", OWN_PIPELINES)
def test_where_others_are_wrong(name: str) -> None:
    made = run_pipeline(read()[name], PROGRAMS[name].pipeline)
    assert wrong({name: made}, by_interpreter) == {}
    absent = PROGRAMS[name].absent
    # Its @main is ours where the file has none, and may become what the program must not.
    assert absent is None or not any(absent in print_op(f) for f in made.functions if f.symbol != "main")


def test_every_pass_is_tried() -> None:
    assert set().union(*map(passes_of, PROGRAMS.values())) <= BY_NAME.keys()
    assert len(OWN_PIPELINES) == len(PROGRAMS)


def test_clean_up_passes_have_a_program_each() -> None:
    assert OWN_PIPELINES["56-lower-ceildiv-intmin"] == "builtin.module(func.func(lower-affine))"
    assert OWN_PIPELINES["57-simplifyadd-wrong-mod"] == "builtin.module(func.func(affine-simplify-structures))"
