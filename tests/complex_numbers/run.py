"""Runs random kernels on complex numbers: `python -m tests.complex_numbers.run --count 100 --seed 1`.

What a kernel leaves in the interpreter, C leaves too, to the bit, as the compilers of this machine make it of the
kernel as it is, and after passes that clean up; its arrays begin with zeros of both signs, infinities and NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from random import Random

import numpy as np

import affdsl as af
from tests.complex_numbers.same import same_bits
from tests.harness.command import Watch, parser, seeds
from tests.harness.judges import copied

EDGES = (0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 3e38, 1e-40)
CLEAN_UP = "affine-scalrep,canonicalize,cse"
STATEMENTS = 14
OF_COMPLEX: tuple[Callable[..., object], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: -a, lambda a, b: a**3,
    lambda a, b: af.conj(a), lambda a, b: af.select(a == b, a, b), lambda a, b: af.select(a != b, b * 2j, 1 - 0j),
    lambda a, b: af.complex(a.real, b.imag), lambda a, b: af.complex(af.abs(a), af.angle(b)), lambda a, b: af.exp(a),
    lambda a, b: af.sqrt(b), lambda a, b: a * (0.5 - 1j) + b, lambda a, b: af.conj(a) * b - b * b,
    lambda a, b: af.complex(a.real * b.real, -b.imag), lambda a, b: af.log(a) / b, lambda a, b: 1 / a,
)  # fmt: skip


def kernel(random: Random) -> af.Kernel:
    """A kernel that reads and changes two arrays, with a sum that a loop carries, branches and a variable."""
    N = af.symbols("N")
    dtype = random.choice([af.c64, af.c128])

    @af.kernel
    def made(x: dtype[N], y: dtype[N], a: dtype):
        state = af.var(a)
        with af.for_(N, iter_args=dtype(0)) as (i, s):
            known = [x[i], y[i], a, s]

            def draw() -> af.Scalar:
                return random.choice(known)

            for _ in range(random.randrange(3, STATEMENTS)):
                match random.randrange(8):
                    case 0:
                        random.choice([x, y])[i] = draw()
                    case 1:
                        known.append(random.choice([x, y])[i])
                    case 2:
                        with af.if_(draw().real < draw().imag):
                            x[i] = random.choice(OF_COMPLEX)(draw(), draw())
                    case 3:
                        state.set(random.choice(OF_COMPLEX)(draw(), +state))
                        known.append(+state)
                    case _:
                        known.append(random.choice(OF_COMPLEX)(draw(), draw()))
            y[i] = known[-1]
            af.yield_(draw() if random.random() < 0.5 else s + draw())
        return s, +state

    return made


def wrong(seed: int) -> str:
    """What is wrong with the kernel of a seed; nothing if all is right."""
    random = Random(seed)
    tried = kernel(random)
    of = tried.program.parameters[0].type.dtype.numpy
    parts = [random.choice(EDGES) if random.random() < 0.3 else random.gauss(0, 2) for _ in range(2 * 2 * 9)]
    with np.errstate(all="ignore"):
        x, y = np.array(list(map(complex, parts[::2], parts[1::2])), of).reshape(2, -1)
    given = [x, y, complex(random.gauss(0, 1), random.gauss(0, 1))]
    wanted = copied(given)
    results = tried.interpret(*wanted)
    ways = {"C": tried, "passes": tried.apply(CLEAN_UP), "optimized C": tried.optimize()}
    for name, way in ways.items():
        own = copied(given)
        found = way(*own)
        try:
            for a, b in zip((*wanted[:2], *results), (*own[:2], *found), strict=True):
                same_bits(a, b)
        except AssertionError as error:
            return f"{name}: {error}\n{tried.mlir()}"
    return "" if str(af.parse(tried.mlir())) == tried.mlir() else f"text: {tried.mlir()}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen, watch = parser("tests.complex_numbers.run", __doc__, 100).parse_args(arguments), Watch()
    found = {seed: text for seed in seeds(chosen) if (text := wrong(seed))}
    for seed, text in found.items():
        print(f"seed {seed}: {text}")
    watch.say(chosen.count, "kernels", len(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
