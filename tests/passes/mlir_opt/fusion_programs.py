"""Random chains of loop nests, each of which reads what the ones before it stored."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

SIZE = 12
"""Of each dimension of each array."""
INNER = 8
"""Loops run from 2 to 10 at most, so that subscripts may be two off."""


@dataclass(frozen=True)
class Array:
    """An array of one or two dimensions: an argument, or made by the function."""

    name: str
    rank: int
    is_local: bool

    @property
    def type(self) -> str:
        return f"memref<{'x'.join([str(SIZE)] * self.rank)}xi64>"


def program(seed: int) -> str:
    """A function of two to four nests, in which every element that is read of a local array was stored before."""
    random = Random(seed)
    inputs = [Array(f"in{k}", random.choice((1, 2, 2)), is_local=False) for k in range(2)]
    made: list[Array] = []
    nests: list[str] = []
    count = random.choice((2, 2, 3, 4))
    for k in range(count):
        is_local = k < count - 1 and random.random() < 0.6
        target = Array(f"t{k}", random.choice((1, 2, 2)), is_local)
        sources = [random.choice([*inputs, *made]) for _ in range(random.choice((1, 2)))]
        if made and not any(s in made for s in sources):
            sources[0] = made[-1]
        nests.append(_nest(random, target, sources, k, is_whole=is_local))
        if random.random() < 0.15 and made:  # somebody overwrites what a nest before reads
            nests.append(_nest(random, random.choice(inputs), [made[-1]], k + 10, is_whole=False))
        made.append(target)
    arrays = [*inputs, *made]
    args = ", ".join(f"%{a.name}: {a.type}" for a in arrays if not a.is_local)
    allocs = "\n".join(f"  %{a.name} = memref.alloc() : {a.type}" for a in arrays if a.is_local)
    return f"func.func @f({args}) {{\n{allocs}\n" + "\n".join(nests) + "\n  return\n}\n"


def _nest(random: Random, target: Array, sources: list[Array], k: int, *, is_whole: bool) -> str:
    """A nest that stores to an array: all of it, or some."""
    low, high = (0, SIZE) if is_whole else (2, 2 + INNER)
    ivs = [f"%i{k}_{axis}" for axis in range(target.rank)]
    is_triangle = target.rank == 2 and not is_whole and random.random() < 0.2
    lines = [f"  affine.for {ivs[0]} = {low} to {high} {{"]
    if target.rank == 2:
        upper = f"affine_map<(d0) -> (d0 + 1)>({ivs[0]})" if is_triangle else str(high)
        lines.append(f"    affine.for {ivs[1]} = {low} to {upper} {{")
    margin = 0 if is_whole else 2
    is_sum = random.random() < 0.25 and any(s.rank == 2 for s in sources)
    place = ", ".join(ivs)
    if is_sum:
        summed = next(s for s in sources if s.rank == 2)
        index = [random.choice(ivs), f"%k{k}"]
        random.shuffle(index)
        lines += [
            f"      %zero{k} = arith.constant 0 : i64",
            f"      affine.store %zero{k}, %{target.name}[{place}] : {target.type}",
            f"      affine.for %k{k} = 0 to {SIZE} {{",
            f"        %a{k} = affine.load %{summed.name}[{', '.join(index)}] : {summed.type}",
            f"        %b{k} = affine.load %{target.name}[{place}] : {target.type}",
            f"        %c{k} = arith.addi %a{k}, %b{k} : i64",
            f"        affine.store %c{k}, %{target.name}[{place}] : {target.type}",
            "      }",
        ]
    else:
        values = []
        for n, source in enumerate(sources):
            for offset in sorted({random.randint(-margin, margin) for _ in range(random.choice((1, 1, 3)))}):
                index = [random.choice(ivs) for _ in range(source.rank)]
                if source.rank == target.rank == 2 and random.random() < 0.8:
                    index = ivs if random.random() < 0.8 else ivs[::-1]
                axis = random.randrange(source.rank)
                index = [f"{iv} + {offset}" if a == axis else iv for a, iv in enumerate(index)]
                values.append(f"%v{k}_{n}_{offset + 2}")
                lines.append(f"      {values[-1]} = affine.load %{source.name}[{', '.join(index)}] : {source.type}")
        total = values[0]
        for n, value in enumerate(values[1:]):
            lines.append(f"      %s{k}_{n} = arith.{random.choice(('addi', 'muli'))} {total}, {value} : i64")
            total = f"%s{k}_{n}"
        lines.append(f"      affine.store {total}, %{target.name}[{place}] : {target.type}")
    return "\n".join([*lines, *(["    }"] if target.rank == 2 else []), "  }"])
