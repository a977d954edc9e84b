"""The pkg-config file of a library that is used from the folder in which it was built."""

from __future__ import annotations

from affdsl.codegen.aot.shipped import Library


def pkg_config(library: Library, *, openmp: bool) -> str:
    """The text of NAME.pc; with `openmp` a program that links the static library links OpenMP, too.

    The folder may be moved: paths begin where the file is.
    """
    return f"""\
prefix=${{pcfiledir}}
includedir=${{prefix}}
libdir=${{prefix}}

Name: {library.name}
Description: {", ".join(library.symbols)}, made by affdsl
Version: {library.version}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -l{library.name}
Libs.private: -lm{" -fopenmp" if openmp else ""}
"""
