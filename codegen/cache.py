"""Built libraries by content, in a private folder, loaded from exactly the bytes that were checked.

An entry is one file: a line that says what it is, a SHA-256 over the key and the content, then the content. The hash
finds damage (a full disk, a killed process, a bad copy); it is not a signature, since whoever can write the folder
can write a hash too. What keeps others out is the folder: it belongs to the user, nobody else may enter it, and this
is verified, never repaired, before it is used.
"""

import atexit
import ctypes
import fcntl
import hashlib
import itertools
import json
import os
import secrets
import shlex
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from affdsl.codegen.background import Lock, interruptible, private_folder
from affdsl.codegen.errors import CacheError, ToolchainError
from affdsl.codegen.forks import watch
from affdsl.codegen.lengths import misfit
from affdsl.codegen.toolchain import Command, Compiler, compile_shared, find_compiler, identify, machine
from affdsl.frozen import Frozen

FORMAT = "affdsl-cache-1"
LIMIT = 512 << 20  # bytes in the folder, unless $AFFDSL_CACHE_LIMIT says otherwise
ENTRY_SIZE = 1 << 30  # bytes of one entry that are read at most
STALE = 3600  # seconds after which an unfinished file was left by a process that died


class LoadedLibrary(Frozen):
    """A shared library in this process. It stays loaded until the process ends: its code may be running."""

    key: str
    was_built: bool
    handle: ctypes.CDLL = field(repr=False)

    def address(self, symbol: str) -> int | None:
        """Where an exported function is, or None if the library has none of this name."""
        try:
            return ctypes.cast(self.handle[symbol], ctypes.c_void_p).value
        except AttributeError:
            return None

    def call(self, symbol: str, *arguments: int | NDArray[np.generic]) -> int:
        """Call a function of int64_t, and of pointers for arrays; gives its int64_t, and anything where it has none."""
        function = self.handle[symbol]
        function.restype = ctypes.c_int64
        return int(
            function(*(ctypes.c_int64(a) if isinstance(a, int) else ctypes.c_void_p(a.ctypes.data) for a in arguments))
        )


