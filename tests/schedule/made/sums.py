"""Programs for `slp`: sums of several rows, side by side."""

from __future__ import annotations

from random import Random

from tests.schedule.made.program import Made, Maker, Writer


def slp(random: Random, planted: str) -> Made:
    """Sums in a loop j of rows that a loop i around it counts, some of these at once."""
    w = Writer(random, planted)
    lanes, sums = w.pick(2, 4, 4, 8), w.pick(1, 1, 2)
    lanes = max(lanes, 4) if planted == "few columns" else lanes
    rows, columns = lanes * w.pick(1, 1, 2), lanes * w.pick(1, 1, 2)
    rows = max(lanes // 2, 2) if planted == "few rows" else rows
    columns = 2 if planted == "few columns" else columns
    first, end = w.pick(0, 0, 1), w.pick("N", "N", "N + 3", "53")
    w.array("x", "N + 60"), w.array("A", "M + 3, 2 * N + 128"), w.array("T", "N + 60, M + 3"), w.scalar("alpha")
    row = "A[i, 2 * j]" if planted == "apart" else "A[i, j]"
    with w.loop("i", w.pick("M", "M", "M + 1")), w.maybe(0.2 * (not planted), "af.for_(2) as q"):
        with w.loop("j", first, end):
            for k in range(sums):
                y = w.array("yz"[k], "M + 3")
                terms = [row, *(w.pick(row, "T[j, i]", "x[j]", "A[i, j + 1]") for _ in range(w.pick(0, 1, 1, 2)))]
                terms = [f"{each} * {w.pick('alpha', w.number(), 'x[j]')}" if w.chance(0.5) else each for each in terms]
                value = f" {w.pick('+', '-')} ".join(terms)
                with w.maybe(planted == "under a condition", "af.if_(A[i, j] > alpha)"):
                    w.say(f"{y}[i] {w.pick('+=', '+=', '-=')} {value}")
            if planted == "stores":
                w.say(f"{w.array('C', 'M + 3, N + 60')}[i, j] = {row}")
    kept = () if planted == "in memory" else ('scalar_replace("j")',)
    before = (f'unroll_jam("i", {rows})', *kept, f'unroll("j", {columns})')
    lanes = 2 * rows * sums if planted == "few rows" else lanes
    return Made("slp", planted, w.text, before, f'slp("j", {lanes})', "j")


MAKERS = {
    "slp": Maker(slp, {
        "apart": "no square of",
        "few columns": "no square of",
        "few rows": "of the values that it carries are made alike",
        "in memory": "it carries no values",
        "stores": "affine.store in it is no load",
        "under a condition": "in it is no load, and does not only compute",
    }),
}  # fmt: skip
"""What makes programs for each verb."""
