"""The compiler is found, identified, limited, and its failures are shown whole."""

import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from affdsl.codegen import background, processes, toolchain
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.toolchain import Command, compile_shared, find_compiler, identify, jit_flags, machine

SHARED = ("-std=c11", "-fPIC", "-shared")
GOOD = "int answer(void);\nint answer(void) { return 42; }\n"


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def compiler() -> toolchain.Compiler:
    return identify(find_compiler())


def test_the_variables_come_first_and_may_hold_quoted_arguments(tmp_path: Path) -> None:
    mine = script(tmp_path / "my cc", "exit 0")
    environment = {"AFFDSL_CC": f"'{mine}' -B 'a b' \"-DX=;\"", "CC": "/nowhere", "PATH": "/usr/bin:/bin"}
    assert find_compiler(environment) == Command(mine, ("-B", "a b", "-DX=;"))
    assert find_compiler({"CC": f"'{mine}'", "AFFDSL_CC": " "}) == Command(mine)


def test_candidates_are_tried_in_order_and_never_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clang = script(tmp_path / "clang", "exit 0")
    here = tmp_path / "here"
    here.mkdir()
    script(here / "gcc", "exit 0")
    monkeypatch.chdir(here)
    assert find_compiler({"PATH": f".::{tmp_path}"}) == Command(clang)


def test_a_missing_compiler_is_named_with_all_that_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "zig", lambda: None)
    with pytest.raises(ToolchainError, match="no C compiler") as caught:
        find_compiler({"PATH": str(tmp_path)})
    message = str(caught.value)
    for part in ("$AFFDSL_CC", "$CC", "gcc, clang, cc", str(tmp_path), "install gcc or clang", "set AFFDSL_CC"):
        assert part in message
    assert "the package ziglang is not installed" in message
    assert "run pip install 'affdsl[zig]', which brings a compiler" in message


def ziglang(folder: Path, text: str) -> Path:
    """A folder with a package ziglang, whose program zig is a shell script."""
    (folder / "ziglang").mkdir(parents=True)
    (folder / "ziglang" / "__init__.py").write_text("raise AssertionError('it is found, and not imported')")
    script(folder / "ziglang" / "zig", text)
    return folder


def test_the_compiler_of_the_package_ziglang_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ziglang(tmp_path / "site", f'shift; exec {find_compiler().path} "$@"')
    monkeypatch.syspath_prepend(folder)
    found = find_compiler({"PATH": str(tmp_path)})
    assert found == Command(folder / "ziglang" / "zig", ("cc",))
    clang = script(tmp_path / "clang", "exit 0")
    assert find_compiler({"PATH": str(tmp_path)}) == Command(clang)
    zig = toolchain.Compiler(found.path, found.arguments, "zig", "clang", has_openmp=False, has_native=False)
    assert b"answer" in compile_shared(zig, GOOD, SHARED)
    assert zig.portable_flags == ("-mcpu=baseline",)
    assert toolchain._archiver(zig, tmp_path) == (str(found.path), "ar")
    other = replace(zig, path=Path("/bin/python"), arguments=("-m", "ziglang", "cc", "-target", "aarch64-linux-gnu"))
    assert toolchain._archiver(other, tmp_path) == ("/bin/python", "-m", "ziglang", "ar")


def test_a_ziglang_of_the_working_directory_or_without_its_program_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ziglang(tmp_path / "here", "exit 0"))
    (ziglang(tmp_path / "site", "exit 0") / "ziglang" / "zig").chmod(0o644)
    for folders in ([str(tmp_path / "here"), ""], [str(tmp_path / "site")]):
        monkeypatch.setattr(toolchain.sys, "path", folders)
        assert toolchain.zig() is None


def test_zig_keeps_its_c_library_where_it_always_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ZIG_GLOBAL_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert toolchain._zig_cache(("/bin/zig", "cc"), tmp_path) == {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path)}
    monkeypatch.setenv("HOME", "/home/me")
    assert toolchain._zig_cache(("/bin/zig", "cc"), tmp_path) == {"HOME": "/home/me"}
    assert toolchain._zig_cache(("/bin/gcc",), tmp_path) == {}


def test_openmp_without_its_library_is_none(tmp_path: Path) -> None:
    real = find_compiler().path
    text = f"""case "$*" in *-fopenmp*)
        for word; do case "$word" in -Wl,*) asked="$asked $word";; esac; done
        {real} -fPIC -fopenmp -c kernel.c -o kernel.o && exec {real} -shared kernel.o -o kernel.so $asked;;
    esac
    exec {real} "$@\""""
    assert not identify(Command(script(tmp_path / "without", text))).has_openmp


def test_a_static_library_needs_an_archiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = fake(script(tmp_path / "odd", "echo no-such-ar"))
    with pytest.raises(ToolchainError, match=r"no archiver: .* made by no-such-ar, which is not on PATH .*binutils"):
        toolchain._archiver(odd, tmp_path)


