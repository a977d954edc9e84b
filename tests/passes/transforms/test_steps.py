"""Each row of `steps/*.txt`: steps of a schedule do what is said there and change no results, or are refused.

How they are written says `tests.harness.rows`. A row begins with the steps, as in `.split("i", 2).unroll("j", 4)`.
`only` is looked at and not run, `checked` validated and read by mlir-opt, too; of what is `refused`
the reason is told, and the schedule is as it was before the last step; in front of these, `long` is for the long run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

import affdsl as af
from tests.effort import TRIES_ALL
from tests.harness.rows import SYMBOLS, Program, expected, missing, programs
from tests.oracles import mlir_opt
from tests.passes.transforms.steps import FILES

ROW = re.compile(r"(long )?(?:(only|checked|refused) )?(\..*\)): (.*)")


def cases() -> Iterator[Any]:
    """A case for each row of the texts."""
    for path in FILES.values():
        for program, lines in programs(path):
            for line in lines:
                row = ROW.fullmatch(line)
                assert row is not None, f"{path}: {line}"
                if TRIES_ALL or not row[1]:
                    yield pytest.param(program, *row.groups()[1:], id=f"{program.name}{row[3]}")


@pytest.mark.parametrize(("program", "kind", "steps", "said"), [*cases()])
def test_steps(program: Program, kind: str | None, steps: str, said: str) -> None:
    s = af.Schedule(program.kernel, validate=kind == "checked")
    known = {"af": af, **dict(zip(SYMBOLS.split(), af.symbols(SYMBOLS), strict=True)), "s": s}
    *first, last = re.split(r"(?<=\))(?=\.)", steps)
    exec(f"s{''.join(first)}", known)
    before = str(s.kernel())
    if kind == "refused":
        with pytest.raises((af.IllegalTransform, af.ScheduleError)) as refused:
            exec(f"s{last}", known)
        assert re.search(ast.literal_eval(said), str(refused.value), re.S)
        assert str(s.kernel()) == before
        return
    exec(f"s{last}", known)
    made = s.kernel()
    assert missing(expected(said), made, s) == []
    if kind == "checked":
        mlir_opt(made.mlir())
    if kind != "only":
        assert program.difference(made) == program.difference(made.interpret) == ""
