"""canonicalize: next to mlir-opt's, run before and after, and its result is a fixed point."""

import functools
from itertools import product
from math import prod
from random import Random

import pytest

from affdsl.ir import semantics
from affdsl.ir.applied import Applied
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.interpreter import run
from affdsl.ir.nesting import DEEPEST
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType
from affdsl.ir.verifier import verify
from affdsl.ir.written import Tree, mul
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.affine import flattening
from affdsl.passes.affine import maps as affine_maps
from affdsl.passes.cleanup.canonicalize import canonicalize
from affdsl.passes.cleanup.canonicalize.integers import flags
from tests.effort import TRIES_ALL, some
from tests.fuzz.check import check_seeds, pipelines
from tests.oracles import mlir_opt
from tests.passes.cleanup.canonicalize_corpus import RANDOM, Difference, Example, corpus, differences
from tests.passes.cleanup.random_arithmetic import assert_same_at_the_ends, random_function

WRONG, LESS = "mlir-opt's result is wrong", "ours is not larger"
DIFFERENT = {
    "affine_loops:equal_upper_bounds": (LESS, "mlir-opt leaves a repeated upper bound, though no repeated lower one"),
    "affine_loops:delinearize_ones": (
        WRONG,
        "the first digit in the basis (1, 8, 1) is not 0 from 8 on, where mlir-opt itself computes the digits",
    ),
    "arith_compare_cast:narrow_index_casts_0": (WRONG, "index to i32 and back loses the upper half"),
    "arith_float:wide_integers_as_floats_0": (WRONG, "rounding i64 to f64 and then to f32 is not rounding it to f32"),
    "arith_integer:quotient_of_unknown_product_0": (
        WRONG,
        "x * y / y is 0 where y is 0, since x / 0 is 0 here (decision 3), and no flag promises that y is not",
    ),
    "random:28": (WRONG, "mlir-opt leaves a loop without any lower bound, and refuses its own result"),
}
"""The programs of which mlir-opt makes something else: whose result is better, and why."""

LARGEST = (1 << 31) // 5  # times 5 is 2**31 - 3
PROMISES = {
    "quotient_of_product_1": ("x * 5 does not wrap as a signed number", [-LARGEST, -7, -1, 0, 1, 7, LARGEST]),
    "quotient_of_product_2": ("x * 5 does not wrap as an unsigned number", [0, 1, 7, LARGEST, 2 * LARGEST + 1]),
    "fast_products_0": ("x is neither infinite nor NaN; the sign of a zero does not matter", [-2.5, -0.0, 0.0, 1e30]),
}
"""The functions of the corpus whose flags were used: what their authors promised, and arguments that keep to it."""


@functools.cache
def programs() -> list[Example]:
    return corpus(some(RANDOM, 60))


@functools.cache
def found() -> tuple[Difference, ...]:
    return tuple(differences(programs()))


def test_the_corpus_is_large_and_names_are_unique():
    names = [example.name for example in programs()]
    assert len(names) == len(set(names)) >= 300


def test_all_but_a_few_programs_are_as_mlir_opt_makes_them():
    assert len(found()) <= 0.05 * len(programs())
    assert {d.example.name for d in found()} == set(DIFFERENT)


def test_where_mlir_opt_is_right_ours_is_not_larger():
    for difference in found():
        kind, _ = DIFFERENT[difference.example.name]
        ours, theirs = difference.sizes
        assert kind == WRONG or ours <= theirs, difference.example.name


@pytest.mark.parametrize("example", programs(), ids=lambda example: example.name)
def test_programs_do_the_same_and_are_at_rest(example):
    before = parse(example.text)
    verify(before)
    after = canonicalize(before)
    verify(after)
    text = print_op(after)
    assert print_op(canonicalize(after)) == text
    assert print_op(canonicalize(parse(text))) == text
    assert_same_at_the_ends(before, after, but=PROMISES)


@pytest.mark.parametrize("symbol", PROMISES)
def test_flags_are_believed(symbol):
    (example,) = [e for e in programs() if f"@{symbol}(" in e.text]
    before, after = parse(example.text), canonicalize(parse(example.text))
    (old,), (new,) = ([f for f in m.functions if f.symbol == symbol] for m in (before, after))
    for x in PROMISES[symbol][1]:
        assert run(new, x) == run(old, x), x
    with pytest.raises(AssertionError, match=f"@{symbol}"):  # whoever breaks a promise gets something else
        assert_same_at_the_ends(before, after, runs=50, but=PROMISES.keys() - {symbol})


