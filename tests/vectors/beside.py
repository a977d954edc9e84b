"""How many nests ours vectorizes, and how many mlir-opt rightly does: `python -m tests.vectors.beside --count 500`.

Both get the same programs of one nest and the same width. A nest of mlir-opt counts if what it makes is accepted and
executed, leaves what the program leaves and touches nothing else; ours counts by the same rule.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import walk, with_fields
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.mlir_opt.affine_super_vectorize import affine_super_vectorize
from tests.harness.command import Watch, parser, seeds
from tests.harness.counts import Counts
from tests.oracles import TIMEOUT, require
from tests.vectors.check import Report, difference, reference, version
from tests.vectors.generator import Generated, function_of, generate
from tests.vectors.together import by_mlir

BATCH = 25
WIDTHS = (2, 4, 8, 16)


@dataclass
class Beside(Counts):
    """How many nests each vectorizes, and why some of them do not count."""

    programs: int = 0
    verb: int = 0
    ours: int = 0
    theirs: int = 0
    both: int = 0
    claimed: int = 0
    not_counted: Counter[str] = field(default_factory=Counter)
    theirs_alone: list[str] = field(default_factory=list)


def super_vectorized(functions: Sequence[Func], width: int) -> list[Func | None]:
    """What mlir-opt makes of functions; None for those that it does not survive."""
    if not functions:
        return []
    module = Module(tuple(with_fields(f, symbol=f"f{k}", private=False) for k, f in enumerate(functions)))
    asked = (
        f"builtin.module(func.func(affine-super-vectorize{{virtual-vector-size={width} vectorize-reductions=true}}))"
    )
    command = [require("mlir-opt-22"), f"--pass-pipeline={asked}", "-"]
    done = subprocess.run(command, input=print_op(module).encode(), capture_output=True, timeout=TIMEOUT)
    try:
        made = parse(done.stdout.decode()) if done.returncode == 0 else None
    except AffdslError:
        made = None
    if made is not None:
        return [with_fields(new, shapes=_shapes(old, new)) for old, new in zip(functions, made.functions, strict=True)]
    if len(functions) == 1:
        return [None]
    half = len(functions) // 2
    return [*super_vectorized(functions[:half], width), *super_vectorized(functions[half:], width)]


def _shapes(old: Func, new: Func) -> object:
    instead = dict(zip(old.args, new.args, strict=True))
    return tuple(None if s is None else tuple(e.substitute(dict(instead)) for e in s) for s in old.shapes)


def is_wide(root: Op) -> bool:
    """Whether an operation on vectors is there."""
    return any("vector" in op.name for op in walk(root))


def beside(of: Sequence[int]) -> Beside:
    """Count the nests of the programs of some seeds, all by one width."""
    report, width = Beside(), Random(of[0]).choice(WIDTHS)
    programs = [generate(seed, 1) for seed in of]
    functions = [function_of(program) for program in programs]
    theirs = super_vectorized(functions, width)
    ours = [_by_pass(f, width) for f in functions]
    verbs = [version(program, Report(), width=width) for program in programs]
    right = [
        _right(programs, functions, found, report if found is theirs else Beside())
        for found in (theirs, ours, [v.after if v.asked else None for v in verbs])
    ]
    for k, program in enumerate(programs):
        their, our, verb = (each[k] for each in right)
        report.programs += 1
        report.theirs += their
        report.ours += our
        report.verb += verb
        report.both += their and verb
        if their and not verb:
            report.theirs_alone.append(f"seed {program.seed} by {width}")
    return report


def _by_pass(f: Func, width: int) -> Func | None:
    made = affine_super_vectorize(Module((f,)), virtual_vector_size=(width,), vectorize_reductions=True)
    return made.functions[0] if made.functions[0] is not f else None


def _right(
    programs: Sequence[Generated], functions: Sequence[Func], made: Sequence[Func | None], report: Beside
) -> list[bool]:
    """Which of the functions have vectors, and do what those do that they are made of."""
    wide = {k: f for k, f in enumerate(made) if f is not None and is_wide(f)}
    report.claimed += len(wide)
    report.not_counted["mlir-opt fails"] += made.count(None)
    found = [False] * len(programs)
    left = by_mlir([*wide.values()], [programs[k].runs for k in wide]) if wide else []
    for k, each in zip(wide, left, strict=True):
        wanted = reference(functions[k], programs[k])
        wrong = [a if isinstance(a, str) else difference(b, a) for a, b in zip(each, wanted, strict=True)]
        found[k] = not any(wrong)
        if any(wrong):
            said = next(filter(None, wrong))
            report.not_counted["it leaves something else" if said.startswith("argument") else said[:40]] += 1
    return found


def main() -> None:
    """Count, and print."""
    given = parser("tests.vectors.beside", __doc__, 500).parse_args()
    watch, total, of = Watch(), Beside(), seeds(given)
    for at in range(0, len(of), BATCH):
        total.add(beside(of[at : at + BATCH]))
        watch.say(total.programs, "programs", 0)
    print(f"{total.programs} nests; ours: {total.verb} by the step, {total.ours} by the pass; mlir-opt: {total.theirs}")
    print(f"mlir-opt makes vectors of {total.claimed}; not counted: {dict(total.not_counted)}")
    print(f"mlir-opt alone: {len(total.theirs_alone)} {total.theirs_alone}")


if __name__ == "__main__":
    main()
