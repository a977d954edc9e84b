"""What random programs are made of: how often each feature occurs, and mixes that stress some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Features:
    """Probabilities, from 0 to 1, each of being chosen where the feature is possible.

    step        a step of 2 to 4
    sym         sizes known only at run time
    minmax      bounds that are a maximum or minimum
    tri         bounds that depend on outer loops
    iff         affine.if
    iterargs    values carried by loops
    divmod      floordiv, ceildiv and mod in indices and conditions
    local       buffers allocated in the function
    nonaffine   memref.load and memref.store in place of affine.load and affine.store
    imperfect   statements between loops
    zerotrip    loops that never run
    idx         affine.apply whose result is an index later
    f64, i32    element types in place of i64
    dyn         dimensions that the type of a memref leaves open
    rev         indices that fall as the loop runs
    stride      indices that grow by 2 or 3
    extreme     affine.min and affine.max as values
    call        nests in functions of their own
    par         affine.parallel in place of loops whose iterations do not meet
    mult        trip counts that are multiples of four
    """

    step: float = 0.2
    sym: float = 0.25
    minmax: float = 0.15
    tri: float = 0.2
    iff: float = 0.15
    iterargs: float = 0.25
    divmod: float = 0.08
    local: float = 0.35
    nonaffine: float = 0.03
    imperfect: float = 0.2
    zerotrip: float = 0.07
    idx: float = 0.1
    f64: float = 0.25
    i32: float = 0.15
    dyn: float = 0.1
    rev: float = 0.08
    stride: float = 0.08
    extreme: float = 0.05
    call: float = 0.08
    par: float = 0.1
    mult: float = 0.0


DEFAULT = Features()
MIXES = (
    DEFAULT,
    replace(DEFAULT, mult=1, step=0, iff=0.05),
    replace(DEFAULT, nonaffine=0.15),
    replace(DEFAULT, sym=0.8, minmax=0.35, tri=0.35, extreme=0.2),
    replace(DEFAULT, divmod=0.35, stride=0.2, rev=0.2, idx=0.3),
    replace(DEFAULT, iterargs=0.7, iff=0.05),
    replace(DEFAULT, iff=0, local=0.6, step=0.05, zerotrip=0.02, divmod=0),
    replace(DEFAULT, mult=1, step=0, iff=0, iterargs=0.8, divmod=0, stride=0, rev=0),
    replace(DEFAULT, step=0.6, zerotrip=0.2),
    replace(DEFAULT, iff=0.5, divmod=0.2),
    replace(DEFAULT, call=0.5, dyn=0.4, sym=0.6),
)
"""A program whose features are not said has those of the mix that its seed chooses."""
FUSING = (
    replace(DEFAULT, iff=0.02, local=0.8, step=0.03, zerotrip=0.03, nonaffine=0, divmod=0.02, iterargs=0.1, call=0,
            sym=0.1),
    replace(DEFAULT, iff=0.05, local=0.8, step=0.05, nonaffine=0, divmod=0.02, iterargs=0.05, call=0, sym=0.9, dyn=0.5),
    replace(DEFAULT, iff=0, local=0.9, step=0, zerotrip=0, nonaffine=0, divmod=0, iterargs=0, call=0, sym=0, tri=0,
            minmax=0, imperfect=0.05, idx=0, rev=0, stride=0, extreme=0, par=0),
)  # fmt: skip
"""Mixes with many nests that read what the ones before them stored."""
