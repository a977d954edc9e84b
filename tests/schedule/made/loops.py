"""Programs for the verbs that move and replace what loops compute: `sink`, `unswitch`, `precompute`, `approximate`."""

from __future__ import annotations

from random import Random

from tests.schedule.made.program import FLOATS, Made, Maker, Writer


def sink(random: Random, planted: str) -> Made:
    """What only a loop uses stands before it; something may change it, or use it elsewhere."""
    w, array, alias = Writer(random, planted), "", None
    i = "i" if w.chance(0.85) or planted == "does more" else "1"
    w.array("x", "M + 4")
    for name in "AB":
        w.array(name, "M + 2, M + N + 4")
    with w.maybe(i == "i", "af.for_(M) as i"):
        reads = f"x[{i} + {w.pick(0, 1, 2)}]"
        if planted == "nothing":
            w.say(f"x[{i}] = {w.number()}")
        elif planted == "does more":
            w.say(f"T = af.{w.pick('alloc', 'alloca')}(af.{w.type}[2])", "T[0] = B[i, 0]")
        elif planted == "at the top":
            w.lines.clear()
            w.indent, i = 1, "1"
            w.say("t, u = af.delinearize_index(N, (N + 1, 2))")
        else:
            w.say(f"a = {reads}")
            more = (f"a = a * {w.number()}", f"a = a + A[{i}, {w.pick(0, 1)}]", f"a = x[{i} // 2] - a")
            w.say(*random.sample(more, w.pick(0, 1, 2)))
        if planted.startswith("written"):
            target, array = "x", "x"
            if w.chance(0.3):
                target, alias = "V", ("V", "x")
                w.array("V", "M + 4")
        if planted == "written between":
            w.say(f"{target}{reads[1:]} = {w.number()}")
        elif not planted and w.chance(0.3):
            w.say(f"B[{i}, {w.pick(0, 1)}] = {w.number()}")
        with w.loop("j", w.pick("N", "N", f"{i} + 1", f"af.min(N, {i})", f"{i}, N", "3")):
            value = {"nothing": "A[0, j]", "does more": "T[0]", "at the top": "A[0, u]"}.get(planted, "a")
            with w.maybe(0.2, "af.if_(j > 1)"):
                w.say(
                    f"B[{i}, j] {w.pick('=', '+=')} {value} {w.pick('+', '*')} {w.pick(f'A[{i}, j + 1]', w.number())}"
                )
            if planted == "written inside":
                with w.maybe(0.3, w.pick("af.if_(j > 1)", "af.for_(2) as q")):
                    w.say(f"{target}{reads[1:]} {w.pick('=', '+=')} {w.pick(f'B[{i}, j]', w.number())}")
            elif not planted and w.chance(0.3):
                with w.loop("q", 2):
                    w.say(f"B[{i}, j] += A[{i}, j + q] * a")
        if planted == "used behind":
            w.say(f"B[{i}, 0] += a")
        elif not planted and w.chance(0.3):
            w.say(f"x[{i}] += {w.number()}")
    return Made("sink", planted, w.text, (), 'sink("j")', "j", array, alias)