WRONG_AT = {
    "affine_loops:delinearize_ones": (9,),
    "arith_compare_cast:narrow_index_casts_0": (1 << 40,),
    "arith_float:wide_integers_as_floats_0": ((1 << 60) + (1 << 36) + 1,),
    "arith_integer:quotient_of_unknown_product_0": (7, 0),
}
"""Arguments of programs for which mlir-opt's result returns something else."""


def test_every_wrong_result_is_shown():
    wrong = {name for name, (kind, _) in DIFFERENT.items() if kind == WRONG}
    assert wrong == {*WRONG_AT, "random:28"}
    (random_28,) = [d for d in found() if d.example.name == "random:28"]
    assert random_28.theirs.split() == ["module", "{", "}"]  # nothing: it refused its own result


@pytest.mark.parametrize("name", WRONG_AT)
def test_mlir_opt_is_wrong_where_we_say_so(name):
    (example,) = [e for e in programs() if e.name == name]
    before = parse(example.text)
    theirs = parse(mlir_opt(example.text, "--canonicalize"))
    wanted, ours, other = (run(m.functions[0], *WRONG_AT[name]) for m in (before, canonicalize(before), theirs))
    assert ours == wanted != other


def test_mlir_opt_computes_the_digits_that_it_folds_away():
    (example,) = [e for e in programs() if e.name == "affine_loops:delinearize_ones"]
    computed = parse(mlir_opt(example.text, "--affine-expand-index-ops")).functions[0]
    folded = parse(mlir_opt(example.text, "--canonicalize")).functions[0]
    assert run(computed, 9) == (1, 1, 0)
    assert run(folded, 9) == (0, 9, 0)


def digits(name: str, basis: tuple[int, ...], count: int) -> str:
    types = ", ".join(["index"] * count)
    return f"""func.func @{name}(%x: index) -> ({types}) {{
      %0:{count} = affine.delinearize_index %x into ({", ".join(map(str, basis))}) : {types}
      return {", ".join([f"%0#{k}" for k in range(count)])} : {types}
    }}"""


def test_digits_are_the_same_after_canonicalize_whether_or_not_the_first_bound_holds():
    bases = [(1,), (1, 1), (1, 1, 1), (2, 1), (1, 4), (4,)]
    bounds = [prod(basis) for basis in bases] + [9] * len(bases)
    written = [digits(f"f{k}", basis, len(basis)) for k, basis in enumerate(bases)]
    written += [digits(f"g{k}", basis, len(basis) + 1) for k, basis in enumerate(bases)]
    before = parse("\n".join(written))
    theirs = parse(mlir_opt(str(before), "--canonicalize"))
    for bound, old, new, other in zip(
        bounds, before.functions, canonicalize(before).functions, theirs.functions, strict=True
    ):
        assert [run(new, x) for x in range(-9, 10)] == [run(old, x) for x in range(-9, 10)]
        assert [run(other, x) for x in range(bound)] == [run(old, x) for x in range(bound)]


def test_most_programs_of_the_corpus_can_be_run():
    written = [parse(e.text) for e in programs() if not e.name.startswith(("random", "opaque"))]
    runs = [assert_same_at_the_ends(module, module, runs=2) for module in written]
    assert sum(n > 0 for n in runs) >= 0.85 * len(runs)


def combinations(*kinds):
    """Two operations with each pair of constants of i3, flag and side: @f(x) = (x <first> a) <second> b."""
    overflows = ("overflow<nsw>", "overflow<nuw>", "overflow<nsw, nuw>", "")
    for first, second, flag, sides, a, b in product(
        *kinds, overflows, product((False, True), repeat=2), VALUES, VALUES
    ):
        one, two = "%a, %x" if sides[0] else "%x, %a", "%b, %m" if sides[1] else "%m, %b"
        again = flag if second in SUMS else ""
        yield f"""func.func @f(%x: i3) -> i3 {{
          %a = arith.constant {a} : i3
          %b = arith.constant {b} : i3
          %m = arith.{first} {one} {flag} : i3
          %r = arith.{second} {two} {again} : i3
          return %r : i3
        }}"""


