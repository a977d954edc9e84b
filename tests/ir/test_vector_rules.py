"""The rules of the vector dialect: accepted and refused is what mlir-opt accepts and refuses, but for a list."""

import re
from pathlib import Path

import pytest

from affdsl.errors import VerificationError
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.scanner import ParseError
from tests.mlir.batches import judge

MESSAGES = Path(__file__).parent.parent / "golden" / "ir" / "test_vector_rules" / "messages.txt"
OPERATIONS = [line for line in MESSAGES.read_text(encoding="utf-8").splitlines() if not line.startswith(" ")]
"""What is tried: the lines of the golden file, where a message stands below those that are refused."""

TYPES = {
    "i": "index", "p": "f32", "q": "f64", "h": "f16", "n32": "i32", "b": "i1",
    "m0": "memref<f32>", "m1": "memref<?xf32>", "m2": "memref<?x?xf32>", "m3": "memref<?x?x?xf32>",
    "mi": "memref<?xi32>", "mk": "memref<?xi1>", "mx": "memref<?xindex>", "um": "memref<*xf32>",
    "s12": "memref<1x2xf32>",
    "mT": "memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>", "mS": "memref<?x?xf32, strided<[?, 2]>>",
    "mS1": "memref<?x?xf32, strided<[?, 1]>>", "d1": "memref<?xf32, strided<[?]>>",
    "d2": "memref<?x1xf32, strided<[1, 2]>>",
    "mv": "memref<?xvector<4xf32>>", "mv8": "memref<?xvector<8xf32>>", "mv2": "memref<?xvector<2x4xf32>>",
    "v0": "vector<f32>", "v1": "vector<1xf32>", "v4": "vector<4xf32>", "v8": "vector<8xf32>", "v48": "vector<4x8xf32>",
    "v84": "vector<8x4xf32>", "v248": "vector<2x4x8xf32>", "v14": "vector<1x4xf32>", "v41": "vector<4x1xf32>",
    "x": "vector<4x4xf32>", "w4": "vector<4xf64>", "w8": "vector<4xf16>", "h4": "vector<4xf16>", "b4": "vector<4xbf16>",
    "xx": "vector<i32>", "x4": "vector<4xi32>", "x8": "vector<8xi32>", "x48": "vector<4x8xi32>", "i8": "vector<4xi8>",
    "l4": "vector<4xi64>", "j4": "vector<4xindex>", "k0": "vector<i1>", "k1": "vector<1xi1>", "k4": "vector<4xi1>",
    "k8": "vector<8xi1>", "k48": "vector<4x8xi1>", "k84": "vector<8x4xi1>",
    "sc": "vector<[4]xf32>", "sck": "vector<[4]xi1>",
}  # fmt: skip
"""The types of the values that the operations read, by name."""

STRICTER = {
    "which must be among those of": "mlir-opt counts dimensions that do not exist, or stand twice, as nothing",
    "there is no and of values of type f32": "mlir-opt looks at the kind only when it lowers the operation",
    "must have type vector<8xf32>, but has type vector<4xf32>": "mlir-opt compares ranks only",
    "has more dimensions than %m1": "nothing says where the further dimensions would lie",
    "which cannot become": "mlir-opt fails when it lowers the operation",
    "no bitcast from vector<[4]xf32> to vector<2xf64>": "mlir-opt forgets what is scalable",
    "must have type vector<[4]xf32>, but has type vector<4xf32>": "mlir-opt forgets what is scalable",
}
"""What we refuse and mlir-opt accepts: words of our message, and the reason."""


def program(operation: str) -> str:
    read = dict.fromkeys(name for name in re.findall(r"%(\w+)", operation) if name in TYPES)
    arguments = ", ".join(f"%{name}: {TYPES[name]}" for name in read)
    return f"func.func @f({arguments}) {{\n{operation}\nreturn\n}}\n"


def problem(text: str) -> str:
    """What we say against a program; nothing if it is right."""
    try:
        verify(parse(text))
    except (ParseError, VerificationError) as error:
        return str(error).split("\n")[0]
    return ""


def test_the_verdicts_are_those_of_mlir_opt():
    texts = [program(operation) for operation in OPERATIONS]
    differences, used = [], set()
    for text, verdict in zip(texts, judge(texts), strict=True):
        ours = problem(text)
        if bool(ours) == (verdict.output is None):
            continue
        known = [words for words in STRICTER if words in ours]
        used.update(known)
        if verdict.output is None or not known:
            differences.append(f"{text}\nmlir-opt: {verdict.errors}\nwe: {ours}")
    assert not differences, "\n".join(differences)
    assert used == set(STRICTER)
    assert len(texts) > 380


def test_messages(golden):
    """What is said against each operation that is refused, for people to read."""
    lines = []
    for operation in OPERATIONS:
        found = problem(program(operation))
        lines += [operation, *([f"    {found.split(': ', 1)[1]}"] if found else [])]
    golden("\n".join(lines) + "\n", MESSAGES.name)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("%r = vector.load %m2[%i, %i] : memref<?x?xf32>, vector<4xf64>",
         "vector.load: %r has type vector<4xf64>, but the elements of %m2 have type f32"),
        ("%r = vector.reduction <and>, %v4 : vector<4xf32> into f32",
         "vector.reduction: there is no and of values of type f32"),
        ("%r = vector.shuffle %v4, %v8 [0, 12] : vector<4xf32>, vector<8xf32>",
         "vector.shuffle: there is no row 12 among the 12 of %v4 and %v8"),
        ("%r = vector.extract %v48[4] : vector<8xf32> from vector<4x8xf32>",
         "vector.extract: position 4 along dimension 0 lies outside of %v48: vector<4x8xf32>"),
    ],
)  # fmt: skip
def test_a_message_names_the_values_and_the_rule(operation, message):
    assert problem(program(operation)).split(": ", 1)[1] == message
