"""The C of a library: a header, and a file for all CPUs or one for each target and one that chooses among them.

A file for each target, and no attributes of functions: the quirk `attributes_on_threads` of `affdsl.codegen.c.quirks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from affdsl.codegen.aot.checks import checks
from affdsl.codegen.aot.contract import required
from affdsl.codegen.aot.dispatch import chooser, private_header
from affdsl.codegen.aot.naming import check_name, fits_name, own_names, plain, variants
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.c.header import as_comment, complex_types, contract_lines
from affdsl.codegen.c.library import Entry, LibraryFile, Written
from affdsl.codegen.c.names import comment
from affdsl.codegen.c.prototype import Prototype
from affdsl.codegen.c.refusals import NAMES as OF_LENGTHS
from affdsl.codegen.c.refusals import fits, stops
from affdsl.codegen.c.sites import SharedSites, Sites
from affdsl.codegen.targets.target import Target
from affdsl.frozen import FrozenValue


class SourceFile(FrozenValue):
    """A C file, with the target for which it is compiled; None for one that any compiler takes as it is."""

    name: str
    text: str
    target: Target | None = None


class Sources(FrozenValue):
    """All files of C: those to compile, and headers, of which the first is for everybody."""

    files: tuple[SourceFile, ...]
    headers: dict[str, str]
    functions: tuple[Written, ...]
    """The functions that callers see, as the first target has them."""
    sites: Sites
    """What they check."""

    @property
    def has_parallel(self) -> bool:
        """Whether a function runs on several threads."""
        return any(f.plan.has_parallel for f in self.functions)

    @property
    def has_checks(self) -> bool:
        """Whether a function checks each access, so that indices must wrap around."""
        return any(f.plan.is_checked for f in self.functions)


def sources(library: Library) -> Sources:
    """The C of a library.

    Raises
    ------
    UnsupportedError
        For a kernel that C cannot express.
    """
    names = {library.targets[0].name: [*library.symbols]}
    if library.is_dispatched:
        names = variants(library.symbols, library.name, [t.name for t in library.targets])
    # All that the headers declare.
    taken = {*own_names(library.name), *library.symbols, *(name for of in names.values() for name in of)}
    taken |= {*map(check_name, library.symbols), *(fits_name(library.name, t) for t in library.targets), *OF_LENGTHS}
    planned = [
        LibraryFile(_entries(library, t, own), t.width, sorted(taken.difference(own)))
        for t, own in ((t, names[t.name]) for t in library.targets)
    ]
    with_status = frozenset[int]().union(*(file.with_status() for file in planned))
    with_threads = frozenset[int]()
    if library.takes_threads:
        with_threads = with_threads.union(*(file.with_parallel() for file in planned))
    sites = SharedSites()
    files: list[SourceFile] = []
    functions: dict[str, list[Written]] = {}
    for target, file in zip(library.targets, planned, strict=True):
        text, functions[target.name] = file.write(sites, with_status, with_threads)
        files.append(_file(library, target, text))
    prototypes = ""
    if library.checked:
        text, prototypes = checks(library)
        about = f"/* Which sizes the functions of {library.name} may run with. */\n"
        files.append(SourceFile(f"{library.name}_checks.c", f'{about}#include "{library.name}.h"\n\n{text}'))
    headers = {f"{library.name}.h": _header(library, _public(library, functions), sites, prototypes)}
    if library.is_dispatched:
        headers[f"{library.name}_targets.h"] = private_header(library, functions)
        files.insert(0, SourceFile(f"{library.name}.c", chooser(library, functions)))
    return Sources(tuple(files), headers, tuple(_public(library, functions)), sites)


def _entries(library: Library, target: Target, names: Sequence[str]) -> list[Entry]:
    return [
        Entry(
            k.modules[target.name],
            k.program.func.symbol,
            name,
            len(k.program.sizes),
            k.program.checked,
            k.program.result_names,
        )
        for k, name in zip(library.kernels, names, strict=True)
    ]


def _file(library: Library, target: Target, text: str) -> SourceFile:
    """The file of a target: of one that needs flags it is empty on other machines, and refused without the flags."""
    text = f"{_ON_WINDOWS}{text}" if "aligned_alloc(" in text else text
    strict = "Compile with -std=c11 or -ffp-contract=off: no product may be fused with a sum."
    text += _end(library, target)
    if not library.is_dispatched:
        head = as_comment([f"{library.name} {library.version}, made by affdsl", "", *_flags(target), strict])
        return SourceFile(f"{library.name}.c", f'{head}#include "{library.name}.h"\n\n{text}', target)
    head = as_comment([f"The functions of {library.name} for {target.name}", "", *_flags(target), strict])
    start = f'{head}#include "{library.name}_targets.h"\n\n'
    name = f"{library.name}_{plain(target.name)}.c"
    if not target.machine:
        return SourceFile(name, f"{start}{text}", target)
    guard = ""
    if target.flags:
        guard = f'#if !({target.condition})\n#error "compile this file with {" ".join(target.flags)}"\n#endif\n\n'
    return SourceFile(name, f"{start}#if defined({target.machine})\n{guard}{text}\n#endif\n", target)


def _end(library: Library, target: Target) -> str:
    """What makes sure that vector registers are as long as a compiler was told; on x86-64 it is told none.

    Of several targets one is not chosen where they are not, but the last one is always there.
    """
    if target.machine == "__x86_64__":
        return ""
    return stops(library.name) if target is library.targets[-1] else fits(fits_name(library.name, target))


_ON_WINDOWS = """\
#if defined(_WIN32) /* which has no aligned_alloc, and takes such memory back by another function than free */
#include <malloc.h>
#include <stdlib.h>
#define aligned_alloc(alignment, bytes) _aligned_malloc(bytes, alignment)
#define malloc(bytes) _aligned_malloc(bytes, 16)
#define free(memory) _aligned_free(memory)
#endif

