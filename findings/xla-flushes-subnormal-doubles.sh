#!/usr/bin/env bash
# XLA on a CPU takes subnormal doubles for zero in arithmetic and comparisons, and carries them along elsewhere.
#
# Tool: jaxlib 0.10.2 on a CPU, with its default options.
# A good guess: CPUs compute with subnormal numbers, so double precision is IEEE 754's as in NumPy; flushing is for GPUs and single precision.
# Seen: a - b is 0.0 for two different normal numbers, a maximum of three numbers above zero is 0.0, and 1e-310 equals 0.0. Whatever needs no
# arithmetic keeps the bits: abs(), sorting, and a product with one, which the compiler leaves out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6

"$folder/venv/bin/python" - >"$folder/seen" <<'PYTHON'
import jax
import jax.numpy as jnp
import numpy

jax.config.update("jax_enable_x64", True)
a, b = 2.3e-308, 2.25e-308
small = numpy.array([1e-310, 3e-310, 2e-310])
print("a == b:", jax.jit(jnp.equal)(a, b), " a - b:", jax.jit(jnp.subtract)(a, b), " in NumPy:", a - b)
print("1e-310 == 0:", jax.jit(lambda x: x == 0)(1e-310))
print("1e-310 * 1:", jax.jit(lambda x: x * 1.0)(1e-310), " 2e-310 * 0.5:", jax.jit(lambda x: x * 0.5)(2e-310))
print("max:", jax.jit(jnp.max)(small), " last of sort:", jax.jit(jnp.sort)(small)[-1], " abs:", jax.jit(jnp.abs)(small)[1])
PYTHON

diff - "$folder/seen" <<'SEEN' || { echo "xla-flushes-subnormal-doubles: the output has changed" >&2; exit 1; }
a == b: False  a - b: 0.0  in NumPy: 5e-310
1e-310 == 0: True
1e-310 * 1: 1e-310  2e-310 * 0.5: 0.0
max: 0.0  last of sort: 2e-310  abs: 3e-310
SEEN
echo "xla-flushes-subnormal-doubles: as described"
