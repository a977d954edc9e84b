"""The assembly of a kernel's loops: what the compiler writes, each instruction with the right line of the user."""

import linecache
import platform
import re
from types import SimpleNamespace

import pytest

import affdsl as af
from affdsl.codegen.assembly_loops import loops
from affdsl.codegen.c.origins import Origins
from affdsl.codegen.cache import default_cache
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.jit import jit_source
from affdsl.codegen.toolchain import assembly
from affdsl.errors import ProgramNameError
from affdsl.seeing.assembly import _compiled as compiled
from examples.gemm import gemm
from examples.softmax import softmax
from examples.unsharp_sobel import unsharp
from tests.oracles import require

M, N = af.symbols("M N")
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="it looks for instructions of x86")


@af.kernel
def steps(x: af.f64[N], y: af.f64[N], z: af.f64[N]):
    with af.for_(N) as i:
        x[i] = af.sqrt(y[i])
        y[i] = x[i] / z[i]
        z[i] = (
            z[i]
            - x[i] * 3.0
        )  # fmt: skip


@af.kernel
def unrolled(x: af.f64[N, 3]):
    with af.for_(N) as i, af.for_(3) as c:
        x[i, c] = x[i, c] * 2.0


@af.kernel
def roots(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] += af.sqrt(x[i])


