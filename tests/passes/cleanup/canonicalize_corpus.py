"""Compares `canonicalize` with mlir-opt's, program by program: python -m tests.passes.cleanup.canonicalize_corpus."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.canonicalize import canonicalize
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.mlir.batches import judge, split

FOLDER = Path(__file__).parent / "corpus" / "canonicalize"
RANDOM = range(100)
"""The seeds of the random programs that are compared with the written ones."""
UNKNOWN = "--allow-unregistered-dialect"
_FLAGS = re.compile(r"// RUN-FLAGS: .*\n")


@dataclass(frozen=True)
class Example:
    """A program of the corpus: the file that it is from, its first function, its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Difference:
    """A program of which the two make different things, both as mlir-opt prints them."""

    example: Example
    ours: str
    theirs: str

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of operations of ours, and of theirs."""
        return size(self.ours), size(self.theirs)


def corpus(seeds: Sequence[int] = RANDOM) -> list[Example]:
    """The written programs, then the random ones of some seeds."""
    found = []
    for path in sorted(FOLDER.glob("*.mlir")):
        for chunk in split(path):
            text = _FLAGS.sub("", chunk.text)
            symbol = re.search(r"(?:func\.func|module)[^@]*@(\w+)", text)
            assert symbol is not None, f"{chunk.name} defines nothing"
            found.append(Example(f"{path.stem}:{symbol[1]}", text))
    found += [Example(f"random:{seed}", mlir(generate(seed))) for seed in seeds]
    return found


def differences(examples: list[Example]) -> list[Difference]:
    """The programs of which mlir-opt's canonicalizer makes something else than ours."""
    made = [print_op(canonicalize(parse(e.text, e.name))) for e in examples]
    ours = _settled(made, [e.name for e in examples])
    theirs = _settled(_printed([e.text for e in examples], "--canonicalize"), [e.name for e in examples])
    return [Difference(e, a, b) for e, a, b in zip(examples, ours, theirs, strict=True) if a != b]


def size(text: str) -> int:
    """The number of operations of a program."""
    return sum(1 for _ in walk(parse(text)))


def _settled(texts: list[str], names: list[str]) -> list[str]:
    """Texts as mlir-opt prints them in the end: the first time that it reads an expression it may put it in order."""
    again = _printed(_printed(texts))
    for name, text in zip(names, again, strict=True):
        assert text, f"mlir-opt refuses {name}"
    return again


def _printed(texts: list[str], *arguments: str) -> list[str]:
    """Each text as mlir-opt prints it after passes; empty where it refuses it, or crashes."""
    return [verdict.output or "" for verdict in judge(texts, UNKNOWN, *arguments)]


def main() -> int:
    """Print the share of programs on which the two agree, and each difference with both texts."""
    examples = corpus()
    found = differences(examples)
    for difference in found:
        print(
            f"--- {difference.example.name}: {difference.sizes[0]} operations here, {difference.sizes[1]} in mlir-opt"
        )
        print(f"{difference.example.text.strip()}\n\n// ours\n{difference.ours}\n// mlir-opt\n{difference.theirs}")
    equal = len(examples) - len(found)
    print(f"{equal} of {len(examples)} programs are the same, {100 * equal / len(examples):.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
