"""What to say of a call that Python refuses: of arguments that a function of affdsl does not take."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches

PERMISSIONS = {
    "contract": "products and sums in one operation",
    "reassociate": "sums in another order",
    "reciprocal": "factors for divisors",
    "approximate": "polynomials for exponentials, logarithms, sines and cosines",
    "no_nans": "minima and maxima that need not care for NaN",
    "no_signed_zeros": "minima and maxima that may be either of two zeros",
}
"""What may be allowed to round in another way, by the names of the arguments that allow it."""
_FAST = ("fastmath", "fast_math", "fast", "ffast_math", "unsafe_math", "associative_math")
_SAME = {
    **dict.fromkeys(("num_threads", "nthreads", "n_threads", "n_jobs", "workers", "cores"), "threads"),
    **dict.fromkeys(("check_bounds", "bounds_check", "bounds"), "boundscheck"),
    **dict.fromkeys(("arch", "march", "isa", "simd"), "target"),
}
"""What arguments are called elsewhere, and here."""
_INSTEAD = {
    ("kernel", "parallel"): "threads share loops of kernel.optimize(threads=n), and of affdsl.parallel",
    ("kernel", "reassociate"): "it is allowed for loops: kernel.optimize(reassociate=True)",
    ("alloc", ""): "its sizes stand in brackets behind the type: affdsl.alloc(affdsl.f64[M, N])",
    ("alloca", ""): "its sizes stand in brackets behind the type: affdsl.alloca(affdsl.f64[8])",
}
"""What to write for an argument, or for too many of them."""


def miscalled(function: Callable[..., object], error: str) -> tuple[str, ...]:
    """What is wrong, why, and what to do, by the error of Python; () where it is of something else.

    >>> def tile(loop, *, size=4): ...
    >>> miscalled(tile, "tile() got an unexpected keyword argument 'sise'")
    ('tile takes no argument sise: did you mean size?', 'it is called as tile(loop, *, size=4)')
    """
    name = function.__name__
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    bare = [p.replace(annotation=p.empty) for p in parameters]
    call = f"it is called as {name}{inspect.Signature(bare)}"
    taken = [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if found := re.search(r"\(\) got an unexpected keyword argument '(\w+)'", error):
        word = found[1]
        what = f"{name} takes no argument {word}"
        if word in _FAST and "contract" in taken:
            return what, f"{_permissions(taken)}; each is allowed by itself", call
        if (name, word) in _INSTEAD:
            return what, _INSTEAD[name, word], call
        same = _SAME.get(word)
        near = [same] if same in taken else get_close_matches(word, taken, 1)
        return (f"{what}: did you mean {near[0]}?" if near else what), call
    if found := re.search(r"\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)", error):
        return f"{name} is called without {found[1].replace(chr(39), '')}", call
    if found := re.search(r"\(\) got multiple values for argument '(\w+)'", error):
        return f"{name} is given {found[1]} twice", call
    if re.search(r"\(\) takes .* positional arguments? but .* given", error):
        return tuple(x for x in (f"{name} is given too many arguments", _INSTEAD.get((name, ""), ""), call) if x)
    return ()


def _permissions(taken: list[str]) -> str:
    """What may be allowed by arguments that a function takes."""
    shown = ", ".join(f"{word}=True ({what})" for word, what in PERMISSIONS.items() if word in taken)
    elsewhere = "" if "reassociate" in taken else "; and kernel.optimize(reassociate=True) (sums in another order)"
    return f"what may round in another way has names: {shown}{elsewhere}"
