"""What verbs refuse, each with its whole message: a file of programs in refusals/ for each verb.

`// STEP:` is what is asked for, with values by their names, and `// CANNOT:` how the message begins, for all programs
of a file or for the one that says so. What else is in front stands around each program, in the place of BODY. After the
program come the line of the message and the reason.
"""

import functools
import re
from pathlib import Path

import pytest

from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.advice.verbs import VERBS
from affdsl.passes.legality.refusal import IllegalTransform
from tests.passes.advice.asked import asked

SAID = re.compile(r"^// (STEP|CANNOT): (.*)\n", re.M)
REFUSED = re.compile(r"// REFUSED AT (\d+): ")


def cases(path):
    """The step, the program and the message of each refusal in a file."""
    head, *chunks = path.read_text(encoding="utf-8").split("// ----- ")
    for title, _, chunk in (chunk.partition("\n") for chunk in chunks):
        body, line, reason = REFUSED.split(SAID.sub("", chunk))
        said = {**dict(SAID.findall(head)), **dict(SAID.findall(chunk))}
        message = f"k.mlir:{line}: cannot {said['CANNOT']}\n    {reason.rstrip()}".replace("\n// ", "\n")
        text = SAID.sub("", head).replace("BODY\n", body)
        yield pytest.param(said["STEP"], text, message, id=f"{path.stem}: {title}")


def values(function):
    """All values of a function by their names; of several, the first."""
    made = [v for op in walk(function) for v in (*op.binds(), *op.defines())]
    return {v.hint: v for v in reversed([*function.args, *made])}


FILES = sorted(Path(__file__).with_name("refusals").glob("*.mlir"))


@pytest.mark.parametrize(("step", "text", "message"), [case for path in FILES for case in cases(path)])
def test_refusals(step, text, message):
    module = parse(text, "k.mlir")
    verify(module)
    (function,) = [f for f in module.functions if f.symbol == "f"]
    steps = {verb: functools.partial(asked, verb, function, module=module) for verb in VERBS}
    with pytest.raises(IllegalTransform) as refused:
        exec(step, {**values(function), **steps})
    assert str(refused.value) == message
