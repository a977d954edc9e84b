"""Programs that hold every operation, type and attribute come through our text unchanged, as mlir-opt sees them."""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.effort import TRIES_ALL
from tests.mlir.batches import GENERIC_ONLY, SEPARATOR, Chunk, Verdict, flags, judge, split
from tests.oracles import mlir_opt

HERE = Path(__file__).parent
FILES = [
    *sorted((HERE / "corpus").glob("*.mlir")),
    *sorted((HERE.parent / "soundness").glob("*.mlir")),
    *sorted((HERE / "oracles").glob("*.mlir")),
]
FORMS = ("custom", "generic")
GENERIC, PLACES = "--mlir-print-op-generic", "--mlir-print-debuginfo"
IMPLICIT = re.compile(r'^#loc = loc\(("<stdin>":-?\d+:\d+|unknown)\)$', re.M)
PLACE = re.compile(r'("<stdin>":)(\d+):')

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


def judged(texts: Sequence[tuple[Path, str]], *arguments: str) -> list[Verdict]:
    """The verdict on each text, with the flags of the file that it is from; few runs of mlir-opt for all of them."""
    found: dict[int, Verdict] = {}
    for wanted in sorted({flags(path) for path, _ in texts}):
        chosen = [k for k, (path, _) in enumerate(texts) if flags(path) == wanted]
        found |= zip(chosen, judge([texts[k][1] for k in chosen], *wanted, *arguments), strict=True)
    return [found[k] for k in range(len(texts))]


def differences(
    texts: Mapping[Path, Sequence[tuple[str, str]]], *arguments: str, locations: bool = False
) -> dict[Path, list[str]]:
    """By file, the titled texts of which our custom or generic form is another program to mlir-opt.

    Unless all is tried, texts take turns at the forms.
    """
    rows: list[tuple[Path, str, str]] = []
    ours: list[tuple[Path, str]] = []
    for path, titled in texts.items():
        for title, text in titled:
            module = parse(text, title)
            for form in FORMS if TRIES_ALL else FORMS[len(rows) % 2 :][:1]:
                rows.append((path, f"{title}, printed in {form} form", text))
                ours.append((path, print_op(module, generic=form == "generic", locations=locations)))
    given = [(path, text) for path, titled in texts.items() for _, text in titled]
    verdicts = judged([*given, *ours], *arguments)
    before = dict(zip(given, verdicts, strict=False))
    wanted = [before[path, text] for path, _, text in rows]
    found: dict[Path, list[str]] = {path: [] for path in texts}
    for (path, title, text), is_now, was in zip(rows, verdicts[len(given) :], wanted, strict=True):
        if is_now.output != was.output:
            found[path].append(f"{title}:\n{text}\nis to mlir-opt\n{shown(is_now)}\nnot\n{shown(was)}")
    return found


def shown(verdict: Verdict) -> str:
    return verdict.output or f"refused: {verdict}"


@functools.cache
def lost() -> dict[Path, list[str]]:
    texts: dict[Path, list[tuple[str, str]]] = {}
    for path in FILES:
        chunks = split(path)
        readable = [chunk for chunk in chunks if GENERIC_ONLY not in chunk.text]
        texts[path] = [(f"{chunk.name} as it is", chunk.text) for chunk in readable]
        texts[path] += [(f"{chunk.name} as mlir-opt prints it", printed()[chunk]) for chunk in readable]
        texts[path] += [(f"{chunk.name} in generic form", printed(GENERIC)[chunk]) for chunk in chunks]
    return differences(texts)


@by_file
def test_programs_come_through(path):
    assert not lost()[path]


@functools.cache
def moved() -> dict[Path, list[str]]:
    texts: dict[Path, list[tuple[str, str]]] = {}
    for path in FILES:
        chunks = split(path)
        readable = [c for c in chunks if GENERIC_ONLY not in c.text and not HIDDEN_YIELD.search(c.text)]
        texts[path] = [(f"{c.name} with locations", printed(PLACES)[c]) for c in readable]
        texts[path] += [(f"{c.name} with locations in generic form", printed(PLACES, GENERIC)[c]) for c in chunks]
    return differences(texts, PLACES, locations=True)


@by_file
def test_locations_come_through(path):
    assert not moved()[path]


@functools.cache
def placed() -> dict[Chunk, Verdict]:
    """What mlir-opt reads where we printed a program that had no locations with those that we gave it."""
    chunks = [chunk for path in FILES for chunk in split(path) if GENERIC_ONLY not in chunk.text]
    # One line down, so that no operation stands where the module would.
    ours = [print_op(parse("\n" + chunk.in_place(), "<stdin>"), locations=True) for chunk in chunks]
    return dict(
        zip(chunks, judged([(c.path, text) for c, text in zip(chunks, ours, strict=True)], PLACES), strict=True)
    )


@functools.cache
def in_files() -> dict[Chunk, str]:
    """Every program as mlir-opt prints it with the places that it has in its file; all files of some flags in a run."""
    found: dict[Chunk, str] = {}
    for wanted in sorted({flags(path) for path in FILES}):
        texts: list[str] = []
        chunks: list[tuple[Chunk, int]] = []
        above = 0
        for path in FILES:
            if flags(path) == wanted:
                # One line down, as what we print.
                texts.append("\n" + path.read_text(encoding="utf-8"))
                chunks += [(chunk, above) for chunk in split(path)]
                above += texts[-1].count("\n") + 2
        printed_now = mlir_opt(f"\n{SEPARATOR}\n".join(texts), *wanted, "--split-input-file", PLACES).split(SEPARATOR)
        for (chunk, lines), text in zip(chunks, printed_now, strict=True):
            found[chunk] = PLACE.sub(lambda place, lines=lines: f"{place[1]}{int(place[2]) - lines}:", text)
    return found


@by_file
def test_operations_know_their_places(path):
    """A program without locations gets those that mlir-opt gives it; but a module that is not written is nowhere."""
    for chunk in split(path):
        if GENERIC_ONLY not in chunk.text:
            verdict = placed()[chunk]
            assert verdict.output is not None, verdict
            assert IMPLICIT.sub("", verdict.output.strip()) == IMPLICIT.sub("", in_files()[chunk].strip())


def test_the_corpus_is_there():
    assert len(FILES) >= 50 + 51 + 30
