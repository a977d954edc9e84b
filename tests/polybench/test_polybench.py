"""Every kernel of PolyBench gives what PolyBench gives, to the bit, and on other input what NumPy gives.

sizes.txt and figures.txt hold what is known of PolyBench's data sets and outputs, dumps/ the outputs themselves, as a
strict compilation of the C program writes them (gcc -O2 on x86-64). All three were made without the kernels here.
"""

import doctest
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.jit import check_sizes
from affdsl.ir.dialects.func import Module
from affdsl.mlir.writers import print_op
from benchmarks.polybench import benchmark as format_of_benchmarks
from benchmarks.polybench.__main__ import checksum
from benchmarks.polybench.benchmark import SIZE_NAMES, Benchmark
from benchmarks.polybench.suite import SUITE, named
from tests.effort import TRIES_ALL, some
from tests.oracles import run_mlir

HERE = Path(__file__).parent


def rows(file):
    """The rows of a table, each a dictionary from the heading's words."""
    heading, *lines = (line.split() for line in (HERE / file).read_text(encoding="utf-8").splitlines())
    return [dict(zip(heading, line, strict=True)) for line in lines]


SIZES = {row["kernel"]: row for row in rows("sizes.txt")}
FIGURES = rows("figures.txt")

RUNS = [
    (benchmark, size, how)
    for how in ("c", "interpreter")
    for size in ("MINI", "SMALL")
    for benchmark in SUITE
    if TRIES_ALL or (size, how) != ("SMALL", "interpreter")  # which needs up to 30 seconds
]

every_kernel = pytest.mark.parametrize("benchmark", SUITE, ids=lambda benchmark: benchmark.name)


@cache
def dump(name, size):
    """PolyBench's own output."""
    with np.load(HERE / "dumps" / f"{name}.{size}.npz") as file:
        return dict(file)


