"""Each row of each instruction set, executed, does what the portable form does, and touches nothing else."""

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.c.narrow_helpers import PORTABLE as NARROW
from affdsl.codegen.c.quotients import reciprocal_parts
from affdsl.codegen.c.types import float_literal
from affdsl.codegen.c.vector_helpers import (
    EXTREMES,
    GUARDED,
    IN_DOUBLES,
    INLINED,
    LANE_TYPES,
    TARGETS,
    called_by,
    types_between,
    vector_helper,
    vector_helper_name,
)
from affdsl.codegen.targets.target import SIGNS
from affdsl.ir.types import FloatType
from tests.effort import TRIES_ALL
from tests.harness.batch import Case, build, execute
from tests.harness.machines import MACHINES, TRIED, optimized, runnable

DTYPES = {"f32": np.float32, "f64": np.float64} | {f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)}
ROWS = [row for row in dict.fromkeys(row for target in TARGETS for row in target.rows) if row[0] not in NARROW]
"""Of each function that has a row anywhere, all machines compile and run what they have, be it the portable body. Those
of narrow floats are tried with every number there is, in `tests/codegen/c/test_narrow_floats.py`."""
TRIES = 8
SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-45,
    -1e-40,
    3e38,
    -3e38,
    88.72284,
    88.7229,
    -87.34,
    -103.97,
    np.inf,
    -np.inf,
    np.nan,
)
"""Where functions of floats have no result, one of another kind, or a plain one."""
WHOLE = ("mins", "maxs", "minu", "maxu")
"""The smaller and the larger of two integers, with a sign and without."""

SHIFTS = ("shl", "shru", "shr")

COMPARED = tuple(f"{sign}_" for sign in SIGNS.values())
"""Choices by comparing two vectors of other numbers."""
CONVERSIONS = ("from_", "trunc_", "truncu_", "short_", "joined_", "dot_", "dotu_", "sum_", *COMPARED)
"""Functions of a vector of other numbers, by the type of which they are called."""


def numbers_of(name):
    """Which rows a machine tries: those of its own, and of the others every third one, or all."""
    turn = [*MACHINES].index(name) % 3
    own = {row for target in TARGETS if target.name == name for row in target.rows}
    return [k for k, row in enumerate(ROWS) if TRIES_ALL or row in own or k % 3 == turn]


def sources(stem, element, lanes):
    """The type of lanes that a function takes where it gives others, and their number."""
    if stem == "gathered":
        return "i64", lanes
    narrow = stem.partition("_")[2] if stem.startswith(CONVERSIONS) else element
    if stem.startswith("joined"):
        return narrow, lanes // 2
    return narrow, lanes * 32 // int(narrow[1:]) if stem.startswith(("dot_", "dotu_", "sum_")) else lanes