def unswitch(random: Random, planted: str) -> Made:
    """A condition in a loop, on what is known before it or not."""
    w = Writer(random, planted)
    for name in "AB":
        w.array(name, "M + 2, N + 2")
    is_deep = w.chance(0.7) or planted == "divides"
    i = "i" if is_deep else "1"
    known = ["M > 3", "N >= M", "K == 2", "(M > 2) & (N > 3)", "~(K == 1)", "N % 2 == 0", "(M > 3) | (K > 2)"]
    known += ["i > 1", "i % 2 == 0", "i + M > N", "(i > 1) & (N > 3)", "i // 2 < K"] * is_deep
    condition = w.pick(*{
        "of the loop": ("j > 1", "(j % 2 == 0) & (M > 1)", "j + M > N"),
        "of an inner loop": ("k > 0", "k + N > M", "(k == 1) & (M > 2)"),
        "of data": ("A[1, j] > B[0, 0]", "A[0, 0] > B[1, 1]"),
        "divides": ("i % (K + 1) == 0", "i // (K + 1) > 0", "i % (K + 2) > N"),
    }.get(planted, known))  # fmt: skip
    around = {"inside of data": "af.if_(A[0, 0] > B[0, 0])", "of an inner loop": "af.for_(K) as k"}.get(planted, "")
    with w.maybe(is_deep, "af.for_(M) as i"), w.loop("j", w.pick("N", "N", "0, N, 2", "1, N", f"{i}, N")):
        if w.chance(0.4):
            w.say(f"A[{i}, j] += {w.number()}")
        if planted == "none":
            w.say(f"B[{i}, j] = A[{i}, j]")
            return Made("unswitch", planted, w.text, (), 'unswitch("j")', "j")
        inner = around or w.pick("af.if_(j > 0)", "af.for_(3) as k")
        with w.maybe(1 if around else 0.4 * (not planted), inner):
            if w.chance(0.3) and planted != "of data":
                w.say(f"a = A[{i}, j]")
                with w.block(f"af.if_({condition}, af.{w.type}) as v"):
                    w.say(f"af.yield_(a + af.{w.type}({w.number()}))")
                with w.block("af.else_()"):
                    w.say("af.yield_(a)")
                w.say(f"B[{i}, j] = v")
            else:
                with w.block(f"af.if_({condition})"):
                    w.say(f"B[{i}, j] += A[{i}, j + 1]")
                with w.maybe(1, "af.else_()") if w.chance(0.5) else w.maybe(0, ""):
                    w.say(f"B[{i}, j] = {w.number()}")
        if w.chance(0.3):
            w.say(f"A[{i}, j + 1] = B[{i}, j]")
        if not planted and w.chance(0.2):
            with w.block("af.if_(K > 3)"):
                w.say(f"A[{i}, j] = {w.number()}")
    return Made("unswitch", planted, w.text, (), 'unswitch("j")', "j")


def precompute(random: Random, planted: str) -> Made:
    """An element of A with a number from before the loops, in loops that use it again and again."""
    w, alias = Writer(random, planted), None
    w.scalar("alpha")
    has_two = w.chance(0.5)
    cell = "A[i, k]" if has_two else w.pick("A[k]", "A[i]", "A[i + 1]", "A[k // 2]")
    bounds, order = {"i": "N", "j": "M", "k": "K"}, random.sample("ijk", 3)
    if not planted and w.chance(0.4):  # a triangle
        bounds["j"], order = w.pick("i", "i + 1", "i, N"), ["i", "j", "k"]
    elif not planted and has_two and w.chance(0.3):
        bounds["k"], order = "i + 1", ["i", "j", "k"]
    elif planted == "moving bounds":
        bounds["i"], order, cell = "j + 1", ["j", "i", "k"], "A[i, k]" if has_two else "A[i]"
    elif planted == "each another":
        cell = "A[i + j, k]" if has_two else "A[i + j + k]"
    w.array("A", "N + M + 1, N + M + K + 1" if has_two else "N + M + K + 1")
    for name in "BC":
        w.array(name, "N + M + 1, N + M + 1")
    sign = w.pick("*", "*", "+", "-", *["/"] * (w.type[0] == "f"))
    number = w.pick("alpha", "alpha", f"af.{w.type}({w.number()})")
    value = w.pick(*{
        "twice": (f"alpha * {cell} + ({cell} - alpha)", f"alpha * {cell} - {cell} * alpha"),
        "used otherwise": (f"{cell} * B[i, j]", f"{cell} * {cell}"),
        "kept": ("a * alpha + a",),
    }.get(planted, (f"{number} {sign} {cell}", f"{cell} {sign} {number}")))  # fmt: skip
    array = "D" if planted == "untouched" else "A"
    if planted == "untouched":
        w.array("D", "3")
    if planted == "written" and w.chance(0.3):
        alias = ("V", "A")
        w.arrays["V"] = w.arrays["A"]
    with w.loop(order[0], bounds[order[0]]), w.loop(order[1], bounds[order[1]]), w.loop(order[2], bounds[order[2]]):
        if planted == "kept":
            w.say(f"a = {cell}")
        if planted == "does more":
            w.say(f"T = af.alloc(af.{w.type}[1])", "T[0] = alpha", "C[i, j] += T[0]")
        with w.maybe(planted == "under a condition", w.pick("af.if_(j > 0)", "af.if_(M > 2)")):
            use = w.pick("({}) * C[i + 1, j]", "({})", "({}) - B[i, j]").format(value)
            w.say(f"{w.pick('B', 'C')}[i, j] {w.pick('+=', '=')} {use}")
        if planted == "written":
            at = w.pick("[i, k]", "[j, k]", "[i, j]") if has_two else w.pick("[i]", "[k]", "[j]")
            w.say(f"{'V' if alias else 'A'}{at} = {w.pick('C[i, j]', w.number())}")
    return Made("precompute", planted, w.text, (), f'precompute("{array}", "{order[0]}")', order[0], array, alias)


