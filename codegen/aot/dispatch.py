"""The C that chooses, at the first call, for which target the functions of a library run: by what the CPU says it has.

Compilers have `__builtin_cpu_supports` for that, but not all of them with the run-time part that it needs: one links it
and says no to everything. So CPUID is asked here, and XGETBV whether the system keeps the wide registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from affdsl.codegen.aot.naming import fits_name, plain
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.c.library import Written
from affdsl.codegen.c.prototype import Prototype
from affdsl.codegen.targets.target import Target

Functions = Mapping[str, Sequence[Written]]
"""By the names of targets, the functions of the library."""

FEATURES = {
    "-msse4.2": ("leaf1_c", 20),
    "-mfma": ("leaf1_c", 12),
    "-mavx2": ("leaf7_b", 5),
    "-mavx512f": ("leaf7_b", 16),
    "-mavx512dq": ("leaf7_b", 17),
    "-mavx512bw": ("leaf7_b", 30),
    "-mavx512vl": ("leaf7_b", 31),
    "-mavx512vbmi": ("leaf7_c", 1),
    "-mavx512vnni": ("leaf7_c", 11),
    "-mavx512fp16": ("leaf7_d", 23),
}
"""For each flag of a compiler, the register of CPUID and the bit in it that say that a CPU has what it allows."""
TUNING = frozenset(["-mprefer-vector-width=512"])
"""Flags that allow nothing."""
_KEPT = {256: 0x6, 512: 0xE6}
"""By the bits of vector registers, the bits of XCR0 that say that the system keeps them."""
_HWCAP = {"sve": 22, "rvv": 21}
"""By targets, the bit of AT_HWCAP in which Linux says that the CPU has it."""

_LINUX = """\
#if defined(__linux__)
#include <sys/auxv.h>
#define AFFDSL_HAS(bit) ((getauxval(AT_HWCAP) & 1ul << (bit)) != 0)
#else
#define AFFDSL_HAS(bit) 0
#endif
"""
_ASKING = {
    "__x86_64__": """\
#include <cpuid.h>

/* What CPUID says that the CPU has, and XCR0 which registers the system keeps. */
typedef struct {
    unsigned leaf1_c, leaf7_b, leaf7_c, leaf7_d, xcr0;
} affdsl_registers;

static affdsl_registers affdsl_ask(void)
{
    affdsl_registers found = {0, 0, 0, 0, 0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0)
        found.leaf1_c = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        found.leaf7_b = b;
        found.leaf7_c = c;
        found.leaf7_d = d;
    }
    if ((found.leaf1_c & 1u << 27) != 0) /* OSXSAVE: XCR0 may be read */
        __asm__ volatile("xgetbv" : "=a"(found.xcr0), "=d"(d) : "c"(0));
    return found;
}
""",
    "__aarch64__": _LINUX,
    "__riscv": _LINUX,
    "__wasm__": "",
}
"""By machines, what the file needs to ask what the CPU has."""


def private_header(library: Library, functions: Functions) -> str:
    """The prototypes of the functions for each target, which nobody else sees."""
    upper = library.name.upper()
    parts = [
        f"/* The functions of {library.name} for each target: not for those who call the library. */\n",
        f'#ifndef {upper}_TARGETS_H\n#define {upper}_TARGETS_H\n\n#include "{library.name}.h"\n\n',
        f'#if defined(__GNUC__) && !defined(_WIN32)\n#define {upper}_HIDDEN __attribute__((visibility("hidden")))\n',
        f"#else\n#define {upper}_HIDDEN\n#endif\n\n",
    ]
    for machine, targets in _by_machine(library):
        made = [w.prototype for t in targets for w in functions[t.name]]
        texts = [f"{prototype.text('restrict', before=f'{upper}_HIDDEN')};\n" for prototype in made]
        texts += [f"{upper}_HIDDEN int {fits_name(library.name, t)}(void);\n" for t in targets if _is_asked(t)]
        parts.append(_where(machine, "".join(texts)) + "\n")
    return "".join([*parts, f"#endif /* {upper}_TARGETS_H */\n"])


def chooser(library: Library, functions: Functions) -> str:
    """The file with the functions that callers see, each of which hands on to the one for this CPU."""
    upper = library.name.upper()
    parts = [
        f"/* {library.name} {library.version}, made by affdsl: chooses the functions that run on this CPU. */\n",
        f'#include "{library.name}_targets.h"\n\n#include <stdlib.h>\n#include <string.h>\n\n',
        *_fallback(library),
    ]
    parts += [_where(machine, _ASKING[machine]) + "\n" for machine, _ in _by_machine(library) if machine]
    enumerators = ", ".join(_constant(t) for t in library.targets)
    names = ", ".join(f'"{t.name}"' for t in library.targets)
    parts += [
        f"enum {{ affdsl_not_known, {enumerators} }};\n\n",
        f'static const char *const affdsl_names[] = {{"", {names}}};\n\n',
        "static int affdsl_runs(int target)\n{\n",
        *(_where(machine, "".join(_lines(library, machine, targets))) for machine, targets in _by_machine(library)),
        "    (void)target;\n    return 0;\n}\n\n",
        _CHOOSE.replace("VARIABLE", f"{upper}_TARGET").replace("LAST", _constant(library.targets[-1])),
        f"const char *{library.name}_target(void)\n{{\n    return affdsl_names[affdsl_chosen()];\n}}\n",
    ]
    parts += [f"\n{_entry(library, functions, position)}" for position in range(len(library.symbols))]
    return "".join(parts)


_CHOOSE = """\
static int affdsl_choose(void)
{
    const char *const wanted = getenv("VARIABLE");
    int best = LAST;
    for (int target = LAST; target != affdsl_not_known; --target) {
        if (affdsl_runs(target) == 0)
            continue;
        best = target;
        if (wanted != NULL && strcmp(wanted, affdsl_names[target]) == 0)
            break;
    }
    return best;
}

