"""What a C file refuses: wider floats, and vector registers of another length, on emulated machines of all lengths."""

import ctypes
import platform
import subprocess
import zipfile
from pathlib import Path

import pytest

import affdsl as af
from affdsl.codegen import toolchain
from affdsl.codegen.aot import calling
from affdsl.codegen.c.refusals import MISFIT, NARROW_FLOATS, asked, fits, stops
from affdsl.codegen.cache import Cache
from tests.effort import TRIES_ALL
from tests.harness.batch import STRICT
from tests.oracles import compile_c, require

N = af.symbols("N")


@af.kernel
def twice(x: af.f32[N]):
    with af.for_(N) as i:
        x[i] *= 2.0


MAIN = '#include <stdio.h>\n\nint main(void)\n{\n    puts("runs");\n    return 0;\n}\n'
ASKING = """\
#include <stdio.h>

int main(void)
{
    int32_t bits[2] = {0, 0};
    const int32_t said = affdsl_misfit(bits);
    printf("%d %d %d\\n", (int)said, (int)bits[0], (int)bits[1]);
    return 0;
}
"""
HAS = """\
#include <stdio.h>

int some_fits(void);

int main(void)
{
    printf("%d\\n", some_fits());
    return 0;
}
"""
SVE = {bits: ("qemu-aarch64", "-cpu", f"max,sve-default-vector-length={bits // 8}") for bits in (128, 256, 512)}
RVV = {bits: ("qemu-riscv64", "-cpu", f"rv64,v=true,vext_spec=v1.0,vlen={bits}") for bits in (128, 256, 512)}
ARM = ("aarch64-linux-gnu-gcc", "-march=armv8.2-a+sve")
RISCV = ("clang-22", "--target=riscv64-linux-gnu")
WAYS = {
    "any SVE": (ARM, (), SVE, ()),
    "SVE of 256 bits": ((*ARM, "-msve-vector-bits=256"), (128, 512), SVE, (256,)),
    "any RVV": ((*RISCV, "-march=rv64gcv"), (), RVV, ()),
    "RVV of 256 bits": ((*RISCV, "-march=rv64gcv", "-mrvv-vector-bits=256"), (128, 512), RVV, (256,)),
    "RVV of 256 bits or more": ((*RISCV, "-march=rv64gcv_zvl256b"), (128,), RVV, (256, 512)),
}
"""What a compiler is told, the lengths that are refused, the machines, and the lengths that fit what was told."""


