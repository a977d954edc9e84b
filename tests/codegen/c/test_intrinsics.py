"""What stands for the header of x86 is what the header says: gcc writes the same instructions of both."""

import re
import subprocess

from affdsl.codegen.c.intrinsics import HEADER, in_place_of_header
from affdsl.codegen.c.unit import Unit
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.codegen.targets.avx512 import AVX512
from tests.codegen.c.compare import STRICT
from tests.oracles import require

PARAMETERS = {
    "any": "const {M} *mask",
    "count": "const {M} *mask",
    "divided": "const {V} *a, {T} by, {T} first, {T} second",
    "fma": "const {V} *a, const {V} *b, const {V} *c",
    "masked_load": "const {T} *at, const {M} *mask, const {V} *otherwise",
    "masked_store": "{T} *at, const {M} *mask, const {V} *value",
    "spliced": "const {V} *a, const {V} *b",
    "stored_lanes": "{T} *at, uint64_t which, const {V} *value",
    "streamed_store": "{T} *at, uintptr_t line, const {V} *value",
}
"""The helpers that need no header, with what a function that calls them is given."""
VECTORS = ("divided", "fma", "masked_load", "spliced")
TYPES = {"f32": "float", "f64": "double", **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)}}


def functions(*, is_compiled_once):
    """A file with a function for each row of AVX-512 of these helpers."""
    unit = Unit(is_compiled_once=is_compiled_once)
    texts = []
    for stem, element, lanes in (row for row in AVX512.rows if row[0] in PARAMETERS):
        name = unit.vector_helper(stem, element, lanes)
        words = {"V": f"{element}x{lanes}", "M": f"i{element[1:]}x{lanes}", "T": TYPES[element]}
        given = PARAMETERS[stem].format_map(words)
        arguments = re.findall(r"(\w+)(?:,|$)", given)
        call = f"{name}(*a, *b, 3, {', '.join(map(str, range(3, 3 + lanes)))})"
        call = call if stem == "spliced" else f"{name}({', '.join(arguments)})"
        type, result = {"any": ("bool", "return "), "count": ("int", "return ")}.get(stem, ("void", ""))
        if stem in VECTORS:
            given, result = f"{words['V']} *found, {given}", "*found = "
        texts.append(f"{type} call_{name}({given});\n{type} call_{name}({given})\n{{\n    {result}{call};\n}}\n")
    return unit.file("\n".join(texts))


def instructions(source, folder, *flags):
    """What gcc makes of C, without the numbers of its labels."""
    (folder / "source.c").write_text(source)
    command = (require("gcc"), *STRICT, *flags, "-S", "source.c", "-o", "-")
    made = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    assert made.stderr == ""
    return re.sub(r"(?<=\.L)[A-Z]*\d+", "", made.stdout).splitlines()


def test_gcc_makes_the_same_of_what_stands_for_the_header(tmp_path):
    short, long = (functions(is_compiled_once=once) for once in (True, False))
    assert "HAS_ALL_BUILT_IN" in short
    assert "HAS_ALL_BUILT_IN" not in long
    found, wanted = (instructions(text, tmp_path, "-O1", *AVX512.flags) for text in (short, long))
    assert found == wanted
    for name in ("vmovdqu8", "vpmovb2m", "vmovntdq", "vmovups", "vmovupd", "vfmadd", "valignq", "valignd"):
        assert any(name in line for line in found), name


def test_the_header_is_not_read_where_all_is_built_in(tmp_path):
    source = functions(is_compiled_once=True)
    read = {flags: HEADER in headers(source, tmp_path, *flags) for flags in (AVX512.flags, AVX2.flags, ())}
    assert read == {AVX512.flags: False, AVX2.flags: True, (): False}


def headers(source, folder, *flags):
    """The headers that gcc reads."""
    (folder / "source.c").write_text(source)
    command = (require("gcc"), *flags, "-M", "source.c")
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_other_functions_need_the_header():
    assert in_place_of_header([("masked_load", "f32", 16)])
    assert in_place_of_header([("masked_load", "f32", 16), ("maximumf", "f32", 16)]) is None
    assert in_place_of_header([("dot_i8", "i32", 16)]) is None
    assert in_place_of_header([("ALL", "f64", 8)]) is None
    assert in_place_of_header([("loaded", "f32", 16)]) == ""
