"""`kernel.report("out.html", ...)`: one page, in one file, that says why a kernel is as fast as it is."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

from affdsl.codegen.cache import default_cache
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.native import native_target
from affdsl.codegen.roofline import roofline
from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.kernel import Kernel
from affdsl.lang.source import problem
from affdsl.optimize.machine import measured
from affdsl.optimize.options import Options
from affdsl.passes.advice.causes import Cause, sentence
from affdsl.report.charts import roofline_chart
from affdsl.report.columns import Column, Keys, assembly_of, c_of, mlir_of, python_of
from affdsl.report.considered import considered
from affdsl.report.highlighting import coloured
from affdsl.report.loops import source_loops
from affdsl.report.packages import PACKAGES, package
from affdsl.report.ranking import ranked
from affdsl.report.rendering import rendered
from affdsl.report.shown import Report, ShownCause, ShownColumn, ShownLine, ShownLoop
from affdsl.report.subject import Subject, subject
from affdsl.report.timeline import timeline
from affdsl.report.times import LoopTime, Times, times
from affdsl.report.trials import BUDGET, Outcome, outcome
from affdsl.report.tries import allowed, threads_of, tries
from affdsl.report.verdicts import Verdict, hot_names, instructions_of, verdicts
from affdsl.seeing.table import seconds_text

SEARCH_SHARE = 3.0
"""Looking at what the search considers takes such a part of the seconds that things are tried in."""
SEARCH_NOTE = (
    "The loops as written, and each recipe of optimize() for each outermost loop. optimize() takes the first that the "
    "model does not expect to be slower than the loops as written. Times are of a call on one thread."
)
AUTOMATIC = ("sum", "division", "function", "product", "extreme", "columns", "mixed")
"""The causes for which something is tried; the others are for whoever wrote the kernel."""


def report(
    kernel: Kernel,
    path: str | Path,
    arguments: Sequence[object],
    keywords: Mapping[str, object],
    seconds: float = BUDGET,
) -> Path:
    """Write the page of a kernel, as `affdsl.kernel.Kernel.report` does."""
    if not isinstance(path, str | Path):
        raise problem(
            ProgramTypeError, f"a report is written to a file, got {path!r}", 'as in report("out.html", a, b)'
        )
    given: object = seconds
    if not isinstance(given, int | float) or isinstance(given, bool) or not given >= 0:
        raise problem(ProgramTypeError, f"seconds is {seconds!r}", "it is how long things are tried: 0 or more")
    for name in PACKAGES:
        package(name)
    made = Path(path)
    text = rendered(reported(kernel, arguments, keywords, seconds))
    try:
        made.write_text(text, encoding="utf-8")
    except OSError as error:
        raise problem(ProgramError, f"cannot write the report to {made}: {error.strerror}") from None
    return made


def reported(
    kernel: Kernel, arguments: Sequence[object], keywords: Mapping[str, object], seconds: float = BUDGET
) -> Report:
    """What the page of a kernel says."""
    of = subject(kernel, arguments, keywords)
    sources = source_loops(kernel.written.module)
    found = times(of, sources)
    instructions, no_instructions = instructions_of(of)
    said = verdicts(of, found, sources, instructions)
    came = outcome(of, tries(kernel, said), seconds)
    keys = Keys()
    columns = [python_of(kernel, keys), mlir_of(of.running, keys)]
    if instructions is not None:
        columns += [c_of(instructions, keys), assembly_of(instructions, keys, hot_names(of, found))]
    else:
        columns += [Column("C", "c", (), no_instructions), Column("Assembly", "asm", (), no_instructions)]
    helpful, useless = ranked(came, said)
    options = Options(native_target(), threads_of(kernel), **allowed(kernel))  # type: ignore[arg-type]
    searched = considered(kernel, of.sizes, options, measured(native_target(), roofline(1)), seconds / SEARCH_SHARE)
    return Report(
        name=kernel.name,
        signature=repr(kernel).strip("<>").removeprefix("affdsl kernel "),
        lead=_lead(found, said),
        facts=tuple(_facts(of)),
        advice=helpful[0] if helpful else None,
        loops_note=_loops_note(of, found),
        loops=tuple(_loop(each, keys, found) for each in said),
        next_note=_next_note(of, came, seconds),
        tried=tuple(helpful),
        no_gain=tuple(useless),
        advised=tuple(
            dict.fromkeys(_cause(c, keys) for v in said for c in v.causes if c.kind not in (*AUTOMATIC, *v.gone))
        ),
        columns=tuple(_column(each) for each in columns),
        steps_note=_steps_note(kernel),
        notes="\n".join(kernel.explain().splitlines()[1:]) if kernel._notes else "",
        steps=timeline(kernel),
        search_note=SEARCH_NOTE,
        considered=searched,
        roofs_note=_roofs_note(found),
        roofline=roofline_chart(found.rooflines, found.nests, _type(kernel)),
        profile="" if found.profile is None else str(found.profile),
    )


def _lead(found: Times, said: Sequence[Verdict]) -> str:
    """The kernel in one sentence: how long a call takes, and where most of that goes."""
    how = "takes" if found.is_measured else "is expected to take"
    text = f"A call {how} {seconds_text(found.whole)}" if found.whole else "How long a call takes is not known"
    inner = [v for v in said if v.loop.is_innermost and v.time is not None and v.time.seconds]
    if inner:
        most = max(inner, key=lambda v: v.time.seconds if v.time is not None else 0.0)
        assert most.time is not None, "it has seconds"
        text += f", {most.time.share:.0%} of it in loop {most.loop.name} ({most.loop.location}): {', '.join(most.tags)}"
    return f"{text}."


def _facts(of: Subject) -> list[tuple[str, str]]:
    kernel, target = of.kernel, native_target()
    given = allowed(kernel)
    try:
        compiler = default_cache().compiler().identity.partition("\n")[0]
    except ToolchainError:
        compiler = "none"
    return [
        ("sizes", ", ".join(f"{name} = {n}" for name, n in of.sizes.items()) or "none"),
        ("written", str(kernel.written.func.location or "")),
        ("made by", _made_by(kernel)),
        ("may round in another way", ", ".join(given) or "nowhere"),
        ("threads", str(threads_of(kernel)) if kernel.is_derived else "1"),
        ("machine", _machine()),
        ("instructions", f"{target.name}, vectors of {target.width} bits"),
        ("compiler", compiler),
        ("date", date.today().isoformat()),
    ]


def _made_by(kernel: Kernel) -> str:
    if kernel._notes:
        return "optimize()"
    if not kernel.is_derived:
        return "nothing: it is as it was written"
    return "passes" if kernel.schedule is None else "a schedule"


def _machine() -> str:
    """What the processor is called, where the system says it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _loops_note(of: Subject, found: Times) -> str:
    if found.unknown:
        return f"Nothing was run. {found.unknown[:1].upper()}{found.unknown[1:]}: give arguments to measure it."
    note = (
        "Times are measured, nest by nest; where several loops share a nest, the model says about which part each has."
        if found.is_measured
        else "Nothing was run: times are those of the model. Give arguments to measure them."
    )
    assumed = f" Nobody gave {', '.join(of.assumed)}." if of.assumed else ""
    return note + assumed


