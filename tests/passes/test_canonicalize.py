"""canonicalize: next to mlir-opt's, run before and after, and its result is a fixed point."""

import functools
from random import Random

import pytest

from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.printer import print_op
from affdsl.mlir.readers import parse
from passes import affine_maps
from passes.affine_maps import Map
from passes.canonicalize import canonicalize
from tests.fuzz.check import check_seeds, pipelines
from tests.passes.canonicalize_corpus import RANDOM, Difference, corpus, differences
from tests.passes.random_arithmetic import assert_same_at_the_ends, random_function

WRONG, LESS = "mlir-opt's result is wrong", "ours is not larger"
DIFFERENT = {
    "affine_loops:equal_upper_bounds": (LESS, "mlir-opt leaves a repeated upper bound, though no repeated lower one"),
    "affine_loops:delinearize_ones": (
        WRONG,
        "the first digit in the basis (1, 8, 1) is 0 only if the number lies below 8; nothing says that it does",
    ),
    "arith_compare_cast:narrow_index_casts_0": (WRONG, "index to i32 and back loses the upper half"),
    "arith_float:fast_products_0": (
        WRONG,
        "x * 0.0 is NaN for an infinite x, whatever the flags: floats are strict here",
    ),
    "arith_float:wide_integers_as_floats_0": (WRONG, "rounding i64 to f64 and then to f32 is not rounding it to f32"),
    "arith_integer:quotient_of_product_0": (WRONG, "x * 5 / 5 is not x where the product wraps, which it may here"),
    "arith_integer:quotient_of_unknown_product_0": (WRONG, "x * y / y is not x where y is 0"),
    "random:28": (WRONG, "mlir-opt leaves a loop without any upper bound, which it refuses to read again"),
}
"""The programs of which mlir-opt makes something else: whose result is better, and why."""


@functools.cache
def found() -> tuple[Difference, ...]:
    return tuple(differences(corpus()))


# --- The corpus


def test_the_corpus_is_large_and_names_are_unique():
    names = [example.name for example in corpus()]
    assert len(names) == len(set(names)) >= 300


def test_all_but_a_few_programs_are_as_mlir_opt_makes_them():
    assert len(found()) <= 0.05 * len(corpus())
    assert {d.example.name for d in found()} == set(DIFFERENT)


def test_where_mlir_opt_is_right_ours_is_not_larger():
    for difference in found():
        kind, _ = DIFFERENT[difference.example.name]
        ours, theirs = difference.sizes
        assert kind == WRONG or ours <= theirs, difference.example.name


@pytest.mark.parametrize("example", corpus(), ids=lambda example: example.name)
def test_programs_do_the_same_and_are_at_rest(example):
    before = parse(example.text)
    verify(before)
    after = canonicalize(before)
    verify(after)
    text = print_op(after)
    assert print_op(canonicalize(after)) == text
    assert print_op(canonicalize(parse(text))) == text
    assert_same_at_the_ends(before, after)


def test_most_programs_of_the_corpus_can_be_run():
    written = [parse(e.text) for e in corpus() if not e.name.startswith(("random", "opaque"))]
    runs = [assert_same_at_the_ends(module, module) for module in written]
    assert sum(n > 0 for n in runs) >= 0.85 * len(runs)


# --- Random programs


@pytest.mark.parametrize(("lanes", "count"), [(0, 400), (4, 100)])
def test_random_arithmetic_does_the_same(lanes, count):
    changed = counted = 0
    for seed in range(count):
        before = parse(random_function(seed, lanes=lanes))
        after = canonicalize(before)
        changed += print_op(after) != print_op(before)
        counted += assert_same_at_the_ends(before, after, runs=3, seed=seed)
    assert changed > 0.8 * count
    assert counted > 2 * count


def test_random_affine_programs_do_the_same():
    report = check_seeds([*RANDOM, *range(1000, 1060)], pipelines(["canonicalize"]), ["interpreter"])
    assert not report.failures
    assert report.changed["builtin.module(canonicalize)"] > 120


# --- Maps


class Counters:
    """Facts of two loop counters d0 and d1, with bounds and steps, and a symbol."""

    def __init__(self, module: func.Module) -> None:
        loops = [op for op in walk(module) if isinstance(op, affine.For)]
        self.loops = {loop.iv: loop for loop in loops}
        self.symbol = module.functions[0].args[0]

    def apply_of(self, value):
        return None

    def number_of(self, value):
        return None

    def is_symbol(self, value):
        return value is self.symbol

    def is_dim(self, value):
        return True

    def loop_of(self, value):
        loop = self.loops.get(value)
        if loop is None:
            return None
        return Map((loop.lower[0].constant,), (), ()), Map((loop.upper[0].constant,), (), ()), loop.step


