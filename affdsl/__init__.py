"""Affine loop kernels, written in Python: run them on NumPy arrays, ship them as C, hand them on as MLIR."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
del lazy_loader