def _loop(of: Verdict, keys: Keys, found: Times) -> ShownLoop:
    loop, time = of.loop, of.time
    where = keys.of(loop.location)
    lines = dict.fromkeys((*where, *(key for c in of.causes for key in keys.of(c.location))))
    return ShownLoop(
        key=loop.key,
        name=loop.name,
        place=str(loop.location or ""),
        depth=len(loop.around),
        line_key=where[0] if where else "code",
        lines=" ".join(lines),
        time=_time(time, found),
        percent=round(100 * time.share) if time is not None else 0,
        tags=of.tags,
        sentences=of.sentences,
        roof=of.roof,
        causes=tuple(_cause(each, keys, done=each.kind in of.gone) for each in of.causes),
        steps=", ".join(of.steps),
    )


def _time(time: LoopTime | None, found: Times) -> str:
    if found.unknown:
        return "how long is not known"
    if time is None or not time.seconds:
        return "no time of its own" if found.whole else "how long is not known"
    about = "" if found.is_measured and not time.is_split else "about "
    by = "measured" if found.is_measured else "by the model"
    return f"{about}{seconds_text(time.seconds)}, {time.share:.0%} of the call, with what is inside of it ({by})"


def _cause(of: Cause, keys: Keys, *, done: bool = False) -> ShownCause:
    where = keys.of(of.location)
    instead = "The steps of the schedule have dealt with it." if done else sentence(of.instead)
    return ShownCause(of.what, instead, str(of.location or ""), where[0] if where else "code")


def _next_note(of: Subject, came: Outcome, seconds: float) -> str:
    how = (
        f"Each was compiled and called on copies of your arguments, in turn with the kernel itself, for {seconds:.0f} "
        "s at most, about; the fastest call counts. The bar is the time that is left."
        if of.is_measured
        else "Nothing was run: the model says what each would take. Give arguments, and each is compiled and timed."
    )
    if not came.tried:
        return "There is nothing more to try: nothing in its loops needs a permission, another type or another layout."
    return how


def _column(of: Column) -> ShownColumn:
    of_python = of.language == "python"
    html = coloured([line.text for line in of.lines], of.language)
    first = next((line for line in of.lines if line.of), None)
    lines = tuple(
        ShownLine(
            str(line.number or ""),
            text,
            " ".join(line.of),
            line.of[0] if of_python and line.of else "",
            line is first,
        )
        for line, text in zip(of.lines, html, strict=True)
    )
    return ShownColumn(of.title.split()[-1].lower(), of.title, of.note, lines)


def _steps_note(kernel: Kernel) -> str:
    if kernel.schedule is None:
        return "No schedule made this kernel: its loops run as they are written."
    taken, refused = len(kernel.schedule.steps), len(kernel.schedule.refusals)
    words = f"{taken} steps, each proved legal for all sizes, and {refused} refused."
    if kernel._notes:
        words += " Of what recipes have asked for in vain, only what two iterations forbid is shown."
    return f"{words} Open one to see the loops before and after it."


def _roofs_note(found: Times) -> str:
    shown = [nest for nest in found.nests if nest.intensity > 0 and nest.flops_per_second > 0]
    named = "; ".join(f"{k}: {nest.name} ({nest.where})" for k, nest in enumerate(shown, 1))
    note = (
        "What this machine can do at best, measured once; a nest below a slope moves data, below the top it computes."
    )
    return f"{note} {named}" if named else f"{note} No nest has floating-point operations that are counted."


def _type(kernel: Kernel) -> str:
    text = str(kernel.func.type)
    return "f64" if "f64" in text else "f32"