def tree(random: Random, depth: int) -> affine_maps.Tree:
    if depth == 0 or random.random() < 0.2:
        return random.choice(["d0", "d1", "s0", random.randint(-8, 8)])
    make = affine_maps.MAKE[random.choice(["+", "+", "*", "floordiv", "ceildiv", "mod"])]
    left = tree(random, depth - 1)
    if make is affine_maps.add:
        return make(left, tree(random, depth - 1))
    if make is affine_maps.mul:
        return make(left, random.randint(-4, 4))
    return make(left, random.choice([1, 2, 3, 4, 6, 8]))


def number(expr: affine_maps.Tree, at: dict[str, int]) -> int:
    """What a tree is at a point: the definition."""
    match expr:
        case int():
            return expr
        case str():
            return at[expr]
        case (operator, left, right):
            a, b = number(left, at), number(right, at)
            match operator:
                case "+":
                    return a + b
                case "*":
                    return a * b
                case "floordiv":
                    return a // b
                case "ceildiv":
                    return -(-a // b)
                case _:
                    return a % b


@pytest.mark.parametrize("seed", range(40))
def test_maps_mean_the_same_wherever_the_counters_go(seed):
    random = Random(seed)
    low, high, step = random.randint(-4, 9), random.randint(-4, 40), random.choice([1, 1, 2, 4, 8])
    text = f"""func.func @f(%n: index) {{
      affine.for %i = {low} to {high} step {step} {{ affine.for %j = 0 to 8 {{ }} }} return }}"""
    facts = Counters(parse(text))
    i, j = facts.loops
    for _ in range(40):
        trees = tuple(tree(random, 3) for _ in range(3))
        map = Map(trees, (i, j), (facts.symbol,))
        simple = affine_maps.simplified(map, facts)
        flat, steps = affine_maps.flattened(simple), 0
        while (again := affine_maps.flattened(flat)) != flat and steps < 5:
            flat, steps = again, steps + 1
        assert again == flat, "flattening again and again comes to rest"
        highest = affine_maps.irredundant(map, facts, is_max=True)
        lowest = affine_maps.irredundant(map, facts, is_max=False)
        for d0 in range(low, high, step):
            for d1 in (0, 3, 7):
                for s0 in (-3, 0, 5):
                    at = {"d0": d0, "d1": d1, "s0": s0}
                    wanted = [number(t, at) for t in trees]
                    assert [number(t, at) for t in simple.trees] == wanted
                    assert [number(t, at) for t in flat.trees] == wanted
                    assert max(number(t, at) for t in highest.trees) == max(wanted)
                    assert min(number(t, at) for t in lowest.trees) == min(wanted)


# --- What it keeps


def test_what_has_not_changed_is_the_same_object():
    module = parse("""func.func @f(%x: i32) -> i32 { %y = arith.muli %x, %x : i32 return %y : i32 }
      func.func @g(%x: i32) -> i32 { %c0 = arith.constant 0 : i32 %y = arith.addi %x, %c0 : i32 return %y : i32 }""")
    after = canonicalize(module)
    assert after.functions[0] is module.functions[0]
    assert after.functions[1] is not module.functions[1]
    assert canonicalize(after) is after


def test_new_operations_have_the_place_of_what_they_stand_for():
    module = parse("""func.func @f(%x: i32) -> i32 {
      %c1 = arith.constant 1 : i32
      %y = arith.addi %x, %c1 : i32
      %z = arith.addi %y, %c1 : i32
      return %z : i32
    }""")
    ops = canonicalize(module).functions[0].body
    assert [op.location.line for op in ops if isinstance(op, arith.Binary)] == [4]
    assert [op.location.line for op in ops if isinstance(op, arith.Constant)] == [4]


def test_deep_nests():
    depth = 150
    text = "affine.for %i = 0 to %n {\n" * depth
    for k in range(depth):
        text = text.replace("%i =", f"%i{k} =", 1)
    text = (
        f"func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {{\n{text}affine.store %x, %A[%n - 1] : memref<?xf32>\n"
    )
    text += "}\n" * depth + "return }"
    after = canonicalize(parse(text))
    assert sum(isinstance(op, affine.For) for op in walk(after)) == depth


def test_long_functions():
    lines = [f"%v{k + 1} = arith.addi %v{k}, %c1 : i32" for k in range(5000)]
    text = "func.func @f(%v0: i32) -> i32 {\n%c1 = arith.constant 1 : i32\n" + "\n".join(lines)
    after = canonicalize(parse(text + "\nreturn %v5000 : i32 }"))
    assert len(after.functions[0].body) == 3
