"""Programs for the verbs of loops over vectors: `load_ahead`, `splice`, `stream` and `prefetch`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from random import Random

from affdsl.passes.transforms.vectorize import TAILS
from tests.schedule.made.program import Made, Maker, Writer


class Vectors(Writer):
    """Writes a loop j over vectors, by itself or in a loop i, in arrays that end where it does."""

    def __init__(self, random: Random, planted: str) -> None:
        super().__init__(random, planted)
        self.lanes, self.deep, self.first = self.pick(2, 3, 4, 4, 8), self.chance(0.6), self.pick(0, 0, 0, 1, 3)
        turns = self.pick("N", "N", "2", *["i"] * self.deep)
        self.end, self.step = f"{turns} * {self.lanes} + {self.first}", self.lanes
        self.length = self.end.replace("i *", "M *")
        self.alias: tuple[str, str] | None = None

    def until(self, end: str, step: int) -> None:
        """Another end of the loop, which may come within a step, and another step."""
        self.end, self.step, self.length = end, step, f"(N + M + 3) * {self.lanes} + 16"

    @property
    def bounds(self) -> str:
        """Those of the loop."""
        return f"{self.first}, {self.end}, {self.step}"

    def outer(self) -> AbstractContextManager[None]:
        """The loop around, if there is one."""
        return self.maybe(self.deep, "af.for_(M) as i")

    def at(self, name: str, place: str = "j", reach: int = 0) -> str:
        """The subscripts of an element, where the last vector reaches so far behind the end of the loop."""
        known = self.arrays.get(name, "")
        reach = max(reach, int(known.rpartition("+ ")[2].rstrip("]")) if known else 0)
        self.array(name, f"{'M, ' * self.deep}{self.length} + {reach}")
        return f"i, {place}" if self.deep else place

    def load(self, name: str, array: str = "A", offset: int = 0, at: str = "j") -> None:
        """Load a vector."""
        self.say(f"{name} = af.vector_load({array}, ({self.at(array, f'{at} + {offset}', offset)}), {self.lanes})")

    def store(self, value: str, array: str = "B", offset: int = 0) -> None:
        """Store a vector."""
        self.say(f"af.vector_store({value}, {array}, ({self.at(array, f'j + {offset}', offset)}))")

    def element(self, array: str, offset: int = 0, at: str = "j") -> str:
        """One element."""
        return f"{array}[{self.at(array, f'{at} + {offset}', offset + 1)}]"

    def another(self, array: str) -> str:
        """The array, or another name of it."""
        if self.chance(0.7):
            return array
        self.alias = ("V", array)
        return "V"

    def noise(self) -> None:
        """Something else in the loop, which changes nothing of what vectors are loaded from."""
        if self.chance(0.3):
            self.say(f"{self.element('C')} = {self.element('C')} + {self.element('B')}")
        if self.chance(0.2):
            with self.loop("q", self.pick("2", "K", self.lanes)):
                self.say(f"{self.element('D')} += {self.element('B', 1)}")

    def stores(self, array: str, value: str, before: int, behind: int) -> None:
        """Store to an array that is loaded: nothing that a later iteration loads, or something."""
        if self.planted == "stored":
            array = self.another(array)
            match self.random.randrange(3):
                case 0:
                    self.store(value, array, behind)
                case 1:
                    self.say(f"{self.element(array, behind + self.lanes - 1)} = {self.number()}")
                case _:
                    with self.loop("q", self.lanes):
                        self.say(f"{self.element(array, behind + self.lanes, 'j + q')} += {self.number()}")
        elif not self.planted and self.chance(0.5):
            self.store(value, self.another(array), self.pick(0, before))

    def made(self, verb: str, step: str, array: str = "A", before: str = "", loop: str = "j") -> Made:
        """The program."""
        if self.alias:
            name, of = self.alias
            length = max(self.arrays[name], self.arrays[of], key=lambda text: int(text.rpartition("+ ")[2].rstrip("]")))
            self.arrays[name] = self.arrays[of] = length
        return Made(verb, self.planted, self.text, (before,) if before else (), step, loop, array, self.alias)


def _vectorized(w: Vectors, offsets: list[int]) -> str:
    """Write a loop over elements, and give the step that makes it one over vectors."""
    w.lanes = w.pick(2, 4, 8)
    w.end = w.pick("N", "N", "N + 1", "N // 2", "37", *["i + 1"] * w.deep)
    w.step, w.length = 1, w.end.replace("i + 1", "M")
    at = f"{w.end} - 1 - j" if w.chance(0.15) else "j"
    with w.outer(), w.loop("j", w.first, w.end):
        terms = [w.element("A", k, at) for k in offsets]
        w.say(f"{w.element('B')} = {' + '.join(terms)}")
    return f'vectorize("j", {w.lanes}, tail="{w.pick(*TAILS, "scalar", "overlapped")}")'


def load_ahead(random: Random, planted: str) -> Made:
    """Loads of vectors, which the iteration before may have stored, or whose place it may not know."""
    w, step, offset = Vectors(random, planted), 'load_ahead("A", "j")', random.randrange(3)
    if not planted and w.chance(0.5):
        return w.made("load_ahead", step, before=_vectorized(w, random.sample(range(4), w.pick(1, 2))))
    if planted == "ends within":
        w.until(w.pick("N + 1", f"N * {w.lanes} + {w.first + 1}", f"af.min(N, M * {w.lanes})"), w.lanes)
    carries = planted == "carries"  # vectors, which no step keeps in memory
    with w.outer():
        with w.loop("j", w.bounds):
            if planted == "elements":
                w.say(f"{w.element('B')} = {w.element('A')}")
                return w.made("load_ahead", step)
            if planted == "further inside":
                with w.loop("q", 2) if w.chance(0.5) else w.block(f"af.if_(j > {w.pick(0, 2)})"):
                    w.load("a")
                    w.store("a")
                return w.made("load_ahead", step)
            if planted == "made inside":
                w.say(f"T = af.alloc(af.{w.type}[{w.lanes}])")
                w.load("a")
                w.say("af.vector_store(a, T, 0)", f"b = af.vector_load(T, 0, {w.lanes})")
                w.store("b")
                return w.made("load_ahead", 'load_ahead("T", "j")', "T")
            w.load("a", offset=offset)
            if not planted and w.chance(0.5):
                w.load("b", offset=w.pick(0, 1, 3))
                w.say(f"a = a {w.pick('+', '-')} b")
            w.stores("A", "a + a", offset, offset + w.pick(1, w.lanes))
            if carries:
                w.load("c", "W")
                w.say("a = a + c")
            w.store("a")
            w.noise()
    return w.made("load_ahead", step, before='load_ahead("W", "j")' * carries)


def splice(random: Random, planted: str) -> Made:
    """Loads of vectors along rows, and stores, subscripts and steps that are in the way."""
    w, ahead, more = Vectors(random, planted), random.random() < 0.4, random.choice((0, 0, 0, 1, 2))
    ahead, more = ahead or planted.startswith("ahead"), 3 if planted == "more" else min(more, w.lanes - 1)
    step = f'splice("j"{", ahead=True" * ahead}{f", more_loads={more}" * bool(more)})'
    if not planted and w.chance(0.5):
        return w.made("splice", step, "", _vectorized(w, random.sample(range(5), min(5, more + w.pick(2, 2, 3)))))
    lanes = w.lanes
    if planted == "several bounds":
        w.until("N", lanes)
    if planted == "another step":
        w.until("N", w.pick(1, 2 * lanes))
    if planted == "ahead within":
        w.until("N + 1", lanes)
    carries = not planted and not ahead and w.chance(0.2)
    if carries:
        w.scalar("x"), w.array("s", "1")
    offsets = sorted(random.sample(range(lanes + 1), min(lanes, more + 1) + 1))
    if planted == "apart":
        offsets = w.pick([0], [0, lanes + 1], [2])
    if planted == "more":
        offsets = offsets[:3]
    with w.outer():
        w.say(*["total = af.var(x)"] * carries)
        bounds = f"af.max({w.first}, M - 2), {w.end}, {lanes}" if planted == "several bounds" else w.bounds
        with w.loop("j", bounds):
            if planted == "elements":
                w.say(f"{w.element('B')} = {w.element('A')} + {w.element('A', 1)}")
                return w.made("splice", step, "")
            if planted == "made inside":
                w.say(f"T = af.alloc(af.{w.type}[{lanes} + 2])")
                w.load("a")
                w.say("af.vector_store(a, T, 0)", "af.vector_store(a, T, 2)")
                w.say(*(f"{name} = af.vector_load(T, {k}, {lanes})" for k, name in enumerate("bc")))
                w.store("b + c")
                return w.made("splice", step, "T")
            if planted == "boxes":
                for name in "EF":
                    w.array(name, f"M + 2, (N + M + 3) * {lanes} + 8")
                w.say(*(f"{name} = af.vector_load(E, (0, j + {k}), (2, {lanes}))" for k, name in enumerate("ab")))
                w.say("af.vector_store(a + b, F, (0, j))")
                return w.made("splice", step, "E")
            if planted == "other rows":
                w.load("a")
                w.load("b", "B", 1)
                w.store("a + b", "C")
                return w.made("splice", step)
            names = [f"a{k}" for k in range(len(offsets))]
            for name, offset in zip(names, random.sample(offsets, len(offsets)), strict=True):
                w.load(name, offset=offset)
            w.stores("A", " + ".join(names), min(offsets), w.pick(max(offsets), min(offsets) + 1))
            w.say(*[f"total += {names[0]}.sum()"] * carries)
            if planted == "ahead carries":
                w.load("c", "W")
                w.store("c", "D")
            w.store(" + ".join(names))
            w.noise()
        w.say(*["s[0] = total"] * carries)
    before = 'load_ahead("W", "j")' * (planted == "ahead carries")
    return w.made("splice", step, "" if planted.startswith("ahead") else "A", before)


def stream(random: Random, planted: str) -> Made:
    """Stores of vectors, to the array or not, in the loop or not."""
    w = Vectors(random, planted)
    array = "C" if planted == "other array" else "B"
    step = f'stream("{array}", "j", {w.pick(0, 0, 64, 4096)})'
    if not planted and w.chance(0.5):
        return w.made("stream", step, "B", before=_vectorized(w, [0, 1][: w.pick(1, 2)]))
    kind = "parallel" if not planted and w.chance(0.3) else "for_"
    with w.maybe(w.deep, f"af.{kind}(M) as i"):
        with w.loop("j", w.bounds):
            if planted == "elements":
                w.say(f"{w.element('B')} = {w.element('A')}")
            else:
                w.load("a", offset=w.pick(0, 1))
                if planted == "loads alone":
                    w.load("b", "B")
                with w.maybe(0.3, "af.if_(M > 2)"):
                    w.store("a", "C" if planted == "loads alone" else "B")
                if not planted and w.chance(0.4):
                    again = w.another("B")
                    w.load("b", again)
                    w.store("a + b", "B", 1)
                w.noise()
        if planted == "other array":
            w.at("C")
        if planted == "other loop":
            with w.loop("k", w.bounds):
                w.say(f"{w.element('B', 0, 'k')} = {w.element('A', 0, 'k')}")
            return w.made("stream", 'stream("B", "k", 0)', "B", loop="k")
        if not planted and w.chance(0.4):
            with w.loop("k", w.bounds):
                w.say(f"{w.element('A', 0, 'k')} += {w.element('B', 1, 'k')}")
    return w.made("stream", step, array)


def prefetch(random: Random, planted: str) -> Made:
    """Two loops, of which one touches an array that the other one asks for."""
    w = Vectors(random, planted)
    itself = planted == "same" or (not planted and w.chance(0.3))
    later = f", distance={w.pick(1, 2, 9)}" if (itself and not planted) or (w.chance(0.2) and planted != "same") else ""
    step = f'prefetch("B", "j", "{"j" if itself else {"around": "i"}.get(planted, "k")}"{later})'
    if planted in ("inside", "around"):
        w.array("A", "M, N"), w.array("B", "M, N")
        with w.loop("i", "M"), w.loop("j", "N"), w.maybe(planted == "inside", "af.for_(N) as k"):
            w.say(f"B[i, {'k' if planted == 'inside' else 'j'}] += A[i, j]")
        return w.made("prefetch", step, "")
    first, last = w.first, w.end
    w.until(w.end, 1)
    with w.outer():
        with w.maybe(0.2 * (not planted), "af.if_(N > 3)"), w.loop("j", first, last, w.pick(1, 1, w.lanes, 16)):
            w.say(f"{w.element('A')} += {w.number()}")
            if itself:
                w.say(f"{w.element('B')} = {w.element('A')}")
                return w.made("prefetch", step, "B" if not planted else "")
        if planted == "made later":
            w.say(f"T = af.alloc(af.{w.type}[{last} + 1])")
            step = 'prefetch("T", "j", "k")'
        with w.loop("k", f"{first} + {int(planted == 'elsewhere')}", last, w.pick(1, 1, 2)):
            if planted == "untouched":
                w.at("B")
                w.say(f"{w.element('A', 0, 'k')} += {w.number()}")
                return w.made("prefetch", step, "B", loop="k")
            if planted == "made later":
                w.say(f"T[k] = {w.element('A', 0, 'k')}", f"{w.element('B', 0, 'k')} = T[k]")
                return w.made("prefetch", step, "T")
            if planted == "late":
                with w.loop("q", 2):
                    w.say(f"{w.element('B', 1, 'k + q')} += {w.element('A', 0, 'k')}")
                return w.made("prefetch", step, "")
            at = w.pick("k", "k + 1", "k // 2", "0", f"{last} - k", "k - k % 2")
            w.say(f"{w.element('B', 1, at)} += {w.element('A', 0, 'k')}")
            if w.chance(0.3):
                w.say(f"{w.element('B', 0, 'k')} = {w.element('B', 1, 'k')}")
            if w.chance(0.3):
                w.load("b", "B", at="k")
                w.say(f"af.vector_store(b + b, A, ({w.at('A', 'k')}))")
    return w.made("prefetch", step, "B" if not planted else "")


NOT_RIGHT_INSIDE = "no load of a vector of A stands right in its body; vectorize makes some"
MADE_INSIDE = "the loop makes the buffer, or the view of it, that it loads from"
STORED, ENDS_WITHIN, CARRIES = (
    "may have stored what it loads",
    "its last iteration is not certainly",
    "it carries values",
)
MAKERS = {
    "load_ahead": Maker(load_ahead, {
        "stored": STORED,
        "elements": NOT_RIGHT_INSIDE,
        "further inside": NOT_RIGHT_INSIDE,
        "made inside": MADE_INSIDE,
        "carries": CARRIES,
        "ends within": ENDS_WITHIN,
    }),
    "splice": Maker(splice, {
        "stored": STORED,
        "elements": "no load of a vector stands right in its body",
        "apart": "no other one overlaps with it",
        "other rows": "no other one overlaps with it",
        "made inside": MADE_INSIDE,
        "several bounds": "the loop has several lower bounds",
        "boxes": "its vector has several dimensions",
        "another step": "it does not move along a row by one vector in each iteration",
        "more": r"more_loads=\d leaves none to splice",
        "ahead within": ENDS_WITHIN,
        "ahead carries": CARRIES,
    }),
    "stream": Maker(stream, dict.fromkeys(
        ("elements", "other array", "other loop", "loads alone"), "it stores no vector to [BC]; vectorize makes vectors"
    )),
    "prefetch": Maker(prefetch, {
        "same": "a loop asks for what another one touches",
        "inside": "the loop k stands inside of j",
        "around": "the loop j stands inside of i",
        "elsewhere": "the loops j and k start in different places",
        "untouched": "loop k loads and stores nothing of B at affine indices",
        "made later": "T is made later than loop j runs",
        "late": "its place depends on q, which loop j does not know",
    }),
}  # fmt: skip
"""What makes programs for each verb, and what a refusal says of what is planted."""
