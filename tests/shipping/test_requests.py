"""What is asked of a library: names, versions, targets and folders that cannot be are refused, and the command line."""

import os
import re
import sys
from pathlib import Path

import pytest

import affdsl as af
from affdsl.cli import main
from affdsl.codegen.aot.dispatch import FEATURES, TUNING
from affdsl.codegen.aot.machine import chosen_targets
from affdsl.codegen.aot.naming import library_name, library_version, symbols, variants
from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.errors import BuildError
from affdsl.codegen.toolchain import find_compiler
from examples.ship import filters
from tests.shipping.machine import SEVERAL, X86

BAD_NAMES = [
    "", "Upper", "9lives", "with-dash", "a b", "../up", "a/b", "a;b", "$(touch x)", "${HOME}", "a\nb", "naïve", "_x",
    "x" * 61, "a.b", "lib\0",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_no_identifier_in_small_letters_is_refused(name, tmp_path):
    with pytest.raises(
        BuildError, match=f"{re.escape(f'a library cannot be called {name!r}: files')}.*as in my_kernels"
    ):
        af.build(filters.smooth, tmp_path / "out", name=name)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", ["m", "c", "math", "stdio", "install", "test", "for", "class", "complex", "exp", "gomp"]
)
def test_a_name_that_c_or_cmake_has_is_refused(name):
    with pytest.raises(BuildError, match=f"cannot be called '{name}': .*have that name; call it {name}_kernels"):
        library_name(name, python=False)


@pytest.mark.parametrize("name", ["json", "numpy", "lambda", "affdsl"])
def test_a_name_that_python_has_is_refused_for_a_wheel(name):
    assert library_name(name, python=False) == name
    with pytest.raises(BuildError, match=f"cannot be called '{name}': Python has something of that name; call it"):
        library_name(name, python=True)


@pytest.mark.parametrize("version", ["", "1.", "v1", "1.2.3.4", "01", "1.0-rc1", "1;2", '1"', "1\n", "1234567"])
def test_a_version_that_is_no_numbers_is_refused(version):
    with pytest.raises(BuildError, match=r"is one to three numbers, as in 1\.2\.0, not"):
        library_version(version)


def test_functions_have_names_of_their_own():
    assert symbols("mk_", ["café", "exp", "f32"], "mk") == ["mk_cafe", "mk_exp", "mk_f32"]
    for prefix in ("1", "a-", '"', "a b", "_x"):
        with pytest.raises(BuildError, match="with which no name of C begins: take letters, digits and _, as in mk_"):
            symbols(prefix, ["f"], "mk")
    with pytest.raises(BuildError, match="two kernels are called f: a library has one function f; give one of them"):
        symbols("", ["f", "f"], "mk")
    with pytest.raises(BuildError, match="café and cafe: a library has one function cafe; give one of them"):
        symbols("", ["café", "cafe"], "mk")
    for own in ("mk_target", "MK_API", "MK_H"):
        with pytest.raises(BuildError, match=f"the library defines {own} itself: give the kernel {own} another name"):
            symbols("", [own], "mk")
    assert variants(["f", "mk_avx2_f"], "mk", ["avx2"]) == {"avx2": ["mk_avx2_f_1", "mk_avx2_mk_avx2_f"]}


def test_targets_are_known_and_leave_out_no_cpu():
    assert [t.name for t in chosen_targets(["baseline", "sse4.2", "avx2", "avx2"])] == ["avx2", "sse4.2", "baseline"]
    assert chosen_targets(["native"])[0].name == af.native_target().name
    with pytest.raises(
        BuildError,
        match=r"there is no target 'avx3': they are native, avx512fp16, avx512vbmi, avx512vnni, avx512, avx2, sse4.2",
    ):
        chosen_targets(["avx3"])
    with pytest.raises(
        BuildError, match="the targets avx512, avx2 leave out CPUs that have none of them: name baseline"
    ):
        chosen_targets(["avx2", "avx512"])
    with pytest.raises(BuildError, match="the targets avx2, neon leave out CPUs that have none of them: name baseline"):
        chosen_targets(["avx2", "neon"])
    assert [t.name for t in chosen_targets(["neon", "sve"])] == ["sve", "neon"]
    with pytest.raises(BuildError, match="no target: name one or several of native, "):
        chosen_targets([])


def test_every_flag_of_a_target_is_asked_of_the_cpu():
    for target in TARGETS:
        if target.machine == "__x86_64__":
            assert set(target.flags) - TUNING <= FEATURES.keys()
        assert target.machine


@X86
def test_a_compiler_for_other_machines_is_refused(tmp_path):
    with pytest.raises(
        BuildError, match="makes no code for neon: it defines no __AARCH64EL__, __ARM_NEON; set CC to a"
    ):
        af.build(filters.smooth, tmp_path / "out", targets="neon")
    assert not (tmp_path / "out").exists()


@X86
def test_a_compiler_that_takes_no_such_flag_is_refused(tmp_path, monkeypatch):
    real = find_compiler().path
    poor = tmp_path / "poor"
    poor.write_text(f'#!/bin/sh\nfor word; do case "$word" in -mavx2) exit 3;; esac; done\nexec {real} "$@"\n')
    poor.chmod(0o755)
    monkeypatch.setenv("AFFDSL_CC", str(poor))
    with pytest.raises(BuildError, match=r"poor makes no code for avx2: the compiler failed \(exit status 3\)"):
        af.build(filters.smooth, tmp_path / "out", targets="avx2")


