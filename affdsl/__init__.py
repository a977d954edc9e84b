"""Affine loop kernels, written in Python: run them on NumPy arrays, ship them as C, hand them on as MLIR.

Ten things are enough to begin with:

>>> import numpy as np
>>> import affdsl as af
>>> M, N = af.symbols("M N")                             # 1. sizes: the arrays of a call tell them
>>> @af.kernel                                           # 2. a kernel: its body runs once, and builds the loops
... def smooth(A: af.f64[M, N], B: af.f64[M, N]):        # 3. arguments: arrays with a type and a shape, numbers
...     with af.for_(M) as i, af.for_(1, N - 1) as j:    # 4. loops; also af.if_, af.while_, af.parallel
...         B[i, j] = (A[i, j - 1] + A[i, j + 1]) / 2    # 5. elements; also af.var, af.exp, af.select ...
>>> a, b = np.ones((3, 4)), np.zeros((3, 4))
>>> smooth(a, b)                                         # 6. a call: compiled once, its arguments are checked
>>> fast = smooth.optimize(threads=1)                    # 7. the same to the bit, and fast
>>> said = fast.explain(), fast.schedule                 # 8. what was done, or what is in the way
>>> s = af.Schedule(smooth).interchange("i", "j")        # 9. a step of your own: proved legal, or refused
>>> texts = s.kernel().c(), fast.mlir()                  # 10. what it is in C and in MLIR; also save_c, af.build

`smooth.loops()` says which loops may run in parallel, `smooth.check()` what is known of each access, and
`smooth.interpret(a, b)` runs it slowly, checking everything. Each name has a page: `help(af.for_)`,
`help(af.Schedule.tile)`. All names: `dir(af)`. Commands: `affdsl --help`.
"""

import os
from functools import cache as _cache
from importlib import import_module as _import

__version__ = "0.1.0"
"""The version; what is installed takes it from here."""

for part in ("passes", "codegen"):  # folders, or links to folders that an archive may have lost
    if os.path.isfile(f"{__path__[0]}/{part}"):
        _import("affdsl.links").refuse(__path__[0], part)
del os, part


@_cache
def _names():
    """What gives the value of a name, what gives `dir`, and all names: commands need none of it, and do not wait."""
    return _import("lazy_loader").attach_stub(__name__, __file__)


def __dir__():
    return _names()[1]()


def __getattr__(name):
    of_name, _, names = _names()
    if name == "__all__":
        return names
    if name not in names:
        raise _import("affdsl.other_names").unknown(name)
    return of_name(name)