@pytest.mark.parametrize("text", ["no-such-compiler -O2", "./gcc", "/nowhere/gcc", "''"])
def test_a_variable_that_names_no_program_is_an_error(text: str) -> None:
    with pytest.raises(ToolchainError, match=r"\$AFFDSL_CC is .*but there is no program .*set it to the path"):
        find_compiler({"AFFDSL_CC": text, "PATH": os.environ["PATH"]})


def test_a_variable_with_an_open_quote_is_an_error() -> None:
    with pytest.raises(ToolchainError, match=r"\$CC is .*which is not a command: No closing quotation"):
        find_compiler({"CC": "gcc 'open"})


def test_no_shell_reads_the_variable(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    command = find_compiler(
        {"AFFDSL_CC": f"{find_compiler().path} ; touch {victim} $(touch {victim}) `touch {victim}`"}
    )
    assert command.arguments[:3] == (";", "touch", str(victim))
    with pytest.raises(ToolchainError, match="';' touch"):
        compile_shared(identify(command), GOOD, SHARED)
    assert not victim.exists()


def test_identity_holds_version_path_and_arguments(compiler: toolchain.Compiler) -> None:
    other = identify(Command(compiler.path, ("-DX",)))
    assert os.path.realpath(compiler.path) in compiler.identity
    assert other.identity != compiler.identity
    assert compiler.kind in ("gcc", "clang")


def test_fingerprint_changes_when_a_program_of_the_command_does(tmp_path: Path) -> None:
    wrapper, real = script(tmp_path / "wrapper", 'exec "$@"'), script(tmp_path / "real", "exit 0")
    command = Command(wrapper, (str(real), "-O2"))
    before = command.fingerprint()
    assert command.fingerprint() == before
    script(real, "exit 0  # longer")
    assert command.fingerprint() != before


def test_a_program_that_is_no_c_compiler_is_refused(tmp_path: Path) -> None:
    fake = script(tmp_path / "fake", "echo the tiny compiler 1.0")
    with pytest.raises(ToolchainError, match=r"fake --version names neither gcc nor clang but 'the tiny compiler 1.0'"):
        identify(Command(fake))


def test_openmp_and_native_are_absent_where_the_compiler_refuses_them(tmp_path: Path) -> None:
    real = find_compiler().path
    text = f'for word; do case "$word" in -fopenmp|-march=*) exit 1;; esac; done\nexec {real} "$@"'
    poor = identify(Command(script(tmp_path / "poor", text)))
    assert not poor.has_openmp
    assert not poor.has_native
    assert not {"-fopenmp", "-march=native"} & set(jit_flags(poor))


def test_jit_flags_keep_floating_point_strict(compiler: toolchain.Compiler) -> None:
    flags = jit_flags(compiler)
    assert "-ffp-contract=off" in flags
    assert not {"-Ofast", "-ffast-math", "-fassociative-math", "-funsafe-math-optimizations"} & set(flags)
    assert ("-fopenmp" in flags) == compiler.has_openmp


def test_jit_flags_are_known_to_the_compiler(compiler: toolchain.Compiler) -> None:
    assert ("-fno-split-loops" in jit_flags(compiler)) == (compiler.kind == "gcc")
    assert ("--param=iv-max-considered-uses=50" in jit_flags(compiler)) == (compiler.kind == "gcc")
    assert ("-funroll-loops" in jit_flags(compiler)) == (compiler.kind == "gcc")
    assert compile_shared(compiler, GOOD, (*jit_flags(compiler), "-Werror"))


@pytest.mark.parametrize(("facts", "wide"), [("flags: avx512f avx512_vbmi2\n", True), ("flags: avx512f\n", False)])
def test_jit_flags_ask_for_full_width_where_it_costs_no_clock(
    compiler: toolchain.Compiler, monkeypatch: pytest.MonkeyPatch, facts: str, wide: bool
) -> None:
    monkeypatch.setattr(toolchain, "_processor", lambda: facts)
    assert ("-mprefer-vector-width=512" in jit_flags(compiler)) == (wide and compiler.has_native)
    assert "-mprefer-vector-width=512" not in jit_flags(replace(compiler, has_native=False))


def test_a_library_comes_back_as_bytes_and_is_reproducible(compiler: toolchain.Compiler) -> None:
    image = compile_shared(compiler, GOOD, SHARED)
    assert image == compile_shared(compiler, GOOD, SHARED)
    assert b"answer" in image


def test_a_failing_compile_shows_the_command_and_stderr(compiler: toolchain.Compiler) -> None:
    with pytest.raises(ToolchainError, match="exit status 1") as caught:
        compile_shared(compiler, "int f(void) { return undeclared_name; }\n", (*SHARED, "-DTEXT=a b"))
    message = str(caught.value)
    assert f"{compiler.path} -std=c11 -fPIC -shared '-DTEXT=a b' kernel.c -o kernel.so -lm" in message
    assert "kernel.c:1" in message
    assert "undeclared_name" in message


def test_endless_output_is_cut(tmp_path: Path, compiler: toolchain.Compiler) -> None:
    loud = script(tmp_path / "loud", "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 3")
    with pytest.raises(ToolchainError, match=r"exit status 3.*(?s:.*)\(80000 more characters\)"):
        compile_shared(fake(loud), GOOD, ())


def test_a_compiler_that_cannot_start_or_is_killed(tmp_path: Path) -> None:
    silent = script(tmp_path / "silent", "kill -9 $$")
    with pytest.raises(ToolchainError, match=r"killed by SIGKILL(?s:.*)wrote nothing to stderr"):
        compile_shared(fake(silent), GOOD, ())


def test_a_compiler_that_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_limiter", lambda: ((), True))  # as where there is no prlimit program
    with pytest.raises(ToolchainError, match=r"cannot be started: .*No such file"):
        compile_shared(fake(tmp_path / "gone"), GOOD, ())


def test_a_slow_compiler_is_stopped_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TIMEOUT", 1)
    slow = script(tmp_path / "slow", f"sleep 60 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(ToolchainError, match="took more than 1 seconds"):
        compile_shared(fake(slow), GOOD, ())
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    assert not child.exists() or child.read_text().split()[2] == "Z"


@pytest.mark.parametrize("late", [False, True])
def test_the_run_is_clean_and_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    if late:
        monkeypatch.setattr(processes, "_limiter", lambda: ((), True))
    monkeypatch.setenv("LD_PRELOAD_LIKE", "secret")
    report = tmp_path / "report"
    # The pause lets limits arrive that are set after the start.
    facts = "env; ulimit -c; ulimit -t; pwd; stat -c %a .; readlink /proc/self/fd/0"
    spy = script(tmp_path / "spy", f"sleep 0.2; exec > {report}; {facts}; printf '\\177ELF' > kernel.so")
    own = os.dup(0)
    with open(report.with_name("input"), "w+b") as mine:
        os.dup2(mine.fileno(), 0)  # which must not be inherited
        try:
            compile_shared(fake(spy), GOOD, ())
        finally:
            os.dup2(own, 0)
            os.close(own)
    lines = report.read_text().splitlines()
    environment = {line.partition("=")[0] for line in lines if "=" in line} - {"PWD", "OLDPWD", "SHLVL", "_"}
    assert environment == {"PATH", "TMPDIR", "LANG"}
    core, seconds, folder, mode, stdin = lines[-5:]
    assert (core, seconds) == ("0", str(processes.TIMEOUT))
    assert f"TMPDIR={folder}" in lines
    assert mode == "700"
    assert stdin == "/dev/null"
    assert not Path(folder).exists()


def test_limits_never_exceed_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.resource, "getrlimit", lambda which: (5, 7))
    assert set(processes._limits().values()) == {0, 7}


def test_machine_is_stable_and_falls_back_to_the_machines_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine() == machine()
    monkeypatch.setattr(toolchain, "_PROCESSOR_FACTS", frozenset())
    assert toolchain.platform.node() in machine.__wrapped__().split()


def test_the_private_folder_is_removed_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: toolchain.Compiler
) -> None:
    monkeypatch.setattr(background.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ToolchainError):
        compile_shared(compiler, "#error no", SHARED)
    assert list(tmp_path.iterdir()) == []
    assert stat.S_ISDIR(tmp_path.stat().st_mode)


