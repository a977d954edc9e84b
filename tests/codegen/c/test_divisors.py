"""Division by an index of any sign is total in C; a sign is known only where it is proved."""

import ctypes
import re
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.c.expressions import AffineWriter, Code
from affdsl.codegen.c.helpers import helper
from affdsl.codegen.c.ranges import Ranges
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import call, compile_silently, run_c
from tests.oracles import require

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
TRAPPING = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
I64 = 2**63
NUMBERS = (*range(-9, 10), -I64, -I64 + 1, I64 - 2, I64 - 1, 3 * 10**18, -3 * 10**18)
M, N = af.symbols("M N")


def wrapped(n: int) -> int:
    return (n + I64) % (2 * I64) - I64


MEANING = {
    "floordiv_i64": lambda a, b: a // b,
    "ceildiv_i64": lambda a, b: -(-a // b),
    "mod_i64": lambda a, b: a % b,
    "floordiv_any_i64": lambda a, b: wrapped(a // b) if b else 0,
    "mod_any_i64": lambda a, b: a % b if b else 0,
}


@cache
def helpers_in_a_loop() -> str:
    """Every helper, inlined and called for all numbers."""
    parts = ["#include <stdint.h>", *(helper(name).text for name in MEANING)]
    for name in MEANING:
        parts.append(f"""void every_{name}(int64_t n, const int64_t *a, const int64_t *b, int64_t *c);
void every_{name}(int64_t n, const int64_t *a, const int64_t *b, int64_t *c)
{{
    for (int64_t i = 0; i < n; ++i)
        c[i] = {name}(a[i], b[i]);
}}""")
    return "\n".join([*parts, ""])


@pytest.mark.parametrize("flags", [*((level,) for level in LEVELS), ("-O1", *TRAPPING)], ids=" ".join)
@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_division_of_indices_is_right_for_every_sign(compiler: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    if compiler != "gcc":
        flags = flags[:1]  # a clang without its sanitizers is a clang, too
    library = ctypes.CDLL(str(compile_silently(helpers_in_a_loop(), tmp_path, require(compiler), *flags)))
    for name, meaning in MEANING.items():
        pairs = [(a, b) for a, b in product(NUMBERS, NUMBERS) if b > 0 or "_any_" in name]
        numbers = np.array(pairs, np.int64).T.copy()
        found = np.zeros(len(pairs), np.int64)
        pointers = (ctypes.c_void_p(x.ctypes.data) for x in (*numbers, found))
        getattr(library, f"every_{name}")(ctypes.c_int64(len(pairs)), *pointers)
        assert found.tolist() == [meaning(a, b) for a, b in pairs]


def written(expr: Affine, ranges: Ranges) -> str:
    def show(value: Value) -> Code:
        return Code(value.hint)

    return AffineWriter(show, ranges, lambda name: name).expression(expr).text


def test_the_sign_of_a_divisor_is_known_only_where_it_is_proved() -> None:
    i, n, p = (Value(INDEX, hint) for hint in "inp")
    ranges = Ranges()
    ranges.know(n, 0)
    assert written(i % p, ranges) == "mod_any_i64(i, p)"
    assert written(i // n, ranges) == "floordiv_any_i64(i, n)"
    assert written(i // (n + 1), ranges) == "floordiv_i64(i, n + 1)"
    before = ranges.mark()
    ranges.know_loop(i, [Affine()], [Affine.of(n)])
    assert written(i % n, ranges) == "i % n"
    assert written((i - 1) // n, ranges) == "floordiv_i64(i - 1, n)"
    assert written(i % p, ranges) == "mod_any_i64(i, p)"
    inside = ranges.mark()
    ranges.know_constraints([Constraint(p - 1)])
    assert written(i % p, ranges) == "i % p"
    assert written(i // (n * p), ranges) == "i / (n * p)"
    ranges.forget(inside)
    assert written(i % p, ranges) == "mod_any_i64(i, p)"
    ranges.know_constraints([Constraint(n - p - 1)])  # p < n
    assert written(i % (n - p), ranges) == "i % (n - p)"
    ranges.forget(before)
    assert written(i % n, ranges) == "mod_any_i64(i, n)"
    assert written(i % (n - p), ranges) == "mod_any_i64(i, n - p)"


def test_a_quotient_by_a_divisor_of_unknown_sign_is_not_known_to_be_natural() -> None:
    n, p = Value(INDEX, "n"), Value(INDEX, "p")
    ranges = Ranges()
    ranges.know(n, 0)
    assert not ranges.is_natural(n // p)
    assert ranges.is_natural(n // (n + 1))
    ranges.know(p, 0)  # by 0 it is 0
    assert ranges.is_natural(n // p)


def test_what_a_block_proved_ends_with_it(tmp_path: Path) -> None:
    text = emit_jit(parse("""func.func @f(%p: index, %x: memref<9xi64>) {
  %c = arith.constant 1 : i64
  affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%p] {
    affine.store %c, %x[symbol(%p) floordiv 3] : memref<9xi64>
    affine.store %c, %x[8 mod symbol(%p)] : memref<9xi64>
  } else {
    affine.store %c, %x[(3 - symbol(%p)) floordiv 4] : memref<9xi64>
  }
  affine.store %c, %x[5 mod symbol(%p)] : memref<9xi64>
  return
}"""), "f", sizes=0)  # fmt: skip
    assert "x[p / 3]" in text
    assert "x[8 % p]" in text
    assert "x[(3 - p) / 4]" in text
    assert "x[mod_any_i64(5, p)]" in text


@af.kernel
def divided(x: af.i64[12], N: af.index, p: af.index) -> None:
    with af.for_(8) as i:
        with af.if_(i % p == 0):
            x[i] += 1
        x[8] += af.i64(i % N) + af.i64(i // N)
    with af.for_(9 // p) as _:
        x[9] += 1
    x[10] = af.i64((N - 20) // p)
    x[11] = af.i64((N - 20).ceildiv(p))


@pytest.mark.parametrize("flags", [("-O0",), ("-O1", *TRAPPING), ("-Os",)], ids=" ".join)
def test_no_divisor_kills_a_process(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Shipped C is called with anything: no trap, Python's meaning, and 0 where the divisor is 0."""

    def quotient(a: int, b: int) -> int:
        return a // b if b else 0

    for n, p in ((0, 0), (5, 0), (0, -3), (5, -3), (-4, 2), (3, -1), (1, 4)):
        x = np.zeros(12, np.int64)
        run_c(divided.module, divided.name, [x, np.int64(n), np.int64(p)], tmp_path / f"{n}_{p}", flags=flags)
        expected = [int(p == 0 or i % p == 0) for i in range(8)]
        total = sum((i % n if n else 0) + quotient(i, n) for i in range(8))
        expected += [total, max(quotient(9, p), 0), quotient(n - 20, p), -quotient(20 - n, p)]
        assert x.tolist() == expected, (n, p)


STEPPING = """func.func @f(%from: index, %to: index, %by: index, %x: memref<9xi64>) {
  %c = arith.constant 1 : i64
  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  scf.for %i = %from to %to step %by {
    %v = memref.load %x[%k0] : memref<9xi64>
    %w = arith.addi %v, %c : i64
    memref.store %w, %x[%k0] : memref<9xi64>
  }
  scf.parallel (%j) = (%from) to (%to) step (%by) {
    memref.store %c, %x[%k1] : memref<9xi64>
    scf.reduce
  }
  return
}"""


def test_a_loop_whose_step_is_not_positive_does_not_run(tmp_path: Path) -> None:
    module = parse(STEPPING)
    for k, (by, times) in enumerate({3: 3, 1: 8, 0: 0, -1: 0, -(2**63): 0}.items()):
        x = np.zeros(9, np.int64)
        run_c(module, "f", [np.int64(0), np.int64(8), np.int64(by), x], tmp_path / str(k))
        assert x.tolist() == [times, int(times > 0), *[0] * 7]
    ends = re.compile(r"_end\b")
    assert ends.search(emit_jit(module, "f"))
    assert not ends.search(emit_jit(parse(STEPPING.replace("step %by", "step %k1").replace("(%by)", "(%k1)")), "f"))


@pytest.mark.parametrize(
    ("names", "expression", "p"),
    [
        ("floordiv", "floordiv_i64(a, b)", -2),
        ("floordiv_any", "floordiv_any_i64(a, b)", -2),
        ("divfloor", "divfloor_i64(a, b)", -2),
        ("divceil", "-divceil_i64(-a, b)", -2),
        ("divuceil", "divuceil_i64(a, b) - 3", 14),
        ("floordiv mod", "floordiv_i64(a, b) + mod_i64(a, b) - 7", 14),
        ("floordiv_any mod_any", "floordiv_any_i64(a, b) + mod_any_i64(a, b) - 7", 14),
        ("floordiv_any", "floordiv_any_i64(a, b) + a % b - 7", 14),
        ("mod_any", "a / b + mod_any_i64(a, b) - 7", 14),
        ("divfloor rem", "divfloor_i64(a, b) + rem_i64(a, b) - 7", 14),
        ("div rem", "div_i64(a, b) + rem_i64(a, b) - 7", 14),
        ("divu remu", "divu_i64(a, b) + remu_i64(a, b) - 7", 14),
    ],
)
def test_gcc_translates_division_rightly_at_every_level(names: str, expression: str, p: int, tmp_path: Path) -> None:
    """The program that gcc gets wrong at -O1, with our text of the division: -2 // 9 is -1, ten times."""
    text = Path(__file__).with_name("quirks").joinpath("remainders_beside_quotients.c").read_text()
    start, end = text.index("static inline int64_t floordiv_i64"), text.index("static inline int64_t max")
    helpers = [helper(f"{name}_i64").text for name in names.split()]
    made = f"static inline int64_t quotient(int64_t a, int64_t b)\n{{\n    return {expression};\n}}\n"
    rest = text[end:].replace("floordiv_i64", "quotient").replace("p = -2", f"p = {p}")
    (tmp_path / "program.c").write_text("\n".join([text[:start], *helpers, made, rest]))
    for level in ("-O1", "-O2", "-Os"):
        program = str(tmp_path / f"program{level}")
        subprocess.run([require("gcc"), level, str(tmp_path / "program.c"), "-o", program], check=True)
        assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "0 10 0\n", level


def test_no_helper_computes_a_remainder_of_two_numbers() -> None:
    for stem in ("rem", "remu", "divfloor", "divceil", "divuceil", "mod", "mod_any", "floordiv", "floordiv_any"):
        assert "%" not in helper(f"{stem}_i64").text


@af.kernel
def wrapped_around(A: af.f64[N + 4, N + 4], B: af.f64[M + 4], p: af.index) -> None:
    with af.for_(N) as _i, af.for_(N) as _j:
        A[p % (N + 4), (p // (N + 4)) % (N + 4)] += B[3]


@pytest.mark.parametrize("level", ["-O1", "-Os"])
def test_remainders_of_negative_numbers_in_peeled_loops_at_every_level(level: str, tmp_path: Path) -> None:
    schedule = af.Schedule(wrapped_around)
    schedule.peel("_i", first=2, last=2)
    schedule.peel([row.names[0] for row in schedule.loops()][-1], first=1, last=1)
    kernel = schedule.kernel()
    text = emit_jit(kernel.module, kernel.name, sizes=2)
    library = ctypes.CDLL(str(compile_silently(text, tmp_path, require("gcc"), level)))
    for n, p in ((5, -2), (7, -3), (3, -5), (5, -100), (5, 31)):
        memory = np.zeros(3000)
        a, b = memory[1500 : 1500 + (n + 4) ** 2].reshape(n + 4, n + 4), np.ones(11)
        status, _ = call(library, kernel.module, kernel.name, [a, b, np.int64(p)], sizes=2)
        expected = np.zeros_like(a)
        expected[p % (n + 4), p // (n + 4) % (n + 4)] = n * n
        assert status == 0
        assert memory.sum() == n * n
        np.testing.assert_array_equal(a, expected)


@af.kernel
def from_one_row(A: af.f64[N + 4, M + 4], B: af.f64[N, M], p: af.index) -> None:
    with af.for_(N) as _i, af.for_(M) as _j:
        B[_i, _j] = A[0, p % (M + 4)] + 1.0


@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_remainders_after_unroll_jam_copy_reverse_and_peel_at_every_level(level: str, tmp_path: Path) -> None:
    schedule = af.Schedule(from_one_row)
    schedule.unroll_jam("_i", 2).copy("B", "_j").reverse("_j").peel("_j", first=1, last=1)
    kernel = schedule.kernel()
    text = emit_jit(kernel.module, kernel.name, sizes=2)
    library = ctypes.CDLL(str(compile_silently(text, tmp_path, require("gcc"), level)))
    for n, m, p in ((5, 7, -2), (2, 1, -3), (3, 4, 31)):
        a, b = np.arange((n + 4.0) * (m + 4)).reshape(n + 4, m + 4), np.zeros((n, m))
        status, _ = call(library, kernel.module, kernel.name, [a, b, np.int64(p)], sizes=2)
        assert status == 0
        assert (b == p % (m + 4) + 1).all()
