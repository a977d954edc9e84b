"""Random loops that carry numbers through sums, selections and branches: on vectors they do the same to the bit."""

import random

import pytest

import affdsl as af
from affdsl.ir.dialects import vector
from affdsl.ir.traverse import walk
from affdsl.passes.transforms.vectorize import vectorize
from tests.effort import some
from tests.passes.transforms.test_vectorize import assert_same, iv, read

ORDERED = ("ogt", "oge", "olt", "ole")
WAYS = ((2, "scalar"), (4, "masked"), (4, "scalar"))


class Body:
    """Writes the body of a loop, some operations at a time."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.carried = [f"%c{k}" for k in range(self.rng.randint(1, 3))]
        self.lines = []
        self.count = 0
        self.known = self.block(["%x", *self.carried], [], 2)
        yields = [self.yielded(c) for c in self.carried]
        types = self.types(len(yields))
        starts = ", ".join(f"{c} = %x" for c in self.carried)
        self.text = "\n".join((
            f"%r:{len(yields)} = affine.for %i = 1 to %n iter_args({starts}) -> ({types}) {{",
            *self.lines, f"affine.yield {', '.join(yields)} : {types}", "}",
            *(f"affine.store %r#{k}, %C[3, {k}] : memref<?x?xf32>" for k in range(len(yields))),
        ))  # fmt: skip

    def types(self, count):
        return ", ".join(["f32"] * count)

    def new(self, operation):
        self.count += 1
        self.lines.append(f"%v{self.count} = {operation}")
        return f"%v{self.count}"

    def block(self, values, conditions, depth):
        """Adds a few operations on values that are known here; gives those that are known afterwards."""
        rng, values, conditions = self.rng, list(values), list(conditions)
        for _ in range(rng.randint(2, 6)):
            a, b = rng.choice(values), rng.choice(values)
            match rng.choices("load again store combine compare select branch".split(), (20, 10, 10, 18, 16, 12, 14))[
                0
            ]:
                case "load":
                    values.append(self.new(f"affine.load %A[%i + {rng.randint(0, 2)}] : memref<?xf32>"))
                case "again":
                    values.append(self.new(f"affine.load %B[%i + {rng.randint(0, 2)}] : memref<?xf32>"))
                case "store":
                    self.lines.append(f"affine.store {a}, %B[%i + {rng.randint(0, 2)}] : memref<?xf32>")
                case "combine":
                    kind = rng.choice(("addf", "subf", "mulf", "maximumf", "minimumf"))
                    values.append(self.new(f"arith.{kind} {a}, {b} : f32"))
                case "compare":
                    conditions.append(self.new(f"arith.cmpf {rng.choice((*ORDERED, 'ugt', 'oeq'))}, {a}, {b} : f32"))
                case "select" if conditions:
                    values.append(self.new(f"arith.select {rng.choice(conditions)}, {a}, {b} : f32"))
                case "branch" if conditions and depth:
                    values += self.branch(values, conditions, depth)
        return values

    def branch(self, values, conditions, depth):
        count = self.rng.randint(1, 2)
        scf, head = self.rng.choice((
            ("scf", f"scf.if {self.rng.choice(conditions)}"),
            ("affine", "affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%i)"),
        ))  # fmt: skip
        made = self.new(f"{head} -> ({self.types(count)}) {{")
        self.lines[-1] = self.lines[-1].replace(f"{made} =", f"{made}:{count} =")
        for end in ("} else {", "}"):
            inside = self.block(values, conditions, depth - 1)
            given = [self.rng.choice(self.rng.choice((inside, values))) for _ in range(count)]
            self.lines += [f"{scf}.yield {', '.join(given)} : {self.types(count)}", end]
        return [f"{made}#{k}" for k in range(count)]

    def yielded(self, carried):
        """What the next iteration gets: the better of two numbers, or any number."""
        way = self.rng.randint(0, 4)
        if way < 2:
            return self.rng.choice(self.known[-4:])
        if way == 2:
            return self.new(f"arith.addf {carried}, {self.rng.choice(self.known)} : f32")
        found = self.new("affine.load %A[%i] : memref<?xf32>")
        pair = self.rng.sample((found, self.rng.choice(self.carried)), 2)
        better = self.new(f"arith.cmpf {self.rng.choice(ORDERED)}, {', '.join(pair)} : f32")
        return self.new(f"arith.select {better}, {found}, {carried} : f32")


@pytest.mark.parametrize("seed", some(range(600), 20))
def test_what_loops_carry(seed):
    f = read(Body(seed).text)
    for width, tail in WAYS:
        try:
            made = vectorize(f, iv(f, "i"), width, tail=tail)
        except af.IllegalTransform:
            continue
        assert_same(f, made, sizes=(0, 1, 2, 4, 6, 10))


def test_most_of_them_are_vectorized():
    taken = 0
    for seed in range(40):
        f = read(Body(seed).text)
        try:
            vectorize(f, iv(f, "i"), 4)
        except af.IllegalTransform:
            continue
        taken += 1
    assert taken >= 30


def test_several_numbers_need_something_else_of_the_lanes_that_do_not_run():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%s = %x, %t = %x) -> (f32, f32) {
      %a = affine.load %A[%i] : memref<?xf32>
      %u = arith.maximumf %s, %a : f32
      %v = arith.minimumf %t, %a : f32
      affine.yield %u, %v : f32, f32
    }
    affine.store %r#0, %C[0, 0] : memref<?x?xf32>
    affine.store %r#1, %C[0, 1] : memref<?x?xf32>""")
    assert_same(f, vectorize(f, iv(f, "i"), 4, tail="masked"))


def test_elements_that_were_loaded_before_are_lanes_of_others_beside_a_sum():
    f = read("""%r:3 = affine.for %i = 1 to %n iter_args(%a = %x, %s = %x, %b = %x) -> (f32, f32, f32) {
      %u = affine.load %A[%i] : memref<?xf32>
      %d = arith.subf %u, %a : f32
      %v = affine.load %B[%i] : memref<?xf32>
      %h = arith.addf %v, %b : f32
      %p = arith.mulf %d, %h : f32
      affine.store %p, %C[0, %i] : memref<?x?xf32>
      %t = arith.addf %s, %p : f32
      affine.yield %u, %t, %v : f32, f32, f32
    }
    affine.store %r#0, %C[3, 0] : memref<?x?xf32>
    affine.store %r#2, %C[3, 1] : memref<?x?xf32>""")
    made = vectorize(f, iv(f, "i"), 4, reassociate=True)
    assert sum(isinstance(op, vector.Shuffle) for op in walk(made)) == 2
    assert_same(f, made)
