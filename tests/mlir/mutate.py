"""Random small mistakes in valid programs, and where mlir-opt and we disagree on the result.

* `python -m tests.mlir.mutate --count 5000 --seed 1`: where accepting or refusing disagrees, on 5,000 mutants.
* `python -m tests.mlir.mutate --count 10000 --bytes`: what we say to text that is hardly MLIR any more.
"""

import argparse
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from affdsl.errors import AffdslError
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.differential.generator import generate
from tests.mlir.batches import GENERIC_ONLY, Verdict, judge, split
from tests.mlir.edits import Mutant, byte_mutants, mutants

HERE = Path(__file__).parent
NOT_OURS = ("tensor_and_others.mlir",)  # operations that we keep, but whose rules we do not know
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*')


@dataclass(frozen=True)
class Answer:
    """What we say of a program: nothing where we accept it; `broken` where it is no error of ours that came."""

    message: str | None
    broken: bool = False


@dataclass(frozen=True)
class Known:
    """A difference that shall stay: who refuses, what the refusal says (a regular expression), and why it is right.

    `at`: what the line holds at which it is refused, another regular expression.
    """

    refused_by: str
    says: str
    reason: str
    at: str = ""


KNOWN: tuple[Known, ...] = (
    Known(
        "us", r"affdsl\.(shape|assume)|the contract takes|but its shape (has|says)|has a shape, but|is unsigned, but",
        "attributes of our own, the contract of a function, of which mlir-opt knows nothing",
    ),
    Known(
        "us", r"the right side of (floordiv|ceildiv|mod) must be positive",
        "a division by zero means nothing, and what the affine dialect says of negative divisors is that they are none",
    ),
    Known("us", r"the steps? must be positive", "a loop whose step is zero or negative does not end"),
    Known(
        "us", r"this takes \d+ dimensions and \d+ symbols, got",
        "operands in the brackets of the others: mlir-opt counts those of min and max together", r"affine\.(min|max)",
    ),
    Known(
        "us", r"memref\.dim: .* dimensions, and none with the number",
        "the size of a dimension that does not exist: no program that asks for it means anything",
    ),
    Known(
        "us", r"the maps? of affine\.(for takes|parallel do not take) \d+ operands",
        "mlir-opt does not count the operands of bounds in generic form",
    ),
    Known(
        "us", r"must have type index, but has type",
        "the counter of a loop is an index; of affine.parallel in generic form mlir-opt does not ask what it is",
    ),
    Known(
        "us", r"has no property|said twice|a memref has one layout",
        "mlir-opt drops without a word what it does not know, and the first of two; we drop nothing",
    ),
    Known(
        "mlir-opt",
        r"custom op '(call|return|constant)' is unknown|Dialect `' not found for custom op '(call|return|constant)'",
        "names that stood alone until 2021, which we read everywhere",
    ),
    Known(
        "mlir-opt", r"custom op '\w+\.[\w.]+' is unknown|Dialect `\w+' not found for custom op",
        "the custom form of an operation that nobody here knows is kept as text (decision 16)",
    ),
    Known(
        "mlir-opt", r"data layout|integer|floating point|expected|undefined|unknown",
        "what stands in an attribute or type of a dialect of others is kept as it is, not understood", r"#dlti\.",
    ),
    Known(
        "mlir-opt", r"::mlir::gpu::|unknown (gpu|LLVM) type|in dialect `(gpu|llvm)`",
        "what stands in an attribute or type of a dialect of others is kept as it is, not understood",
        r"[#!](gpu|llvm)\.",
    ),
    Known(
        "mlir-opt", r"'test\.\w+' op|bb argument #\d+ of successor|operands for successor",
        "operations of mlir-opt's own test dialect: to us they are unknown ones, which have no rules", r"\btest\.",
    ),
)  # fmt: skip


def programs() -> list[str]:
    """The programs of the corpora without their comments, and printed random ones."""
    folders = (HERE / "corpus", HERE.parent / "soundness", HERE / "oracles")
    paths = [path for folder in folders for path in sorted(folder.glob("*.mlir")) if path.name not in NOT_OURS]
    chunks = [chunk for path in paths for chunk in split(path)]
    texts = [COMMENT.sub(lambda m: m[1] or "", chunk.text) for chunk in chunks if GENERIC_ONLY not in chunk.text]
    texts += [print_op(generate(seed).module) for seed in range(60)]
    return [re.sub(r"[ \t]*\n\s*\n", "\n", text).strip() + "\n" for text in texts if text.strip()]


def sample(seed: int, count: int) -> list[Mutant]:
    """One mutant of each of `count` programs, chosen by a seed."""
    rng = random.Random(seed)
    sources = programs()
    found: list[Mutant] = []
    while len(found) < count:
        found += mutants(rng.choice(sources), rng.getrandbits(32), 1)
    return found


