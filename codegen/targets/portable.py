"""Portable bodies of functions on vectors of which instruction sets need a part: lane by lane, under masks.

V is the type of the vectors, T that of their lanes, N the number of these, as in `affdsl.codegen.c.vector_helpers`.
"""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.target import Row

LOAD = (
    "V found = *otherwise;\nfor (int k = 0; k < N; ++k)\n    if ((*mask)[k])\n        found[k] = at[k];\nreturn found;"
)
STORE = "for (int k = 0; k < N; ++k)\n    if ((*mask)[k])\n        at[k] = (*value)[k];"

STREAM = "__builtin_memcpy(at, value, sizeof *value);"


def all_or_each(element: str, lanes: int, are_set: str, load: str, store: str) -> Iterator[tuple[Row, str]]:
    """Masked accesses without masks in memory: all lanes at once where all are set, else one by one."""
    yield ("masked_load", element, lanes), f"if ({are_set})\n    {load}\n{LOAD}"
    yield ("masked_store", element, lanes), f"if ({are_set}) {{\n    {store}\n    return;\n}}\n{STORE}"