"""


def _flags(target: Target) -> list[str]:
    return [f"Compile with {' '.join(target.flags)}."] if target.flags else []


def _public(library: Library, functions: dict[str, list[Written]]) -> list[Written]:
    """The functions under the names that callers know, on several threads where those of some target are."""
    found: list[Written] = []
    for position, symbol in enumerate(library.symbols):
        versions = [written[position] for written in functions.values()]
        found.append(versions[0].renamed(symbol, has_parallel=any(v.plan.has_parallel for v in versions)))
    return found


def _header(library: Library, functions: Sequence[Written], sites: Sites, others: str) -> str:
    """The header for everybody: in C and C++ the prototypes, each with what a caller must see to, and some others."""
    upper = library.name.upper()
    restrict = f"{upper}_RESTRICT"
    cpp_types, c_types, prototypes = complex_types([f.prototype for f in functions], library.name)
    major, minor, patch = (*map(int, library.version.split(".")), 0, 0)[:3]
    parts = [
        as_comment([f"{library.name} {library.version}: {', '.join(library.symbols)}", "", "Made by affdsl."]),
        f"#ifndef {upper}_H\n#define {upper}_H\n\n",
        "#include <stdbool.h>\n" if any(map(_has_bool, prototypes)) else "",
        "#include <stdint.h>\n\n",
        f'#define {upper}_VERSION "{library.version}"\n',
        f"#define {upper}_VERSION_MAJOR {major}\n#define {upper}_VERSION_MINOR {minor}\n",
        f"#define {upper}_VERSION_PATCH {patch}\n\n",
        f"#if defined(_WIN32)\n#if defined({library.name}_EXPORTS)\n#define {upper}_API __declspec(dllexport)\n",
        f"#else\n#define {upper}_API\n#endif\n",
        f'#elif defined(__GNUC__)\n#define {upper}_API __attribute__((visibility("default")))\n',
        f"#else\n#define {upper}_API\n#endif\n\n",
        f'#if defined(__cplusplus)\n{cpp_types}#define {restrict} __restrict\nextern "C" {{\n',
        f"#else\n#define {restrict} restrict\n{c_types}#endif\n\n",
    ]
    if sites.listed():
        parts.append(as_comment(_checks(sites)) + "\n")
    for kernel, function, made in zip(library.kernels, functions, prototypes, strict=True):
        about = [*_about(kernel.about), ""] if kernel.about else []
        room = sites if function.plan.notes else None
        lines = contract_lines(function.plan, function.prototype, room, required(kernel))
        parts.append(as_comment([*lines[:1], "", *about, *lines[2:]]))
        parts.append(f"{made.text(restrict, before=f'{upper}_API')};\n\n")
    parts.append(others)
    if library.is_dispatched:
        parts.append(_target(library))
    undone = "".join(f"#undef {line.split()[1]}\n" for line in (f"#define {restrict}\n{c_types}").splitlines())
    parts.append(f"#if defined(__cplusplus)\n}}\n#endif\n{undone}\n#endif /* {upper}_H */\n")
    return "".join(parts)


def _target(library: Library) -> str:
    """The prototype of the function that says which target this CPU is."""
    names, upper = ", ".join(t.name for t in library.targets), library.name.upper()
    lines = [
        f"{library.name}_target",
        "",
        "Which functions run on this CPU, found out at the first call of any function here: the first of",
        f"{names} that it has. The variable {upper}_TARGET of the environment",
        "names another one; one that the CPU does not have is not taken.",
    ]
    return as_comment(lines) + f"{upper}_API const char *{library.name}_target(void);\n\n"


def _checks(sites: Sites) -> list[str]:
    listed = [f"{number:4}  {comment(site.listed)}" for number, site in enumerate(sites.listed(), 1)]
    return ["The checks, by the number that failure[0] gets:", *listed]


def _about(text: str) -> list[str]:
    """What an author says, as lines of a comment."""
    return [comment(line) for line in text.strip().splitlines()]


def _has_bool(made: Prototype) -> bool:
    """Whether a prototype needs stdbool.h."""
    return any(re.search(r"\bbool\b", text) for text in (made.returns, *(p.type for p in made.all)))