FUNCTIONS = ("exp", "exp2", "log", "log2", "log10")


def approximate(random: Random, planted: str) -> Made:
    """Functions of floats, some of those that are approximated; each stored as it is, so that its error is seen."""
    w = Writer(random, planted, {"of halves": ("f16", "bf16")}.get(planted, FLOATS))
    other, approximated = "f64" if w.type == "f32" else "f32", []
    before = (f'vectorize("j", {w.pick(2, 3, 4)}, tail="{w.pick("scalar", "masked")}")',)
    deep, kind = w.chance(0.3), "parallel" if w.chance(0.15) else "for_"
    w.array("A", "N + 13"), w.array("B", "N + 13")
    with (
        w.maybe(deep, "af.for_(2) as i"),
        w.block(f"af.{kind}({w.pick('N', 'N // 2', '13', 'N + 3', *['1, N'] * (kind == 'for_'))}) as j"),
    ):
        for k in range(0 if planted == "elsewhere" else w.pick(1, 1, 2, 3)):
            name = w.pick(
                *("sqrt", "sin", "tanh", "expm1", "log1p", "cbrt") if planted == "other functions" else FUNCTIONS
            )
            given, type = "A", w.type
            if not planted and w.chance(0.3):
                given, type = w.array("D", "N + 13", other), other
            result = w.array(f"R{k}", "N + 13", type)
            with w.maybe(0.2, "af.if_(j > 1)"):
                w.say(f"{result}[j] = af.{name}({given}[j])")
            approximated.append((result, name, given))
        w.say(f"B[j] = {w.pick('af.sqrt(A[j])', 'A[j] * 0.5', 'B[j] + A[j]')}")
    if planted == "elsewhere":
        with w.loop("k", "N"):
            w.say("B[k] = af.exp(A[k])")
    before = before if not planted and kind == "for_" and w.chance(0.3) else ()
    return Made("approximate", planted, w.text, before, 'approximate("j")', "j", "", None, tuple(approximated))


CHANGED = "may change what it loads"
UNKNOWN_INSIDE = "its condition depends on {}, which is only known inside"
NO_USE = "no load of it is used in one operation alone"
MAKERS = {
    "sink": Maker(sink, {
        "written inside": CHANGED,
        "written between": CHANGED,
        "used behind": "something outside of the loop uses its result",
        "at the top": "its result is a symbol, which it would not be in a loop",
        "does more": "it does more than to compute or to load",
        "nothing": "it uses no result of what stands before it in its block",
    }),
    "unswitch": Maker(unswitch, {
        "of the loop": UNKNOWN_INSIDE.format("j"),
        "of an inner loop": UNKNOWN_INSIDE.format("k"),
        "of data": "there is no affine.if in it: what scf.if asks comes from data",
        "none": "there is no affine.if in it",
        "divides": "its condition divides by a symbol, which may be 0 where the loop does not run",
        "inside of data": "it stands inside of scf.if",
    }),
    "precompute": Maker(precompute, {
        "written": "it may write to A",
        "moving bounds": "bounds of loops (around the element move|that the element does not depend on move)",
        "each another": "each iteration of all of the loops uses another element",
        "twice": "several loads of it are used in one operation alone",
        "used otherwise": NO_USE,
        "kept": NO_USE,
        "untouched": "no affine access inside touches D",
        "under a condition": "the load stands under a condition",
        "does more": "which does more than to compute, load and store",
    }),
    "approximate": Maker(approximate, dict.fromkeys(
        ("other functions", "of halves", "elsewhere"), "no exp, exp2, log, log2, log10 of f32 or f64 is computed in it"
    )),
}  # fmt: skip
"""What makes programs for each verb, and what a refusal says of what is planted."""
