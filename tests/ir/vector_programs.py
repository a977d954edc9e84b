"""Small programs, one for each operation on vectors, with what NumPy says that they compute."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Program:
    """A function @f on arrays, as the body of its text; `expected` makes of the arrays what they must be afterwards."""

    name: str
    arguments: str
    body: str
    arrays: Callable[[], list[Array]]
    expected: Callable[..., list[Array]]
    mlir: bool = True
    """Whether mlir-opt can lower it."""

    @property
    def text(self) -> str:
        return f"func.func @f({self.arguments}) {{\n{self.body}\n  return\n}}\n"


def numbers(*shape: int, dtype: str = "float32", start: int = 1) -> Array:
    """Small whole numbers, exact in every type and under every order of additions."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 5 + start) % 17 - 6).astype(dtype).reshape(shape)


def reals(*shape: int, dtype: str = "float32") -> Array:
    """Numbers with rounding errors."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def zeros(*shape: int, dtype: str = "float32") -> Array:
    return np.full(shape, 77, dtype)


BODIES = dict(
    part.split("\n", 1)
    for part in (Path(__file__).parent / "vector_programs.mlir").read_text(encoding="utf-8").split("// --- ")[1:]
)
CONSTANTS = "".join([f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 6)])
SCALARS = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "int32": "i32",
    "int64": "i64",
    "int8": "i8",
    "bool": "i1",
}


def type_of(array: Array) -> str:
    """The shape and element type of an array, as a memref or vector type has it."""
    return "x".join([*map(str, array.shape), SCALARS[str(array.dtype)]])


def on_vectors(
    name: str, function: Callable[..., object], inputs: list[Array], result: Array, *, mlir: bool = True
) -> Program:
    """A program that reads vectors %x, %y, %z, %w as large as its arrays, and writes %v."""
    body = BODIES[name]
    arguments = [f"%{n}m: memref<{type_of(a)}>" for n, a in zip("xyzw", inputs, strict=False)]
    lines = []
    for n, a in zip("xyzw", inputs, strict=False):
        scalar = SCALARS[str(a.dtype)]
        zero = "false" if scalar == "i1" else f"0.0 : {scalar}" if scalar[0] == "f" else f"0 : {scalar}"
        lines.append(f"  %{n}p = arith.constant {zero}")
        flags = ", ".join(["true"] * a.ndim)
        at = ", ".join(["%c0"] * a.ndim)
        read = f"vector.transfer_read %{n}m[{at}], %{n}p {{in_bounds = [{flags}]}}"
        lines.append(f"  %{n} = {read} : memref<{type_of(a)}>, vector<{type_of(a)}>")
    at, flags = ", ".join(["%c0"] * result.ndim), ", ".join(["true"] * result.ndim)
    given = "%v"
    if result.dtype == bool:  # MLIR packs i1 into bits when it loads and stores vectors
        narrow, result = type_of(result), result.astype("int8")
        lines.append(body)
        given, body = "%vb", f"  %vb = arith.extui %v : vector<{narrow}> to vector<{type_of(result)}>"
    write = f"vector.transfer_write {given}, %rm[{at}] {{in_bounds = [{flags}]}}"
    if result.ndim == 0:
        last = "  memref.store %v, %rm[] : memref<" + type_of(result) + ">"
    else:
        last = f"  {write} : vector<{type_of(result)}>, memref<{type_of(result)}>"
    return Program(
        name,
        ", ".join([*arguments, f"%rm: memref<{type_of(result)}>"]),
        CONSTANTS + "\n".join([*lines, body, last]),
        lambda: [*(a.copy() for a in inputs), result.copy()],
        lambda *a: [*a[:-1], np.asarray(function(*a[:-1])).astype(result.dtype).reshape(result.shape)],
        mlir,
    )


def on_memory(
    name: str, arrays: Callable[[], list[Array]], change: Callable[..., None], *, mlir: bool = True
) -> Program:
    """A program on memory; `change` does to arrays what it does."""
    arguments, body = BODIES[name].split("\n", 1)
    arguments = arguments.removeprefix("// ")

    def expected(*given: Array) -> list[Array]:
        after = [a.copy() for a in given]
        change(*after)
        return after

    return Program(name, arguments, CONSTANTS + body, arrays, expected, mlir)


A48, B48, A8, B8, I8, J8 = (
    numbers(4, 8),
    numbers(4, 8, start=3),
    numbers(8),
    numbers(8, start=2),
    numbers(8, dtype="int32"),
    numbers(8, dtype="int32", start=4),
)
MASK = np.array([1, 0, 1, 1, 0, 0, 1, 0], np.int8)
F = np.float32


def _pad_at(array: Array, i: int, j: int, shape: tuple[int, int], padding: float) -> Array:
    big = np.full((64, 64), padding, array.dtype)
    big[16 : 16 + array.shape[0], 16 : 16 + array.shape[1]] = array
    return big[16 + i : 16 + i + shape[0], 16 + j : 16 + j + shape[1]]


def _read_columns(m: Array, r: Array) -> None:
    r[...] = _pad_at(m, 2, 3, (4, 8), 9)


def _write_inside(m: Array, v: Array) -> None:
    part = m[2:, 5:]
    part[...] = v[: part.shape[0], : part.shape[1]]


def _scatter(m: Array, at: Array, k: Array, v: Array) -> None:
    for lane in range(8):
        if k[lane]:
            m.reshape(-1)[2 + at[lane]] = v[lane]


def _expand(m: Array, k: Array, r: Array) -> None:
    found = iter(m[1:])
    r[...] = [next(found) if bit else r[lane] for lane, bit in enumerate(k)]


def _compress(m: Array, k: Array, v: Array) -> None:
    m[1 : 1 + k.sum()] = v[k == 1]


def _put(array: Array, place: object, value: object) -> Array:
    array = array.copy()
    array[place] = value
    return array


def _float_rows(x: Array) -> Array:
    total = F(0.5)
    for lane in x:
        total = F(total + lane)
    return total


PROGRAMS = [
    on_memory("transfer_read, padded", lambda: [numbers(4, 6), zeros(4, 8)], _read_columns),
    on_memory("transfer_read, transposed and padded", lambda: [numbers(4, 6), zeros(8, 4)],
        lambda m, r: r.__setitem__(..., _pad_at(m, 1, 3, (4, 8), 9).T)),
    on_memory("transfer_read, a column, broadcast", lambda: [numbers(4, 6), zeros(3, 4)],
        lambda m, r: r.__setitem__(..., np.append(m[1:, 3], F(9)))),
    on_memory("transfer_read, masked", lambda: [numbers(16), MASK.copy(), zeros(8)],
        lambda m, k, r: r.__setitem__(..., np.where(k, m[2:10], F(9)))),
    on_memory("transfer_read, mask in the order of memory",
        lambda: [numbers(4, 6), np.int8(1) * (numbers(4, 3) > 0), zeros(3, 4)],
        lambda m, k, r: r.__setitem__(..., np.where(k == 1, m[:, 1:4], F(9)).T)),
    on_memory("transfer_write, partly outside", lambda: [zeros(4, 9), numbers(4, 8)], _write_inside),
    on_memory("transfer_write, masked, a column", lambda: [zeros(8, 3), MASK.copy(), numbers(8)],
        lambda m, k, a: m[:, 1].__setitem__(k == 1, a[k == 1])),
    on_memory("load and store", lambda: [numbers(4, 8), zeros(4, 8)],
        lambda m, r: r[2].__setitem__(slice(2, 6), m[1, 3:7])),
    on_memory("load and store of two dimensions",
        lambda: [numbers(4, 8, dtype="float64"), zeros(4, 8, dtype="float64")],
        lambda m, r: r[2:4].__setitem__((slice(None), slice(2, 6)), m[1:3, 3:7]), mlir=False),
    on_memory("maskedload", lambda: [numbers(12), MASK.copy(), zeros(8)],
        lambda m, k, a: a.__setitem__(k == 1, m[3:11][k == 1])),
    on_memory("maskedstore", lambda: [zeros(12), MASK.copy(), numbers(8)],
        lambda m, k, a: m[3:11].__setitem__(k == 1, a[k == 1])),
    on_memory("gather",
        lambda: [numbers(4, 8), np.array([0, 99, 5, 6, -99, 9, -10, 0], "int32"), MASK.copy(), zeros(8)],
        lambda m, o, k, a: a.__setitem__(k == 1, m.reshape(-1)[10 + o[k == 1]])),
    on_memory("scatter", lambda: [zeros(16), np.array([3, 99, 13, 3, 99, 0, -2, 1], "int64"), MASK.copy(), numbers(8)],
        _scatter),
    on_memory("expandload", lambda: [numbers(16), MASK.copy(), zeros(8)], _expand),
    on_memory("compressstore", lambda: [zeros(16), MASK.copy(), numbers(8)], _compress),
    on_vectors("addf", np.add, [A48, B48], zeros(4, 8)),
    on_vectors("muli", np.multiply, [I8, J8], zeros(8, dtype="int32")),
    on_vectors("negf", np.negative, [A8], zeros(8)),
    on_vectors("sqrt", lambda x: np.sqrt(np.abs(x)), [A8], zeros(8)),
    on_vectors("cmpf", np.less, [A8, B8], zeros(8, dtype="bool")),
    on_vectors("select", np.maximum, [I8, J8], zeros(8, dtype="int32")),
    on_vectors("select of whole vectors", lambda x, y: x, [I8, J8], zeros(8, dtype="int32")),
    on_vectors("sitofp", np.float64, [I8], zeros(8, dtype="float64")),
    on_vectors("trunci", lambda x: x, [I8 * 77], zeros(8, dtype="int8")),
    on_vectors("extui", np.greater_equal, [A8, B8], zeros(8, dtype="int32")),
    on_vectors("mulsi_extended", lambda x, y: x.astype("int64") * y >> 32, [I8 * (1 << 26), J8 * (1 << 20)],
        zeros(8, dtype="int32")),
    on_vectors("addui_extended", np.add, [I8, J8], zeros(8, dtype="int32")),
    on_vectors("fma of math", lambda x, y: x * y + x, [A8, B8], zeros(8)),
    on_vectors("constants", lambda x: np.array([[1, 2], [3, -4]], F) * F(0.5) + x, [numbers(2, 2)], zeros(2, 2)),
    on_vectors("constant masks", lambda x, y: np.where([True, False, True, True], x, y),
        [numbers(4), numbers(4, start=7)], zeros(4)),
    on_vectors("fma", lambda x, y, z: x * y + z, [A8, B8, numbers(8, start=9)], zeros(8)),
    on_vectors("reduction of floats, from the left", _float_rows, [reals(8)], zeros()),
    on_vectors("reduction without a start", np.prod, [numbers(4)], zeros()),
    *(
        on_vectors(
            f"reduction {kind}", lambda x, f=function: f.reduce(x, initial=np.int32(5)), [I8], zeros(dtype="int32")
        )
        for kind, function in (
            ("add", np.add),
            ("mul", np.multiply),
            ("and", np.bitwise_and),
            ("or", np.bitwise_or),
            ("xor", np.bitwise_xor),
            ("minsi", np.minimum),
            ("maxsi", np.maximum),
        )
    ),
    on_vectors("reduction maxui", lambda x: x.view("uint32").max().view("int32"), [I8], zeros(dtype="int32")),
    on_vectors("reduction minui", lambda x: x.view("uint32").min().view("int32"), [I8], zeros(dtype="int32")),
    on_vectors("reduction minimumf", np.min, [A8], zeros()),
    on_vectors("reduction maxnumf", np.max, [A8], zeros()),
    on_vectors("multi_reduction of columns", lambda x, y: y + x.sum(0), [A48, A8], zeros(8)),
    on_vectors("multi_reduction of rows", lambda x, y: np.maximum(y, x.max(1)),
        [A48.astype("int32"), numbers(4, dtype="int32")], zeros(4, dtype="int32")),
    on_vectors("multi_reduction of the middle", lambda x, y: y + x.sum(1), [numbers(2, 3, 4), numbers(2, 4)],
        zeros(2, 4)),
    on_vectors("multi_reduction of all", lambda x: 5 + x.sum(), [A48.astype("int32")], zeros(dtype="int32")),
    on_vectors("contract, a product of matrices", lambda x, y, z: x @ y + z,
        [numbers(4, 3), numbers(3, 2), numbers(4, 2)], zeros(4, 2)),
    on_vectors(
        "contract to wider lanes",
        lambda x, y, z: x.astype("int32") @ y.astype("int32") + z,
        [
            numbers(4, 3, dtype="int8") * np.int8(20),
            numbers(3, 2, dtype="int8") * np.int8(-20),
            numbers(4, 2, dtype="int32"),
        ],
        zeros(4, 2, dtype="int32"),
        mlir=False,
    ),
    on_vectors("contract to a scalar", lambda x, y: x @ y + 5, [A8, B8], zeros()),
    on_vectors("contract, the largest product", lambda x, y: (x * y).max(), [A8, B8], zeros(), mlir=False),
    on_vectors("contract, a vector by a transposed matrix", lambda x, y, z: x.T @ y + z, [A48, numbers(4), A8],
        zeros(8)),
    on_vectors("outerproduct", np.outer, [numbers(4), A8], zeros(4, 8)),
    on_vectors("outerproduct with a start", lambda x, y, z: np.outer(x, y) + z, [numbers(4), A8, A48], zeros(4, 8)),
    on_vectors("outerproduct, the largest", lambda x, y, z: np.maximum(np.outer(x, y), z),
        [numbers(4, dtype="int32"), I8, A48.astype("int32")], zeros(4, 8, dtype="int32")),
    on_vectors("outerproduct with a scalar", lambda x: x * 5, [A8], zeros(8)),
    on_vectors("broadcast of a scalar", lambda: np.full((4, 8), F(5)), [], zeros(4, 8)),
    on_vectors("broadcast of a row", lambda x: np.broadcast_to(x, (4, 8)), [A8], zeros(4, 8)),
    on_vectors("broadcast of a column", lambda x: np.broadcast_to(x, (4, 8)), [numbers(4, 1)], zeros(4, 8)),
    on_vectors("extract a scalar", lambda x: x[2, 3], [A48], zeros()),
    on_vectors("extract a row", lambda x: x[2], [A48], zeros(8)),
    on_vectors("extract at a value", lambda x: x[6], [A8], zeros()),
    on_vectors("insert a scalar", lambda x: _put(x, (2, 3), 5), [A48], zeros(4, 8)),
    on_vectors("insert a row", lambda x, y: _put(x, 2, y), [A48, A8], zeros(4, 8)),
    on_vectors("insert at a value", lambda x: _put(x, 6, 5), [A8], zeros(8)),
    on_vectors("extract_strided_slice", lambda x: x[1:3, 2:6], [A48], zeros(2, 4)),
    on_vectors("extract_strided_slice of rows", lambda x: x[1:3], [A48], zeros(2, 8)),
    on_vectors("insert_strided_slice", lambda x, y: _put(x, (slice(1, 3), slice(2, 6)), y),
        [A48, numbers(2, 4, start=9)], zeros(4, 8)),
    on_vectors("insert_strided_slice of a row", lambda x, y: _put(x, (3, slice(2, 6)), y), [A48, numbers(4, start=9)],
        zeros(4, 8)),
    on_vectors("shuffle", lambda x, y: np.concatenate([x, y])[[0, 9, 2, 11, 7]], [A8, B8], zeros(5)),
    on_vectors("shuffle of rows", lambda x, y: np.concatenate([x, y])[[4, 1, 5]], [A48, numbers(2, 8)], zeros(3, 8)),
    on_vectors("transpose", np.transpose, [A48], zeros(8, 4)),
    on_vectors("transpose of three dimensions", lambda x: x.transpose(2, 0, 1), [numbers(2, 3, 4)], zeros(4, 2, 3)),
    on_vectors("shape_cast", lambda x: x, [A48], zeros(2, 16)),
    on_vectors("bitcast to integers", lambda x: x.view("int32"), [reals(8)], zeros(8, dtype="int32")),
    on_vectors("bitcast to wider lanes", lambda x: x.view("float64"), [reals(8)], zeros(4, dtype="float64")),
    on_vectors("bitcast to narrower lanes", lambda x: x.view("int8"), [A48.astype("int32") * 123457],
        zeros(4, 32, dtype="int8")),
    on_vectors("bitcast to bits", lambda x: np.unpackbits(x.view("uint8"), bitorder="little"),
        [numbers(8, dtype="int8")], zeros(64, dtype="bool")),
    on_vectors("from_elements", lambda x: [x[6], x[1], x[1], x[6]], [A8], zeros(2, 2)),
    on_vectors("to_elements", lambda x: [x[3], x[0]], [numbers(4)], zeros(2)),
    on_vectors("step", lambda: np.arange(8), [], zeros(8, dtype="int64")),
    on_vectors("create_mask", lambda: np.arange(8) < 3, [], zeros(8, dtype="bool")),
    on_vectors("create_mask of two dimensions", lambda: np.outer(np.arange(4) < 3, np.arange(8) < 6), [],
        zeros(4, 8, dtype="bool")),
    on_vectors("create_mask beyond the ends", lambda: np.ones(4), [], zeros(4, dtype="bool")),
    on_vectors("constant_mask", lambda: np.outer(np.arange(4) < 2, np.arange(8) < 5), [], zeros(4, 8, dtype="bool")),
    on_vectors("constant_mask of none", lambda: np.zeros(8), [], zeros(8, dtype="bool")),
    on_vectors("a loop that carries vectors", lambda x, y: x + y * 2, [A8, B8], zeros(8)),
    on_vectors("a condition that gives a vector", lambda x, y: x + y, [A8, B8], zeros(8)),
]  # fmt: skip