VALUES = range(-4, 4)
SUMS = {"addi": int.__add__, "subi": int.__sub__, "muli": int.__mul__}
RANGES = {"nsw": (-4, 4, 0), "nuw": (0, 8, 7)}


def value(function: func.Func, x: int) -> int | None:
    """What a function on i3 returns; None if it breaks a promise of its own."""
    values = {function.args[0]: x}
    for op in function.body:
        match op:
            case arith.Constant():
                values[op.result] = op.value
            case arith.Binary():
                a, b = values[op.left], values[op.right]
                for flag in flags(op):
                    low, high, mask = RANGES[flag]
                    exact = SUMS[op.kind](a & mask, b & mask) if mask else SUMS[op.kind](a, b)
                    if not low <= exact < high:
                        return None
                values[op.result] = semantics.binary(op.kind, IntegerType(3))(a, b)
            case func.Return():
                return values[op.values[0]]
    raise AssertionError("no return")


@pytest.mark.parametrize(
    ("first", "second"),
    [*product(SUMS, SUMS), *product(["muli"], ["divsi", "divui", "floordivsi", "ceildivsi", "remsi"])],
)
def test_who_keeps_promises_gets_the_same_and_keeps_them(first, second):
    texts = list(combinations([first], [second]))[:: 1 if TRIES_ALL else 7]
    module = parse("\n".join(text.replace("@f", f"@f{n}") for n, text in enumerate(texts)))
    for before, after in zip(module.functions, canonicalize(module).functions, strict=True):
        for x in VALUES:
            if (wanted := value(before, x)) is not None:
                assert value(after, x) == wanted, f"x = {x}\n{before}\n{after}"


def divided(type: str, factor: str, first: str, second: str) -> Example:
    text = f"""func.func @f(%x: {type}, %y: {type}) -> {type} {{
      %k = arith.constant {factor} : {type}
      %m = arith.{first} : {type}
      %r = arith.{second} : {type}
      return %r : {type}
    }}"""
    return Example(f"{type} {factor} {first} {second}", text)


def test_products_are_divided_as_by_mlir_opt():
    divisions = ("divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui")
    overflows = ("overflow<nsw>", "overflow<nuw>", "overflow<nsw, nuw>", "")
    constants = [
        ("i32", "5"), ("i32", "-5"), ("i8", "-1"), ("index", "3"), ("i32", "0"),
        ("vector<4xi32>", "dense<5>"), ("vector<2xi32>", "dense<[5, 3]>"),
    ]  # fmt: skip
    examples = [
        divided(type, factor, f"muli {operands} {flag}", f"{division} %m, %k")
        for (type, factor), operands, flag, division in product(constants, ("%x, %k", "%k, %x"), overflows, divisions)
    ]
    assert not differences(examples)


@pytest.mark.parametrize(
    ("type", "factor", "first", "second"),
    [
        ("i32", "5", "muli %x, %y overflow<nsw>", "divsi %m, %y"),
        ("i32", "5", "muli %x, %k overflow<nsw>", "divsi %m, %x"),
        ("vector<2xi32>", "dense<[5, 0]>", "muli %x, %k overflow<nsw>", "divsi %m, %k"),
    ],
)
def test_quotients_by_what_may_be_zero_stay(type, factor, first, second):
    example = divided(type, factor, first, second)
    before = parse(example.text)
    assert sum(isinstance(op, arith.Binary) for op in walk(canonicalize(before))) == 2
    assert_same_at_the_ends(before, canonicalize(before))
    (found,) = differences([example])  # mlir-opt may think so: there, a division by 0 has no meaning
    assert "arith.divsi" not in found.theirs


def test_products_with_zero_are_as_by_mlir_opt():
    permissions = ("", "nnan", "nsz", "nnan,nsz", "fast", "reassoc,nnan,ninf,nsz,arcp,contract,afn", "ninf,nsz")
    zeros = [
        ("f32", "0.0"), ("f32", "-0.0"), ("f64", "0.0"), ("vector<4xf32>", "dense<-0.0>"),
        ("vector<2xf32>", "dense<[0.0, -0.0]>"), ("f32", "1.0e-45"),
    ]  # fmt: skip
    examples = [
        divided(type, zero, f"{kind} {operands}" + (f" fastmath<{given}>" if given else ""), "addf %m, %y")
        for (type, zero), kind, operands, given in product(
            zeros, ("mulf", "divf", "addf", "subf"), ("%x, %k", "%k, %x"), permissions
        )
    ]
    assert not differences(examples)


