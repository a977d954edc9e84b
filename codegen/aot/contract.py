"""What a caller of a kernel must see to, in words: nobody checks it in C."""

from __future__ import annotations

from textwrap import wrap

from affdsl.codegen.aot.conditions import place
from affdsl.codegen.aot.shipped import ShippedKernel
from affdsl.codegen.c.names import comment
from affdsl.codegen.jit import limited
from affdsl.passes.analysis.bounds import Finding

_WIDE = 92
"""Characters of a line."""


def required(kernel: ShippedKernel) -> list[str]:
    """The lines about sizes with which accesses stay inside of their arrays, and about data that are indices."""
    silent = ("proved", "violated", *(("by numbers", "unknown") if kernel.program.checked else ()))
    found = dict.fromkeys(_sentence(f) for f in kernel.bounds.findings if f.verdict not in silent)
    limit, arguments = limited(kernel.program)
    if arguments:
        names = ", ".join(argument.hint for argument in arguments)
        found[f"Requires {names} between {-limit} and {limit}."] = None
    return [line for sentence in found for line in wrap(comment(sentence), _WIDE)]


def _sentence(finding: Finding) -> str:
    what = f"{finding.access}{place(finding)}"
    match finding.verdict:
        case "conditional":
            return f"Requires sizes for which {what} stays in its array: it {finding.rule}."
        case "by numbers":
            return f"Requires sizes for which {what} stays in its array."
        case _:
            return f"Trusts the data that {what} depends on: {'; '.join(finding.unknown)}."
