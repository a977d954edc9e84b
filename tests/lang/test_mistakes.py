"""Every mistake that a user can make in a kernel, and the whole message that it gets: file, line, why, and what to do.

The mistakes stand in mistakes/*.txt, each under `# -----` and its name. A comment in the line of the mistake is the
error, the comments right below it go on with it, and <there> is the number of the line marked `# there`.
"""

import itertools
import math
import re
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import affdsl as af

FILES = sorted(Path(__file__).with_name("mistakes").glob("*.txt"))
NAMES = {"af": af, "np": np, "math": math, "ExitStack": ExitStack, "SimpleNamespace": SimpleNamespace}
ERROR = re.compile(r"  # (Program\w*Error): (.*)")
SYMBOLS = dict(zip("MNP", af.symbols("M N P"), strict=True))


def cases(path: Path) -> list[tuple[str, int, list[str]]]:
    """The name of each mistake in a file, the number of lines before it, and its lines."""
    lines = path.read_text().splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith("# -----")]
    return [
        (lines[start].removeprefix("# ----- "), start + 1, lines[start + 1 : end])
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def expected(place: str, before: int, lines: list[str]) -> tuple[str, str]:
    """The error that is written into a mistake: its type and all that it says."""
    ((at, error),) = [(n, found) for n, line in enumerate(lines) if (found := ERROR.search(line))]
    below = itertools.takewhile(lambda line: line.startswith("# "), map(str.lstrip, lines[at + 1 :]))
    message = [f"{place}:{before + at + 1}: {error[2]}", *(f"    {line.removeprefix('# ')}" for line in below)]
    there = [str(before + n) for n, line in enumerate(lines, 1) if line.endswith("  # there")]
    return error[1], "\n".join(message).replace("<there>", "".join(there))


CASES = [
    pytest.param(path, before, lines, id=name.replace(" ", "_"))
    for path in FILES
    for name, before, lines in cases(path)
]


@pytest.mark.parametrize(("path", "before", "lines"), CASES)
def test_mistake(path, before, lines, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    code = compile("\n" * before + "\n".join(lines), path, "exec")
    with pytest.raises(af.AffdslError) as caught:
        exec(code, {**NAMES, **SYMBOLS, "__name__": __name__})
    said = type(caught.value).__name__, str(caught.value)
    assert said == expected(str(path.relative_to(pytestconfig.rootpath)), before, lines)