def equal_to_the_bit(found, wanted):
    """Whether two dumps are the same: names in order, types, shapes, every bit."""
    return list(found) == list(wanted) and all(
        (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
        for x, y in zip(found.values(), wanted.values(), strict=True)
    )


def ran(benchmark, arguments, how):
    """What the kernel makes of the arguments, as a dump; the arguments are not touched."""
    copies = {name: np.copy(x) if isinstance(x, np.ndarray) else x for name, x in arguments.items()}
    benchmark.run(copies, how)
    return benchmark.dump(copies)


def odd_sizes(benchmark, seed):
    """Sizes that no power of two divides, and some of 1 and 2, where the kernel takes them."""
    rng = np.random.default_rng(seed)
    names = benchmark.sizes["MINI"]
    yield dict.fromkeys(names, 1)
    yield dict.fromkeys(names, 2)
    yield {name: int(rng.integers(1, 4)) for name in names}
    yield {name: int(2 * rng.integers(2, 8) + 1) for name in names}


def test_the_suite_is_polybench():
    assert [benchmark.name for benchmark in SUITE] == list(SIZES)
    assert {path.name for path in (HERE / "dumps").iterdir()} == {
        f"{benchmark.name}.{size}.npz" for benchmark in SUITE for size in ("MINI", "SMALL")
    }


@every_kernel
def test_sizes_are_those_of_polybench(benchmark):
    row = SIZES[benchmark.name]
    wanted = {
        size: dict(zip(row["parameters"].split(","), map(int, row[size].split(",")), strict=True))
        for size in SIZE_NAMES
    }
    assert benchmark.sizes == wanted
    assert list(benchmark.sizes) == list(SIZE_NAMES)


@every_kernel
def test_arguments_and_outcomes_have_the_names_of_the_kernel(benchmark):
    arguments = benchmark.arrays(benchmark.sizes["MINI"])
    assert list(arguments) == [parameter.name for parameter in benchmark.kernel.program.parameters]
    assert benchmark.live_out == tuple(dump(benchmark.name, "MINI"))
    others = benchmark.random_arguments(benchmark.sizes["MINI"], np.random.default_rng(0))
    assert list(others) == list(arguments)
    assert set(benchmark.reference(others)) == set(benchmark.live_out)


@pytest.mark.parametrize("row", FIGURES, ids=lambda row: f"{row['kernel']}-{row['array']}-{row['size']}")
def test_dumps_have_the_known_figures(row):
    array = dump(row["kernel"], row["size"])[row["array"]]
    flat = array.ravel().tolist()
    figures = {
        "sum": math.fsum(flat),
        "abs": math.fsum(map(abs, flat)),
        "wsum": math.fsum((place % 97 + 1) * x for place, x in enumerate(flat)),
        "first": flat[0],
        "middle": flat[len(flat) // 2],
        "last": flat[-1],
    }
    assert len(flat) == int(row["count"])
    assert {name: f"{value:.12g}" for name, value in figures.items()} == {name: row[name] for name in figures}
    assert checksum(array) == row["sha"]


@pytest.mark.parametrize(
    ("benchmark", "size", "how"), RUNS, ids=[f"{benchmark.name}-{size}-{how}" for benchmark, size, how in RUNS]
)
def test_output_is_that_of_polybench_to_the_bit(benchmark, size, how):
    found = ran(benchmark, benchmark.arrays(benchmark.sizes[size]), how)
    assert equal_to_the_bit(found, dump(benchmark.name, size))


@every_kernel
@pytest.mark.parametrize("seed", some([1, 2, 3], 1))
def test_random_input_gives_what_numpy_gives(benchmark, seed):
    rng = np.random.default_rng(seed)
    for chosen in odd_sizes(benchmark, seed):
        sizes = {name: max(value, benchmark.least.get(name, 1)) for name, value in chosen.items()}
        arguments = benchmark.random_arguments(sizes, rng)
        wanted = benchmark.dump(benchmark.reference(arguments))
        compiled = ran(benchmark, arguments, "c")
        for name, array in compiled.items():
            far = np.abs(array - wanted[name]).max(initial=0)
            scale = np.abs(wanted[name]).max(initial=0)
            assert far <= benchmark.tolerance * scale, f"{name} at {sizes}: off by {far}, largest element {scale}"
        assert equal_to_the_bit(ran(benchmark, arguments, "interpreter"), compiled), sizes


@every_kernel
def test_random_input_is_changed(benchmark):
    """Some of PolyBench's own inputs come out as they went in, so that a kernel that does nothing would pass."""
    arguments = benchmark.random_arguments(benchmark.sizes["MINI"], np.random.default_rng(4))
    before, after = benchmark.dump(arguments), ran(benchmark, arguments, "c")
    assert all((before[name] != after[name]).any() for name in benchmark.live_out)


@every_kernel
def test_the_reference_leaves_its_arguments_alone(benchmark):
    arguments = benchmark.random_arguments(benchmark.sizes["MINI"], np.random.default_rng(5))
    before = {name: np.copy(x) for name, x in arguments.items()}
    benchmark.reference(arguments)
    for name, x in before.items():
        assert np.asarray(arguments[name]).tobytes() == x.tobytes(), name


@cache
def all_kernels():
    """All kernels in one module: the tools are started once."""
    return print_op(Module(tuple(f for benchmark in SUITE for f in benchmark.kernel.module.functions)))


@every_kernel
def test_output_lowered_by_mlir_opt_is_that_of_polybench_to_the_bit(benchmark):
    kernel, arguments = benchmark.kernel, benchmark.arrays(benchmark.sizes["MINI"])
    shapes = tuple(x.shape for x in arguments.values() if isinstance(x, np.ndarray))
    found = check_sizes(kernel.program, shapes, tuple(x for x in arguments.values() if not isinstance(x, np.ndarray)))
    run_mlir(all_kernels(), kernel.name, [*(found[size] for size in kernel.program.sizes), *arguments.values()])
    assert equal_to_the_bit(benchmark.dump(arguments), dump(benchmark.name, "MINI"))


def test_what_is_uninitialised_shows():
    found = {}
    for benchmark in SUITE:
        for name, x in benchmark.arrays(benchmark.sizes["MINI"]).items():
            if isinstance(x, np.ndarray) and x.dtype.kind == "f" and np.isnan(x).all():
                found.setdefault(benchmark.name, []).append(name)
    assert found["2mm"] == ["tmp"]
    assert found["correlation"] == ["corr", "mean", "stddev"]
    assert (format_of_benchmarks.unset(2, dtype=np.int32) == format_of_benchmarks.UNSET).all()


def test_integers_need_a_distribution_of_their_own():
    gemm = named("gemm")
    whole = Benchmark("whole", gemm.kernel, gemm.sizes, lambda sizes: {"A": np.zeros(2, int)}, (), gemm.reference)
    with pytest.raises(TypeError, match="whole: A holds int64; give the benchmark a `random`"):
        whole.random_arguments({}, np.random.default_rng(0))


def test_a_benchmark_is_found_by_its_name():
    assert named("2mm").kernel.name == "two_mm"
    with pytest.raises(ValueError, match=r"no kernel 'gemv': did you mean 'gemver'\?"):
        named("gemv")
    with pytest.raises(ValueError, match="no kernel '': choose one of correlation, covariance, 2mm, 3mm"):
        named("")


def test_the_examples_of_the_format_run():
    outcome = doctest.testmod(format_of_benchmarks)
    assert outcome.attempted
    assert not outcome.failed
