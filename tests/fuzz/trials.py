"""What our pass and the one of mlir-opt make of random programs: how much each does, and whether it is right."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from affdsl.ir.dialects import func
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.pipeline.registry import BY_NAME
from tests.fuzz import amounts
from tests.fuzz.amounts import Amount
from tests.fuzz.check import pipelines
from tests.fuzz.features import MIXES, Features
from tests.fuzz.generator import generate
from tests.fuzz.judges import JUDGES, Item, has_parallel
from tests.fuzz.mlir import mlir
from tests.fuzz.order import reordered
from tests.fuzz.program import Program
from tests.fuzz.reference import evaluate
from tests.harness.batch import TIME_LIMIT
from tests.harness.limit import limited
from tests.oracles import require

PATIENCE = 20.0
"""Seconds that mlir-opt gets for one program; nearly all take less than 0.1."""
SEPARATOR = "// -----\n"
INTERPRETED = ("interpreter", "backwards", "elsewhere")
"""Nothing lowers a DMA: only the interpreter knows what it does."""
COMPILED = (*INTERPRETED, "mlir")
COPIES = "affine-data-copy-generate{generate-dma=1 fast-mem-capacity=1}"


@dataclass(frozen=True)
class Row:
    """A pass with options, as a pipeline of mlir-opt has them, and what it does to programs, in some unit.

    Where the pass needs it, programs are made ready by another one, `before`: ours, or that of mlir-opt. Some do no
    more than to run iterations in another order.
    """

    step: str
    unit: str
    amount: Amount
    judges: tuple[str, ...] = COMPILED
    before: str = ""
    is_made_ready_by_us: bool = True
    only_reorders: bool = False

    @property
    def title(self) -> str:
        """What tells it from other rows."""
        by = "our" if self.is_made_ready_by_us else "mlir-opt's"
        return f"{self.step} after {by} {self.before}" if self.before else self.step

    @property
    def pipeline(self) -> str:
        return pipelines([self.step])[1]

    @property
    def is_known(self) -> bool:
        """Whether our passes are there."""
        return all(step.partition("{")[0] in BY_NAME for step in (self.step, self.before) if step)


ROWS = (
    Row("affine-loop-tile", "loops tiled", amounts.loops_added, only_reorders=True),
    Row("affine-loop-tile{tile-size=3}", "loops tiled", amounts.loops_added, only_reorders=True),
    Row("affine-loop-unroll", "loops unrolled", amounts.innermost_changed),
    Row("affine-loop-unroll{unroll-factor=-1}", "loops unrolled", amounts.innermost_changed),
    Row("affine-loop-unroll-jam", "nests unrolled", amounts.outermost_changed),
    Row("affine-loop-coalescing", "loops saved", amounts.loops_removed),
    Row("affine-loop-fusion", "nests fused", amounts.nests_fused),
    Row("affine-loop-fusion{maximal=1}", "nests fused", amounts.nests_fused),
    Row("affine-parallelize", "loops parallel", amounts.parallel_loops_added),
    Row("affine-parallelize{parallel-reductions=1}", "loops parallel", amounts.parallel_loops_added),
    Row("affine-loop-invariant-code-motion", "loops left by operations", amounts.levels_left),
    Row("affine-scalrep", "accesses saved", amounts.accesses_removed),
    Row("affine-data-copy-generate{fast-mem-space=0}", "buffers", amounts.buffers_added),
    Row("affine-data-copy-generate{generate-dma=1}", "buffers", amounts.buffers_added, INTERPRETED),
    Row("affine-pipeline-data-transfer", "transfers begun early", amounts.transfers_added, INTERPRETED, COPIES),
    Row("affine-pipeline-data-transfer", "transfers begun early", amounts.transfers_added, INTERPRETED, COPIES, False),
    Row("test-loop-permutation{permutation-map=1,0 check-validity=1}", "nests permuted", amounts.nests_permuted(2),
        only_reorders=True),
    Row("test-loop-permutation{permutation-map=1,2,0 check-validity=1}", "nests permuted", amounts.nests_permuted(3),
        only_reorders=True),
)  # fmt: skip
"""The passes that both have."""


@dataclass(frozen=True)
class Made:
    """What one side made of a program: how much it did, whether anything changed at all, and what is wrong with it."""

    amount: int
    is_changed: bool
    said: str

    @property
    def is_right(self) -> bool:
        return not self.said


@dataclass(frozen=True)
class Trial:
    """A program with a pass: what we made of it, and what mlir-opt did."""

    seed: int
    row: Row
    ours: Made
    theirs: Made
    luck: str = ""
    """Why what they did is right by luck only; looked for where they did more, and do nothing but reorder."""

    @property
    def is_less(self) -> bool:
        """Whether they rightly did more than we."""
        return self.theirs.is_right and self.theirs.amount > self.ours.amount


Results = Sequence["func.Module | str"]
"""What a pass made of programs; a text says why it made nothing."""
Known = dict[tuple[int, str, Sequence[str]], str]
"""What judges say of versions of programs: the seed, the text, and which judges."""


def trials(seeds: Sequence[int], rows: Sequence[Row], mixes: Sequence[Features] = MIXES) -> list[Trial]:
    """Try passes on the programs of some seeds, with the features of one of the mixes each."""
    programs = [generate(seed, mixes[seed % len(mixes)]) for seed in seeds]
    known: Known = {}
    return [trial for row in rows for trial in _of_row(programs, row, known)]


def _of_row(programs: Sequence[Program], row: Row, known: Known) -> list[Trial]:
    modules = _ready(programs, row)
    texts = [print_op(module) for module in modules]
    unchanged = [_parsed(text) for text in by_mlir_opt(texts, "")]
    ours = _judged(programs, modules, [_by_us(module, row.pipeline) for module in modules], row, known)
    theirs = _judged(programs, unchanged, [_parsed(text) for text in by_mlir_opt(texts, row.pipeline)], row, known)
    made = [Trial(p.seed, row, a, b) for p, a, b in zip(programs, ours, theirs, strict=True)]
    return [
        replace(trial, luck=reordered(program, row.pipeline)) if row.only_reorders and trial.is_less else trial
        for program, trial in zip(programs, made, strict=True)
    ]


def _ready(programs: Sequence[Program], row: Row) -> list[func.Module]:
    """The modules to which both passes are applied; as they are written where making them ready fails, or is wrong."""
    written = [parse(mlir(program)) for program in programs]
    if not row.before:
        return written
    pipeline = pipelines([row.before])[1]
    if row.is_made_ready_by_us:
        return [run_pipeline(module, pipeline) for module in written]
    made = [_parsed(text) for text in by_mlir_opt([print_op(module) for module in written], pipeline)]
    items = {k: Item(programs[k], new, evaluate(programs[k])) for k, new in enumerate(made) if not isinstance(new, str)}
    # To judge takes long, and where neither side does anything, nobody counts what was there before.
    worth = {k: item for k, item in items.items() if _does_something(item.module, row)}
    wrong = {k for k, item in worth.items() if any(JUDGES[judge]([item])[0] for judge in row.judges)}
    return [items[k].module if k in items and k not in wrong else module for k, module in enumerate(written)]


def _does_something(module: func.Module, row: Row) -> bool:
    """Whether our pass or the one of mlir-opt changes a module, or fails on it."""
    text = print_op(module)
    made = _by_us(module, row.pipeline)
    (same,), (theirs,) = (by_mlir_opt([text], pipeline) for pipeline in ("", row.pipeline))
    return isinstance(made, str) or print_op(made) != text or theirs != same


def _by_us(module: func.Module, pipeline: str) -> func.Module | str:
    try:
        with limited(TIME_LIMIT):
            made = run_pipeline(module, pipeline)
        verify(made)
    except Exception as problem:  # noqa: BLE001  whatever is raised is what is looked for
        return f"raised: {type(problem).__name__}: {problem}"
    return made


def _parsed(text: str) -> func.Module | str:
    return text if text.startswith(("refused: ", "endless: ")) else parse(text)


def by_mlir_opt(texts: Sequence[str], pipeline: str) -> list[str]:
    """What mlir-opt prints for each module after a pipeline, or `refused: ` or `endless: ` and why.

    All are given to it at once; where it fails on them, the halves are tried.
    """
    if not texts:
        return []
    flags = [f"--pass-pipeline={pipeline}"] if pipeline else []
    command = [require("mlir-opt-22"), "--split-input-file", *flags, "-"]
    try:
        done = subprocess.run(
            command, input=SEPARATOR.join(texts), capture_output=True, text=True, timeout=PATIENCE + len(texts)
        )
        made = done.stdout.split(SEPARATOR)
        if done.returncode == 0 and len(made) == len(texts):
            return made
        said = f"refused: exit status {done.returncode}: {done.stderr[-600:]}"
    except subprocess.TimeoutExpired as problem:
        said = f"endless: {problem}"
    if len(texts) == 1:
        return [said]
    half = len(texts) // 2
    return by_mlir_opt(texts[:half], pipeline) + by_mlir_opt(texts[half:], pipeline)


def _judged(programs: Sequence[Program], before: Results, after: Results, row: Row, known: Known) -> list[Made]:
    """How much was done to each program, and what its judges say; what did not change is right."""
    made: dict[int, Made] = {}
    items: dict[int, Item] = {}
    for k, (program, old, new) in enumerate(zip(programs, before, after, strict=True)):
        if isinstance(new, str):
            made[k] = Made(0, is_changed=True, said=new)
            continue
        assert isinstance(old, func.Module), old
        if print_op(old) == print_op(new):
            made[k] = Made(0, is_changed=False, said="")
        else:
            items[k] = Item(program, new, evaluate(program))
    keys = {k: (item.program.seed, print_op(item.module), row.judges) for k, item in items.items()}
    said = {k: known.get(key, "") for k, key in keys.items()}
    unjudged = [k for k, key in keys.items() if key not in known]
    for judge in row.judges:
        asked = [k for k in unjudged if not said[k] and (judge != "backwards" or has_parallel(items[k].module))]
        said |= dict(zip(asked, JUDGES[judge]([items[k] for k in asked]), strict=True))
    known |= {keys[k]: said[k] for k in unjudged}
    for k, item in items.items():
        old = before[k]
        assert isinstance(old, func.Module)
        made[k] = Made(max(0, row.amount(old, item.module)), is_changed=True, said=said[k])
    return [made[k] for k in range(len(programs))]
