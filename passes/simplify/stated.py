"""Where results of operations without a class lie, as these say."""

from __future__ import annotations

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.dialects.opaque import Opaque
from affdsl.passes.simplify.ranges import Range, between

_PLACES = ("block_id", "cluster_block_id", "cluster_id", "global_id", "lane_id", "subgroup_id", "thread_id")
_COUNTS = ("block_dim", "cluster_dim", "cluster_dim_blocks", "grid_dim", "num_subgroups", "subgroup_size")
_ENDS = {"test.value_with_bounds": ("min", "max"), "test.with_bounds": ("smin", "smax")}
"""The attributes with the least and the greatest number."""


def stated(op: Opaque) -> Range | None:
    """Where the one result of an operation lies; None where the operation does not say it.

    Places and numbers of threads are at least 0 and 1, and end where `upper_bound` says it.

    >>> from affdsl.mlir.readers import parse
    >>> text = "func.func @f() -> index { %0 = gpu.thread_id x upper_bound 64 return %0 : index }"
    >>> print(stated(parse(text).functions[0].body[0]))
    Range(low=0, high=63, modulus=1, residue=0)
    """
    said = {n: a.value for n, a in (*op.properties, *op.attributes) if isinstance(a, IntegerAttr)}
    if op.kind in _ENDS:
        low, high = _ENDS[op.kind]
        return between(said.get(low), said.get(high))
    dialect, _, name = op.kind.partition(".")
    least = 0 if name in _PLACES else 1
    if dialect != "gpu" or name not in (*_PLACES, *_COUNTS):
        return None
    end = said.get("upper_bound")
    return between(least, None if end is None else end - 1 + least)
