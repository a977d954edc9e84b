"""Tries every primitive on one random program: what is accepted must change nothing, what is refused must."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine, func
from affdsl.ir.interpreter import InterpreterError
from affdsl.ir.traverse import walk
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.validation import Report as Validation
from affdsl.passes.validation import Validator
from tests.harness.counts import Counts
from tests.harness.limit import limited
from tests.transformations import orders
from tests.transformations.primitives import PRIMITIVES, Chosen, Primitive, Setting
from tests.transformations.subjects import SOURCES, Subject, fuzzed, integral, on_i64, program_of, sized, subject

SECONDS = 60
"""So long one primitive may take."""
VALIDATED = 1000
"""For so many iterations the validator runs the program before."""
NO_OTHER_ORDER = "in no other order at the sizes of the program"
NOT_SEEN = "the counterexample was not seen to run"
UNEXPLAINED = (NO_OTHER_ORDER, NOT_SEEN)
"""What may be a false refusal; the other reasons why a forced step changes nothing explain it."""


@dataclass
class Row(Counts):
    """What became of one primitive.

    Attributes
    ----------
    validated
        How many of those accepted the validator has compared too.
    forced
        How many of those refused by a counterexample could be made all the same.
    changed
        On how many of these something else comes out.
    confirmed
        Of how many counterexamples both iterations were seen to run and to touch the element, one writing.
    unchanged
        Why nothing else came out of the others.
    """

    asked: int = 0
    accepted: int = 0
    validated: int = 0
    unchecked: int = 0
    counterexamples: int = 0
    others: int = 0
    confirmed: int = 0
    forced: int = 0
    changed: int = 0
    failures: int = 0
    unchanged: Counter[str] = field(default_factory=Counter)


NUMBERS = (
    "asked", "accepted", "validated", "unchecked", "counterexamples", "others", "confirmed", "forced", "changed",
    "failures",
)  # fmt: skip


@dataclass(frozen=True)
class Failure:
    """A step that was accepted and is wrong, or that crashed; `kind` is what failures of one cause have in common."""

    seed: int
    primitive: str
    chosen: Chosen
    kind: str
    said: str
    text: str

    def __str__(self) -> str:
        step = _step(self.primitive, self.chosen)
        return f"seed {self.seed}: {step}: {self.kind}: {self.said}\n{self.text}"


def _step(primitive: str, chosen: Chosen) -> str:
    loops, numbers = chosen
    return f"{primitive} of loops {list(loops)} with {list(numbers)}"


@dataclass
class Report(Counts):
    """What was found in some programs.

    Attributes
    ----------
    unexplained
        Forced steps that changed nothing, where that may be wrong.
    unchecked
        Accepted steps of which the validator says nothing, and why.
    """

    programs: int = 0
    rows: dict[str, Row] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def row(self, name: str) -> Row:
        """The row of a primitive."""
        return self.rows.setdefault(name, Row())


def check(seed: int, names: Sequence[str] = (), validations: int | None = None) -> Report:
    """Try primitives on the program of a seed, all of them if none are named; the same for the same seed.

    validations
        How many of the accepted steps the validator compares too, chosen at random; all of them if it is not given.
    """
    random = Random(seed)
    whole = on_i64(seed)
    given = subject(seed)
    report = Report(programs=1)
    chosen = tuple(names) or tuple(PRIMITIVES)
    assert not any(len(outcome) == 1 and isinstance(outcome[0], str) for outcome in given.expected), "it has no meaning"
    settings = {allowed: Setting(given.function, given.module, allowed) for allowed in (False, True)}
    accepted: list[tuple[str, Chosen, func.Module, bool]] = []
    for name in chosen:
        at = settings[given.is_integer and random.random() < 0.5]
        loops = PRIMITIVES[name].choose(at, Random(f"{seed} {name}"))
        if loops is None:
            continue
        made = _tried(seed, name, at, loops, given, whole, report)
        if made is not None:
            accepted.append((name, loops, made, at.reassociate))
    kept = accepted if validations is None else random.sample(accepted, min(validations, len(accepted)))
    validator = Validator(given.module, most_iterations=VALIDATED)
    for name, loops, made, reassociated in kept:
        _validated(seed, name, loops, given, partial(validator.validate, made, reassociated=reassociated), report)
    return report


def _tried(
    seed: int, name: str, at: Setting, chosen: Chosen, given: Subject, whole: Subject, report: Report
) -> func.Module | None:
    """What one primitive makes of a program, if it accepts; counted in the report."""
    row, primitive = report.row(name), PRIMITIVES[name]
    row.asked += 1
    try:
        with limited(SECONDS):
            made = primitive.apply(at, *chosen)
            module = given.with_function(made)
            wrong = difference(given, module)
    except IllegalTransform as refusal:
        if refusal.witness is None:
            row.others += 1
        else:
            row.counterexamples += 1
            why = _forced(seed, name, chosen, given, whole, refusal, row)
            if why in UNEXPLAINED:
                report.unexplained.append(f"seed {seed}: {_step(name, chosen)}: {why}")
        return None
    except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
        said = f"{type(problem).__name__}: {problem}"
        place = traceback.extract_tb(problem.__traceback__)[-1]
        _failed(report, seed, name, chosen, f"raised {type(problem).__name__} in {place.name}", said, given)
        return None
    row.accepted += 1
    if wrong:
        _failed(report, seed, name, chosen, "another result", f"{wrong}\n{made}", given)
        return None
    return module


def _validated(
    seed: int, name: str, chosen: Chosen, given: Subject, validated: Callable[[], Validation], report: Report
) -> None:
    row = report.row(name)
    row.validated += 1
    try:
        with limited(SECONDS):
            found = validated()
    except TimeoutError as problem:
        row.unchecked += 1
        report.unchecked.append(f"seed {seed}: {_step(name, chosen)}: {problem}")
        return
    except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
        place = traceback.extract_tb(problem.__traceback__)[-1]
        kind = f"the validator raised {type(problem).__name__} in {place.name}"
        _failed(report, seed, name, chosen, kind, str(problem), given)
        return
    if found.failure is not None:
        _failed(report, seed, name, chosen, "the validator disagrees", str(found.failure), given)
    if found.unchecked:
        row.unchecked += 1
        why = "; ".join(f"{each.unchecked} ({each.answer.why})" for each in found.unchecked)
        report.unchecked.append(f"seed {seed}: {_step(name, chosen)}: {why}")


def _failed(report: Report, seed: int, name: str, chosen: Chosen, kind: str, said: str, given: Subject) -> None:
    report.row(name).failures += 1
    report.failures.append(Failure(seed, name, chosen, kind, said, str(given.module)))


def difference(given: Subject, module: func.Module) -> str:
    """In which run a version of a program does something else; empty if it does the same in all."""
    is_parallel = any(isinstance(op, affine.Parallel) for op in walk(module))
    prepared = given.prepared(module)
    for n, expected in enumerate(given.expected):
        for order in ("forward", "reverse") if is_parallel else ("forward",):
            found = given.outcome(prepared, n, order)
            if found != expected:
                says = found[0] if isinstance(found[0], str) else "other numbers"
                return f"run {n} ({dict(given.numbers[n])}), {order}: {says}"
    return ""


def _forced(
    seed: int, name: str, chosen: Chosen, given: Subject, whole: Subject, refusal: IllegalTransform, row: Row
) -> str:
    """Make a step that is refused by a counterexample all the same; if nothing else comes out, gives the reason."""
    primitive = PRIMITIVES[name]
    confirmed = any(_is_confirmed(given, n, refusal) for n in _runs_like(given, refusal))
    row.confirmed += confirmed
    if primitive.force is None:
        row.unchanged["cannot be made: what is asked is needed to make it"] += 1
        return ""
    try:
        for subject in _variants(seed, given, whole, refusal):
            changed = _changed(subject, primitive, chosen)
            if changed:
                break
    except AffdslError as problem:
        reason = next(iter(str(problem).splitlines()[1:]), str(problem)).strip()
        row.unchanged[f"cannot be made: {re.sub('loop [^ ]+', 'loop', reason)[:60]}"] += 1
        return ""
    row.forced += 1
    row.changed += changed
    if changed:
        return ""
    why = _why_unchanged(given, primitive, chosen, refusal, confirmed=confirmed)
    row.unchanged[why] += 1
    return why


def _changed(subject: Subject, primitive: Primitive, chosen: Chosen) -> bool:
    assert primitive.force is not None, "a primitive that refuses a dependence can be forced"
    for loops, numbers in (chosen, *primitive.also(chosen)):
        made = primitive.force(Setting(subject.function, subject.module), loops, numbers)
        if difference(subject, subject.with_function(made)):
            return True
    return False


def _variants(seed: int, given: Subject, whole: Subject, refusal: IllegalTransform) -> Iterator[Subject]:
    """A program as it is, with arithmetic that shows every order, and that on the sizes of the counterexample."""
    yield given
    yield whole.remembering
    yield whole.mixed
    assert refusal.witness is not None
    if SOURCES[seed % len(SOURCES)] != "analysis" and not _runs_like(given, refusal):
        program = integral(program_of(seed))
        known = dict(zip(program.symbols, program.valuations[0], strict=True)) | dict(refusal.witness.params)
        other = sized(program, [tuple(known[s] for s in program.symbols)])
        if other is not None:
            yield fuzzed(other).remembering
            yield fuzzed(other).mixed


def _runs_like(given: Subject, refusal: IllegalTransform) -> list[int]:
    """The runs with the sizes of a counterexample."""
    assert refusal.witness is not None
    names = {a.hint: k for k, a in enumerate(given.function.args)}
    wanted = {names[name]: number for name, number in refusal.witness.params.items() if name in names}
    return [n for n, sizes in enumerate(given.numbers) if all(sizes.get(k) == wanted[k] for k in wanted if k in sizes)]


def _is_confirmed(given: Subject, number: int, refusal: IllegalTransform) -> bool:
    """Whether the two iterations of a counterexample were seen: in their order, at one element, one of them writing."""
    dependence, witness = refusal.dependence, refusal.witness
    assert dependence is not None
    assert witness is not None
    try:
        instances = given.trace(number).instances
    except (InterpreterError, NotImplementedError):
        return False
    first = [i for i in instances if i.op is dependence.source.op and i.ivs == witness.source]
    second = [i for i in instances if i.op is dependence.sink.op and i.ivs == witness.sink]
    return any(
        a.buffer == b.buffer and a.elements & b.elements and "write" in (a.role, b.role) and a.time < b.time
        for a in first
        for b in second
    )


def _why_unchanged(
    given: Subject, primitive: Primitive, chosen: Chosen, refusal: IllegalTransform, *, confirmed: bool
) -> str:
    """The class of a forced step that changed nothing."""
    assert refusal.dependence is not None
    assert primitive.force is not None
    if refusal.dependence.source.op.is_terminator:
        return "a value that the loop carries, which nothing reads"
    if not confirmed:
        return NOT_SEEN if _runs_like(given, refusal) else "only at sizes that the program does not have"

    def change(with_: Chosen, function: func.Func, module: func.Module | None) -> func.Func:
        assert primitive.force is not None
        assert module is not None
        return primitive.force(Setting(function, module), *with_)

    try:
        found = any(
            orders.first_reversed(
                given.function, partial(change, each), partial(given.arguments, n), given.module, given.externals
            )
            for each in (chosen, *primitive.also(chosen))
            for n in range(len(given.numbers))
        )
    except (orders.LostError, NotImplementedError, AffdslError) as problem:
        return f"what the step does to the order is not known: {type(problem).__name__}"
    return "in another order, with equal results" if found else NO_OTHER_ORDER
