"""What is tried with programs that are made for a verb: taken, the step changes nothing; refused, it says the truth."""

from __future__ import annotations

import re
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import affdsl as af
import affdsl.passes.transforms.load_ahead as loading_ahead
import affdsl.passes.transforms.pipeline_data_transfer.transfers as transferring
import affdsl.passes.transforms.precompute as precomputing
import affdsl.passes.transforms.sink as sinking
import affdsl.passes.transforms.splice as splicing
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.interpreter import InterpreterError
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.validation import Validator
from tests.harness.batch import UNREACHABLE, C
from tests.harness.counts import Counts
from tests.harness.judges import left, same_but_nan
from tests.schedule.made import loops, sums, transfers, vectors
from tests.schedule.made.program import Made, runs
from tests.transformations.primitives import unasked
from tests.vectors.together import by_c

MAKERS = {**vectors.MAKERS, **loops.MAKERS, **transfers.MAKERS, **sums.MAKERS}
"""What makes programs for each verb, and what a refusal says of what is planted."""
NATIVE = C("gcc", ("-O1", "-march=native", "-fopenmp", *UNREACHABLE))
VALIDATED = 200
"""For so many iterations the validator runs the program before."""
INTERNAL = re.compile(r"%|\bv\.\d|\barg\d|\bNone\b|<|\bValue\b")
"""What no message says to the author of a schedule."""
ULP = {"exp": 1.5, "exp2": 1.5, "log": 1.5, "log2": 3.0, "log10": 3.0}
"""How far approximated functions may be off, as their verb promises."""


def _nothing(*_: object, **__: object) -> None:
    """Stands for a check that everything passes."""


def _stored_by_nobody(*_: object) -> str:
    return ""


def _never(*_: object) -> bool:
    return False


FORCED: dict[str, tuple[tuple[object, str, object], ...]] = {
    "load_ahead": ((loading_ahead, "why_it_is_stored", _stored_by_nobody),),
    "splice": ((splicing, "why_it_is_stored", _stored_by_nobody),),
    "sink": ((sinking, "may_meet", _never),),
    "precompute": ((precomputing, "_require_readable", _nothing),),
    "pipeline": ((transferring, "require_order", _nothing), (transferring._Candidate, "_require_brought", _nothing)),
}
"""What verbs ask about the order of accesses, and an answer that lets them go on."""
OF_ORDER = re.compile(
    r"may (have stored|change) what it loads|may write to|does not run them in this order|that its DMA brings all"
)
"""Refusals of what would change results: others are of a shape, which the verb does not take."""


@dataclass
class Row(Counts):
    """What became of the programs for one verb.

    Attributes
    ----------
    refused, unplanted
        How many were refused for each reason, and how many of these had nothing planted.
    harmless
        What was planted in those that were accepted.
    forced, changed, unchanged
        How many that were refused for their order were made all the same, on how many other numbers came out, and on
        which not.
    """

    programs: int = 0
    accepted: int = 0
    validated: int = 0
    compiled: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unplanted: Counter[str] = field(default_factory=Counter)
    harmless: Counter[str] = field(default_factory=Counter)
    forced: int = 0
    changed: int = 0
    unchanged: list[str] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Report(Counts):
    """A row for each verb."""

    rows: dict[str, Row] = field(default_factory=dict)

    def row(self, verb: str) -> Row:
        """The row of a verb."""
        return self.rows.setdefault(verb, Row())


@dataclass(frozen=True)
class Trial:
    """A program, what stands before its step, the runs that have a meaning, and what these leave."""

    seed: int
    made: Made
    before: Func
    module: Module
    given: list[list[Any]]
    wanted: list[list[Any]]

    def __str__(self) -> str:
        return f"{self.made.verb} {self.seed}"

    def difference(self, after: Func, module: Module) -> str:
        """What another version leaves that is not as it should be; empty if there is nothing."""
        for run, old in zip(self.given, self.wanted, strict=True):
            new = left(after, run, module, uninitialised="poison")
            if said := _difference(after, self.made, run, old, new):
                return said
        return ""


def check(asked: Sequence[tuple[str, int]], *, compiled: bool = True) -> Report:
    """Try the programs of some verbs and seeds; those that are accepted are compiled together."""
    report, ready = Report(), list[tuple[Trial, Func]]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalysisWarning)  # what is not known is refused, and that is counted
        for verb, seed in asked:
            row, made = report.row(verb), MAKERS[verb].made(seed)
            row.programs += 1
            try:
                ready += _tried(made, seed, row)
            except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
                place = traceback.extract_tb(problem.__traceback__)[-1]
                said = f"raised {type(problem).__name__} in {place.name}: {problem}"
                row.wrong.append((f"{verb} {seed}", f"{said}\n{made}"))
    for k, guard in enumerate(("end", "start") if compiled else ()):
        _compiled(ready[k::2], guard, report)
    return report


def _tried(made: Made, seed: int, row: Row) -> list[tuple[Trial, Func]]:
    """What a step makes of its program, judged by the interpreter; nothing where it is refused, which is judged too."""
    kernel = made.kernel()
    s = af.Schedule(kernel)
    _take(s, *made.before)
    trial = Trial(seed, made, s.function, s.module, *_meant(s.function, s.module, runs(kernel, seed)))
    history = str(s)
    try:
        _take(s, made.step)
    except af.IllegalTransform as refusal:
        assert (str(s), s.module) == (history, trial.module), "a refusal leaves a trace"
        _refused(trial, str(refusal), row)
        if OF_ORDER.search(str(refusal)):
            _forced(trial, row)
        return []
    row.accepted += 1
    row.harmless.update([made.planted] if made.planted else [])
    after, steps = s.function, s.steps
    if said := trial.difference(after, s.module):
        raise AssertionError(f"{said}\n{after}")
    if seed % 8 in (0, 1, 2) and made.verb != "approximate":
        row.validated += 1
        validated = Validator(trial.module, most_iterations=VALIDATED).validate(s.module)
        assert validated.failure is None, f"the validator disagrees: {validated.failure}"
    again = af.Schedule(kernel)
    _take(again, *map(str, steps))
    assert str(again.function) == str(after), "what it prints does not replay"
    while len(s.steps) > len(made.before):
        s.undo()
    assert s.function is trial.before, "it is not undone"
    return [(trial, after)]