def test_a_compiler_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    real = find_compiler().path
    broken = tmp_path / "broken"
    broken.write_text(
        f'#!/bin/sh\nfor word; do case "$word" in -c) echo no more >&2; exit 4;; esac; done\nexec {real} "$@"\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("AFFDSL_CC", str(broken))
    with pytest.raises(af.AffdslError, match=r"(?s)the compiler failed \(exit status 4\).*smooth\.c.*no more"):
        af.build(filters.smooth, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BuildError, match=f"cannot write into {folder}: {tmp_path}/file is not a folder"):
            af.build(filters.smooth, folder)
    assert (tmp_path / "file").read_text() == "mine"
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(BuildError, match=f"cannot write into {tmp_path}/out: you may not write into {tmp_path}"):
            af.build(filters.smooth, tmp_path / "out")
    (tmp_path / "out" / "smooth.h").mkdir(parents=True)
    with pytest.raises(BuildError, match=r"cannot write into .*out: .*: Is a directory"):
        af.build(filters.smooth, tmp_path / "out")
    assert not list((tmp_path / "out").glob(".*"))


def test_files_of_an_earlier_build_are_replaced(tmp_path):
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "smooth.h").symlink_to("mine")
    for version in ("1.0", "2.0"):
        af.build(filters.smooth, tmp_path, version=version)
    assert (tmp_path / "mine").read_text() == "kept"
    assert '"2.0"' in (tmp_path / "smooth.h").read_text()
    assert os.readlink(tmp_path / "libsmooth.so") == "libsmooth.so.2"


def test_what_is_no_kernel_is_refused(tmp_path):
    with pytest.raises(BuildError, match=r"build takes kernels, which @affdsl\.kernel makes, got 3"):
        af.build([3], tmp_path)
    with pytest.raises(BuildError, match="build takes one kernel or several, got none"):
        af.build([], tmp_path)
    with pytest.raises(BuildError, match=r"a library of 2 kernels needs a name: name=\.\.\."):
        af.build([filters.smooth, filters.brightest], tmp_path)


def test_names_of_a_hostile_kernel_get_nowhere(tmp_path):
    N = af.symbols("N")

    @af.kernel
    def inline(HOSTILE_API: af.f32[N], HOSTILE_RESTRICT: af.f32[N], affdsl_chosen: af.f32[N], restrict: af.f32):
        """Ends */ the comment \\
        # and goes on `$(touch x)` "quoted" ${HOME} @VAR@ ??/"""
        with af.for_(N) as names:
            HOSTILE_API[names] = HOSTILE_RESTRICT[names] + affdsl_chosen[names] * restrict

    files = af.build(inline, tmp_path, name="hostile", targets=SEVERAL, python=True)
    assert {f"hostile_{SEVERAL[0]}.c", "hostile_targets.h"} <= {file.name for file in files}
    text = (tmp_path / "hostile.h").read_text()
    assert "inline_(int64_t N" in text
    assert "Ends * / the comment" in text


def test_the_command_line_builds_what_it_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels_of_mine.py").write_text(Path(filters.__file__).read_text())
    words = ["kernels_of_mine:smooth", "kernels_of_mine:brightest", "--name=mine", "--version=3", "--prefix", "mine_"]
    assert main(["build", *words, "--target=baseline", "--optimize=threads=1 contract", "--openmp=0", "-o", "out"]) == 0
    del sys.modules["kernels_of_mine"]
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.splitlines()[:3] == ["out/mine.h", "out/mine.c", "out/CMakeLists.txt"]
    assert all(Path(line).exists() for line in printed.out.splitlines())
    assert "mine_brightest(" in (tmp_path / "out" / "mine.h").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "affdsl build: needs MODULE:KERNEL, once or several times"),
        (["a:b"], "affdsl build: say where to write the library: -o out"),
        (["a.mlir", "-o", "out"], "affdsl build: a.mlir is no kernel: write MODULE:KERNEL, as in examples.gemm:gemm"),
        (["tests.shipping.kernels:produkt", "-o", "out"], "produkt is not there; did you mean 'product'?; its kernels"),
        (["nowhere.at_all:f", "-o", "out"], "affdsl build: there is no Python module nowhere: it is looked for in"),
        (["tests.shipping.kernels:mean", "-o", "out", "--name=M"], "affdsl build: a library cannot be called 'M': "),
        (["tests.shipping.kernels:mean", "-o", "out", "--target=avx9"], "affdsl build: there is no target 'avx9'"),
        (["tests.shipping.kernels:mean", "-o", "out", "--optimize=fast"], "--optimize: 'fast' is no option: they are "),
        (["tests.shipping.kernels:mean", "-o", "out", "--optimise"], "unknown command line argument '--optimise'; did"),
    ],
)  # fmt: skip
def test_mistakes_on_the_command_line(capsys, words, said):
    assert main(["build", *words]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert not Path("out").exists()


def test_help_has_every_flag(capsys):
    assert main(["build", "--help"]) == 0
    text = capsys.readouterr().out
    for flag in (
        "-o",
        "--name",
        "--version",
        "--prefix",
        "--target",
        "--targets",
        "--optimize",
        "--python",
        "--openmp",
    ):
        assert f"  {flag}" in text
