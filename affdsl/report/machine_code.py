"""What the instructions of a loop say of it: how many elements at once, gathers, divisions, calls of functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affdsl.frozen import FrozenValue
from affdsl.seeing.assembly import Assembly, ShownLoop

_PACKED = re.compile(
    r"v?(?:f?n?m?(?:add|sub)\w*?|mul|div|sqrt|min|max|and|or|xor|blend|cmp|addsub|rnd)\w*p([sd])$|v?cvt\w*p[sd]"
)
_FUSED = re.compile(r"vfn?m(?:add|sub)\d+p([sd])$")
_MOVED = re.compile(r"v?mov[aun]\w*p([sd])$")
_INTEGERS = re.compile(r"v?p(?:add|sub|mul\w*|min|max|and|or|cmp\w*)([bwdq])$|v?p(?:add|sub)u?s?([bwdq])$")
_BITS = {"xmm": 128, "ymm": 256, "zmm": 512}
_ELEMENT = {"s": 32, "d": 64, "b": 8, "w": 16, "q": 64}


class Instructions(FrozenValue):
    """What was found in the instructions of a loop.

    Attributes
    ----------
    lanes
        How many elements the widest one computes; 0 where none computes any.
    singles
        How many of them compute one element.
    """

    count: int
    lanes: int
    singles: int
    gathers: int
    divisions: int
    calls: tuple[str, ...]


def of_loop(shown: Assembly, names: Sequence[str]) -> Instructions | None:
    """What the instructions of the loops of some names are, of that with the most lanes; None where there is none.

    Remainders that run one by one stand beside vectors: the widest loop is the one that runs.
    """
    found = [_read(loop) for loop in shown.loops if loop.name in names and not _holds_loops(loop)]
    return max(found, key=lambda each: (each.lanes, each.count), default=None)


def _holds_loops(loop: ShownLoop) -> bool:
    return any(line.kind == "loop" for line in loop.lines)


def _read(loop: ShownLoop) -> Instructions:
    lanes, singles, gathers, divisions, calls = 0, 0, 0, 0, list[str]()
    for text in loop.instructions:
        mnemonic, _, operands = text.partition(" ")
        gathers += "gather" in mnemonic
        divisions += mnemonic.removeprefix("v").startswith(("div", "sqrt", "idiv"))
        calls += [operands.strip().partition("@")[0]] if mnemonic.startswith("call") else []
        of = _lanes(mnemonic, operands)
        singles += of == 1 and not mnemonic.startswith(("mov", "vmov"))
        lanes = max(lanes, of)
    return Instructions(len(loop.instructions), lanes, singles, gathers, divisions, tuple(dict.fromkeys(calls)))


def _lanes(mnemonic: str, operands: str) -> int:
    """How many elements an instruction computes at once; 0 of one that computes none.

    >>> _lanes("vaddps", "%ymm1, %ymm0, %ymm0"), _lanes("vaddss", "(%rcx), %xmm0, %xmm0"), _lanes("incq", "%rax")
    (8, 1, 0)
    """
    bits = max((_BITS[name] for name in _BITS if name in operands), default=0)
    if not bits:
        return 0
    if re.search(r"s[sd]$", mnemonic):
        return 1
    for pattern in (_FUSED, _PACKED, _INTEGERS):
        if found := pattern.match(mnemonic):
            kind = next((group for group in found.groups() if group), "s")
            return bits // (32 if kind == "d" and mnemonic.startswith(("vp", "p")) else _ELEMENT[kind])
    if found := _MOVED.match(mnemonic):
        return bits // _ELEMENT[found[1]] if bits > 128 else 0
    return 0