@pytest.mark.parametrize(("lanes", "count"), [(0, 400), (4, 100)])
def test_random_arithmetic_does_the_same(lanes, count):
    changed = counted = 0
    seeds = some(range(count), count // 3)
    for seed in seeds:
        before = parse(random_function(seed, lanes=lanes))
        after = canonicalize(before)
        changed += print_op(after) != print_op(before)
        counted += assert_same_at_the_ends(before, after, runs=3, seed=seed)
    assert changed > 0.8 * len(seeds)
    assert counted > 2 * len(seeds)


def test_random_affine_programs_do_the_same():
    report = check_seeds(some([*range(1000, 1060), *RANDOM], 40), pipelines(["canonicalize"]), ["interpreter"])
    assert not report.failures
    assert report.changed["builtin.module(canonicalize)"] > 0.75 * report.programs


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
        return Applied((loop.lower[0].constant,), (), ()), Applied((loop.upper[0].constant,), (), ()), loop.step


def tree(random: Random, depth: int) -> Tree:
    if depth == 0 or random.random() < 0.2:
        return random.choice(["d0", "d1", "s0", random.randint(-8, 8)])
    make = flattening.MAKE[random.choice(["+", "+", "*", "floordiv", "ceildiv", "mod"])]
    left = tree(random, depth - 1)
    if make is flattening.add:
        return make(left, tree(random, depth - 1))
    if make is mul:
        return make(left, random.randint(-4, 4))
    return make(left, random.choice([1, 2, 3, 4, 6, 8]))


def number(expr: Tree, at: dict[str, int]) -> int:
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


@pytest.mark.parametrize("seed", some(range(40), 12))
def test_maps_mean_the_same_wherever_the_counters_go(seed):
    random = Random(seed)
    low, high, step = random.randint(-4, 9), random.randint(-4, 40), random.choice([1, 1, 2, 4, 8])
    text = f"""func.func @f(%n: index) {{
      affine.for %i = {low} to {high} step {step} {{ affine.for %j = 0 to 8 {{ }} }} return }}"""
    facts = Counters(parse(text))
    i, j = facts.loops
    for _ in range(40):
        trees = tuple(tree(random, 3) for _ in range(3))
        map = Applied(trees, (i, j), (facts.symbol,))
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


@pytest.mark.parametrize("mode", arith.ROUNDING)
def test_a_rounding_that_was_asked_for_stays(mode):
    """257 and -257 lie halfway between two numbers of bf16."""
    module = parse(f"""
func.func @f(%x: i16) -> bf16 {{
  %a = arith.sitofp %x : i16 to f32
  %b = arith.truncf %a {mode} : f32 to bf16
  return %b : bf16
}}""")
    changed = canonicalize(module)
    results = [[float(run(m.functions[0], n)[0]) for n in (257, -257, 259, -259, 3)] for m in (module, changed)]
    assert results[0] == results[1]
    assert (len([op for op in walk(changed) if isinstance(op, arith.Cast)]) == 1) == (mode == "to_nearest_even")


@pytest.mark.parametrize("first", ["", "fastmath<contract>", "fastmath<fast>"])
@pytest.mark.parametrize("second", ["", "fastmath<contract>", "fastmath<fast>"])
def test_rounding_to_a_narrow_type_and_back_is_not_undone(first, second):
    """mlir-opt undoes it where both casts allow contraction; here what is computed is the same to the last bit."""
    text = f"""
func.func @f(%x: f64) -> f64 {{
  %a = arith.truncf %x {first} : f64 to f32
  %b = arith.extf %a {second} : f32 to f64
  return %b : f64
}}"""
    module = parse(text)
    changed = canonicalize(module)
    assert float(run(module.functions[0], 0.1)[0]) == float(run(changed.functions[0], 0.1)[0]) != 0.1
    undone = "arith.truncf" not in mlir_opt(text, "--canonicalize")
    assert undone == (first != "" and second != "")


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
    depth = DEEPEST
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