def _meant(f: Func, module: Module, given: Sequence[list[Any]]) -> tuple[list[list[Any]], list[list[Any]]]:
    """The runs that have a meaning, and what they leave: transfers may be planted that have none."""
    found = []
    for run in given:
        try:
            found.append((run, left(f, run, module, uninitialised="poison")))
        except InterpreterError as problem:
            if "copy" not in str(problem):
                raise
    return [run for run, _ in found], [each for _, each in found]


def _take(s: af.Schedule, *steps: str) -> None:
    for step in steps:
        exec(f"s.{step}", {"s": s})


def _refused(trial: Trial, said: str, row: Row) -> None:
    """Whether a refusal gives a reason that its verb may have, and names what it is about."""
    made, reasons = trial.made, MAKERS[trial.made.verb].refusals
    reason = next((why for why in dict.fromkeys(reasons.values()) if re.search(why, said)), "")
    head, _, rest = said.partition("\n")
    row.refused[reason or rest] += 1
    row.unplanted.update([] if made.planted else [reason or rest])
    problems = [
        *["a reason that is not in the table"] * (not reason),
        *[f"not what was planted: {made.planted}"] * bool(made.planted and not re.search(reasons[made.planted], said)),
        *[f"it does not name {name}" for name in (made.loop, made.array) if not re.search(rf"\b{name}\b", said)],
        *["it has a name that no user gave"] * bool(INTERNAL.search(head.partition("cannot")[2] + rest)),
    ]
    if problems:
        row.wrong.append((str(trial), f"{'; '.join(problems)}:\n{said}\n{made}"))


def _forced(trial: Trial, row: Row) -> None:
    """Make a step that was refused all the same: whether other numbers come out."""
    s = af.Schedule(trial.made.kernel())
    _take(s, *trial.made.before)
    try:
        with unasked(*FORCED[trial.made.verb]):
            _take(s, trial.made.step)
    except AffdslError as problem:
        row.unchanged.append(f"{trial}, which cannot be made: {str(problem).splitlines()[1].strip()}")
        return
    row.forced += 1
    try:
        changed = bool(trial.difference(s.function, s.module))
    except InterpreterError:
        changed = True
    row.changed += changed
    row.unchanged += [] if changed else [f"{trial}, with what is {trial.made.planted}"]


def _difference(f: Func, made: Made, given: Sequence[Any], wanted: Sequence[Any], found: Sequence[Any]) -> str:
    """Which argument is not left as it should be, to the bit; or further off than was promised."""
    known = {a.hint: np.asarray(x) for a, x in zip(f.args, given, strict=True)}
    near = {name: (kind, of) for name, kind, of in made.approximated}
    for name, old, new in zip(known, wanted, found, strict=True):
        if name in near:
            kind, of = near[name]
            said = _far(kind, known[of], known[name], np.asarray(new))
        else:
            said = "" if same_but_nan(old, new) else f"{new} instead of {old}"
        if said:
            return f"{name} is {said}, where {known}"
    return ""


def _far(kind: str, x: np.ndarray[Any, Any], before: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> str:
    """Which results are further from the exact ones than is promised; those that were not computed are as before."""
    with np.errstate(all="ignore"):
        exact = getattr(np, kind)(x.astype(np.longdouble))
        rounded = exact.astype(x.dtype)
        is_near = np.abs(y.astype(np.longdouble) - exact) <= ULP[kind] * np.spacing(np.abs(rounded))
    is_right = is_near | (rounded == y) | (np.isnan(rounded) & np.isnan(y)) | (y == before)
    return "" if is_right.all() else f"{y[~is_right]} instead of {exact[~is_right]}"


def _compiled(ready: Sequence[tuple[Trial, Func]], guard: str, report: Report) -> None:
    """What C leaves, between pages that nobody may touch: what the interpreter leaves."""
    several = [(trial, after) for trial, after in ready if trial.given]
    same = max((len(trial.given) for trial, _ in several), default=0)
    several = [(trial, after) for trial, after in several if len(trial.given) == same]
    if not several:
        return
    outcomes = by_c([after for _, after in several], [trial.given for trial, _ in several], NATIVE, guard=guard)
    for (trial, after), outcome in zip(several, outcomes, strict=True):
        row = report.row(trial.made.verb)
        row.compiled += 1
        for run, new in zip(trial.given, outcome, strict=True):
            wanted = [] if isinstance(new, str) else left(after, run, uninitialised="poison")
            said = new if isinstance(new, str) else _other(after, wanted, new)
            if said:
                row.wrong.append((str(trial), f"C: {said}, where {run}\n{trial.made}\n{after}"))
                break


def _other(f: Func, wanted: Sequence[Any], found: Sequence[Any]) -> str:
    named = zip(f.args, wanted, found, strict=True)
    return next((f"{a.hint} is {new} instead of {old}" for a, old, new in named if not same_but_nan(old, new)), "")
