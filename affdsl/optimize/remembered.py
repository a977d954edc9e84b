"""What tuning has found, kept in the cache of compiled kernels: numbers as JSON, checked when they are read."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence

from affdsl.codegen.cache import default_cache
from affdsl.codegen.jit import is_checked
from affdsl.codegen.toolchain import machine
from affdsl.frozen import FrozenValue, replace
from affdsl.kernel import Kernel
from affdsl.optimize.choices import NUMBERS, RECIPES, USUAL, Choices
from affdsl.optimize.options import Options

KIND = "tuned"
"""The end of the names of files."""
LARGEST = 1 << 20
"""A number that recipes choose is not larger."""


class Outcome(FrozenValue):
    """What came of timing some choices.

    Attributes
    ----------
    sizes
        The sizes for which they were timed, by name.
    times
        The seconds of a call.
    refused
        Why others have no times.
    """

    sizes: Mapping[str, int]
    times: Mapping[Choices, float]
    refused: Mapping[Choices, str]


def key_of(kernel: Kernel, options: Options, sizes: Mapping[str, int] | None) -> tuple[str, ...]:
    """What an outcome holds for: a kernel by its content, how it is optimized and compiled, and a class of sizes.

    Sizes with as many binary digits are of one class; None is a class of its own, in which sizes are not given.
    """
    how = replace(options, choices=USUAL), is_checked(kernel.program)
    classes = None if sizes is None else sorted((name, n.bit_length()) for name, n in sizes.items())
    return str(kernel.module), repr(how), repr(classes), default_cache().compiler().identity, machine()


def recall(kernel: Kernel, key: Sequence[str]) -> Outcome | None:
    """What was kept; None if that is nothing. A file that holds something else is reported, and taken for nothing."""
    cache = default_cache()
    content = cache.known(KIND, *key)
    if content is None:
        return None
    found = _outcome(content)
    if found is None:
        what = f"what the cache {cache.folder} has of tuning {kernel.name} is no record of it, so it is tuned again"
        warnings.warn(what, stacklevel=2)
    return found


def remember(outcome: Outcome, key: Sequence[str]) -> None:
    """Keep an outcome for this process and others."""
    times = [[_plain(choices), seconds] for choices, seconds in outcome.times.items()]
    refused = [[_plain(choices), why] for choices, why in outcome.refused.items()]
    content = json.dumps({"sizes": dict(outcome.sizes), "times": times, "refused": refused})
    default_cache().keep(content.encode(), KIND, *key)


def _plain(choices: Choices) -> dict[str, object]:
    """The numbers that are not the usual ones, and what is left out."""
    return {**choices.numbers(), **({"left_out": list(choices.left_out)} if choices.left_out else {})}


def _outcome(content: bytes) -> Outcome | None:
    """The outcome that a file holds; None if it holds none."""
    try:
        match json.loads(content):
            case {"sizes": dict(sizes), "times": [*times], "refused": [*refused]}:
                return Outcome(
                    {_text(name): _number(n, 1 << 62) for name, n in sizes.items()},
                    {_choices(choices): _seconds(time) for choices, time in times},
                    {_choices(choices): _text(why) for choices, why in refused},
                )
    except (ValueError, TypeError):
        return None
    return None


def _choices(plain: object) -> Choices:
    """Raises ValueError for what are no choices."""
    if not isinstance(plain, dict):
        raise ValueError
    left_out = plain.pop("left_out", [])
    if not isinstance(left_out, list) or not set(RECIPES).issuperset(left_out) or not set(NUMBERS).issuperset(plain):
        raise ValueError
    return Choices(tuple(left_out), **{name: _number(n, LARGEST) for name, n in plain.items()})


def _number(found: object, most: int) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= most:
        raise ValueError
    return found


def _seconds(found: object) -> float:
    if not isinstance(found, float) or not 0 < found < float("inf"):
        raise ValueError
    return found


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise ValueError
    return found
