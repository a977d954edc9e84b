"""Runs a program of WebAssembly, which reads and writes as programs here do: `python wasi.py program`."""

from __future__ import annotations

import sys


def main(program: str) -> int:
    """Run a program; give its exit status."""
    import wasmtime  # noqa: PLC0415  # which is not everywhere where this file is read

    store = wasmtime.Store()
    linker = wasmtime.Linker(store.engine)
    linker.define_wasi()
    own = wasmtime.WasiConfig()
    own.inherit_stdin()
    own.inherit_stdout()
    own.inherit_stderr()
    store.set_wasi(own)
    instance = linker.instantiate(store, wasmtime.Module.from_file(store.engine, program))
    start = instance.exports(store)["_start"]
    assert isinstance(start, wasmtime.Func)
    try:
        start(store)
    except wasmtime.ExitTrap as end:
        return end.code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
