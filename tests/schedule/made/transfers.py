"""Programs for `pipeline`: rows that DMAs bring into a loop, and what is computed of them."""

from __future__ import annotations

from random import Random

from tests.schedule.made.program import Made, Maker, Writer


def pipeline(random: Random, planted: str) -> Made:
    """Data may come late or stay from the iteration before, and buffers and tags may be used in other ways."""
    w, alias, ahead = Writer(random, planted), None, random.choice((0, 1, 2))
    first, count = random.choice(((0, 8), (0, 8), (0, 4), (4, 4), (2, 6)))
    w.array("A", "N + M + 10, 8"), w.array("C", "N + M + 10, 8")
    bounds = {"once": w.pick("1", "2, 3"), "several bounds": w.pick("af.max(M - 2, 0), N", "0, af.min(N, M)")}.get(
        planted, w.pick("N", "1, N + 1", "0, N, 2", "1, N, 3", "N // 2", "5", "N, N + 4")
    )
    if not planted and w.chance(0.3):
        with w.loop("i", bounds), w.loop("j", 8):
            at = w.pick("j", "7 - j")
            w.say(f"C[i, j] {w.pick('=', '+=')} A[i + {ahead}, {at}] * {w.number()}")
        return Made("pipeline", "", w.text, ('copy("A", "j", space=1, dma=True)',), 'pipeline("i")', "i")
    is_inside = planted in ("not doubled", "sizes inside") or (w.chance(0.5) and planted != "used outside")
    kind, size = "alloca" if planted == "not doubled" else "alloc", "i + 8" if planted == "sizes inside" else "8"
    buffers = [f"T = af.{w.pick('alloc')}(af.i32[2])"]
    buffers += [f"F = af.{kind}(af.{w.type}[{size}], space={int(planted != 'one space')})"]
    begin, wait = f"af.dma_start(A, (i + {ahead}, {first}), F, {first}, T, 0, {count})", f"af.dma_wait(T, 0, {count})"
    w.say(*buffers * (not is_inside))
    with w.loop("i", bounds):
        w.say(*buffers * is_inside)
        if planted == "no DMA":
            w.say(f"F[0] = A[i + {ahead}, 0]", "C[i, 0] = F[0]")
            return Made("pipeline", planted, w.text, (), 'pipeline("i")', "i")
        if planted == "written early":
            w.say(f"A[i + {w.pick(*range(ahead + 1))}, {w.pick(first, first + count - 1)}] = C[i, 0]")
        w.say(begin)
        if planted == "before the wait":
            w.say(f"C[i, 1] = F[{first}]")
        if planted == "no wait":
            with w.loop("q", 1):
                w.say(wait)
        else:
            w.say(wait)
        if planted == "no pairs":
            w.say(*w.pick((wait,), (begin,), (begin, begin, wait)))
        if planted == "further inside":
            with w.loop("q", 2):
                w.say(begin, wait)
        with w.loop("j", first, first + count - (planted == "not brought")):
            at = w.pick("j", f"{2 * first + count - 1} - j")
            w.say(f"C[i, j] += F[{at}] * {w.number()}")
        if planted == "not brought":
            w.lines = [line.replace(", T, 0, 8)", ", T, 0, 7)").replace("T, 0, 8)", "T, 0, 7)") for line in w.lines]
            other = (first + count) % 8 if count < 8 else 7
            with w.block("af.if_(i > 2)"):
                w.say(f"C[i, 0] += F[{other}]")
            w.say(f"F[{other}] = C[i + 1, 1]")
        if planted == "written late":
            target = w.pick("A", "A", "V")
            if target == "V":
                alias = ("V", "A")
                w.arrays["V"] = w.arrays["A"]
            w.say(f"{target}[i + {ahead + w.pick(1, 2)}, {w.pick(first, first + count - 1)}] = C[i, 0]")
        elif planted == "written early" or planted:
            pass
        elif w.chance(0.3):
            w.say(f"F[{first}] = C[i, 1]", f"C[i, 2] = F[{first}]")
        elif w.chance(0.3):
            w.say(f"A[i, {w.pick(*range(8))}] = C[i, 1]")
        elif w.chance(0.3):
            w.say(
                "U = af.alloc(af.i32[1])", f"af.dma_start(F, {first}, C, (i + 1, 0), U, 0, 2)", "af.dma_wait(U, 0, 2)"
            )
    w.say(*[f"C[0, 0] += F[{first}]"] * (planted == "used outside"))
    return Made("pipeline", planted, w.text, (), 'pipeline("i")', "i", "", alias)


NO_DMA = "it holds no affine.dma_start to a memory space of a higher number"
OF_ORDER = "the new order does not run them in this order"
MAKERS = {
    "pipeline": Maker(pipeline, {
        "no DMA": NO_DMA,
        "one space": "they copy within the memory space 0: only those to a space of a higher number start early",
        "once": "never runs twice: there is no iteration before",
        "several bounds": "has several bounds on one side",
        "not doubled": "is not what memref.alloc gives, without a layout: it cannot be doubled",
        "sizes inside": "is made inside of the loop, by sizes that exist only there",
        "used outside": "F is used outside of the loop",
        "before the wait": "uses F before the iteration waits for its DMA",
        "no wait": "does not wait for the DMA to F by the same tag",
        "no pairs": "what starts and what waits by the tag T are no pairs|is not waited for in its iteration",
        "further inside": "the tag T is used by .* further inside",
        "not brought": "it is not known that its DMA brings all that an iteration reads of F",
        "written late": OF_ORDER,
        "written early": OF_ORDER,
    }),
}  # fmt: skip
"""What makes programs for the verb, and what a refusal says of what is planted."""
