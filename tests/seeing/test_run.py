"""Some random programs are counted; `python -m tests.seeing.run` counts many."""

import numpy as np
import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.analysis import touched, work
from tests.effort import TRIES_ALL
from tests.seeing.run import differs, main, wrong


def test_random_programs_are_counted_as_they_run():
    assert [found for seed in range(2000 if TRIES_ALL else 30) if (found := wrong(seed)) != ("", True)] == []


def test_an_index_that_is_computed_before_moves_with_its_loop():
    """The counter is in both subscripts, in one of them by way of another value: the elements are no row."""
    module = parse("""func.func @f(%A: memref<16x16xf64>) {
        affine.for %i = 0 to 6 {
            %x = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
            %a = affine.load %A[%x + 1, %i + 2] : memref<16x16xf64>
            affine.store %a, %A[%i, %x] : memref<16x16xf64>
        }
        return
    }""")
    assert differs(module, module.functions[0], [np.ones((16, 16))]) == ("", True)


@pytest.mark.parametrize(
    ("where", "name", "says"),
    [(touched, "_factor", "bytes are touched, and not"), (work, "_lanes", "elements are loaded")],
)
def test_a_wrong_count_is_found(where, name, says, monkeypatch, capsys):
    monkeypatch.setattr(where, name, {"_factor": lambda expr, iv: 1, "_lanes": lambda type: (str(type), 2)}[name])
    assert main(["--count", "8"]) == 1
    assert says in capsys.readouterr().out
