"""Small loops with many loads and stores of the same few elements: what passes on scalars must not get wrong."""

from __future__ import annotations

from random import Random

HEAD = "func.func @f(%A: memref<26xf32>, %B: memref<26xf32>, %x: f32, %y: f32, %k: index, %n: index)"
NUMBERS = (0, 1, 2, 3, 5, 8)
"""What %k and %n may be: no subscript is out of bounds then."""


class _Body:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def index(self, ivs: list[str]) -> str:
        r = self.random
        c = r.randint(-2, 2)
        forms = [f"{4 + c}", f"symbol(%k) + {4 + c}"]
        for iv in ivs[-2:]:
            forms += [f"%{iv} + {4 + c}"] * 4 + [f"%{iv} floordiv 2 + {4 + c}", f"%{iv} * 2 + {4 + c}"]
        return r.choice(forms)

    def statement(self, ivs: list[str], values: list[str], depth: int) -> None:
        r = self.random
        buffer = r.choice(("%A", "%A", "%B", "%T"))
        index = self.index(ivs)
        match r.choice(("load",) * 6 + ("store",) * 5 + ("add",) * 3 + ("if", "loop", "wide", "wide store")):
            case "load":
                self.lines.append(f"{(v := self.name())} = affine.load {buffer}[{index}] : memref<26xf32>")
                values.append(v)
            case "store":
                self.lines.append(f"affine.store {r.choice(values[-4:])}, {buffer}[{index}] : memref<26xf32>")
            case "add":
                a, b = r.choice(values), r.choice(values[-3:])
                self.lines.append(f"{(v := self.name())} = arith.addf {a}, {b} : f32")
                values.append(v)
            case "wide":
                v, target = self.name(), r.choice(("%A", "%T"))
                self.lines.append(f"{v} = affine.vector_load {buffer}[{index}] : memref<26xf32>, vector<2xf32>")
                self.lines.append(
                    f"affine.vector_store {v}, {target}[{self.index(ivs)}] : memref<26xf32>, vector<2xf32>"
                )
            case "wide store":
                self.lines.append(f"affine.vector_store %w, {buffer}[{index}] : memref<26xf32>, vector<2xf32>")
            case "if" if ivs and depth < 3:
                sign = r.choice(("", "-"))
                self.lines.append(f"affine.if affine_set<(d0) : ({sign}d0 + {r.randint(-5, 5)} >= 0)>(%{ivs[-1]}) {{")
                self.block(ivs, values, depth + 1, r.randint(1, 2))
                self.lines.append("}")
            case "loop" if depth < 2:
                self.loop(ivs, values, depth + 1)

    def loop(self, ivs: list[str], values: list[str], depth: int) -> None:
        r = self.random
        iv = f"i{self.count}"
        self.count += 1
        upper = [str(r.randint(0, 8)), "%n"]
        if ivs:
            upper.append(f"affine_map<(d0) -> (d0)>(%{ivs[-1]})")
        step = r.choice(("", "", " step 2"))
        self.lines.append(f"affine.for %{iv} = {r.randint(0, 2)} to {r.choice(upper)}{step} {{")
        self.block([*ivs, iv], values, depth, r.randint(2, 6))
        self.lines.append("}")

    def block(self, ivs: list[str], values: list[str], depth: int, count: int) -> None:
        inside = [*values]
        for _ in range(count):
            self.statement(ivs, inside, depth)


def random_body(seed: int) -> str:
    """The text of a function of two arrays and a local one, all of 26 numbers, which has loops of few statements."""
    body = _Body(Random(seed))
    values = ["%x", "%y"]
    for _ in range(body.random.randint(1, 2)):
        body.loop([], values, 0)
        body.block([], values, 2, body.random.randint(0, 2))
    start = """
      %w = vector.broadcast %x : f32 to vector<2xf32>
      %T = memref.alloc() : memref<26xf32>
      affine.for %z = 0 to 26 { affine.store %y, %T[%z] : memref<26xf32> }"""
    return f"{HEAD} {{{start}\n" + "\n".join(body.lines) + "\nmemref.dealloc %T : memref<26xf32>\nreturn\n}"


def random_recurrence(seed: int) -> str:
    """The text of a function whose inner loop loads and stores near elements of an array, some in every iteration."""
    r = Random(seed)
    lines, values = [], ["%x", "%y"]
    outer = r.random() < 0.5
    forms = [f"%i + {4 + c}" for c in (-2, -1, -1, 0, 0, 1, 2)] + ["4", "%i * 2 + 4", "%i * 2 + 2", "%k + 4"]
    forms = [r.choice(forms) for _ in range(2)] * 2 + [r.choice(forms)]
    if outer:
        forms += ["%t + 4", "%t + %i + 4", "%t + %i + 3"]
    for k in range(r.randint(2, 6)):
        buffer = r.choice(("%A", "%A", "%A", "%B"))
        match r.choice(("load", "load", "store", "add")):
            case "load":
                lines.append(f"%v{k} = affine.load {buffer}[{r.choice(forms)}] : memref<26xf32>")
                values.append(f"%v{k}")
            case "store":
                lines.append(f"affine.store {r.choice(values[-3:])}, {buffer}[{r.choice(forms)}] : memref<26xf32>")
            case "add":
                lines.append(f"%v{k} = arith.addf {values[-1]}, {r.choice(values)} : f32")
                values.append(f"%v{k}")
    upper = r.choice(("8", "8", "5", "3", "%n", "affine_map<(d0) -> (d0 + 2)>(%t)" if outer else "4"))
    step = r.choice(("", "", " step 2", " step 3"))
    if r.random() < 0.4:
        lines.append(f"%s = arith.addf %c, {values[-1]} : f32\naffine.yield %s : f32")
        head = f"%r = affine.for %i = {r.randint(0, 2)} to {upper}{step} iter_args(%c = %y) -> f32 {{"
        tail = "}\naffine.store %r, %B[25] : memref<26xf32>"
    else:
        head, tail = f"affine.for %i = {r.randint(0, 2)} to {upper}{step} {{", "}"
    loop = "\n".join([head, *lines, tail])
    return f"{HEAD} {{\n{f'affine.for %t = 0 to 3 {{{chr(10)}{loop}{chr(10)}}}' if outer else loop}\nreturn\n}}"
