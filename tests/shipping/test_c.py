"""A library in C: it builds as people build, shows its functions only, and runs what the CPU has, here or elsewhere."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.aot import build as aot
from affdsl.codegen.aot.machine import chosen_targets
from affdsl.codegen.aot.shipped import Library, ShippedKernel
from examples.ship import filters
from tests.oracles import require
from tests.shipping import kernels
from tests.shipping.machine import SEVERAL, X86

SHIP = Path(filters.__file__).parent
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
FLAGS = {"avx512": "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma".split(), "avx2": ["-mavx2", "-mfma"]}
PROGRAM = """
#include <filters.h>
#include <stdio.h>

int main(void)
{
    static float image[19 * 23], out[19 * 23], rows[19];
    double sum = 0.0;
    for (int k = 0; k < 19 * 23; ++k)
        image[k] = (float)(k * 17 % 101) / 7.0f;
    filters_smooth(19, 23, image, out);
    const float most = filters_brightest(19, 23, image, rows);
    for (int k = 0; k < 19 * 23; ++k)
        sum += out[k] * (double)k;
    printf("%s %a %a\\n", filters_target(), sum, (double)most);
    return 0;
}
"""


def run(*command, cwd=None, warns=False, **environment):
    """What a command prints; fails where it does, and where it says something else, unless it `warns`."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert (done.returncode, warns or done.stderr) == (0, warns or ""), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def has(target):
    """Whether this CPU has a target, by what the system says."""
    words = set(Path("/proc/cpuinfo").read_text().split()) if Path("/proc/cpuinfo").exists() else set()
    return {flag.removeprefix("-m") for flag in FLAGS[target]} <= words


@pytest.fixture(scope="module")
def program(dispatched, tmp_path_factory):
    """A program that is linked with the static library, and runs on emulated CPUs too."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "main.c").write_text(PROGRAM)
    words = [*STRICT, "-static", f"-I{dispatched}", "main.c", dispatched / "libfilters.a", "-lm", "-fopenmp"]
    # Linkers warn of a static OpenMP, which looks for others when it runs.
    run(require("gcc", ("-fopenmp",)), *words, "-o", "program", cwd=folder, warns=True)
    return folder / "program"


def test_a_shared_library_of_cmake_is_installed_with_its_version(all_kinds, tmp_path):
    cmake, _ = require("cmake"), require("make")
    settings = [f"-DCMAKE_INSTALL_PREFIX={tmp_path}/prefix", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_C_FLAGS=-Wall -Werror"]
    run(cmake, "-S", all_kinds, "-B", tmp_path / "build", *settings)
    run(cmake, "--build", tmp_path / "build", "--target", "install")
    (library,) = (tmp_path / "prefix").rglob("liball_kinds.so")
    assert os.readlink(library) == "liball_kinds.so.1"
    said = run(require("objdump"), "-p", library)
    assert re.search(r"SONAME +liball_kinds\.so\.1\n", said)
    text = (library.parent / "pkgconfig" / "all_kinds.pc").read_text()
    assert re.search(r"^prefix=\$\{pcfiledir\}/\.\.(/\.\.)+$", text, re.M)


def test_projects_build_with_pkg_config(dispatched, tmp_path):
    settings = {"PKG_CONFIG_PATH": str(dispatched)}
    words = run(require("pkg-config"), "--cflags", "--libs", "filters", **settings).split()
    static = run(require("pkg-config"), "--cflags", "--libs", "--static", "filters", **settings)
    assert run("pkg-config", "--modversion", "filters", **settings) == "1.2\n"
    c, cpp = require("gcc"), require("g++")
    run(c, *STRICT, SHIP / "c" / "main.c", *words, f"-Wl,-rpath,{dispatched}", "-o", tmp_path / "c")
    assert run(tmp_path / "c") == "filters 1.2 in C: 0 wrong\n"
    warned = ("-Wall", "-Wextra", "-Werror", "-pedantic")
    main = SHIP / "cpp" / "main.cpp"
    run(
        cpp,
        "-std=c++11",
        *warned,
        main,
        *static.replace("-lfilters", "-l:libfilters.a").split(),
        "-o",
        tmp_path / "cpp",
    )
    assert run(tmp_path / "cpp") == "filters 1.2 in C++: 0 wrong\n"


def test_only_the_functions_of_the_header_are_seen(dispatched, all_kinds):
    for folder, name, wanted in (
        (dispatched, "filters", {"filters_smooth", "filters_brightest", "filters_target"}),
        (all_kinds, "all_kinds", {kernel.name for kernel in kernels.ALL}),
    ):
        listed = run(require("nm"), "-D", "--defined-only", folder / f"lib{name}.so").splitlines()
        assert {line.split()[-1] for line in listed} == wanted
        header = (folder / f"{name}.h").read_text()
        assert set(re.findall(rf"{name.upper()}_API (?!__)[^(]*?(\w+)\(", header)) == wanted


def test_the_shared_library_has_a_name_with_its_first_number(dispatched):
    said = run(require("objdump"), "-p", dispatched / "libfilters.so")
    assert re.search(r"SONAME +libfilters\.so\.1\n", said)
    assert os.readlink(dispatched / "libfilters.so.1") == "libfilters.so.1.2"


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_all_files_compile_without_a_warning(dispatched, all_kinds, compiler):
    path = require(compiler)
    for file in [*dispatched.glob("*.c"), *all_kinds.glob("*.c")]:
        flags = FLAGS.get(file.stem.rpartition("_")[2], [])
        run(path, *STRICT, "-Wshadow", "-Wconversion", "-Wmissing-prototypes", "-O1", *flags, "-fsyntax-only", file)


def test_a_file_for_a_target_refuses_to_be_compiled_without_its_flags(dispatched):
    done = subprocess.run(
        [require("gcc"), "-fsyntax-only", dispatched / "filters_avx2.c"], capture_output=True, text=True
    )
    assert '#error "compile this file with -mavx2 -mfma"' in done.stderr


def test_each_file_has_instructions_of_its_own_target_and_of_no_wider_one(dispatched, tmp_path):
    run(shutil.which("ar") or "ar", "x", dispatched / "libfilters.a", cwd=tmp_path)
    wide = {}
    for file in tmp_path.glob("*.o"):
        text = run(require("objdump"), "-d", file)
        wide[file.stem] = {kind for kind in "xyz" if f"%{kind}mm" in text}
    assert "z" in wide["filters_avx512"]
    assert "y" in wide["filters_avx2"]
    assert "z" not in wide["filters_avx2"]
    assert not {"y", "z"} & (wide["filters_baseline"] | wide["filters"])


def test_the_best_target_that_the_cpu_has_is_chosen_or_one_that_is_asked_for(program):
    best = next((target for target in FLAGS if has(target)), "baseline")
    results = {}
    for asked in ("", *FLAGS, "baseline", "neon"):
        target, *numbers = run(program, FILTERS_TARGET=asked).split()
        results[asked] = numbers
        assert target == (asked if asked == "baseline" or (asked in FLAGS and has(asked)) else best)
    assert len(set(map(tuple, results.values()))) == 1


@pytest.mark.parametrize(("cpu", "target"), [("Nehalem", "baseline"), ("Haswell", "avx2"), ("max", "avx2")])
def test_cpus_without_the_wider_sets_run_what_they_have(program, cpu, target):
    wanted = run(program, FILTERS_TARGET="baseline").split()[1:]
    for asked in ("", "avx512"):
        command = [require("qemu-x86_64"), "-E", f"FILTERS_TARGET={asked}", "-cpu", cpu, program]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [target, *wanted]


def test_threads_that_call_first_at_the_same_time_choose_the_same(dispatched, tmp_path):
    (tmp_path / "main.c").write_text("""
