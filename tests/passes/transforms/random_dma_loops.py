"""Random loops whose iterations bring a row by DMA and work on it, sometimes on what others write."""

from __future__ import annotations

from random import Random

SLOW, FAST, TAG = "memref<60x8xf64>", "memref<8xf64, 1>", "memref<1xi32>"
BUFFERS = f"%B = memref.alloc() : {FAST} %t = memref.alloc() : {TAG}"
FREE = f"memref.dealloc %t : {TAG} memref.dealloc %B : {FAST}"
LOOPS = ("0 to 20", "2 to 19 step 3", "%m to %n", "%m to %n step 2")


def dma_loop(seed: int) -> str:
    """A function @f of two arrays and two indices, for 0 <= m, n < 20."""
    random = Random(seed)
    count = random.choice((8, 8, 4))
    first = random.choice((0, 8 - count))
    row = f"%i * {random.choice((1, 1, 2))} + {random.randint(0, 4)}"
    body, last = [], "%one"
    if random.random() < 0.3:
        body.append(f"%w = affine.load {_place(random, '%C', 2)}")
        body.append(f"affine.store %w, {_place(random, random.choice(('%A', '%C')), 6)}")
    body.append(f"affine.dma_start %A[{row}, 0], %B[{first}], %t[0], %c{count} : {SLOW}, {FAST}, {TAG}")
    body.append(f"affine.dma_wait %t[0], %c{count} : {TAG}")
    for k in range(random.randint(1, 4)):
        match random.randrange(8):
            case 0 | 1 | 2 | 3:
                at = random.randrange(8) if random.random() < 0.2 else random.randrange(first, first + count)
                body += [f"%x{k} = affine.load %B[{at}] : {FAST}", f"%y{k} = arith.addf %x{k}, {last} : f64"]
                last = f"%y{k}"
            case 4 | 5:
                body.append(f"affine.store {last}, {_place(random, '%C', 2)}")
            case 6:
                body.append(f"affine.store {last}, {_place(random, '%A', 6)}")
            case _:
                body.append(f"affine.store {last}, %B[{random.randrange(8)}] : {FAST}")
    if random.random() < 0.25:
        body.append(f"affine.dma_start %B[0], %C[%i, 0], %u[0], %c8 : {FAST}, {SLOW}, {TAG}")
        body.append(f"affine.dma_wait %u[0], %c8 : {TAG}")
    text = "\n    ".join(body)
    loop = f"affine.for %i = {random.choice(LOOPS)}"
    inside = random.random() < 0.5
    nest = (
        f"{loop} {{ {BUFFERS}\n    {text}\n  {FREE} }}" if inside else f"{BUFFERS} {loop} {{\n    {text}\n  }} {FREE}"
    )
    return f"""func.func @f(%A: {SLOW}, %C: {SLOW}, %m: index, %n: index) {{
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f64
  %u = memref.alloc() : {TAG}
  {nest}
  memref.dealloc %u : {TAG}
  return
}}"""


def _place(random: Random, array: str, reach: int) -> str:
    return f"{array}[%i + {random.randint(0, reach)}, {random.randrange(8)}] : {SLOW}"
