"""The cache trusts its folder only when nobody else can enter it, and loads only what it hashed."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ctypes import CFUNCTYPE, c_int
from pathlib import Path

import pytest

import affdsl.codegen
from affdsl.codegen import cache as module
from affdsl.codegen.cache import Cache, LoadedLibrary, default_cache, load_image
from affdsl.codegen.errors import CacheError, ToolchainError
from affdsl.codegen.toolchain import Command, Compiler, find_compiler

FLAGS = ("-std=c11", "-fPIC", "-shared")
VARIABLES = ("AFFDSL_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "AFFDSL_CACHE_LIMIT")


def source(value: int) -> str:
    return f"int answer(void);\nint answer(void) {{ return {value}; }}\n"


def answer(library: LoadedLibrary) -> int:
    address = library.address("answer")
    assert address is not None
    return int(CFUNCTYPE(c_int)(address)())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    return Cache(tmp_path_factory.mktemp("compiler") / "cache").compiler()


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module, "_caches", {})
    return monkeypatch


@pytest.fixture
def counted(tmp_path: Path) -> tuple[Command, Path]:
    """A compiler that writes a line for each of its runs."""
    log = tmp_path / "runs"
    log.touch()
    path = tmp_path / "counted cc"
    path.write_text(f'#!/bin/sh\necho run >> {log}\nexec {find_compiler().path} "$@"\n')
    path.chmod(0o755)
    return Command(path), log


def entry_of(folder: Path) -> Path:
    (entry,) = folder.glob("*.library")
    return entry


# The folder


def test_a_new_folder_is_private_and_a_good_one_is_opened_again(folder: Path) -> None:
    old = os.umask(0)
    try:
        Cache(folder / "deep" / "er")
    finally:
        os.umask(old)
    assert (folder / "deep" / "er").stat().st_mode & 0o777 == 0o700
    Cache(folder / "deep" / "er")


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o1777, 0o500])
def test_a_folder_with_another_mode_is_refused_and_left_alone(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(CacheError, match=rf"cache .* has mode {mode:04o}, but must be 0700.*run: chmod 700 {folder}"):
        Cache(folder)
    assert folder.stat().st_mode & 0o7777 == mode


def test_a_folder_of_somebody_else_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(CacheError, match=rf"belongs to user {owner}, but you are user {owner + 1}; remove it, or set"):
        Cache(folder)


def test_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "real")
    with pytest.raises(CacheError, match=r"is a symbolic link; remove it, or set AFFDSL_CACHE_DIR"):
        Cache(folder)


def test_a_file_in_place_of_the_folder_is_refused(folder: Path) -> None:
    folder.write_text("")
    with pytest.raises(CacheError, match=r"cannot be opened: Not a directory; make it usable"):
        Cache(folder)


def test_the_environment_names_the_folder(tmp_path: Path, clean: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    clean.setenv("HOME", str(tmp_path / "home"))
    assert default_cache().folder == tmp_path / "home" / ".cache" / "affdsl"
    clean.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache().folder == tmp_path / "home" / ".cache" / "affdsl"
    clean.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().folder == tmp_path / "xdg" / "affdsl"
    clean.setenv("AFFDSL_CACHE_DIR", str(tmp_path / "mine"))
    assert default_cache().folder == tmp_path / "mine"
    assert default_cache() is default_cache()


def test_a_removed_folder_is_made_again(tmp_path: Path, clean: pytest.MonkeyPatch) -> None:
    clean.setenv("AFFDSL_CACHE_DIR", str(tmp_path / "mine"))
    first = default_cache()
    shutil.rmtree(tmp_path / "mine")
    assert default_cache() is not first
    assert (tmp_path / "mine").is_dir()


def test_a_relative_folder_is_refused(clean: pytest.MonkeyPatch) -> None:
    clean.setenv("AFFDSL_CACHE_DIR", "here")
    with pytest.raises(CacheError, match=r"AFFDSL_CACHE_DIR is 'here', which depends on the working directory"):
        default_cache()


@pytest.mark.parametrize("home", [None, "relative", "/nonexistent/home"])
def test_without_a_home_the_cache_is_private_to_the_process(clean: pytest.MonkeyPatch, home: str | None) -> None:
    if home is not None:
        clean.setenv("HOME", home)
    with pytest.warns(
        UserWarning, match="cannot hold a cache, so kernels are compiled again in each process; set AFFD"
    ):
        folder = default_cache().folder
    assert folder.stat().st_mode & 0o777 == 0o700
    module._remove(folder, os.getpid() + 1)
    assert folder.exists()
    module._remove(folder, os.getpid())
    assert not folder.exists()


def test_a_home_of_somebody_else_is_not_used(tmp_path: Path, clean: pytest.MonkeyPatch) -> None:
    clean.setenv("HOME", str(tmp_path))
    owner = os.geteuid()
    clean.setattr(os, "geteuid", lambda: owner + 1)
    assert module._folder(os.environ) is None


# Entries


def test_an_entry_is_private_built_once_and_found_again(folder: Path, compiler: Compiler) -> None:
    first = Cache(folder)
    library = first.library(compiler, source(1), FLAGS)
    assert library.was_built
    assert answer(library) == 1
    assert first.library(compiler, source(1), FLAGS) is library
    assert entry_of(folder).stat().st_mode & 0o777 == 0o600
    again = Cache(folder).library(compiler, source(1), FLAGS)
    assert not again.was_built
    assert answer(again) == 1
    assert again.address("no_such_symbol") is None


def test_source_flags_compiler_and_machine_each_change_the_key(
    folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(folder)
    other = Compiler(compiler.path, (), compiler.identity + "x", "gcc", has_openmp=False, has_native=False)
    keys = {
        cache.library(compiler, source(1), FLAGS).key,
        cache.library(compiler, source(2), FLAGS).key,
        cache.library(compiler, source(1), (*FLAGS, "-O1")).key,
        cache.library(other, source(1), FLAGS).key,
    }
    monkeypatch.setattr(module, "machine", lambda: "another machine")
    keys.add(Cache(folder).library(compiler, source(1), FLAGS).key)
    assert len(keys) == 5


def test_parts_of_a_key_do_not_run_together() -> None:
    assert module._key("a", "bc") != module._key("ab", "c")


def test_many_libraries_with_one_symbol_are_kept_apart(folder: Path, compiler: Compiler) -> None:
    # The number of a closed descriptor is used again; its path must not give the loader the library before.
    cache = Cache(folder)
    libraries = [cache.library(compiler, source(value), FLAGS) for value in range(6)]
    assert [answer(library) for library in libraries] == list(range(6))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: b"",
        lambda data: b"affdsl-cache-0" + data[14:],
    ],
    ids=["truncated", "longer", "one bit", "empty", "old format"],
)
def test_a_damaged_entry_is_built_again_with_a_warning(
    folder: Path, compiler: Compiler, damage: Callable[[bytes], bytes]
) -> None:
    Cache(folder).library(compiler, source(1), FLAGS)
    entry = entry_of(folder)
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    with pytest.warns(UserWarning, match=r"is unusable \(its content does not have the recorded SHA-256\)"):
        library = Cache(folder).library(compiler, source(1), FLAGS)
    assert library.was_built
    assert answer(library) == 1
    assert entry.read_bytes() == good


def test_an_entry_under_the_name_of_another_is_not_used(folder: Path, compiler: Compiler) -> None:
    cache = Cache(folder)
    one, two = (cache.library(compiler, source(value), FLAGS) for value in (1, 2))
    shutil.copyfile(folder / f"{one.key}.library", folder / f"{two.key}.library")
    with pytest.warns(UserWarning, match="recorded SHA-256"):
        assert answer(Cache(folder).library(compiler, source(2), FLAGS)) == 2


def replace_by_link(entry: Path) -> None:
    entry.rename(entry.with_suffix(".real"))
    entry.symlink_to(entry.with_suffix(".real"))


def replace_by_pipe(entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry, 0o600)


def replace_by_folder(entry: Path) -> None:
    entry.unlink()
    entry.mkdir()


def replace_by_full_folder(entry: Path) -> None:
    replace_by_folder(entry)
    (entry / "mine").touch()


def replace_by_dangling_link(entry: Path) -> None:
    entry.unlink()
    entry.symlink_to(entry.with_suffix(".real"))


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        (replace_by_link, "it cannot be opened: Too many levels of symbolic links"),
        (replace_by_dangling_link, "it cannot be opened: Too many levels of symbolic links"),
        (replace_by_pipe, "it is not a regular file"),
        (replace_by_folder, "it is not a regular file"),
        (lambda entry: entry.chmod(0o644), r"others may use it \(mode 0644, not 0600\)"),
    ],
)
def test_an_entry_that_is_not_a_private_file_is_built_again(
    folder: Path, compiler: Compiler, change: Callable[[Path], None], defect: str
) -> None:
    Cache(folder).library(compiler, source(1), FLAGS)
    change(entry_of(folder))
    with pytest.warns(UserWarning, match=defect):
        assert Cache(folder).library(compiler, source(1), FLAGS).was_built
    assert entry_of(folder).stat(follow_symlinks=False).st_mode & 0o170777 == 0o100600


def test_a_folder_with_something_in_it_stays_and_is_no_obstacle(folder: Path, compiler: Compiler) -> None:
    Cache(folder).library(compiler, source(1), FLAGS)
    entry = entry_of(folder)
    replace_by_full_folder(entry)
    with pytest.warns(UserWarning, match=r"is unusable \(it is not a regular file\)|cannot store") as said:
        assert answer(Cache(folder).library(compiler, source(1), FLAGS)) == 1
    assert ["is unusable (it is not a regular file)" in str(w.message) for w in said] == [True, False]
    assert f"cannot store {entry.name} in the cache {folder}: Is a directory" in str(said[1].message)
    assert (entry / "mine").exists()


def test_a_folder_among_the_entries_does_not_stop_pruning(
    folder: Path, compiler: Compiler, clean: pytest.MonkeyPatch
) -> None:
    cache = Cache(folder)
    (folder / "x.library").mkdir()
    (folder / "y.library").mkdir()
    (folder / "y.library" / "mine").touch()
    clean.setenv("AFFDSL_CACHE_LIMIT", "1")
    cache.library(compiler, source(1), FLAGS)
    assert not (folder / "x.library").exists()
    assert (folder / "y.library" / "mine").exists()


def test_an_entry_that_the_disk_does_not_give_is_built_again(
    folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(folder).library(compiler, source(1), FLAGS)

    class Broken:
        def fileno(self) -> int:
            return 0

        def read(self, size: int) -> bytes:
            raise OSError(5, "Input/output error")

        def __enter__(self) -> "Broken":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    with monkeypatch.context() as patch:
        patch.setattr(module, "open", lambda *_: Broken(), raising=False)
        assert Cache(folder)._read_file(entry_of(folder).name) == (None, "it cannot be read: Input/output error")


def test_an_entry_of_somebody_else_is_built_again(
    folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(folder).library(compiler, source(1), FLAGS)
    cache = Cache(folder)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(UserWarning, match=rf"it belongs to user {owner}, not to you"):
        assert cache.library(compiler, source(1), FLAGS).was_built


def test_an_entry_of_absurd_size_is_built_again(
    folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(folder).library(compiler, source(1), FLAGS)
    monkeypatch.setattr(module, "ENTRY_SIZE", 100)
    with pytest.warns(UserWarning, match=r"it has \d+ bytes"):
        assert Cache(folder).library(compiler, source(1), FLAGS).was_built


def test_a_library_that_cannot_be_stored_is_used_all_the_same(folder: Path, compiler: Compiler) -> None:
    cache = Cache(folder)
    shutil.rmtree(folder)
    assert cache.is_gone
    with pytest.warns(
        UserWarning, match=r"cannot store .*: No such file or directory; the next process makes it again"
    ):
        assert answer(cache.library(compiler, source(1), FLAGS)) == 1


def test_a_failed_write_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **keywords: object) -> None:
        raise OSError(28, "No space left on device")

    cache = Cache(folder)
    monkeypatch.setattr(os, "rename", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        cache._write("name.library", "key", b"payload")
    assert list(folder.iterdir()) == []


def test_a_file_in_the_way_is_never_written_through(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(folder)
    victim = tmp_path / "victim"
    monkeypatch.setattr(module.secrets, "token_hex", lambda size: "known")
    (folder / "known.unfinished").symlink_to(victim)
    with pytest.warns(UserWarning, match="File exists"):
        cache._write("name.library", "key", b"payload")
    assert not victim.exists()


# Loading


def test_an_image_that_cannot_be_loaded_is_a_toolchain_error() -> None:
    with pytest.raises(ToolchainError, match=r"a compiled library cannot be loaded: .*set AFFDSL_CC"):
        load_image(b"not a library")


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="files in memory are Linux's")
def test_the_loaded_file_cannot_be_changed() -> None:
    descriptor = module._sealed(b"content")
    assert descriptor is not None
    with open(f"/proc/self/fd/{descriptor}", "rb") as file:
        assert file.read() == b"content"
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)
    os.close(descriptor)


def test_without_files_in_memory_a_private_copy_is_loaded(
    folder: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "memfd_create", forbidden, raising=False)
    cache = Cache(folder)
    assert [answer(cache.library(compiler, source(value), FLAGS)) for value in (7, 8)] == [7, 8]


# Pruning


def test_the_entries_unused_longest_go_first(folder: Path, compiler: Compiler, clean: pytest.MonkeyPatch) -> None:
    cache = Cache(folder)
    keys = [cache.library(compiler, source(value), FLAGS).key for value in range(3)]
    for age, key in enumerate(keys):
        os.utime(folder / f"{key}.library", (1000 + age, 1000 + age))
    Cache(folder).library(compiler, source(0), FLAGS)  # a use makes it the newest
    size = entry_of_key(folder, keys[0]).stat().st_size
    clean.setenv("AFFDSL_CACHE_LIMIT", str(3 * size + size // 2))
    new = cache.library(compiler, source(3), FLAGS).key
    assert {path.stem for path in folder.glob("*.library")} == {keys[0], keys[2], new}


def entry_of_key(folder: Path, key: str) -> Path:
    return folder / f"{key}.library"


def test_what_was_just_built_stays_even_above_the_limit(
    folder: Path, compiler: Compiler, clean: pytest.MonkeyPatch
) -> None:
    clean.setenv("AFFDSL_CACHE_LIMIT", "1K")
    Cache(folder).library(compiler, source(1), FLAGS)
    assert entry_of(folder).exists()


def test_what_dead_processes_left_is_removed(folder: Path, compiler: Compiler) -> None:
    cache = Cache(folder)
    old, new, foreign = folder / "a.unfinished", folder / "b.unfinished", folder / "notes.txt"
    for path in (old, new, foreign):
        path.touch()
    os.utime(old, (time.time() - 2 * module.STALE, time.time() - 2 * module.STALE))
    cache.library(compiler, source(1), FLAGS)
    assert (old.exists(), new.exists(), foreign.exists()) == (False, True, True)


@pytest.mark.parametrize(
    ("text", "limit"), [("", 512 << 20), ("100", 100), ("2K", 2048), ("3m", 3 << 20), ("1G", 1 << 30)]
)
def test_the_limit_may_have_a_unit(text: str, limit: int) -> None:
    assert module._limit({"AFFDSL_CACHE_LIMIT": text}) == limit


@pytest.mark.parametrize("text", ["-1", "many", "1.5G", "K", "²"])
def test_a_limit_that_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(CacheError, match=r"AFFDSL_CACHE_LIMIT is .*; give a number of bytes, e.g. 536870912 or 512M"):
        module._limit({"AFFDSL_CACHE_LIMIT": text})


# Compilers, threads and processes


def test_a_compiler_is_identified_once(folder: Path, counted: tuple[Command, Path]) -> None:
    command, log = counted
    first = Cache(folder).compiler(command)
    runs = log.read_text()
    assert runs
    assert Cache(folder).compiler(command) == first
    assert log.read_text() == runs
    os.utime(command.path, (0, 0))  # replaced by another
    Cache(folder).compiler(command)
    assert log.read_text() != runs


def test_a_compiler_record_that_is_none_is_made_again(folder: Path, counted: tuple[Command, Path]) -> None:
    command, _ = counted
    cache = Cache(folder)
    for record in (b"\xff", b"{", b"{}", b'["x", "tcc", true, true]', b'["x", "gcc", 1, true]'):
        assert module._compiler_of(record, command) is None
    key = module._key("compiler", command.fingerprint())
    cache._write(f"{key}.compiler", key, b"[]")
    assert cache.compiler(command).path == command.path


def test_threads_build_one_library_once(folder: Path, counted: tuple[Command, Path]) -> None:
    command, log = counted
    cache = Cache(folder)
    compiler = cache.compiler(command)
    before = len(log.read_text())
    with ThreadPoolExecutor(4) as pool:
        libraries = list(pool.map(lambda _: cache.library(compiler, source(5), FLAGS), range(4)))
    assert len(set(map(id, libraries))) == 1
    assert len(log.read_text()) == before + len("run\n")


PROGRAM = f"""
import ctypes
from affdsl.codegen.cache import default_cache
cache = default_cache()
library = cache.library(cache.compiler(), {source(9)!r}, {FLAGS!r})
print(library.was_built, ctypes.CFUNCTYPE(ctypes.c_int)(library.address("answer"))())
"""


def start(folder: Path, command: Command) -> subprocess.Popen[str]:
    root = Path(affdsl.codegen.__file__).parents[1]
    environment = os.environ | {
        "AFFDSL_CACHE_DIR": str(folder),
        "AFFDSL_CC": f"'{command.path}'",
        "PYTHONPATH": str(root),
        "PYTHONWARNINGS": "error",
    }
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, text=True)


def test_a_second_process_starts_no_compiler(folder: Path, counted: tuple[Command, Path]) -> None:
    command, log = counted
    assert start(folder, command).communicate()[0] == "True 9\n"
    runs = log.read_text()
    assert runs
    assert start(folder, command).communicate()[0] == "False 9\n"
    assert log.read_text() == runs


def test_processes_that_build_at_once_all_succeed(folder: Path, counted: tuple[Command, Path]) -> None:
    command, _ = counted
    processes = [start(folder, command) for _ in range(3)]
    answers = [process.communicate()[0].split() for process in processes]
    assert [value for _, value in answers] == ["9", "9", "9"]
    assert sorted(path.suffix for path in folder.iterdir()) == [".compiler", ".library"]
