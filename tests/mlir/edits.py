"""Random small edits of a program: of its tokens, names, types, maps and lines, or of its bytes alone."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mlir.batches import SEPARATOR

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@#!^][\w$.-]+|\d+x(?=[\w?\[])|\?x|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?'
    r"|[A-Za-z_][\w$.]*|->|::|==|[<>]=|\S"
)
MAP = re.compile(r"affine_(?:map|set)<\([^<>]*(?:->|:|>=|==|[^<>])*\)>|#(?:map|set)\d*")
TYPE = re.compile(r"(?<![\w.%@#!])(?:index|none|[su]?i\d+|b?f\d+|(?:memref|vector|tensor)<[^<>]*>)(?![\w.])")
VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
NUMBER = re.compile(r"(?<![\w%@#!$.-])-?\d+(?![\w.])")
OPERATION = re.compile(
    r"(?<![\w.%@#!<\"])(?:affine|arith|func|math|memref|scf|ub|vector)\.[\w.]+|(?<=\")\w+\.[\w.]+(?=\"\()"
)
DIALECTS = re.compile(r"(?:affine|arith|func|math|memref|scf|ub|vector|test)\.")
WORD = re.compile(r"(?<![\w.%@#!])[a-z_]{2,}(?![\w.])")
SYMBOL = re.compile(r"@[\w$.]+|\^\w+")
PUNCTUATION = re.compile(r"[][(){}<>,:=]")
TYPES = (
    "index i1 i8 i32 i64 si32 ui32 f16 f32 f64 bf16 none vector<4xf32> vector<[4]xi32> vector<f32> memref<8xf32> "
    "memref<?x?xf32> memref<f32> memref<*xf32> memref<4xindex,1> tensor<4xf32> !t.thing"
).split()
MAPS = (
    "affine_map<(d0) -> (d0)>",
    "affine_map<(d0)[s0] -> (d0, s0)>",
    "affine_map<()[s0] -> (s0 * 2)>",
    "affine_map<() -> (0)>",
    "affine_map<(d0, d1) -> (d1, d0)>",
    "affine_map<(d0, d1) -> (d0 * d1)>",
    "affine_map<() -> ()>",
    "affine_set<(d0) : (d0 >= 0)>",
)
NUMBERS = "0 1 -1 2 3 7 64 -9223372036854775808 9223372036854775807 99999999999999999999 1.5 0x10".split()
CORPUS = Path(__file__).parent / "corpus"
OPERATIONS = sorted(
    {m[0] for path in CORPUS.glob("*.mlir") for m in OPERATION.finditer(path.read_text()) if DIALECTS.match(m[0])}
)

Edit = Callable[[str, random.Random], str]


@dataclass(frozen=True)
class Mutant:
    """A program with one mistake, perhaps; the kind of edit that made it."""

    kind: str
    text: str


def spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [m.span() for m in pattern.finditer(text)]


def put(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def replaced(pattern: re.Pattern[str], choices: Callable[[str], Sequence[str]]) -> Edit:
    """An edit that puts one of `choices(the whole text)` for one match of a pattern."""

    def edit(text: str, rng: random.Random) -> str:
        found, others = spans(pattern, text), choices(text)
        return put(text, rng.choice(found), rng.choice(others)) if found and others else text

    return edit


def matches(pattern: re.Pattern[str]) -> Callable[[str], list[str]]:
    return lambda text: sorted({m[0] for m in pattern.finditer(text)})


def on_tokens(change: Callable[[str, list[tuple[int, int]], int], str]) -> Edit:
    def edit(text: str, rng: random.Random) -> str:
        found = spans(TOKEN, text)
        return change(text, found, rng.randrange(len(found) - 1)) if len(found) > 1 else text

    return edit


def swap_tokens(text: str, found: list[tuple[int, int]], at: int) -> str:
    (a, b), (c, d) = found[at], found[at + 1]
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def on_lines(change: Callable[[list[str], int, int], list[str]]) -> Edit:
    def edit(text: str, rng: random.Random) -> str:
        lines = text.split("\n")
        return "\n".join(change(lines, rng.randrange(len(lines)), rng.randrange(len(lines))))

    return edit


def swap_operands(text: str, rng: random.Random) -> str:
    """Two values of one line change places."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    found = spans(VALUE, lines[at])
    if len(found) < 2:
        return text
    (a, b), (c, d) = sorted(rng.sample(found, 2))
    line = lines[at]
    lines[at] = line[:a] + line[c:d] + line[b:c] + line[a:b] + line[d:]
    return "\n".join(lines)


EDITS: dict[str, Edit] = {
    "a token is deleted": on_tokens(lambda text, found, at: put(text, found[at], "")),
    "a token is doubled": on_tokens(lambda text, found, at: put(text, found[at], 2 * (text[slice(*found[at])] + " "))),
    "two tokens are swapped": on_tokens(swap_tokens),
    "another number": replaced(NUMBER, lambda text: NUMBERS),
    "another type": replaced(TYPE, lambda text: TYPES),
    "another type of the program": replaced(TYPE, matches(TYPE)),
    "another value": replaced(VALUE, lambda text: [*matches(VALUE)(text), "%nobody"]),
    "another operation": replaced(OPERATION, lambda text: OPERATIONS),
    "another operation of the program": replaced(OPERATION, matches(OPERATION)),
    "another map": replaced(MAP, lambda text: [*matches(MAP)(text), *MAPS]),
    "another word": replaced(WORD, matches(WORD)),
    "another symbol": replaced(SYMBOL, lambda text: [*matches(SYMBOL)(text), "@nobody", "^nowhere"]),
    "other punctuation": replaced(PUNCTUATION, lambda text: list("[](){}<>,:=")),
    "operands are swapped": swap_operands,
    "a line is dropped": on_lines(lambda lines, a, b: lines[:a] + lines[a + 1 :]),
    "a line is moved": on_lines(lambda lines, a, b: moved(lines, a, b)),
    "a line is doubled": on_lines(lambda lines, a, b: [*lines[:a], lines[a], *lines[a:]]),
}


def moved(lines: list[str], source: int, target: int) -> list[str]:
    rest = lines[:source] + lines[source + 1 :]
    return [*rest[:target], lines[source], *rest[target:]]


def mutants(text: str, seed: int, count: int) -> list[Mutant]:
    """Programs that differ from a valid one by one edit; the same ones for the same seed."""
    rng = random.Random(seed)
    found: list[Mutant] = []
    for _ in range(100 * count):
        if len(found) == count:
            break
        kind = rng.choice(list(EDITS))
        changed = EDITS[kind](text, rng)
        if changed.split() != text.split() and SEPARATOR not in changed:
            found.append(Mutant(kind, changed))
    return found


def byte_mutants(text: str, seed: int, count: int) -> list[bytes]:
    """The bytes of a program after up to eight edits that know nothing of MLIR."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        data = bytearray(text.encode())
        for _ in range(rng.randint(1, 8)):
            at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
            match rng.randrange(6):
                case 0:
                    data[at:end] = b""
                case 1:
                    data[at:at] = data[at : at + rng.randrange(64)]
                case 2:
                    data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(5)))
                case 3 if data:
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
                case 4:
                    data[at:at] = rng.choice(b'(){}[]<>"%#!@^-0\\/\n\x00').to_bytes() * rng.choice((1, 2, 300))
                case _:
                    del data[at:]
        found.append(bytes(data))
    return found