@af.kernel
def twice(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as t:  # noqa: F841 - it is called t
        roots(x, y)


@af.kernel
def column_blur(image: af.f32[M, N], out: af.f32[M, N]):
    with af.for_(2, M - 2) as i, af.for_(N) as j:
        above, below = image[i - 2, j] + image[i - 1, j] * 4, image[i + 1, j] * 4 + image[i + 2, j]
        out[i, j] = (above + image[i, j] * 6 + below) * 0.0625


@pytest.fixture(params=["gcc", "clang-22"])
def compiler(request, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", require(request.param))
    return default_cache().compiler()


def lines_of(shown, pattern):
    """The user's lines that some instructions are said to be of; gcc says none for some in copies of a body."""
    return {
        linecache.getline(line.location.file, line.location.line).strip()
        for loop in shown.loops
        for line in loop.lines
        if line.kind == "instruction" and re.match(pattern, line.text) and line.location is not None
    }


def plain_instructions(text):
    """The instructions of assembly that was written without lines, by function."""
    found, name = {}, None
    functions = set(re.findall(r"\.type\s+([\w.]+)\s*,\s*[@%]function", text))
    for line in text.splitlines():
        if (label := re.match(r"([\w.]+):", line)) and label[1] in functions:
            name = found.setdefault(label[1], [])
        elif re.match(r"\s*\.size", line):
            name = None
        elif name is not None and (instruction := re.match(r"\s+([^.#\s].*)", line)):
            name.append(spaced(instruction[1]))
    return found


def spaced(instruction):
    """An instruction with single spaces, and without remarks and numbers of data of clang."""
    return re.sub(r"unnamed_\d+", "unnamed", " ".join(instruction.partition(" #")[0].split()))


@X86
def test_instructions_are_of_the_line_that_asks_for_them(compiler):
    shown = steps.asm()
    assert lines_of(shown, r"v?sqrt[sp]d") == {"x[i] = af.sqrt(y[i])"}
    assert lines_of(shown, r"v?div[sp]d") == {"y[i] = x[i] / z[i]"}
    assert lines_of(shown, r"v?mul[sp]d") == {"z[i] = ("}
    for loop in shown.loops:
        for line in loop.lines:
            if line.kind == "instruction" and re.match(r"v?(sqrt|div|mul)[sp]d", line.text):
                assert shown.c.split("\n")[line.c_line - 1].strip() == {
                    "s": "x[i] = sqrt(y[i]);", "d": "y[i] = x[i] / z[i];", "m": "z[i] -= x[i] * 3.0;",
                }[line.text.removeprefix("v")[0]]  # fmt: skip


@X86
@pytest.mark.parametrize(("target", "lanes", "register"), [("avx2", 8, "ymm"), ("avx512", 16, "zmm")])
def test_a_vector_that_several_operations_read_is_loaded_once(target, lanes, register, compiler):
    """3 rows of a blur read 7 rows of the image; gcc would load some of these for each operation that reads them."""
    s = af.Schedule(column_blur).unroll_jam("i", 3).vectorize("j", lanes)
    shown = s.kernel().asm(target=target)
    vectors = next(
        found for loop in shown.loops if (found := [line.text for line in loop.lines if register in line.text])
    )
    operands = [text for text in vectors if "(" in text]
    stores = [text for text in operands if text.endswith(")")]
    assert (len(operands) - len(stores), len(stores)) == (7, 3)


@X86
def test_what_an_inlined_helper_does_is_of_the_line_that_calls_it(compiler):
    s = af.Schedule(roots).vectorize("i", 4, tail="masked")
    shown = s.kernel().asm(target="avx2")
    assert "masked_load" in shown.c
    assert lines_of(shown, r"vmask?movp?d?|vsqrtpd") <= {"y[i] += af.sqrt(x[i])"}
    assert lines_of(shown, r"vsqrtpd") == {"y[i] += af.sqrt(x[i])"}


@pytest.mark.parametrize("how", ["plain", "vectors and threads"])
def test_it_is_what_the_compiler_writes_for_a_call(how, compiler):
    kernel = softmax if how == "plain" else af.Schedule(gemm).vectorize("j#2", 8).kernel()
    origins = Origins()
    source, flags = jit_source(kernel.program, kernel.check(), compiler, origins=origins)
    assert source == jit_source(kernel.program, kernel.check(), compiler)[0]
    lines = source.split("\n")
    stores = [n for n, ops in origins.lines.items() if ops[-1].name == "affine.store"]
    assert stores
    assert all("=" in "".join(lines[n - 1 : n + 3]) for n in stores)

    plain = plain_instructions(assembly(compiler, source, flags))
    found = compiled(compiler, source, flags)
    shown = {f.name: [spaced(i.text) for i in f.items if not isinstance(i, str)] for f in found}
    assert shown == plain
    for each in found:
        for loop in loops(each):
            labels = {item for item in each.items if isinstance(item, str)}
            assert loop.back
            assert all(set(jump.labels()) & labels or jump.mnemonic in ("jmp", "notrack") for jump in loop.back)


def test_loops_come_innermost_first_and_have_the_names_of_the_kernel(compiler):
    shown = gemm.asm()
    names = [loop.name for loop in shown.loops]
    assert set(names) == {"i", "j#1", "k", "j#2"}
    depths = [len(loop.around) for loop in shown.loops]
    assert depths == sorted(depths, reverse=True)
    assert {(loop.name, loop.around) for loop in shown.loops} == {
        ("i", ()), ("j#1", ("i",)), ("k", ("i",)), ("j#2", ("i", "k")),
    }  # fmt: skip
    outer = next(loop for loop in shown.loops if loop.name == "i")
    assert [line.text for line in outer.lines if line.kind == "loop" and "loop k" in line.text]
    for loop in shown.loops:
        assert f"loop {loop.name}" in shown
        assert loop.location.file.endswith("gemm.py")
        inner = any(line.kind == "loop" for line in loop.lines)
        labels = {line.text.rstrip(":") for line in loop.lines if line.kind == "label"}
        assert inner or any(set(re.findall(r"\.L\w+", text)) & labels for text in loop.instructions)


def test_a_loop_of_which_two_iterations_run_at_once_is_not_inside_of_itself(compiler):
    """gcc runs two iterations of k at once, so that what is left of j has no instruction that counts."""

    @af.kernel
    def product(A: af.f32[M, N], B: af.f32[N, N], C: af.f32[M, N]):
        with af.for_(M) as i, af.for_(N) as k, af.for_(N) as j:
            C[i, j] += A[i, k] * B[k, j]

    loops = product.asm().loops
    assert {(loop.name, loop.around) for loop in loops} == {("i", ()), ("k", ("i",)), ("j", ("i", "k"))}
    for loop in loops:
        inside = [line.text.split()[2].rstrip(",") for line in loop.lines if line.kind == "loop"]
        assert loop.name not in inside
        assert set(inside) <= {"i": {"k"}, "k": {"j"}, "j": set()}[loop.name]


def test_one_loop_can_be_asked_for():
    shown = gemm.asm(loop="j#2")
    assert {loop.name for loop in shown.loops} == {"j#2"}
    assert str(gemm.asm(loop="%j#2")) == str(shown)
    assert "C[i, j] += alpha * A[i, k] * B[k, j]" in shown
    assert "C[i * N + j] += alpha * A[i * K + k] * B[k * N + j];" in shown
    assert shown.missing == ()


def test_a_loop_that_the_compiler_unrolled_is_shown_where_it_went():
    shown = unrolled.asm()
    assert shown.missing == ("c",)
    assert {loop.name for loop in shown.loops} == {"i"}
    assert "c is no loop of the assembly: it is unrolled, done at once, or part of another loop" in shown
    asked = unrolled.asm(loop="c")
    assert {loop.name for loop in asked.loops} == {"i"}
    assert "x[i, c] = x[i, c] * 2.0" in asked


def test_loops_of_called_kernels_are_named_after_them():
    inlined = {(loop.name, loop.around) for loop in twice.asm().loops}
    assert ("roots: i", ("t",)) in inlined
    assert ("t", ()) in inlined
    names = {loop.name for loop in unsharp.asm().loops}
    assert {"blur: i", "blur: j#2", "j"} <= names
    assert {loop.name for loop in unsharp.asm(loop="blur: j#2").loops} == {"blur: j#2"}


def test_another_processor(monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", require("aarch64-linux-gnu-gcc"))
    shown = gemm.asm(loop="j#2", target="neon")
    assert any("fmul" in text and ".4s" in text for loop in shown.loops for text in loop.instructions)
    assert {loop.name for loop in shown.loops} == {"j#2"}
    with pytest.raises(ToolchainError, match="does not compile for avx2"):
        gemm.asm(target="avx2")


@X86
def test_an_instruction_set():
    assert "zmm" not in gemm.asm(target="avx2")
    assert "ymm" in gemm.asm(target="avx2")
    assert "ymm" not in gemm.asm(target="sse4.2")
    assert str(gemm.asm(target="native")) == str(gemm.asm())
    with pytest.raises(ToolchainError, match=r"does not compile for neon: .*; set AFFDSL_CC to a compiler that does"):
        gemm.asm(target="neon")


@pytest.mark.parametrize(
    ("options", "says"),
    [({"loop": "q"}, "gemm has no loop q\n    its loops are i, j#1, k, j#2"),
     ({"loop": "j#3"}, "gemm has no loop j#3; did you mean 'j#"),
     ({"loop": "j"}, '2 loops of gemm are called j\n    write "j#1" or "j#2"'),
     ({"loop": 3}, "a loop is given by its name, got 3"),
     ({"target": "avx3"}, "there is no target 'avx3'; did you mean 'avx2'?\n    they are native, avx512fp16"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused(options, says):
    with pytest.raises(ProgramNameError) as caught:
        gemm.asm(**options)
    assert says in str(caught.value)
    assert str(caught.value).startswith("tests/seeing/test_assembly.py:")


def test_a_kernel_without_loops_has_none_to_show():
    @af.kernel
    def one(x: af.f64[1]):
        x[0] = 1.0

    assert one.asm().loops == ()
    assert one.asm().startswith("one: 0 loops")
    with pytest.raises(ProgramNameError, match="one has no loop i\n    it has none"):
        one.asm(loop="i")


def test_notebooks_show_it_as_text():
    text = []
    gemm.asm(loop="k")._repr_pretty_(SimpleNamespace(text=text.append), False)
    assert text == [str(gemm.asm(loop="k"))]


def test_lines_of_c_have_the_line_of_the_user_that_they_were_written_for():
    shown = roots.asm()
    first = roots.func.location.line
    of = {text.strip(): shown.c_locations.get(n) for n, text in enumerate(shown.c.split("\n"), 1)}
    assert {where.line for text, where in of.items() if "sqrt(" in text and where} == {first + 2}
    assert [where.line for text, where in of.items() if text.startswith("for (") and where] == [first + 1]
    assert of["#include <stdint.h>"] is None