def body(stem, element, lanes):
    """C that calls a function with what lies at `at`, the mask m and the vectors v and w."""
    name = vector_helper_name(stem, element, lanes)
    narrow, count = sources(stem, element, lanes)
    source = f"{narrow}x{count}"
    match stem.partition("_")[0]:
        case "loaded":
            return f"*found = {name}(at);"
        case "first":
            return f"*found = {name}((int64_t)at[0]);"
        case "spliced":
            order = ", ".join(f"{lanes - 3 + k}" for k in range(lanes))
            return f"*found = {name}(v, w, {order});"
        case "masked":
            return f"{'*found = ' * (stem == 'masked_load')}{name}(at, &m, &v);"
        case "compressed":
            return f"{name}(at, &m, &v);"
        case "stored":
            which = f"for (int k = 0; k < {lanes}; ++k)\n        which |= (uint64_t)(m[k] != 0) << k;"
            return f"uint64_t which = 0;\n    {which}\n    {name}(at, which, &v);"
        case "streamed":
            return f"{name}(at, m[0] != 0 ? sizeof v - 1 : UINTPTR_MAX, &v);"
        case "fma":
            return f"*found = {name}(&v, &w, &v);"
        case _ if stem in ("abs", "rectified", "roundeven", *IN_DOUBLES):
            return f"*found = {name}(&v);"
        case _ if stem in ("lesser", "greater", *WHOLE, *EXTREMES):
            return f"*found = {name}(&v, &w);"
        case "divided":
            type = FloatType(element)
            parts = (float_literal(part, type) for part in (-7.0, *reciprocal_parts(-7.0, type)))
            return f"*found = {name}(&v, {', '.join(parts)});"
        case _ if stem.startswith("count_"):
            return f"(*found)[0] = ({LANE_TYPES[element]}){name}(&v, &w);"
        case _ if stem.startswith(COMPARED):
            taken = f"{source} both[2];\n    __builtin_memcpy(both, at, sizeof both);\n"
            return f"{taken}    *found = {name}(both, both + 1, &v, &w);"
        case "any" | "count":
            return f"(*found)[0] = ({LANE_TYPES[element]}){name}(&m);"
        case _ if stem in SHIFTS:
            return f"*found = {name}(&v, &w);"
        case "scaled":
            return f"i{element[1:]}x{lanes} n;\n    __builtin_memcpy(&n, at, sizeof n);\n    *found = {name}(&v, &n);"
        case "gathered":
            return f"*found = {name}(at + {lanes}, (const {source} *)(const void *)at);"
        case "strided":
            return f"*found = {name}(at + {2 * lanes}, m[0] != 0 ? -2 : 2);"
        case "looked":
            return f"*found = {name}(at + 128, &v);"
        case "dot" | "dotu":
            taken = f"{source} a, b;\n    __builtin_memcpy(&a, at, sizeof a);\n"
            return f"{taken}    __builtin_memcpy(&b, at + {lanes}, sizeof b);\n    *found = {name}(&v, &a, &b);"
        case "joined":
            taken = f"{source} both[2];\n    __builtin_memcpy(both, at, sizeof both);\n"
            return f"{taken}    *found = {name}(both, both + 1);"
        case "sum":
            return f"{source} a;\n    __builtin_memcpy(&a, at, sizeof a);\n    *found = {name}(&v, &a);"
        case "from" | "trunc" | "truncu" | "short":
            return f"*found = {name}((const {source} *)(const void *)at);"
        case _:
            raise AssertionError(f"how is {stem} called?")


def with_called(stem, element, lanes):
    """A function, behind those that it calls."""
    return [
        *(row for needed in called_by(stem, element, lanes) for row in with_called(*needed)),
        (stem, element, lanes),
    ]


def text(numbers):
    """C with a function for each row of some, and an entry that calls the one whose number is the first size."""
    types, parts, written = {}, [], set()
    for k in numbers:
        stem, element, lanes = ROWS[k]
        narrow, count = sources(stem, element, lanes)
        functions = [row for row in with_called(stem, element, lanes) if row not in written]
        written.update(functions)
        sizes = {(kind, n) for _, kind, n in functions} | {(element, lanes)}
        if stem.startswith(("trunc", "short_")):
            sizes |= {(kind, lanes) for kind in types_between(stem, element, lanes)}
        for kind, n in (*((f"{sign}{of[1:]}", n) for of, n in sizes for sign in "iu"), *sizes, (narrow, count)):
            type = LANE_TYPES.get(kind) or f"uint{kind[1:]}_t"
            types[kind, n] = f"typedef {type} {kind}x{n} __attribute__((vector_size({n} * sizeof({type}))));\n"
        vector, mask, type = f"{element}x{lanes}", f"i{element[1:]}x{lanes}", LANE_TYPES[element]
        takes = f"{type} *at = pointers[0];\n    const {mask} m = *(const {mask} *)pointers[1];\n"
        takes += f"    {vector} *found = pointers[3];\n"
        takes += f"    const {vector} v = *(const {vector} *)pointers[2], w = *found;\n"
        unused = "".join(f"    (void){name};\n" for name in ("at", "m", "v", "w"))
        parts += [f"{vector_helper(*row).text}\n" for row in functions]
        called = body(stem, element, lanes)
        parts.append(f"static void row{k}(void *const *pointers)\n{{\n    {takes}{unused}    {called}\n}}\n")
    headers = "".join(f"#if {condition}\n#include <{name}>\n#endif\n" for name, condition in GUARDED.items())
    head = "int32_t affdsl_entry(void *const *pointers, const int64_t *sizes)"
    table = ", ".join(f"row{k}" if k in numbers else "0" for k in range(len(ROWS)))
    entry = f"static void (*const rows[])(void *const *) = {{{table}}};\n{head};\n{head}\n{{\n"
    entry += "    rows[sizes[0]](pointers);\n    return 0;\n}\n"
    return "".join(
        [
            "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n",
            headers,
            *types.values(),
            INLINED,
            "\n".join(parts),
            entry,
        ]
    )


