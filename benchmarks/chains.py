"""Texts for benchmarks: functions that are chains of loop nests, two deep, of some kind and of any length.

one memref    each nest reads and writes the one buffer: every pair may depend
own memrefs   each reads what the one before wrote, and writes a buffer of its own
private       each adds to what the one before wrote; all buffers but the first and the last are made by the function
constants     as private, but each multiplies by a constant of its own, so that no two nests are alike
varied        one buffer, and each nest has bounds, a step and subscripts of its own: hardly two pairs are alike
stencil       five points of a buffer are read for each point of the next one
reloaded      as own memrefs, but what was written is read and written again
functions     as own memrefs, but each nest in a function of its own
"""

from __future__ import annotations

TYPE = "memref<64x64xf32>"
NEST = """\
  affine.for %i = {i} {{
    affine.for %j = {j} {{
{body}    }}
  }}
"""


def chain(kind: str, length: int) -> str:
    """A module with so many nests of a kind."""
    if kind == "functions":
        return "".join(_function(f"f{k}", 2, nest) for k, nest in enumerate(_nests("own memrefs", 1) * length))
    if kind in ("private", "constants"):
        made = "".join(f"  %A{k} = memref.alloc() : {TYPE}\n" for k in range(1, length))
        if kind == "constants":
            made += "".join(f"  %c{k} = arith.constant {k}.5 : f32\n" for k in range(length))
        arguments = f"%A0: {TYPE}, %A{length}: {TYPE}"
        return f"func.func @f({arguments}) {{\n{made}{''.join(_nests(kind, length))}  return\n}}\n"
    return _function("f", 1 if kind in ("one memref", "varied") else length + 1, "".join(_nests(kind, length)))


def _function(name: str, memrefs: int, body: str) -> str:
    arguments = ", ".join(f"%A{k}: {TYPE}" for k in range(memrefs))
    return f"func.func @{name}({arguments}) {{\n{body}  return\n}}\n"


def _nests(kind: str, length: int) -> list[str]:
    return [_nest(kind, k) for k in range(length)]


def _nest(kind: str, k: int) -> str:
    inside = {"i": "1 to 63", "j": "1 to 63"}
    match kind:
        case "one memref":
            return NEST.format(**inside, body=_copied(0, "%i - 1, %j", 0, "%i, %j"))
        case "own memrefs":
            return NEST.format(**inside, body=_copied(k, "%i - 1, %j", k + 1, "%i, %j"))
        case "private" | "constants":
            by = "addf %v, %v" if kind == "private" else f"mulf %v, %c{k}"
            value = f"      %w = arith.{by} : f32\n"
            load, store = _copied(k, "%i, %j", k + 1, "%i, %j").splitlines(keepends=True)
            return NEST.format(i="0 to 64", j="0 to 64", body=load + value + store.replace("%v", "%w"))
        case "varied":
            a, b, step = k % 29, (k * 7) % 31, 1 + k % 3
            i, j = f"{a} to {a + 30}", f"{b} to {33 + b} step {step}"
            return NEST.format(i=i, j=j, body=_copied(0, f"%i + {k % 4}, %j", 0, f"%i, {63 - b // 2} - %j + {b}"))
        case "reloaded":
            again = f"      %w = affine.load %A{k + 1}[%i, %j] : {TYPE}\n      %s = arith.addf %w, %w : f32\n"
            store = f"      affine.store %s, %A{k + 1}[%i, %j] : {TYPE}\n"
            return NEST.format(**inside, body=_copied(k, "%i, %j", k + 1, "%i, %j") + again + store)
        case "stencil":
            points = ("%i, %j", "%i - 1, %j", "%i + 1, %j", "%i, %j - 1", "%i, %j + 1")
            loads = [f"      %v{n} = affine.load %A{k}[{at}] : {TYPE}\n" for n, at in enumerate(points)]
            sums = [f"      %s{n} = arith.addf {'%v0' if n == 1 else f'%s{n - 1}'}, %v{n} : f32\n" for n in range(1, 5)]
            store = f"      affine.store %s4, %A{k + 1}[%i, %j] : {TYPE}\n"
            return NEST.format(**inside, body="".join((*loads, *sums, store)))
        case _:
            raise ValueError(f"there is no kind of chain {kind!r}")


def _copied(source: int, read: str, target: int, written: str) -> str:
    return (
        f"      %v = affine.load %A{source}[{read}] : {TYPE}\n      affine.store %v, %A{target}[{written}] : {TYPE}\n"
    )
