"""What every 64-bit machine has: registers of 128 bits, and nothing that vector types have no operator for."""

from __future__ import annotations

from affdsl.codegen.targets.target import Target

BASELINE = Target("baseline", (), "", width=128, registers=16, has_fma=False, has_masks=False, rows={})
