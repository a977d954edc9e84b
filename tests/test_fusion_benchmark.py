"""The chains of stencils of `benchmarks.fusion` do, fused, what they do as they are written, at all sizes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import fusion
from benchmarks.fusion import CHAINS, main
from tests.effort import some

SHAPES = some([(1, 1), (6, 40), (0, 0), (3, 2), (4, 21), (5, 5), (11, 23)], 2)


@pytest.mark.parametrize("name", CHAINS)
def test_fused_chains_leave_the_same_to_the_bit(name: str):
    fused = CHAINS[name].fused()
    assert "memref.alloc(%N" not in fused.mlir(), "some array still has as many rows as the image"
    rng = np.random.default_rng(7)
    for shape in SHAPES:
        image = rng.random(shape, np.float32)
        expected, out = np.full(shape, -1, np.float32), np.full(shape, -1, np.float32)
        CHAINS[name].kernel.interpret(image, expected)
        fused.interpret(image, out)
        np.testing.assert_array_equal(out, expected, str(shape))


def test_the_table(capsys, monkeypatch):
    monkeypatch.setattr(fusion, "halide_stencils", None)
    monkeypatch.setattr(fusion, "which", lambda _: None)
    monkeypatch.setattr(fusion, "map_from", lambda _: None)
    for variable in ("OMP_NUM_THREADS", "HL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")
    main(["--only", "blur", "--sizes", "40", "--rounds", "1"])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "no Halide: pip install halide"
    assert [line.split()[0] for line in said[3:]] == ["fused", "unfused", "kernel.fuse()"]
