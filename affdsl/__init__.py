"""Affine loop kernels, written in Python: run them on NumPy arrays, ship them as C, hand them on as MLIR."""

import lazy_loader

from affdsl.other_names import unknown

__version__ = "0.1.0"
"""The version; what is installed takes it from here."""

_of_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
del lazy_loader


def __getattr__(name):
    if name not in __all__:
        raise unknown(name)
    return _of_name(name)
