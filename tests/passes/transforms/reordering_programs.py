"""Random programs before and after a reordering, and triangular nests that show in which order they ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.dialects import func
from affdsl.passes.transforms.distribute import distribute
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.reverse import reverse
from affdsl.passes.transforms.shift import shift
from affdsl.passes.transforms.skew import skew
from tests.harness.reading import loops

Step = tuple[str, Callable[[], func.Func]]

TRIANGLES = {
    "lower": "affine.for %i = 0 to %n { affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {",
    "upper": "affine.for %i = 0 to %n { affine.for %j = affine_map<(d0) -> (d0)>(%i) to %n {",
    "diagonal": "affine.for %i = 0 to %n { affine.for %j = affine_map<(d0) -> (d0)>(%i) "
    "to affine_map<(d0) -> (d0 + 1)>(%i) {",
    "band": "affine.for %i = -2 to %n { affine.for %j = max affine_map<(d0) -> (0, d0 - 2)>(%i) "
    "to min affine_map<(d0)[s0] -> (s0, d0 + 3)>(%i)[%n] {",
    "steps": "affine.for %i = 1 to %n step 3 { affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) step 2 {",
    "steps from i": "affine.for %i = 0 to %n { affine.for %j = affine_map<(d0) -> (d0)>(%i) to %n step 2 {",
    "steep": "affine.for %i = 0 to %n { affine.for %j = affine_map<(d0) -> (d0 * 2)>(%i) "
    "to affine_map<(d0) -> (d0 * 3 + 2)>(%i) {",
    "halves": "affine.for %i = 0 to %n { affine.for %j = affine_map<(d0) -> (d0 floordiv 2)>(%i) "
    "to affine_map<(d0)[s0] -> (s0 ceildiv 2 + d0)>(%i)[%n] {",
    "empty in the middle": "affine.for %i = -4 to %n { affine.for %j = affine_map<(d0) -> (-d0)>(%i) "
    "to affine_map<(d0) -> (d0 - 1)>(%i) {",
    "rectangle": "affine.for %i = 3 to %n step 2 { affine.for %j = 0 to 5 step 3 {",
}  # fmt: skip
"""Two loops each, whose bounds depend on each other and on %n."""


def triangle(name: str) -> str:
    """A function that makes of each element in its iterations something of those before in its row and its column."""
    return f"""func.func @f(%V: memref<80x80xi64>, %n: index) {{
      %one = arith.constant 1 : i64
      {TRIANGLES[name]}
        %a = affine.load %V[%i + 20, %j + 20] : memref<80x80xi64>
        %b = affine.load %V[%i + 19, %j + 20] : memref<80x80xi64>
        %c = affine.load %V[%i + 20, %j + 19] : memref<80x80xi64>
        %d = arith.addi %a, %b : i64
        %e = arith.muli %d, %c : i64
        %g = arith.addi %e, %one : i64
        affine.store %g, %V[%i + 20, %j + 20] : memref<80x80xi64>
      }} }}
      return
    }}"""


def steps(function: func.Func, module: func.Module) -> Iterator[Step]:
    """Every reordering that can be asked for of a function."""
    for outer in loops(function):
        iv = outer.iv
        yield "reverse", lambda iv=iv: reverse(function, iv, module=module)
        yield "shift", lambda iv=iv: shift(function, iv, 3)
        yield "distribute", lambda iv=iv: distribute(function, iv, module=module)
        for inner in loops(outer):
            if inner is not outer:
                pair = (iv, inner.iv)
                yield "skew", lambda pair=pair: skew(function, *pair, -2)
                if outer.body == (inner,):
                    yield "interchange", lambda pair=pair: interchange(function, *pair, module=module)