class Cache:
    """A verified folder of compiled libraries. Threads and processes may use one folder at the same time."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, or create it.

        Raises
        ------
        CacheError
            If it is a link, belongs to somebody else, or others may enter it; says what to run.
        """
        self.folder = folder
        self._descriptor = _open_folder(folder)
        self._locks: dict[str, Lock] = {}
        self._libraries: dict[str, LoadedLibrary] = {}
        self._compilers: dict[str, Compiler] = {}
        self._total: float = inf
        """The bytes in the folder, as far as this process knows: nothing before it has looked."""

    @property
    def is_gone(self) -> bool:
        """Whether somebody has removed the folder since it was opened."""
        return os.fstat(self._descriptor).st_nlink == 0

    def compiler(self, command: Command | None = None) -> Compiler:
        """The C compiler; it is run only when the folder has no record of it."""
        command = find_compiler() if command is None else command
        key = _key("compiler", command.fingerprint())
        if known := self._compilers.get(key):
            return known
        with interruptible(), self._locks.setdefault(key, Lock()):
            if known := self._compilers.get(key):
                return known
            record = self._read(f"{key}.compiler", key)
            compiler = None if record is None else _compiler_of(record, command)
            if compiler is None:
                compiler = identify(command)
                self._write(f"{key}.compiler", key, _record_of(compiler))
            return self._compilers.setdefault(key, compiler)

    def image(self, compiler: Compiler, source: str, flags: Sequence[str]) -> tuple[bytes, str, bool]:
        """The bytes of a library, its key, and whether it had to be built now.

        Raises
        ------
        ToolchainError
            If it must be built and the compiler fails.
        """
        key = _key("library", source, *flags, "--", *compiler.command, compiler.identity, machine())
        name = f"{key}.library"
        found = self._read(name, key)
        if found is not None:
            return found, key, False
        built = compile_shared(compiler, source, flags)
        self._write(name, key, built)
        self._prune(name, len(built))
        return built, key, True

    def library(self, compiler: Compiler, source: str, flags: Sequence[str]) -> LoadedLibrary:
        """The loaded library of a source text: from this process, from the folder, or built.

        Raises
        ------
        ToolchainError
            If it must be built and the compiler fails, if the system cannot load it, or if it was compiled for vector
            registers of another length than those of this machine.
        """
        memo = _key("memo", source, *flags, "--", compiler.identity)
        with interruptible(), self._locks.setdefault(memo, Lock()):
            if memo not in self._libraries:
                image, key, was_built = self.image(compiler, source, flags)
                loaded = LoadedLibrary(key, was_built, load_image(image))
                _require_fitting(loaded, compiler)
                self._libraries[memo] = loaded
            return self._libraries[memo]

    def known(self, kind: str, *key: str) -> bytes | None:
        """What `keep` has kept for a key; None if that is nothing. What is damaged is reported, not taken."""
        hashed = _key(kind, *key)
        return self._read(f"{hashed}.{kind}", hashed)

    def keep(self, payload: bytes, kind: str, *key: str) -> None:
        """Keep what was found out for a key, for this process and others; `kind` is the end of the name of the file."""
        hashed = _key(kind, *key)
        name = f"{hashed}.{kind}"
        self._write(name, hashed, payload)
        self._prune(name, len(payload))

    def record(self, name: str, *key: str, make: Callable[[], bytes], again: bool = False) -> bytes:
        """What was found out once for a key: from the folder, or made and stored; made in any case if `again`.

        `name` says what it is in the name of the file.
        """
        found = None if again else self.known(name, *key)
        if found is None:
            found = make()
            self.keep(found, name, *key)
        return found

    def _read(self, name: str, key: str) -> bytes | None:
        """The content of an entry; None if there is none. A damaged one is reported, removed and taken for none."""
        try:
            content, defect = self._read_file(name)
        except FileNotFoundError:
            return None
        if content is not None:
            head, _, payload = content.partition(b"\n")
            if head == _head(key, payload):
                return payload
            defect = "its content does not have the recorded SHA-256"
        warnings.warn(f"the cache entry {self.folder / name} is unusable ({defect}) and is built again", stacklevel=4)
        self._remove(name)
        return None

    def _remove(self, name: str) -> None:
        """Remove what has the name of an entry, if it can be removed: a folder only if there is nothing in it."""
        try:
            os.unlink(name, dir_fd=self._descriptor)
        except FileNotFoundError:
            pass
        except OSError:
            with suppress(OSError):
                os.rmdir(name, dir_fd=self._descriptor)

    def _read_file(self, name: str) -> tuple[bytes | None, str]:
        """The bytes of a file of ours, or what is wrong with it."""
        try:
            # O_NONBLOCK: opening a pipe must not wait for a writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=self._descriptor)
        except FileNotFoundError:
            raise
        except OSError as error:
            return None, f"it cannot be opened: {error.strerror}"
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):  # before Python opens it: of a folder it makes no file
            os.close(descriptor)
            return None, "it is not a regular file"
        with open(descriptor, "rb") as file:
            if facts.st_uid != os.geteuid():
                return None, f"it belongs to user {facts.st_uid}, not to you"
            if facts.st_mode & 0o077:
                return None, f"others may use it (mode {stat.S_IMODE(facts.st_mode):04o}, not 0600)"
            if facts.st_size > ENTRY_SIZE:
                return None, f"it has {facts.st_size} bytes"
            try:
                content = file.read(ENTRY_SIZE)
            except OSError as error:
                return None, f"it cannot be read: {error.strerror}"
            with suppress(OSError):  # the time of last use orders pruning; many disks keep none of their own
                os.utime(file.fileno())
            return content, ""

    def _write(self, name: str, key: str, payload: bytes) -> None:
        """Store an entry in one step. What was built is good even if it cannot be stored: then warn."""
        unfinished = f"{secrets.token_hex(16)}.unfinished"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(unfinished, flags, 0o600, dir_fd=self._descriptor)
            try:
                with open(descriptor, "wb") as file:
                    os.fchmod(file.fileno(), 0o600)
                    file.write(_head(key, payload) + b"\n" + payload)
                os.rename(unfinished, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
            except BaseException:
                with suppress(OSError):
                    os.unlink(unfinished, dir_fd=self._descriptor)
                raise
        except OSError as error:
            warnings.warn(
                f"cannot store {name} in the cache {self.folder}: {error.strerror}; the next process makes it again "
                "(free some space there, or set AFFDSL_CACHE_DIR to a folder that can be written)",
                stacklevel=4,
            )

    def _prune(self, keep: str, size: int) -> None:
        """Remove what was unused longest until the folder is within its limit, and what dead processes left.

        A full folder takes a twentieth of a second to look at: that is done for the first entry, and again when there
        may be no room left beside what was there and what this process has stored since.
        """
        limit = _limit(os.environ)
        self._total += size
        if self._total <= limit:
            return
        files = []
        for entry in os.scandir(self._descriptor):
            with suppress(FileNotFoundError):
                facts = entry.stat(follow_symlinks=False)
                files.append((facts.st_mtime, facts.st_size, entry.name))
        total = sum(size for _, size, _ in files)
        for used, size, name in sorted(files):
            is_stale = name.endswith(".unfinished") and used < time.time() - STALE
            is_excess = total > limit and name.endswith(_PRUNED) and name != keep
            if is_stale or is_excess:
                total -= size
                self._remove(name)
        self._total = total


def default_cache() -> Cache:
    """The cache of the folder that the environment names now.

    That is $AFFDSL_CACHE_DIR, else affdsl in $XDG_CACHE_HOME, else .cache/affdsl in the home folder. Where there is
    no home folder of the user's own, a private folder lives as long as this process, and a warning says so.

    Raises
    ------
    CacheError
        If the folder cannot be trusted or created.
    """
    folder = _folder(os.environ)
    with _opening:
        name = "" if folder is None else str(folder)
        if name not in _caches or _caches[name].is_gone:
            if folder is None:
                folder = Path(tempfile.mkdtemp(prefix="affdsl-"))
                atexit.register(_remove, folder, os.getpid())
                warnings.warn(
                    f"the home folder {os.environ.get('HOME')!r} cannot hold a cache, so kernels are compiled again in "
                    "each process; set AFFDSL_CACHE_DIR to a folder of your own",
                    stacklevel=2,
                )
            _caches[name] = Cache(folder)
        return _caches[name]


def load_image(image: bytes) -> ctypes.CDLL:
    """Load a shared library from bytes.

    Raises
    ------
    ToolchainError
        If the system's loader refuses it, e.g. because a library that it needs is not installed.
    """
    with _loadable(image) as path:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            raise ToolchainError(
                f"a compiled library cannot be loaded: {error}; "
                "install what it names, or set AFFDSL_CC to another compiler"
            ) from None


def _require_fitting(library: LoadedLibrary, compiler: Compiler) -> None:
    """Refuse a library for vector registers of another length."""
    if bits := misfit(library.handle):
        raise ToolchainError(
            f"{shlex.join(compiler.command)} compiles for vector registers of {bits[0]} bits, and those here have "
            f"{bits[1]}: results would be wrong; tell it no length (-msve-vector-bits, zvl...b), or this one"
        )


def import_image(image: bytes, name: str) -> ModuleType:
    """Import a CPython extension module from bytes."""
    with _loadable(image) as path:
        loader = ExtensionFileLoader(name, path)
        module = module_from_spec(ModuleSpec(name, loader, origin=path))
        loader.exec_module(module)
        return module


@contextmanager
def _loadable(image: bytes) -> Iterator[str]:
    """A path at which the system's loader finds exactly `image`, good inside the block."""
    descriptor = _sealed(image)
    if descriptor is None:
        with private_folder() as folder:
            path = str(folder / "library.so")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
                file.write(image)
            yield path
    else:
        try:
            # The loader takes a path that it has seen for the library that it has, but the number of a closed
            # descriptor is used again: so each load spells the path in its own way, with `/.` and `/` for 1 and 0.
            spelling = "".join("/." if bit == "1" else "/" for bit in f"{next(_loads):b}")
            yield f"/proc/self/fd{spelling}/{descriptor}"
        finally:
            os.close(descriptor)


def _sealed(image: bytes) -> int | None:
    """A file in memory that nobody can change any more; None where the system has no such thing."""
    if not hasattr(os, "memfd_create") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        descriptor = os.memfd_create("affdsl", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:  # some systems forbid executable files in memory
        return None
    with open(descriptor, "wb", closefd=False) as file:
        file.write(image)
    fcntl.fcntl(
        descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    )
    return descriptor


def _folder(environment: Mapping[str, str]) -> Path | None:
    """Where the cache is; None if the user has no folder of their own."""
    if named := environment.get("AFFDSL_CACHE_DIR"):
        if not os.path.isabs(named):
            raise CacheError(f"AFFDSL_CACHE_DIR is {named!r}, which depends on the working directory; give a full path")
        return Path(named)
    shared = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):  # the XDG specification has a relative one ignored
        return Path(shared) / "affdsl"
    home = environment.get("HOME", "")
    try:
        is_own = os.path.isabs(home) and os.stat(home).st_uid == os.geteuid() and os.access(home, os.W_OK | os.X_OK)
    except OSError:
        is_own = False
    return Path(home) / ".cache" / "affdsl" if is_own else None


def _open_folder(folder: Path) -> int:
    """A descriptor of the verified folder: all later work goes through it, so exchanging the path changes nothing."""
    setting = "or set AFFDSL_CACHE_DIR to another folder"
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if folder.is_symlink():
            raise CacheError(f"the cache {folder} is a symbolic link; remove it, {setting}")
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise CacheError(f"the cache {folder} cannot be opened: {error.strerror}; make it usable, {setting}") from None
    facts = os.fstat(descriptor)
    mode = stat.S_IMODE(facts.st_mode)
    if facts.st_uid != os.geteuid():
        problem = f"belongs to user {facts.st_uid}, but you are user {os.geteuid()}; remove it, {setting}"
    elif mode != 0o700:
        command = shlex.join(["chmod", "700", str(folder)])
        problem = f"has mode {mode:04o}, but must be 0700; look who wrote there, then run: {command}"
    else:
        return descriptor
    os.close(descriptor)
    raise CacheError(f"the cache {folder} {problem}")


def _limit(environment: Mapping[str, str]) -> int:
    """How many bytes the folder may hold: a number, or one with the unit K, M or G."""
    text = environment.get("AFFDSL_CACHE_LIMIT", "").strip()
    if not text:
        return LIMIT
    unit = _UNITS.get(text[-1].upper(), 1)
    digits = text if unit == 1 else text[:-1]
    if not (digits.isascii() and digits.isdigit()):
        raise CacheError(f"AFFDSL_CACHE_LIMIT is {text!r}; give a number of bytes, e.g. 536870912 or 512M")
    return int(digits) * unit


def _key(*parts: str) -> str:
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") differ.
    return hashlib.sha256(json.dumps([FORMAT, *parts]).encode()).hexdigest()


def _head(key: str, payload: bytes) -> bytes:
    digest = hashlib.sha256(key.encode() + payload).hexdigest()
    return f"{FORMAT} {digest}".encode()


def _record_of(compiler: Compiler) -> bytes:
    facts = [compiler.identity, compiler.kind, compiler.has_openmp, compiler.has_native]
    return json.dumps(facts).encode()


def _compiler_of(record: bytes, command: Command) -> Compiler | None:
    """The compiler that a record describes; None if the record is not one."""
    try:
        facts = json.loads(record)
    except ValueError:
        return None
    match facts:
        case [str(identity), "gcc" | "clang" as name, bool(has_openmp), bool(has_native)]:
            kind: Literal["gcc", "clang"] = "gcc" if name == "gcc" else "clang"
            return Compiler(command.path, command.arguments, identity, kind, has_openmp, has_native)
        case _:
            return None


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a child that inherited the exit handler
        shutil.rmtree(folder, ignore_errors=True)


_PRUNED = (".library", ".compiler", ".tuned", ".decided")
"""The ends of the names of what is removed where the folder is full; the rest is small, and measured for long."""
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_loads = itertools.count(1)
_opening = Lock()
_caches: dict[str, Cache] = {}
watch()  # before anything is loaded here, and before forks of which kernels know nothing yet
