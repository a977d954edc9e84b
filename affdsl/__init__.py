"""Affine loop kernels, written in Python: run them on NumPy arrays, ship them as C, hand them on as MLIR."""

import importlib
import os

import lazy_loader

from affdsl.other_names import unknown

__version__ = "0.1.0"
"""The version; what is installed takes it from here."""

_of_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for part in ("passes", "codegen"):  # folders, or links to folders that an archive may have lost
    if os.path.isfile(f"{__path__[0]}/{part}"):
        importlib.import_module("affdsl.links").refuse(__path__[0], part)
del importlib, lazy_loader, os, part


def __getattr__(name):
    if name not in __all__:
        raise unknown(name)
    return _of_name(name)
