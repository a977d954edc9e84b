"""Standalone C of several functions in one file, with their header: the kernels of a family."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.c.emit import CSource, listed_checks
from affdsl.codegen.c.header import documentation, header, macros_of
from affdsl.codegen.c.library import Entry, LibraryFile
from affdsl.codegen.c.names import function_identifier
from affdsl.codegen.c.sites import SharedSites


def emit_together(entries: Sequence[Entry], name: str, *, register_bits: int) -> CSource:
    """Standalone C of several functions and all that they call, which becomes static, in files of a name.

    Vectors of more than `register_bits` are several. Raises UnsupportedError for what C cannot express.
    """
    file = function_identifier(name)
    planned = LibraryFile(entries, register_bits, macros_of(file))
    sites = SharedSites()
    text, written = planned.write(sites, planned.with_status())
    functions = [(each.plan, each.prototype) for each in written]
    noted = sites if any(plan.notes for plan, _ in functions) else None
    about = "\n".join(documentation(plan, made, noted if plan.notes else None) for plan, made in functions)
    return CSource(f'#include "{file}.h"\n\n{listed_checks(noted)}{text}', header(functions, file, noted), file, about)
