"""Programs that hold every operation, type and attribute come through our text unchanged, as mlir-opt sees them."""

import functools
import re
from pathlib import Path

import pytest

from affdsl.mlir.printer import print_op
from affdsl.mlir.readers import parse
from tests.mlir.batches import GENERIC_ONLY, SEPARATOR, Chunk, Verdict, flags, judge, split
from tests.oracles import mlir_opt

HERE = Path(__file__).parent
FILES = [
    *sorted((HERE / "corpus").glob("*.mlir")),
    *sorted((HERE.parent / "soundness").glob("*.mlir")),
    *sorted((HERE / "oracles").glob("*.mlir")),
]
GENERIC, PLACES = "--mlir-print-op-generic", "--mlir-print-debuginfo"
IMPLICIT = re.compile(r'^#loc = loc\(("<stdin>":\d+:\d+|unknown)\)$', re.M)

# The vector.yield at the end of vector.mask is not written. Its place is where the text that is read has the mask, also
# where all other places are given: text with places is another program each time it is read, for mlir-opt too.
HIDDEN_YIELD = re.compile(r"vector\.mask .*\{")

by_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".mlir"))


@functools.cache
def printed(*arguments: str) -> dict[Chunk, str]:
    """Every program as mlir-opt prints it."""
    found = {}
    for wanted in sorted({flags(path) for path in FILES}):
        chunks = [chunk for path in FILES if flags(path) == wanted for chunk in split(path)]
        for chunk, verdict in zip(chunks, judge([c.text for c in chunks], *wanted, *arguments), strict=True):
            assert verdict.output is not None, f"mlir-opt refuses {chunk.name}: {verdict}"
            found[chunk] = verdict.output
    return found


def differences(path: Path, texts: list[tuple[str, str]], *arguments: str, locations: bool = False) -> list[str]:
    """The titled texts of which our custom or generic form is another program to mlir-opt."""
    ours = []
    for title, text in texts:
        module = parse(text, title)
        ours += [print_op(module, locations=locations), print_op(module, generic=True, locations=locations)]
    verdicts = judge([text for _, text in texts] + ours, *flags(path), *arguments)
    wanted, got = verdicts[: len(texts)], verdicts[len(texts) :]
    titles = [f"{title}, printed in {form} form" for title, _ in texts for form in ("custom", "generic")]
    wanted = [verdict for verdict in wanted for _ in range(2)]
    return [
        f"{title}:\n{text}\nis to mlir-opt\n{shown(is_now)}\nnot\n{shown(was)}"
        for title, text, is_now, was in zip(titles, ours, got, wanted, strict=True)
        if is_now.output != was.output
    ]


def shown(verdict: Verdict) -> str:
    return verdict.output or f"refused: {verdict}"


@by_file
def test_programs_come_through(path):
    chunks = split(path)
    readable = [chunk for chunk in chunks if GENERIC_ONLY not in chunk.text]
    texts = [(f"{chunk.name} as it is", chunk.text) for chunk in readable]
    texts += [(f"{chunk.name} as mlir-opt prints it", printed()[chunk]) for chunk in readable]
    texts += [(f"{chunk.name} in generic form", printed(GENERIC)[chunk]) for chunk in chunks]
    assert not differences(path, texts)


@by_file
def test_locations_come_through(path):
    chunks = split(path)
    readable = [chunk for chunk in chunks if GENERIC_ONLY not in chunk.text and not HIDDEN_YIELD.search(chunk.text)]
    texts = [(f"{chunk.name} with locations", printed(PLACES)[chunk]) for chunk in readable]
    texts += [(f"{chunk.name} with locations in generic form", printed(PLACES, GENERIC)[chunk]) for chunk in chunks]
    assert not differences(path, texts, PLACES, locations=True)


@by_file
def test_operations_know_their_places(path):
    """A program without locations gets those that mlir-opt gives it; but a module that is not written is nowhere."""
    arguments = (*flags(path), "--split-input-file", PLACES)
    # One line down, so that no operation stands where the module would.
    wanted = mlir_opt("\n" + path.read_text(encoding="utf-8"), *arguments).split(SEPARATOR)
    found = [(c, text) for c, text in zip(split(path), wanted, strict=True) if GENERIC_ONLY not in c.text]
    ours = [print_op(parse("\n" + chunk.in_place(), "<stdin>"), locations=True) for chunk, _ in found]
    for verdict, (_, expected) in zip(judge(ours, *flags(path), PLACES), found, strict=True):
        assert verdict.output is not None, verdict
        assert IMPLICIT.sub("", verdict.output.strip()) == IMPLICIT.sub("", expected.strip())


def test_the_corpus_is_there():
    assert len(FILES) >= 50 + 51 + 30
