"""Names that mean something in C: each may be what a user calls an argument, an array, a loop or a kernel."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from affdsl.codegen.c import helpers, vector_helpers
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.c.helpers import helper
from affdsl.codegen.c.names import CALLED, KEYWORDS, LIBRARY, MACROS, function_identifier, identifier
from affdsl.codegen.c.unit import _ORDER as HEADERS
from affdsl.codegen.c.vector_helpers import vector_helper
from affdsl.ir.types import BF16
from tests.codegen.c.build import Builder, module
from tests.codegen.c.compare import compilers

INCLUDED = "".join(f"#include <{name}>\n" for name in HEADERS)
WORD = re.compile(r"[A-Za-z_]\w*")


def helper_names() -> list[str]:
    """Every helper, of the types that it may have."""
    named = [f"{stem}_{type}" for stem in helpers._STEMS for type in ("i1", "i8", "i24", "i32", "i64", "f32", "f64")]
    return [*helpers._FIXED, *filter(_is_made, named)]


def _is_made(name: str) -> bool:
    try:
        return bool(helper(name).text)
    except (helpers.InternalError, KeyError):
        return False


def words_of_helpers() -> set[str]:
    """All words in the helpers: what they are called and call, types, macros, keywords, functions of machines."""
    texts = [helper(name).text for name in helper_names()]
    for stem in vector_helpers._PORTABLE:
        texts += [vector_helper(stem, element, lanes).text for element, lanes in (("f32", 8), ("f32", 16), ("f64", 4))]
    return {word for text in texts for word in WORD.findall(text)}


def words_of_headers(compiler: str, folder: Path) -> set[str]:
    """The macros of the headers that emitted C includes, and the words that these declare."""
    (folder / "headers.c").write_text(INCLUDED)
    found: set[str] = set()
    for flags in (["-dM"], ["-P"]):
        command = [compiler, "-std=gnu11", "-E", *flags, "headers.c"]
        text = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
        found |= {*re.findall(r"#define (\w+)", text)} if "-dM" in flags else {*WORD.findall(text)}
    return found


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("headers")
    of_headers = set().union(*(words_of_headers(compiler, folder) for compiler in compilers()))
    return sorted(KEYWORDS | MACROS | CALLED | LIBRARY | words_of_helpers() | of_headers)


def compiled(source: str, folder: Path, *flags: str, kind: str = "c") -> None:
    """Whether both compilers take a file, in C as it is standardized and as they extend it."""
    (folder / f"file.{kind}").write_text(source)
    for compiler in compilers():
        for standard in ("-std=c11", "-std=gnu11"):
            command = [compiler, standard, "-fopenmp", "-fsyntax-only", *flags, f"file.{kind}"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:3000]}"


def test_a_kernel_called_f16_bits(words, tmp_path):
    """And every other name, beside all helpers, and in the headers of C++."""
    texts = {name: helper(name).text for name in helper_names()}
    called = sorted({function_identifier(word) for word in words})
    assert not {*called} & {*texts}
    compiled(INCLUDED + "".join(f"void {name}(void);\n" for name in called), tmp_path)


@pytest.mark.parametrize("name", ["sizes", "pointers", "symbols", "failed", "failure", "status", "f32x8", "bf16_value"])
def test_a_kernel_called_like_a_variable_of_its_entry(name, tmp_path):
    b = Builder(name)
    N = b.index("N")
    x = b.array("x", N, type=BF16)
    with b.loop("i", 0, N) as i:
        b.store(b.unary("exp", b.load(x, i.iv)), x, i.iv)
    compiled(emit_jit(module(b.func()), name), tmp_path)


def test_readable_names_that_no_helper_has_stay():
    for name in ("x_f32", "A_f64", "total_i32", "of_f32x8", "bits"):
        assert identifier(name) == name