def answer(text: str) -> Answer:
    """What we say of a text."""
    try:
        verify(parse(text))
    except AffdslError as error:
        return Answer(str(error))
    except Exception as error:  # noqa: BLE001  # whatever else it is, it is what we look for
        return Answer(f"{type(error).__name__}: {error}", broken=True)
    return Answer(None)


@dataclass(frozen=True)
class Outcome:
    """What mlir-opt and we say of a mutant."""

    mutant: Mutant
    ours: Answer
    theirs: Verdict

    @property
    def refused_by(self) -> str | None:
        """Who alone refuses it: the difference. A crash of mlir-opt is no opinion; ours is a failure."""
        if self.ours.broken:
            return "nobody, for we fail"
        if self.theirs.crashed or (self.ours.message is None) == (self.theirs.output is not None):
            return None
        return "mlir-opt" if self.ours.message is None else "us"

    @property
    def says(self) -> str:
        """The message of the one that refuses it."""
        if self.ours.message is not None:
            return self.ours.message
        return self.theirs.errors[0][1] if self.theirs.errors else "an error without a place"

    @property
    def line(self) -> str:
        """The line at which it is refused, as far as that is known."""
        places = [int(m[1])] if (m := re.match(r"<mlir>:(\d+)", self.ours.message or "")) else []
        places += [line for line, _ in self.theirs.errors[:1]]
        lines = self.mutant.text.split("\n")
        return lines[places[0] - 1] if places and 1 <= places[0] <= len(lines) else ""

    @property
    def known(self) -> Known | None:
        """The reason why the difference may stand, if there is one."""
        fitting = [k for k in KNOWN if k.refused_by == self.refused_by and re.search(k.says, self.says)]
        return next((k for k in fitting if re.search(k.at, self.line)), None)


def outcomes(found: Sequence[Mutant], size: int = 200) -> list[Outcome]:
    """Both opinions on each mutant."""
    verdicts: list[Verdict] = []
    for first in range(0, len(found), size):
        texts = [mutant.text for mutant in found[first : first + size]]
        verdicts += judge(texts, "--allow-unregistered-dialect")
    return [Outcome(mutant, answer(mutant.text), theirs) for mutant, theirs in zip(found, verdicts, strict=True)]


def shape(message: str) -> str:
    """A message without its names, numbers and places, so that equal complaints are counted together."""
    first = re.sub(r"^<mlir>:\d+(:\d+)?: ", "", message.split("\n")[0])
    return re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[%@#!^][\w$.-]+|\b\d+\b|<[^ ]*>", "_", first)[:100]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", action="store_true", help="mutate bytes, and look for what is no error of ours")
    parser.add_argument("--examples", type=int, default=1, help="programs to show of each group")
    arguments = parser.parse_args()
    if arguments.bytes:
        show_failures(arguments.seed, arguments.count)
    else:
        show_differences(sample(arguments.seed, arguments.count), arguments.examples)


def show_differences(found: list[Mutant], examples: int) -> None:
    judged = outcomes(found)
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in judged:
        if outcome.refused_by is not None:
            key = outcome.known.reason if outcome.known else shape(outcome.says)
            groups.setdefault((outcome.refused_by, key), []).append(outcome)
    for (refused_by, key), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        known = members[0].known is not None
        print(f"== {len(members)} refused only by {refused_by}{' (known)' if known else ''}: {key}")
        for outcome in [] if known else members[:examples]:
            print(f"   {outcome.mutant.kind}; {outcome.says}\n{outcome.mutant.text}")
    accepted = sum(outcome.theirs.output is not None for outcome in judged)
    crashed = sum(outcome.theirs.crashed for outcome in judged)
    print(f"{len(judged)} mutants; mlir-opt accepts {accepted} and crashes on {crashed}")
    unknown = sum(len(members) for members in groups.values() if members[0].known is None)
    print(f"{sum(map(len, groups.values()))} differences in {len(groups)} groups, {unknown} of them without a reason")


def garbled(seed: int, count: int) -> list[bytes]:
    """`count` programs after edits of their bytes."""
    rng = random.Random(seed)
    sources = programs()
    return [byte_mutants(rng.choice(sources), rng.getrandbits(32), 1)[0] for _ in range(count)]


def without_place(data: bytes) -> str | None:
    """What we say to a text, where that is no error of ours with a place."""
    ours = answer(data.decode(errors="replace"))
    if ours.message is None or (not ours.broken and re.match(r"<mlir>:\d+", ours.message)):
        return None
    return ours.message


def show_failures(seed: int, count: int) -> None:
    failures = [(data, said) for data in garbled(seed, count) if (said := without_place(data)) is not None]
    for data, message in failures:
        print(f"== {message}\n{data!r}")
    print(f"{count} byte strings, {len(failures)} answered without a place")


if __name__ == "__main__":
    main()