/* Threads that ask at the same time find the same. */
static int affdsl_chosen(void)
{
    static int known = affdsl_not_known;
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == affdsl_not_known) {
        found = affdsl_choose();
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found;
}

"""


def _lines(library: Library, machine: str, targets: Sequence[Target]) -> Iterator[str]:
    """What `affdsl_runs` asks on a machine."""
    if machine == "__x86_64__":
        yield "    const affdsl_registers found = affdsl_ask();\n"
    for target in targets:
        lengths = f" && {fits_name(library.name, target)}() != 0" if _is_asked(target) else ""
        yield f"    if (target == {_constant(target)})\n        return {_condition(target)}{lengths};\n"


def _is_asked(target: Target) -> bool:
    """Whether its functions may be compiled for vector registers of one length, which they are asked for."""
    return target.is_scalable


def _condition(target: Target) -> str:
    """Whether the CPU has a target, as C."""
    if not target.flags or target.machine == "__wasm__":  # whose engines refuse a module with vectors, or have them
        return "1"
    if target.machine != "__x86_64__":
        return f"AFFDSL_HAS({_HWCAP[target.name]})"
    masks: dict[str, int] = {}
    for flag in sorted({*target.flags} - TUNING):
        register, bit = FEATURES[flag]
        masks[register] = masks.get(register, 0) | 1 << bit
    if target.width in _KEPT:
        masks["xcr0"] = _KEPT[target.width]
    tests = [f"(found.{name} & 0x{mask:X}u) == 0x{mask:X}u" for name, mask in masks.items()]
    return " &&\n               ".join(tests)


def _entry(library: Library, functions: Functions, position: int) -> str:
    """A function that callers see."""
    made = functions[library.targets[0].name][position].prototype
    lines = [f"{_named(made, library.symbols[position])}\n{{\n    switch (affdsl_chosen()) {{\n"]
    given = ", ".join(p.name for p in made.all)
    for machine, targets in _by_machine(library):
        cases = []
        for target in targets:
            label = "default" if target is library.targets[-1] else f"case {_constant(target)}"
            call = f"{functions[target.name][position].prototype.name}({given});"
            ends = f"        {call}\n        break;\n" if made.returns == "void" else f"        return {call}\n"
            cases.append(f"    {label}:\n{ends}")
        lines.append(_where(machine, "".join(cases)))
    return "".join([*lines, "    }\n}\n"])


def _named(made: Prototype, name: str) -> str:
    return made.renamed(name).text("restrict")


def _fallback(library: Library) -> Iterator[str]:
    """What is said where the library has nothing for a machine."""
    if machine := library.targets[-1].machine:
        names = ", ".join(t.name for t in library.targets)
        yield f'#if !defined({machine})\n#error "this library is for {names}, and this machine is another"\n#endif\n\n'


def _by_machine(library: Library) -> list[tuple[str, list[Target]]]:
    """The targets of each machine, in their order; those that any machine has are the last."""
    found = sorted(library.targets, key=lambda t: (t.machine == "", t.machine))
    return [(machine, list(group)) for machine, group in groupby(found, key=lambda t: t.machine)]


def _where(machine: str, text: str) -> str:
    """Text that is compiled for a machine only."""
    return f"#if defined({machine})\n{text}#endif\n" if machine else text


def _constant(target: Target) -> str:
    return f"affdsl_{plain(target.name)}"
