"""The page on the environment has every variable that is read, and every flag that the compiler is given."""

import re
from pathlib import Path

import pytest

from affdsl.codegen import toolchain
from affdsl.codegen.library_functions import unknown
from affdsl.codegen.toolchain import Compiler, jit_flags
from tests.docs.pages import DOCS, ROOT

PAGE = (DOCS / "guides" / "environment.md").read_text(encoding="utf-8")
READ = re.compile(r"""["'](AFFDSL_[A-Z_]+)["']""")


def variables() -> set[str]:
    files = [file for package in ("affdsl", "passes", "codegen") for file in (ROOT / package).rglob("*.py")]
    return {name for file in files for name in READ.findall(file.read_text(encoding="utf-8"))}


def test_every_variable_is_on_the_page():
    assert {"AFFDSL_CC", "AFFDSL_CACHE_DIR"} <= variables()
    assert {name for name in variables() if f"`{name}`" not in PAGE} == set()


@pytest.mark.parametrize("everything", [True, False])
def test_every_flag_is_on_the_page(everything, monkeypatch):
    monkeypatch.setattr(toolchain, "_processor", lambda: "flags: avx512_vbmi2")
    compiler = Compiler(Path("cc"), (), "", "gcc", has_openmp=everything, has_native=everything)
    flags = {*jit_flags(compiler), "-lm"}
    assert {*unknown()} <= flags
    flags -= {*unknown()} - {"-fno-builtin-exp"}
    assert ({"-fopenmp", "-march=native"} <= flags) == everything
    assert {flag for flag in flags if f"`{flag}`" not in PAGE} == set()
