"""Kernels on triangles, and how tiling and unroll-and-jam are asked whether a function does what it did before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import IndexType, MemRefType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from tests.harness.judges import left
from tests.passes.compare import parsed


def _function(name: str, body: str, arguments: str = "%A: TYPE, %n: index") -> str:
    text = f"func.func @{name}({arguments}) {{ {body} return }}".replace("TYPE", "memref<?x?xf64>")
    return text.replace("UPTO", "0 to affine_map<(d0) -> (d0)>").replace("BEHIND", "affine_map<(d0) -> (d0 + 1)>")


def _update(result: str, left: str, right: str, kind: str = "subf") -> str:
    """result -= left * right."""
    other = f"%b = affine.load %{right} : TYPE" if left != right else ""
    return f"""%a = affine.load %{left} : TYPE {other} %c = affine.load %{result} : TYPE
      %p = arith.mulf %a, %{"b" if other else "a"} : f64 %s = arith.{kind} %c, %p : f64
      affine.store %s, %{result} : TYPE"""


def _divided(result: str, divisor: str) -> str:
    """result /= divisor."""
    return f"""%d = affine.load %{divisor} : TYPE %e = affine.load %{result} : TYPE
      %q = arith.divf %e, %d : f64 affine.store %q, %{result} : TYPE"""


TRIANGLES = {
    "cholesky": _function(
        "cholesky",
        f"""affine.for %i = 0 to %n {{
          affine.for %j = UPTO(%i) {{
            affine.for %k = UPTO(%j) {{ {_update("A[%i, %j]", "A[%i, %k]", "A[%j, %k]")} }}
            {_divided("A[%i, %j]", "A[%j, %j]")}
          }}
          affine.for %k2 = UPTO(%i) {{ {_update("A[%i, %i]", "A[%i, %k2]", "A[%i, %k2]")} }}
          %d2 = affine.load %A[%i, %i] : TYPE %r = math.sqrt %d2 : f64 affine.store %r, %A[%i, %i] : TYPE
        }}""",
    ),
    "lu": _function(
        "lu",
        f"""affine.for %i = 0 to %n {{
          affine.for %j = UPTO(%i) {{
            affine.for %k = UPTO(%j) {{ {_update("A[%i, %j]", "A[%i, %k]", "A[%k, %j]")} }}
            {_divided("A[%i, %j]", "A[%j, %j]")}
          }}
          affine.for %j2 = affine_map<(d0) -> (d0)>(%i) to %n {{
            affine.for %k2 = UPTO(%i) {{ {_update("A[%i, %j2]", "A[%i, %k2]", "A[%k2, %j2]")} }}
          }}
        }}""",
    ),
    "lu_kij": _function(
        "lu_kij",
        f"""affine.for %k = 0 to %n {{ affine.for %i = BEHIND(%k) to %n {{
          {_divided("A[%i, %k]", "A[%k, %k]")}
          affine.for %j = BEHIND(%k) to %n {{ {_update("A[%i, %j]", "A[%i, %k]", "A[%k, %j]")} }}
        }} }}""",
    ),
    "cholesky_update": _function(
        "cholesky_update",
        f"""affine.for %k = 0 to %n {{ affine.for %i = BEHIND(%k) to %n {{
          affine.for %j = BEHIND(%k) to BEHIND(%i) {{ {_update("A[%i, %j]", "A[%i, %k]", "A[%j, %k]")} }}
        }} }}""",
    ),
    "trmm": _function(
        "trmm",
        f"""affine.for %i = 0 to %n {{ affine.for %j = 0 to %n {{
          affine.for %k = BEHIND(%i) to %n {{ {_update("B[%i, %j]", "A[%k, %i]", "B[%k, %j]", "addf")} }}
          %e = affine.load %B[%i, %j] : TYPE %q = arith.mulf %e, %alpha : f64 affine.store %q, %B[%i, %j] : TYPE
        }} }}""",
        "%A: TYPE, %B: TYPE, %n: index, %alpha: f64",
    ),
}
"""Cholesky, LU and trmm as their loops are usually written; kernels of which whole nests are perfect."""


def triangle(name: str, extra: str = "") -> func.Func:
    """A kernel of TRIANGLES; `extra` stands before its other arguments."""
    text = TRIANGLES[name].replace(f"@{name}(", f"@{name}({extra}")
    return parse(text).functions[0]


def loops(function: func.Func) -> dict[str, Value]:
    """The induction variables of a function by their names, the first of each name."""
    found: dict[str, Value] = {}
    for op in walk(function):
        if isinstance(op, affine.For):
            found.setdefault(op.iv.hint, op.iv)
    return found


def band(root: affine.For) -> list[Value]:
    """The induction variables of the largest perfect band of a loop."""
    ivs = [root.iv]
    while len(root.body) == 1 and isinstance(root.body[0], affine.For):
        root = root.body[0]
        ivs.append(root.iv)
    return ivs


def results(function: func.Func, n: int, *first: int) -> list[bytes]:
    """What a kernel of TRIANGLES leaves in its arrays of n by n numbers; `first` are its extra arguments."""
    random, sizes = np.random.default_rng(n), list(first)
    given: list[np.ndarray | int | float] = []
    for argument in function.args:
        match argument.type:
            case MemRefType():
                given.append(random.random((n, n)) + n * np.eye(n))
            case IndexType():
                given.append(sizes.pop(0) if sizes else n)
            case _:
                given.append(1.5)
    run(function, *given)
    return [g.tobytes() for g in given if isinstance(g, np.ndarray)]


def assert_same(before: func.Func, after: func.Func, sizes: Iterable[int]) -> None:
    """That two versions of a kernel of TRIANGLES leave the same, to the last bit."""
    verify(after)
    for n in sizes:
        assert results(after, n) == results(before, n), f"n = {n}\n{after}"


def refused_exactly(
    module: ModuleType, step: Callable[[], func.Func], before: func.Func, inputs: Iterable[Sequence[np.ndarray | int]]
) -> IllegalTransform | None:
    """The refusal of a step; None if it is legal, which it must be exactly where making it changes no result.

    `module` is the one that checks the step.
    """
    refused = None
    try:
        step()
    except IllegalTransform as refusal:
        refused = refusal
    with pytest.MonkeyPatch.context() as forced:
        forced.setattr(module, "_check", lambda *_: None)
        after = step()
    changed = False
    for given in inputs:
        first, second = left(before, given), left(after, given)
        changed = changed or any((np.asarray(a) != b).any() for a, b in zip(first, second, strict=True))
    assert changed == (refused is not None), f"{refused}\n{before}\n{after}"
    return refused


def assert_sees_around(made: Callable[..., func.Module]) -> None:
    """A call that passes one buffer twice shows a dependence that the function alone has not."""
    module = parsed("""func.func @f(%A: memref<12x12xf32>, %B: memref<12x12xf32>) {
      affine.for %t = 1 to 9 {
        affine.for %s = 0 to 8 {
          %a = affine.load %A[%t - 1, %s + 1] : memref<12x12xf32>
          affine.store %a, %B[%t, %s] : memref<12x12xf32>
        }
      }
      return
    }
    func.func @g(%A: memref<12x12xf32>) {
      call @f(%A, %A) : (memref<12x12xf32>, memref<12x12xf32>) -> ()
      return
    }""")
    alone = with_fields(module, body=module.body[:1])
    assert made(module) is module
    assert made(alone, context=module) is alone
    assert made(alone) is not alone
