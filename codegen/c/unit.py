"""What one C file needs beside its functions: the headers it includes and the helpers it defines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from affdsl.codegen.c import narrow_helpers
from affdsl.codegen.c.expressions import Code, functions_of
from affdsl.codegen.c.forks import forks
from affdsl.codegen.c.helper import Helper
from affdsl.codegen.c.helpers import helper
from affdsl.codegen.c.intrinsics import HEADER, calls_x86, in_place_of_header
from affdsl.codegen.c.origins import Origins
from affdsl.codegen.c.quirks import condition
from affdsl.codegen.c.refusals import NARROW_FLOATS
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.c.threads import NUMBERED, TOLD
from affdsl.codegen.c.vector_helpers import (
    GUARDED,
    INLINED,
    LANE_TYPES,
    called_by,
    vector_helper,
    vector_helper_name,
)
from affdsl.codegen.library_functions import declarations
from affdsl.codegen.targets.target import Row

_ORDER = ("complex.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h")

MOST_COPIED = 4096
"""So many statements may calls of a helper become: compilers take long for more, the quirk `branches_in_lanes`."""
_ALONE = """\
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static """

UNROUNDED = f"""\
#elif {condition("narrowed_and_widened")}
/* gcc 12 joins b[0] = (double)(float)a[0]; b[1] = (double)(float)a[1]; and loses the rounding. */
#pragma GCC optimize("no-tree-slp-vectorize")
"""


class Unit:
    """Collects headers, helpers and OpenMP reductions while functions are written."""

    def __init__(
        self,
        sites: Sites | None = None,
        *,
        has_vector_types: bool = True,
        origins: Origins | None = None,
        is_compiled_once: bool = False,
        takes_threads: bool = False,
    ) -> None:
        self.sites = sites
        """The checks of accesses, which there are if this is not None."""
        self.origins = origins
        """Where it is noted for which operation each line is, if anybody wants to know."""
        self.has_vector_types = has_vector_types
        """Whether vectors are values of the vector types that gcc and clang have; otherwise they are arrays."""
        self.is_compiled_once = is_compiled_once
        """Whether nobody reads the file but a compiler that should soon be done with it."""
        self.takes_threads = takes_threads
        """Whether functions with loops that threads share are told how many threads there are."""
        self._headers: set[str] = {"stdint.h"}
        self._helpers: dict[str, Helper] = {}
        self._calls: Counter[str] = Counter()
        self._reductions: dict[str, tuple[str, Code]] = {}
        self._in_clauses: set[str] = set()
        self._vector_helpers: dict[str, Row] = {}
        self._types: list[str] = []
        self._definitions: list[str] = []
        self.has_threads = False
        """Whether several threads run something."""

    def header(self, name: str) -> None:
        """Include <name>."""
        self._headers.add(name)

    def helper(self, name: str) -> str:
        """Define the helper of that name, after those that it calls, if the text calls it; returns the name."""
        self._calls[name] += 1
        self._define(name)
        return name

    def helper_in_clause(self, name: str) -> str:
        """The same for a clause of OpenMP: to compilers without it, nobody calls the helper."""
        self._in_clauses.add(name)
        self._define(name)
        return name

    def vector_helper(self, stem: str, element: str, lanes: int) -> str:
        """Define a helper on vectors; returns its name."""
        self._calls[vector_helper_name(stem, element, lanes)] += 1
        return self._define_on_vectors(stem, element, lanes)

    def _define_on_vectors(self, stem: str, element: str, lanes: int) -> str:
        for needed in called_by(stem, element, lanes):
            self._define_on_vectors(*needed)
            self.vector_type(f"u{needed[1][1:]}", f"uint{needed[1][1:]}_t", needed[2])
        name = vector_helper_name(stem, element, lanes)
        self._vector_helpers[name] = stem, element, lanes
        self._helpers.setdefault(name, vector_helper(stem, element, lanes))
        self.vector_type(element, LANE_TYPES[element], lanes)
        mask = f"i{element[1:]}"
        self.vector_type(mask, LANE_TYPES[mask], lanes)
        if stem in narrow_helpers.PORTABLE:
            self.vector_type(f"u{element[1:]}", f"u{LANE_TYPES[mask]}", lanes)
        return name

    def uncalled(self, function: str) -> None:
        """Note that a call of a function, which may be a helper, is not written after all."""
        self._calls[function] -= 1

    def _define(self, name: str) -> None:
        if name not in self._helpers:
            found = helper(name)
            for needed in found.needs:
                self._define(needed)
            self._helpers[name] = found

    def vector_type(self, element: str, type: str, lanes: int) -> str:
        """The type of vectors of so many elements, which is called as they are: f32x8."""
        return self._typedef(f"{element}x{lanes}", type, f"vector_size({lanes} * sizeof({type}))")

    def vector_in_memory(self, element: str, type: str, lanes: int) -> str:
        """The type of vectors that lie at any element of an array, whatever the type of the array is."""
        size = f"vector_size({lanes} * sizeof({type})), aligned(sizeof({type})), may_alias"
        return self._typedef(f"{element}x{lanes}_at", type, size)

    def _typedef(self, name: str, type: str, attributes: str) -> str:
        text = f"typedef {type} {name} __attribute__(({attributes}));\n"
        if text not in self._types:
            self._types.append(text)
        return name

    def define(self, text: str) -> None:
        """Put a definition before the functions."""
        self._definitions.append(text)

    def reduction(self, name: str, type: str, combined: Code, neutral: str) -> str:
        """Declare an OpenMP reduction of omp_in into omp_out; returns its name."""
        for function in functions_of(combined):
            self.uncalled(function)
        start = f"#pragma omp declare reduction({name} : {type} : omp_out = {combined})"
        self._reductions[name] = f"{start} initializer(omp_priv = {neutral})", combined
        return name

    def file(self, text: str) -> str:
        """A file: headers, the helpers that the functions in text call, and text."""
        plain = self._needed(name for name, calls in self._calls.items() if calls > 0)
        of_reductions = {f for _, combined in self._reductions.values() for f in functions_of(combined)}
        openmp = self._needed(of_reductions | self._in_clauses)
        headers = self._headers.union(*(h.headers for h in (plain | openmp).values()))
        everything = "".join((text, *(h.text for h in (plain | openmp).values())))
        parts = ["".join(f"#include <{name}>\n" for name in _ORDER if name in headers)]
        parts += [self._guarded(name, plain) for name in GUARDED if name in headers]
        parts += [declarations(everything)]
        # The quirk `products_contracted`, which all versions of clang that were tried have.
        parts.append("\n#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n")
        parts += [NARROW_FLOATS] if re.search(r"\b(float|double)\b", everything) else []
        parts += [UNROUNDED] if _narrows_and_widens(everything) else []
        parts.append("#endif\n\n")
        if self.has_threads:
            is_told = self.takes_threads or self.is_compiled_once
            parts += [TOLD if self.takes_threads else NUMBERED] if is_told else []
            parts += [forks(is_told=is_told)]
        parts += ["".join(self._types), "\n" * bool(self._types)]
        parts += [INLINED] if self._vector_helpers.keys() & plain.keys() else []
        parts += [f"{self._text_of(name)}\n\n" for name in plain]
        alone = "\n\n".join(h.text for name, h in openmp.items() if name not in plain)
        declared = "\n".join(declaration for declaration, _ in self._reductions.values())
        if alone or declared:
            shown = "\n\n".join(filter(None, (alone, declared)))
            parts.append(f"#if defined(_OPENMP)\n{shown}\n#endif\n\n")
        return "".join([*parts, *self._definitions, "\n" * bool(self._definitions), text])

    def _text_of(self, name: str) -> str:
        """The text of a helper: a function of its own where all of its copies would be too much code."""
        text = self._helpers[name].text
        if self._calls[name] * self._statements(name) <= MOST_COPIED:
            return text
        return text.replace("static inline ", _ALONE, 1)

    def _statements(self, name: str) -> int:
        """How many statements a helper has, with those of the helpers that it calls."""
        found = self._helpers[name]
        return found.text.count(";") + sum(map(self._statements, found.needs))

    def _guarded(self, header: str, helpers: Mapping[str, Helper]) -> str:
        """The header of an instruction set, where a machine has that, or what stands for it."""
        if header == HEADER and self.is_compiled_once:
            rows = [self._vector_helpers[name] for name, found in helpers.items() if calls_x86(found.text)]
            if (text := in_place_of_header(rows)) is not None:
                return text
        return f"#if {GUARDED[header]}\n#include <{header}>\n#endif\n"

    def _needed(self, called: Iterable[str]) -> dict[str, Helper]:
        """The helpers among some functions, and those that they call, in the order in which they are defined."""
        names = set(called)
        for name, found in reversed(self._helpers.items()):
            if name in names:
                names.update(found.needs)
        return {name: found for name, found in self._helpers.items() if name in names}


def _narrows_and_widens(text: str) -> bool:
    """Whether a float may be made of a double, and a double of that: functions of complex.h take doubles."""
    return "(float _Complex)" in text or ("(float)" in text and ("(double)" in text or "_Complex" in text))