@cache
def cases():
    """Calls of all rows, with memory that ends where a mask does."""
    random = np.random.default_rng(0)
    return [Case(0, [x.tobytes() for x in arguments(random, *row, n)], [k])
            for k, row in enumerate(ROWS) for n in range(TRIES)]  # fmt: skip


def arguments(random, stem, element, lanes, n):
    """What lies in memory, a mask and two vectors."""
    dtype, integer = np.dtype(DTYPES[element]), np.dtype(f"i{int(element[1:]) // 8}")
    mask = -random.integers(0, 2, lanes).astype(integer)
    mask[lanes - n % lanes :] = 0  # the memory ends there
    if n == 0:
        mask[:] = -1
    reached = max((np.flatnonzero(mask)[-1] + 1 if mask.any() else 0), 1)
    if stem.startswith(("from_", "short_", "joined_")):
        bits = int(stem.partition("_")[2][1:])
        reached = max(1, lanes * bits // int(element[1:]))  # so many bytes, and none more where they fill an element
    reached = {
        "loaded": lanes,
        "streamed": lanes,
        "scaled": lanes,
        "dot": 2 * lanes,
        "dotu": 2 * lanes,
        "sum": lanes,
        "joined": reached if "_" in stem else lanes,
        "strided": 4 * lanes - 1,
    }.get(stem.partition("_")[0], reached)
    at, given, before = (random.uniform(-100, 100, count).astype(dtype) for count in (reached, lanes, lanes))
    if stem.startswith(("short_", "joined_")):
        at = random.integers(0, 256, at.nbytes, "u1").view(dtype)
    if stem.startswith("trunc"):
        floats = np.dtype(DTYPES[stem.partition("_")[2]])
        special = [0.0, -0.5, 0.9, -7.9, 127.5, 2e9, -3e9, 1e19, -1e19, np.inf, -np.inf, np.nan]
        special += [-0.0, 255.99, 256.0, -128.9, -129.0, 32767.6, 32768.0, -32768.9, -32769.0, 65535.9, 65536.0, 7e4]
        at = random.choice(special, lanes).astype(floats)
    if stem == "scaled":
        most = 130 if element == "f32" else 1026
        at = random.integers(-most - 30, most, lanes).astype(integer).view(dtype)
        given = random.choice([1.0, 0.7071068, 1.4142135, 1.1, np.nan], lanes).astype(dtype)
    if stem == "gathered":
        which, given = (random.integers(0, lanes, lanes) for _ in "ab")
        of = 8 // dtype.itemsize  # so many elements are as long as one of the numbers
        chosen = random.integers(1, 99, (of + 1) * lanes).astype(dtype)
        chosen[: of * lanes] = (which + (of - 1) * lanes).view(dtype)
        at, given = chosen, given.astype(dtype)
    if stem == "first":
        at = random.integers(-1, lanes + 2, 1).astype(dtype)
    if stem == "looked_up":
        at, given = (random.integers(-128, 128, count, dtype) for count in (256, lanes))
    if stem.startswith(("dot_", "dotu_", "sum_")):
        full = np.iinfo(np.int32)
        at, given = (random.integers(full.min, full.max, count, dtype, endpoint=True) for count in (reached, lanes))
        at[: n % 2 * lanes], at[lanes : lanes + n % 2 * lanes] = (0x80808080 - 2**32, 0x80008000 - 2**32)
    if stem == "abs":
        given = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, lanes, dtype, endpoint=True)
        given[: n % 2] = np.iinfo(dtype).min
    if stem in ("rectified", *IN_DOUBLES) or (stem == "divided" and n % 2):
        given = np.where(random.random(lanes) < 0.5, random.choice(SPECIAL, lanes), random.uniform(-110, 100, lanes))
        given = given.astype(dtype)
    if stem in WHOLE:
        full = np.iinfo(dtype)
        given, before = (random.integers(full.min, full.max, lanes, dtype, endpoint=True) for _ in "ab")
        given[: n % lanes] = before[: n % lanes]
    if stem.startswith("count_") and dtype.kind == "i":
        given, before = (random.choice([0, 1, -1, np.iinfo(dtype).min], lanes).astype(dtype) for _ in "ab")
    if stem in SHIFTS:
        full = np.iinfo(dtype)
        given = random.integers(full.min, full.max, lanes, dtype, endpoint=True)
        before = random.choice([0, 1, full.bits - 1, full.bits, -1, full.min, 1 << 8, 7, 13], lanes).astype(dtype)
    if stem == "roundeven":
        given = random.choice([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -0.3, 1e9 + 0.5, -3e15, 1e30, np.inf, np.nan], lanes)
        given = given.astype(dtype)
    if stem.startswith(COMPARED):
        at = random.choice([0, 1, -1, 2], 2 * lanes).astype(DTYPES[stem.partition("_")[2]])
        at[at == 2] = np.nan if at.dtype.kind == "f" else np.iinfo(at.dtype).min
        at = at.view(dtype)
    if stem in ("lesser", "greater", *EXTREMES) or (stem.startswith("count_") and dtype.kind == "f"):
        given, before = (random.choice([0.0, -0.0, np.nan, 1.0, -1.0], lanes).astype(dtype) for _ in "ab")
    return at, mask, given, before