def run(way, text, machine, tmp_path):
    """What a program writes, and its exit status."""
    compiler, *flags = way
    (tmp_path / "main.c").write_text(text)
    made = [require(compiler), "-static", *STRICT, *flags, "main.c", "-o", "main"]
    subprocess.run(made, cwd=tmp_path, check=True)
    command = [require(machine[0]), *machine[1:], "./main"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


CASES = [(name, bits) for name, (_, _, machines, _) in WAYS.items() for bits in machines]


@pytest.mark.parametrize(("name", "bits"), CASES if TRIES_ALL else CASES[3::4])
def test_registers_of_another_length_are_refused(name, bits, tmp_path):
    way, refused, machines, _ = WAYS[name]
    done = run(way, f"#include <stdint.h>\n{MAIN}{stops('some')}", machines[bits], tmp_path)
    if bits in refused:
        assert done.stderr.startswith(
            f"some was compiled for vector registers of 256 bits, and those here have {bits}\n"
        )
        assert (done.returncode != 0, done.stdout) == (True, "")
    else:
        assert (done.returncode, done.stdout, done.stderr) == (0, "runs\n", "")


@pytest.mark.parametrize(("name", "bits"), [c for c in CASES if not c[0].startswith("any")][:: 1 if TRIES_ALL else 5])
def test_python_asks(name, bits, tmp_path):
    way, refused, machines, _ = WAYS[name]
    done = run(way, f"#include <stdint.h>\n{asked()}{ASKING}", machines[bits], tmp_path)
    assert done.stdout == f"{int(bits in refused)} 256 {bits}\n"


@pytest.mark.parametrize(("name", "bits"), CASES if TRIES_ALL else CASES[1::7])
def test_one_of_several_targets_is_asked(name, bits, tmp_path):
    way, refused, machines, _ = WAYS[name]
    done = run(way, f"#include <stdint.h>\n{HAS}{fits('some_fits')}", machines[bits], tmp_path)
    assert done.stdout == f"{int(bits not in refused)}\n"


FAKE = f"""\
#include <stdint.h>

int32_t {MISFIT}(int32_t *bits);

int32_t {MISFIT}(int32_t *bits)
{{
    bits[0] = 512;
    bits[1] = 256;
    return 1;
}}
"""
"""A library as one for longer registers is where it is loaded."""


def test_a_wheel_says_what_does_not_fit():
    library = compile_c({"fake.c": FAKE})
    with pytest.raises(ImportError) as error:
        calling.loaded(library)
    assert str(error.value) == (
        "the compiled library lib.so is for vector registers of 512 bits, and those here have 256: install a wheel "
        "that was built for these, or for any length"
    )


def test_a_call_says_what_does_not_fit(tmp_path):
    folder = tmp_path / "cache"
    cache = Cache(folder)
    compiler = cache.compiler()
    with pytest.raises(af.ToolchainError) as error:
        cache.library(compiler, FAKE, ("-shared", "-fPIC"))
    said = str(error.value)
    assert said.startswith(str(compiler.path))
    assert "compiles for vector registers of 512 bits, and those here have 256: results would be wrong; tell it" in said


def test_a_library_that_fits_is_loaded():
    text = FAKE.replace("return 1", "return 0")
    assert isinstance(calling.loaded(compile_c({"fake.c": text})), ctypes.CDLL)


def test_libraries_have_the_check_where_registers_have_lengths(tmp_path):
    af.build(twice, tmp_path / "any", name="some")
    af.build(twice, tmp_path / "x86", name="some", targets="sse4.2")
    any, x86 = ((tmp_path / folder / "some.c").read_text() for folder in ("any", "x86"))
    assert any.endswith(stops("some"))
    assert "affdsl_lengths" not in x86


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another machine has no x87")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_wider_floats_are_refused(level, tmp_path):
    text = twice.c()
    assert NARROW_FLOATS in text
    (tmp_path / "twice.c").write_text(text)
    command = [require("gcc"), "-m32", "-std=c11", "-ffreestanding", level, "-c", "twice.c"]
    wide = subprocess.run([*command, "-mfpmath=387"], cwd=tmp_path, capture_output=True, text=True)
    assert '#error "floats would be computed in wider ones: compile with -fexcess-precision=fast' in wide.stderr
    narrow = subprocess.run([*command, "-msse2", "-mfpmath=sse"], cwd=tmp_path, capture_output=True, text=True)
    assert (narrow.returncode, narrow.stderr) == (0, "")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another machine has other flags")
@pytest.mark.parametrize("standard", [(), ("-std=c11",)])
def test_processors_that_compute_floats_of_16_bits_are_not(standard, tmp_path):
    (tmp_path / "twice.c").write_text(twice.c())
    command = [require("gcc"), "-march=sapphirerapids", *standard, "-ffp-contract=off", "-Wall", "-Werror", "-c"]
    done = subprocess.run([*command, "twice.c"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_gcc_is_told_so_for_calls():
    gcc = toolchain.Compiler(require("gcc"), (), "", "gcc", has_openmp=False, has_native=False)
    assert "-fexcess-precision=fast" in toolchain.jit_flags(gcc)


USER = """\
#include <stdio.h>
#include "some.h"

int main(void)
{
    float x[40];
    for (int k = 0; k < 40; ++k)
        x[k] = (float)k;
    twice(40, x);
    printf("TARGET%g %g\\n", (double)x[1], (double)x[39]);
    return 0;
}
"""


def used(folder, bits, target=""):
    """What a program writes that is linked with the shared library of a folder, on a machine with SVE of some bits."""
    text = USER.replace("TARGET", "%s ").replace('\\n",', f'\\n", {target},') if target else USER.replace("TARGET", "")
    (folder / "main.c").write_text(text)
    compiler = Path(require("aarch64-linux-gnu-gcc"))
    subprocess.run([compiler, "main.c", "-L.", "-lsome", "-Wl,-rpath,.", "-o", "main"], cwd=folder, check=True)
    system = str(compiler.parents[1] / "aarch64-linux-gnu")
    command = [require(SVE[bits][0]), *SVE[bits][1:], "-L", system, "./main"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def built(tmp_path, monkeypatch, flags, **options):
    """A library of a compiler that was told a length of registers."""
    monkeypatch.setenv("CC", f"{require('aarch64-linux-gnu-gcc')} {flags}")
    monkeypatch.delenv("AFFDSL_CC", raising=False)
    af.build(twice, tmp_path, name="some", openmp=False, **options)
    return tmp_path


def test_a_library_for_another_length_ends_the_process_and_its_wheel_does_not(tmp_path, monkeypatch):
    folder = built(tmp_path, monkeypatch, "-march=armv8.2-a+sve -msve-vector-bits=256", python=True)
    right, wrong = used(folder, 256), used(folder, 512)
    assert (right.returncode, right.stdout) == (0, "2 78\n")
    assert "some was compiled for vector registers of 256 bits, and those here have 512\n" in wrong.stderr
    assert (wrong.returncode != 0, wrong.stdout) == (True, "")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".so")]
        shared = archive.read(name)
    asked, said = MISFIT.encode() + b"\0", b"was compiled for vector registers of"
    assert (asked in shared, said in shared) == (True, False)
    own = (folder / "libsome.so").read_bytes()
    assert (asked in own, said in own) == (False, True)


def test_of_several_targets_one_whose_length_fits_is_taken(tmp_path, monkeypatch):
    folder = built(tmp_path, monkeypatch, "-msve-vector-bits=256", targets=["sve", "neon"])
    said = {bits: used(folder, bits, "some_target()").stdout for bits in SVE}
    assert said == {128: "neon 2 78\n", 256: "sve 2 78\n", 512: "neon 2 78\n"}
