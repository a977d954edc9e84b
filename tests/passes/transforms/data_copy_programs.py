"""Functions whose loops are copied: triangles, steps, negative bounds, halos, guards, vectors, sizes known late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 44
"""Arrays have so many rows and columns: more than any size that is tried."""


@dataclass(frozen=True)
class Case:
    """A function of arrays and of the size %n, all arrays of one shape; `shift` is how far %n lies below their side."""

    text: str
    shapes: tuple[tuple[int, ...], ...]

    def arguments(self, n: int) -> list[object]:
        """Arrays of small whole numbers, and the size."""
        random = np.random.default_rng(n)
        arrays: list[NDArray[np.float64]] = []
        for shape in self.shapes:
            sizes = tuple(max(n, 1) if size == 0 else size for size in shape)
            arrays.append(random.integers(-4, 5, sizes).astype(np.float64))
        return [*arrays, n]


def _nest(loops: str, body: str, signature: str) -> str:
    return f"func.func @f({signature}, %n: index) {{ {loops} {body} {'}' * loops.count('{')} return }}"


_SQUARE, _DYNAMIC, _LINE = f"memref<{SIDE}x{SIDE}xf64>", "memref<?x?xf64>", f"memref<{SIDE}xf64>"
_BELOW = "affine_map<(d) -> (d)>"

CHOLESKY = f"""
    affine.for %j = 0 to {_BELOW}(%i) {{
      affine.for %k = 0 to {_BELOW}(%j) {{
        %a = affine.load %A[%i, %k] : TYPE
        %b = affine.load %A[%j, %k] : TYPE
        %c = affine.load %A[%i, %j] : TYPE
        %p = arith.mulf %a, %b : f64
        %d = arith.subf %c, %p : f64
        affine.store %d, %A[%i, %j] : TYPE
      }}
      %q = affine.load %A[%j, %j] : TYPE
      %r = affine.load %A[%i, %j] : TYPE
      %s = arith.addf %r, %q : f64
      affine.store %s, %A[%i, %j] : TYPE
    }}
    %u = affine.load %A[%i, %i] : TYPE
    %v = arith.addf %u, %u : f64
    affine.store %v, %A[%i, %i] : TYPE"""
TRMM = """
    affine.for %k = affine_map<(d) -> (d + 1)>(%i) to %n {
      %a = affine.load %A[%k, %i] : TYPE
      %b = affine.load %B[%k, %j] : TYPE
      %c = affine.load %B[%i, %j] : TYPE
      %p = arith.mulf %a, %b : f64
      %d = arith.addf %c, %p : f64
      affine.store %d, %B[%i, %j] : TYPE
    }"""
PRODUCT = """
    %a = affine.load %A[%i, %k] : TYPE
    %b = affine.load %B[%k, %j] : TYPE
    %c = affine.load %C[%i, %j] : TYPE
    %p = arith.mulf %a, %b : f64
    %d = arith.addf %c, %p : f64
    affine.store %d, %C[%i, %j] : TYPE"""
STENCIL = """
    %a = affine.load %A[%i - 1, %j] : TYPE
    %b = affine.load %A[%i + 1, %j] : TYPE
    %c = affine.load %A[%i, %j - 1] : TYPE
    %d = affine.load %A[%i, %j + 1] : TYPE
    %e = arith.addf %a, %b : f64
    %g = arith.addf %c, %d : f64
    %h = arith.subf %e, %g : f64
    affine.store %h, %B[%i, %j] : TYPE"""
SWEEP = STENCIL.replace("%B[", "%A[")
_TILES = (
    "affine.for %it = 1 to affine_map<()[n] -> (n - 1)>()[%n] step 8 { "
    "affine.for %i = affine_map<(d) -> (d)>(%it) to min affine_map<(d)[n] -> (d + 8, n - 1)>(%it)[%n] { "
    "affine.for %j = 1 to affine_map<()[n] -> (n - 1)>()[%n] {"
)


def _cases() -> dict[str, Case]:
    nests = {
        "cholesky": ("affine.for %i = 0 to %n {", CHOLESKY, 1),
        "trmm": ("affine.for %i = 0 to %n { affine.for %j = 0 to %n {", TRMM, 2),
        "product": ("affine.for %i = 0 to %n { affine.for %j = 0 to %n { affine.for %k = 0 to %n {", PRODUCT, 3),
        "stencil": (("affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] { "
                    "affine.for %j = 1 to affine_map<()[n] -> (n - 1)>()[%n] {"), STENCIL, 2),
        "sweep in tiles": (_TILES, SWEEP, 1),
        "stencil in tiles": (_TILES, STENCIL, 2),
    }  # fmt: skip
    found: dict[str, Case] = {}
    for title, (loops, body, count) in nests.items():
        for kind, type, side in (("static", _SQUARE, SIDE), ("dynamic", _DYNAMIC, 0)):
            signature = ", ".join(f"%{name}: {type}" for name in "ABC"[:count])
            text = _nest(loops, body.replace("TYPE", type), signature)
            found[f"{title}, {kind}"] = Case(text, ((side, side),) * count)
    lines = {
        "steps": ("affine.for %i = 0 to %n step 3 {", "%x = affine.load %B[%i] : T affine.store %x, %A[%i] : T"),
        "holes": ("affine.for %i = 0 to affine_map<()[n] -> (n ceildiv 2)>()[%n] {",
                  "%x = affine.load %B[%i] : T affine.store %x, %A[%i * 2] : T"),
        "negative bounds": ("affine.for %i = affine_map<()[n] -> (-n)>()[%n] to 0 step 2 {",
                            "%x = affine.load %B[-%i - 1] : T affine.store %x, %A[%i + symbol(%n)] : T"),
        "guard": ("affine.for %i = 0 to 100 {", ("affine.if affine_set<(d)[n] : (n - 1 - d >= 0, d - 2 >= 0)>(%i)[%n] "
                  "{ %x = affine.load %B[%i] : T affine.store %x, %A[%i - 2] : T }")),
        "else": ("affine.for %i = 0 to %n {", ("affine.if affine_set<(d) : (d mod 3 == 0)>(%i) "
                 "{ %x = affine.load %B[%i] : T affine.store %x, %A[%i] : T } "
                 "else { %y = affine.load %A[%i] : T affine.store %y, %B[%i] : T }")),
        "quotients": ("affine.for %i = 0 to %n {", ("%x = affine.load %B[%i floordiv 3] : T "
                      "affine.store %x, %A[%i mod 5] : T")),
        "written then read": ("affine.for %i = 0 to %n {", ("%x = affine.load %B[%i] : T affine.store %x, %A[%i] : T "
                              "%y = affine.load %A[%i] : T affine.store %y, %B[%i] : T")),
        "read ahead": ("affine.for %i = 0 to affine_map<()[n] -> (n - 3)>()[%n] {",
                       "%x = affine.load %A[%i + 3] : T affine.store %x, %A[%i] : T"),
        "never": ("affine.for %i = 5 to 5 {", "%x = affine.load %B[%i] : T affine.store %x, %A[%i] : T"),
        "zero trips with sure elements": (
            "affine.for %i = 0 to %n { affine.for %j = 30 to 40 {",
            "%x = affine.load %B[%j] : T affine.store %x, %A[%j] : T",
        ),
        "vectors": ("affine.for %i = 0 to affine_map<()[n] -> (n floordiv 4)>()[%n] {",
                    ("%x = affine.vector_load %B[%i * 4] : T, vector<4xf64> "
                    "affine.vector_store %x, %A[%i * 4] : T, vector<4xf64>")),
        "vectors with holes": ("affine.for %i = 0 to affine_map<()[n] -> (n floordiv 5)>()[%n] {",
                               ("%x = affine.vector_load %B[%i * 5] : T, vector<3xf64> "
                               "affine.vector_store %x, %A[%i * 5 + 1] : T, vector<3xf64>")),
        "parallel": ("affine.parallel (%p) = (0) to (symbol(%n)) { affine.for %i = 0 to 1 {",
                     "%x = affine.load %B[%p] : T affine.store %x, %A[%p] : T"),
        "data-dependent": ("affine.for %i = 0 to %n {", ("%x = affine.load %B[%i] : T %z = arith.constant 0.0 : f64 "
                           "%c = arith.cmpf ogt, %x, %z : f64 scf.if %c { affine.store %x, %A[%i] : T }")),
    }  # fmt: skip
    for title, (loops, body) in lines.items():
        for kind, type, side in (("static", _LINE, SIDE), ("dynamic", "memref<?xf64>", 0)):
            if title == "zero trips with sure elements" and kind == "dynamic":
                side = SIDE
            text = _nest(loops, body.replace("T ", f"{type} ").replace(": T,", f": {type},"), _pair(type))
            text = text.replace(": T", f": {type}")
            found[f"{title}, {kind}"] = Case(text, ((side,),) * 2)
    return found


def _pair(type: str) -> str:
    return f"%A: {type}, %B: {type}"


CASES = _cases()
