"""Each row of each instruction set, executed, does what the portable form does, and touches nothing else."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from codegen.c.vector_helpers import LANE_TYPES, TARGETS, vector_helper, vector_helper_name
from tests.codegen.c.compare import compile_silently
from tests.harness.guarded import guarded
from tests.oracles import require

FLAGS = {
    "avx512vnni": ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mavx512vnni"),
    "avx512": ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma"),
    "avx2": ("-mavx2", "-mfma"),
}
DTYPES = {"f32": np.float32, "f64": np.float64} | {f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)}


def has(flags):
    """Whether this machine has what some flags of gcc ask for."""
    known = Path("/proc/cpuinfo").read_text().split()
    return all(flag.removeprefix("-m").replace("vnni", "_vnni") in known for flag in flags)


def wrapped(rows):
    """C with a function for each row that takes all vectors by their addresses."""
    parts = ["#include <math.h>\n#include <stdint.h>\n#if defined(__AVX2__)\n#include <immintrin.h>\n#endif\n"]
    for k, (stem, element, lanes) in enumerate(rows):
        narrow = stem.partition("_")[2] if stem.startswith(("from_", "dot_")) else element
        count = lanes * 32 // int(narrow[1:]) if stem.startswith("dot_") else lanes
        unsigned = {f"u{element[1:]}": lanes} if stem == "scaled" else {}
        for kind, size in {element: lanes, f"i{element[1:]}": lanes, narrow: count, **unsigned}.items():
            type = LANE_TYPES.get(kind) or f"uint{kind[1:]}_t"
            parts.append(f"typedef {type} {kind}x{size} __attribute__((vector_size({size} * sizeof({type}))));\n")
        vector, mask, type = f"{element}x{lanes}", f"i{element[1:]}x{lanes}", LANE_TYPES[element]
        name = vector_helper_name(stem, element, lanes)
        parts.append(f"{vector_helper(stem, element, lanes).text}\n")
        body = {
            "loaded": f"(void)m;\n    (void)v;\n    *found = {name}(at);",
            "masked_load": f"*found = {name}(at, &m, &v);",
            "masked_store": f"{name}(at, &m, &v);",
            "fma": f"(void)at;\n    (void)m;\n    const {vector} w = *found;\n    *found = {name}(&v, &w, &v);",
        }.get(stem)
        if stem in ("lesser", "greater"):
            body = f"(void)at;\n    (void)m;\n    const {vector} w = *found;\n    *found = {name}(&v, &w);"
        elif stem == "scaled":
            body = f"(void)m;\n    {mask} n;\n    __builtin_memcpy(&n, at, sizeof n);\n    *found = {name}(&v, &n);"
        elif stem.startswith("dot_"):
            source = f"{narrow}x{count}"
            body = f"(void)m;\n    {source} a, b;\n    __builtin_memcpy(&a, at, sizeof a);\n"
            body += f"    __builtin_memcpy(&b, at + {lanes}, sizeof b);\n    *found = {name}(&v, &a, &b);"
        elif stem.startswith("from_"):
            body = f"(void)m;\n    (void)v;\n    *found = {name}((const {stem[5:]}x{lanes} *)(const void *)at);"
        head = f"void row{k}({type} *at, const {mask} *mask, const {vector} *given, {vector} *found)"
        parts.append(
            f"{head};\n{head}\n{{\n    const {mask} m = *mask;\n    const {vector} v = *given;\n    {body}\n}}\n"
        )
    return "\n".join(parts)


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_row_means_its_portable_form(target, compiler, tmp_path):
    flags = FLAGS[target.name]
    if not has(flags):
        pytest.skip(f"this machine has no {target.name}")
    rows = list(target.rows)
    source = wrapped(rows)
    path = require(compiler)
    chosen, portable = (
        ctypes.CDLL(
            str(compile_silently(source, tmp_path / name, path, "-O2", "-Wno-psabi", "-Wno-unused-parameter", *given))
        )
        for name, given in (("chosen", flags), ("portable", ()))
    )
    random = np.random.default_rng(0)
    for k, (stem, element, lanes) in enumerate(rows):
        dtype, integer = np.dtype(DTYPES[element]), np.dtype(f"i{int(element[1:]) // 8}")
        for case in range(8):
            mask = -random.integers(0, 2, lanes).astype(integer)
            mask[lanes - case % lanes :] = 0  # the memory ends there
            reached = max((np.flatnonzero(mask)[-1] + 1 if mask.any() else 0), 1)
            if stem.startswith("from_"):
                reached = lanes * int(stem[6:]) // int(element[1:])  # so many bytes, and not one more
            reached = {"loaded": lanes, "scaled": lanes, "dot": 2 * lanes}.get(stem.partition("_")[0], reached)
            at, given, before = (random.uniform(-100, 100, n).astype(dtype) for n in (reached, lanes, lanes))
            if stem == "scaled":
                most = 130 if element == "f32" else 1026
                at = random.integers(-most - 30, most, lanes).astype(integer).view(dtype)
                given = random.choice([1.0, 0.7071068, 1.4142135, 1.1, np.nan], lanes).astype(dtype)
            if stem.startswith("dot_"):
                full = np.iinfo(np.int32)
                at, given = (random.integers(full.min, full.max, n, dtype, endpoint=True) for n in (reached, lanes))
                at[: case % 2 * lanes], at[lanes : lanes + case % 2 * lanes] = (0x80808080 - 2**32, 0x80008000 - 2**32)
            if stem in ("lesser", "greater"):
                given, before = (random.choice([0.0, -0.0, np.nan, 1.0, -1.0], lanes).astype(dtype) for _ in "ab")
            ends = []
            for library in (chosen, portable):
                memory, found = guarded(at, "end"), aligned(dtype, lanes, before)
                vectors = [aligned(x.dtype, lanes, x) for x in (mask, given)]
                pointers = [ctypes.c_void_p(x.ctypes.data) for x in (memory, *vectors, found)]
                getattr(library, f"row{k}")(*pointers)
                ends.append((memory.copy(), found.copy()))
            for a, b in zip(*ends, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"{stem}_{element}x{lanes}")
                assert stem.startswith("from_") or np.array_equal(np.signbit(a), np.signbit(b))


def aligned(dtype, lanes, values):
    """A vector's memory, aligned as vectors are."""
    raw = np.zeros(lanes * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    made = raw[start : start + lanes * dtype.itemsize].view(dtype)
    made[:] = values
    return made


def test_rows_are_of_the_width_of_a_register():
    for target in TARGETS:
        assert target.rows
        for _, element, lanes in target.rows:
            assert int(element[1:]) * lanes in (128, 256, 512)
            assert int(element[1:]) * lanes <= target.width


def test_the_page_names_all_instruction_sets_and_operations():
    page = (Path(__file__).parents[3] / "docs" / "targets.md").read_text(encoding="utf-8")
    for target in TARGETS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{target.name}` |")]
        assert all(macro in row or f"`{macro.strip('_')[6:]}`" in row for macro in target.macros)
        assert f"| {target.width}, " in row
        assert f"| {target.registers} |" in row
    for stem in {
        f"{stem[:4]}_*".replace("__", "_") if stem[:4] in ("from", "dot_") else stem
        for target in TARGETS
        for stem, _, _ in target.rows
    }:
        assert f"`{stem}`" in page