def left(way, folder, numbers):
    """What all calls of some rows leave in memory and give."""
    folder.mkdir()
    assert build(folder, [text(numbers)], [way]) == {}
    return execute(folder, [case for case in cases() if case.sizes[0] in numbers], guard="end", way=way)


@pytest.fixture(scope="session")
def portable(tmp_path_factory):
    """What the portable bodies leave."""
    folder = tmp_path_factory.mktemp("rows") / "portable"
    answers = left(optimized(MACHINES["baseline"][0], "-O1"), folder, range(len(ROWS)))
    return list(zip(cases(), answers, strict=True))


OTHERS = {name: [k for k in range(len(ways)) if (name, k) != ("baseline", 0)] for name, ways in MACHINES.items()}
"""The compilers for each instruction set by their numbers, but the one whose results are those of the others."""
WAYS = [
    (name, k)
    for n, (name, ks) in enumerate(OTHERS.items())
    if name in TRIED
    for k in (ks if TRIES_ALL else [ks[n % len(ks)]])
]
"""Each instruction set, and which of the compilers for it."""


@pytest.mark.parametrize(("name", "which"), WAYS)
def test_every_row_means_its_portable_form(name, which, portable, tmp_path):
    way = runnable(name, optimized(MACHINES[name][which], "-O1"))
    numbers = numbers_of(name)
    known = [(case, wanted) for case, wanted in portable if case.sizes[0] in numbers]
    for (case, wanted), found in zip(known, left(way, tmp_path / "chosen", numbers), strict=True):
        stem, element, lanes = ROWS[case.sizes[0]]
        assert (found.crash, found.status) == ("", 0), ROWS[case.sizes[0]]
        for a, b in zip(wanted.buffers, found.buffers, strict=True):
            a, b = (np.frombuffer(x, DTYPES[element]) for x in (a, b))
            same = (a == b) & (np.signbit(a) == np.signbit(b))
            assert np.all(same | ((a != a) & (b != b))), (stem, element, lanes, a, b)


def test_each_instruction_set_has_machines():
    assert {target.name for target in TARGETS} | {"baseline"} == set(MACHINES)


@pytest.mark.parametrize("name", TRIED)
def test_each_instruction_set_is_the_one_that_is_compiled_for(name):
    for way in MACHINES[name]:
        command = [*way.command(), *way.flags, "-dM", "-E", "-x", "c", "/dev/null"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        defined = {line.split()[1] for line in said.splitlines()}
        best = next((target.name for target in TARGETS if defined.issuperset(target.macros)), "baseline")
        assert best == name, way


def test_rows_are_of_the_width_of_a_register():
    for target in TARGETS:
        assert target.rows
        for stem, element, lanes in target.rows:
            assert int(element[1:]) * lanes in (128, 256, 512, 64 * stem.startswith("short_"))
            assert target.is_scalable or int(element[1:]) * lanes <= target.width


def test_the_page_names_all_instruction_sets_and_operations():
    page = (Path(__file__).parents[3] / "docs" / "targets.md").read_text(encoding="utf-8")
    for target in TARGETS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{target.name}` |")]
        assert all(macro in row or f"`{macro.strip('_')[6:]}`" in row for macro in target.macros)
        assert f"| {target.width}{', ' if target.width > 128 else ' |'}" in row
        assert f"| {target.registers} |" in row
    kinds = {stem.partition("_")[0]: f"{stem.partition('_')[0]}_*" for stem in CONVERSIONS}
    kinds["count"] = "count_*"
    stems = {stem for target in TARGETS for stem, _, _ in target.rows}
    for stem in {stem if "_" not in stem else kinds.get(stem.partition("_")[0], stem) for stem in stems}:
        assert f"`{stem}`" in page