#include <filters.h>
#include <pthread.h>
#include <stdio.h>

static void *first(void *out)
{
    *(const char **)out = filters_target();
    return 0;
}

int main(void)
{
    pthread_t threads[8];
    const char *found[8];
    for (int k = 0; k < 8; ++k)
        if (pthread_create(&threads[k], 0, first, &found[k]) != 0)
            return 2;
    for (int k = 0; k < 8; ++k)
        if (pthread_join(threads[k], 0) != 0)
            return 2;
    for (int k = 1; k < 8; ++k)
        if (found[k] != found[0])
            return 1;
    puts(found[0]);
    return 0;
}
""")
    compiler = require("gcc", ("-fsanitize=thread", "-fopenmp"))
    words = ["main.c", dispatched / "filters.c", dispatched / "libfilters.a", "-lm", "-pthread", "-fopenmp"]
    run(compiler, "-fsanitize=thread", f"-I{dispatched}", *words, "-o", "app", cwd=tmp_path)
    assert run(tmp_path / "app", FILTERS_TARGET="baseline") == "baseline\n"


def test_a_library_for_another_machine_runs_there(tmp_path, monkeypatch):
    compiler = require("aarch64-linux-gnu-gcc")
    emulator = require("qemu-aarch64")
    monkeypatch.delenv("AFFDSL_CC", raising=False)
    monkeypatch.setenv("CC", compiler)
    smooth = af.Schedule(filters.smooth).vectorize("j", 4).kernel()
    files = af.build(
        [smooth, filters.brightest], tmp_path / "out", name="filters", prefix="filters_", targets=["sve", "neon"],
        openmp=False, python=True,
    )  # fmt: skip
    assert "filters-0.1.0-py3-none-manylinux_2_17_aarch64.whl" in {file.name for file in files}
    (tmp_path / "main.c").write_text(PROGRAM)
    library = ["-Iout", "out/libfilters.a", "-lm"]
    run(compiler, *STRICT, "-static", "main.c", *library, "-o", "program", cwd=tmp_path)
    found = [
        run(emulator, "-cpu", cpu, "-E", f"FILTERS_TARGET={asked}", tmp_path / "program").split()
        for cpu, asked in (("max", ""), ("max", "neon"), ("cortex-a53", ""))
    ]
    assert [target for target, *_ in found] == ["sve", "neon", "neon"]
    assert found[0][1:] == found[1][1:] == found[2][1:]


@X86
def test_one_source_serves_machines_of_two_kinds(tmp_path):
    compiler, emulator = require("aarch64-linux-gnu-gcc"), require("qemu-aarch64")
    listed, targets = [filters.smooth, filters.brightest], ["avx2", "sve", "baseline"]
    af.build(listed, tmp_path, name="filters", prefix="filters_", targets=targets)
    (tmp_path / "main.c").write_text(PROGRAM)
    run(require("gcc"), *STRICT, "main.c", "libfilters.a", "-I.", "-lm", "-o", "here", cwd=tmp_path)
    target, *numbers = run(tmp_path / "here").split()
    assert target == ("avx2" if has("avx2") else "baseline")
    flags = {"filters_sve.c": ["-march=armv8.2-a+sve"]}
    for file in tmp_path.glob("*.c"):
        run(compiler, *STRICT, "-I.", *flags.get(file.name, ()), "-c", file, cwd=tmp_path)
    objects = [path.name for path in tmp_path.glob("*.o")]
    run(compiler, "-static", *objects, "-lm", "-o", "there", cwd=tmp_path)
    for cpu, wanted in (("max", "sve"), ("cortex-a53", "baseline")):
        assert run(emulator, "-cpu", cpu, tmp_path / "there").split() == [wanted, *numbers]


def test_kernels_that_share_callees_and_tables_are_in_one_file(tmp_path):
    N = af.symbols("N")
    table = np.arange(4.0)

    @af.kernel
    def weight(x: af.f64[N]):
        weights = af.constant(table)
        with af.for_(N) as i:
            x[i] *= weights[i % 4]

    @af.kernel
    def twice(x: af.f64[N]):
        weight(x)
        weight(x)

    @af.kernel
    def weight_1(x: af.f64[N]):
        weights = af.constant(table + 1)
        twice(x)
        with af.for_(N) as i:
            x[i] += weights[i % 4]

    af.build([weight, twice, weight_1], tmp_path, name="weights", targets=SEVERAL)
    compiled = ctypes.CDLL(str(tmp_path / "libweights.so"))
    for kernel in (weight, twice, weight_1):
        ours, theirs = np.arange(9.0), np.arange(9.0)
        getattr(compiled, kernel.name)(ctypes.c_int64(9), ctypes.c_void_p(ours.ctypes.data))
        kernel.interpret(theirs)
        assert ours.tolist() == theirs.tolist()


def test_a_function_says_whether_it_ran_where_one_of_its_targets_may_not(tmp_path):
    packed = af.Schedule(filters.brightest).copy("image", "i").kernel()
    shipped = ShippedKernel(
        filters.brightest.program,
        filters.brightest.check(),
        dict(zip(SEVERAL, (packed.module, filters.brightest.module), strict=True)),
    )
    targets = chosen_targets(SEVERAL)
    aot.build(Library("bright", "1", (shipped,), ("brightest",), targets), tmp_path)
    assert "int32_t brightest(" in (tmp_path / "bright.h").read_text()
    compiled = ctypes.CDLL(str(tmp_path / "libbright.so"))
    image, rows, most = np.arange(12, dtype="f4"), np.zeros(3, "f4"), np.zeros(1, "f4")
    places = [ctypes.c_void_p(array.ctypes.data) for array in (image, rows, most)]
    assert compiled.brightest(ctypes.c_int64(3), ctypes.c_int64(4), *places) == 0
    assert (rows.tolist(), most.tolist()) == ([3.0, 7.0, 11.0], [11.0])


def test_what_a_caller_must_see_to_stands_in_the_header(all_kinds):
    text = (all_kinds / "all_kinds.h").read_text()
    assert '#define ALL_KINDS_VERSION "1.2.3"\n#define ALL_KINDS_VERSION_MAJOR 1\n' in text
    about = {
        name: body for body, name in re.findall(r"/\*\n((?: \*[^\n]*\n)+?) \*/\nALL_KINDS_API [^(]*?(\w+)\(", text)
    }
    about = {name: " ".join(body.replace(" *", "").split()) for name, body in about.items()}
    assert "The product of two matrices. M int64_t, a size: at least 0" in about["product"]
    assert "row-major and contiguous; one that is written overlaps no other." in about["product"]
    assert (
        "A[i + 1] (kernels.py:49) stays in its array: it is in bounds only where N > M or M == 0." in about["shifted"]
    )
    assert "Requires N - 1 >= 0." in about["halves"]
    assert "Requires times between -" in about["scaled"]
    assert "x_stride_0 int64_t, the stride of x along dimension 0, in elements" in about["scaled"]
    assert "Trusts" not in about["gathered"]
    assert "failure[0] is the number of its check" in about["gathered"]
    assert " *    2  kernels.py:55: values[places[i]]\n" in text