def fake(path: Path) -> toolchain.Compiler:
    return toolchain.Compiler(path, (), "fake", "gcc", has_openmp=False, has_native=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo Free Software Foundation", "the compiler ended without an error, but made no library; set AFFDSL_CC to"),
        (
            "echo clang; echo text > kernel.so",
            r"but made no library but b'text\\n' \.\.\.; set AFFDSL_CC to gcc or clang",
        ),
        ("echo clang; mkdir -p kernel.so", "but made no library; set AFFDSL_CC to gcc or clang"),
        ("case $1 in --version) echo clang;; *) kill -9 $$;; esac", "the compiler failed [(]killed by SIGKILL[)]"),
        ("case $1 in --version) echo clang;; *) kill -35 $$;; esac", "the compiler failed [(]killed by signal 35[)]"),
        (r"echo clang; printf '\377\376' >&2; exit 2", "(?s)the compiler failed [(]exit status 2[)].*\ufffd"),
        ("", "names neither gcc nor clang but ''"),
        (r"printf 'clang \377'", "but made no library"),
    ],
)
def test_what_is_no_compiler_is_refused_whatever_it_does(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ToolchainError, match=message):
        identify(Command(script(tmp_path / "odd", text)))


def test_the_program_true_is_no_compiler() -> None:
    true = shutil.which("true")
    assert true is not None
    with pytest.raises(ToolchainError, match=r"made no library; set AFFDSL_CC to gcc or clang|names neither gcc nor"):
        identify(find_compiler({"AFFDSL_CC": true}))


def test_a_variable_that_names_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for program, why in (
        (tmp_path, f"'{tmp_path}' is a folder"),
        (tmp_path / "file", "is a file that may not be executed"),
        (tmp_path / "none", "there is no program"),
    ):
        with pytest.raises(ToolchainError, match=rf"\$AFFDSL_CC is .*, but .*{why}"):
            find_compiler({"AFFDSL_CC": str(program)})
