"""The vector dialect: values of a fixed number of scalars, how they are loaded and stored, computed and rearranged.

A lane is one scalar of a vector; lanes are counted in row-major order. Indices that are given for a vector as a whole
belong to its first lane. An optional operand is a tuple of one value or none.
"""

from __future__ import annotations

from affdsl.ir.core import READS, WRITES, Op, Operand, Operands, Pure, Result, Results
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.mixed import Mixed, Static, mixed

KINDS: dict[str, tuple[str | None, str | None]] = {
    "add": ("addf", "addi"), "mul": ("mulf", "muli"),
    "minui": (None, "minui"), "minsi": (None, "minsi"), "maxui": (None, "maxui"), "maxsi": (None, "maxsi"),
    "minnumf": ("minnumf", None), "maxnumf": ("maxnumf", None),
    "minimumf": ("minimumf", None), "maximumf": ("maximumf", None),
    "and": (None, "andi"), "or": (None, "ori"), "xor": (None, "xori"),
}  # fmt: skip
"""How a reduction combines two numbers: as which kind of arith on floats, and on integers; None where it does not."""

OLD_KINDS = {"min": ("minnumf", "minsi"), "max": ("maxnumf", "maxsi")}
"""What the kinds of 2019 are for floats and for integers."""

ITERATORS = ("parallel", "reduction")

MOST_LANES = 4096
"""The most lanes of a vector for the language, `vectorize` and C output: each few of them are a statement of C."""

POISON = -1
"""The position of a lane that has no particular value, where positions are static."""


class TransferRead(Op):
    """result = the elements of memref from indices on, along the dimensions that map names for those of the vector

    Where map has 0, all lanes along that dimension read the same element. Lanes that lie outside of memref, along a
    dimension that in_bounds does not promise to stay inside, and those that mask leaves out are padding. The mask has
    the dimensions of memref that map names, in the order of memref.
    """

    name = "vector.transfer_read"
    memory = READS
    result: Result
    memref: Operand
    indices: Operands
    padding: Operand
    map: AffineMap
    in_bounds: tuple[bool, ...]
    mask: Operands = ()


class TransferWrite(Op):
    """The elements of memref from indices on, along the dimensions that map names, = value

    Lanes outside of memref and those that mask leaves out are not written, as in transfer_read; 0 is no dimension here.
    """

    name = "vector.transfer_write"
    memory = WRITES
    value: Operand
    memref: Operand
    indices: Operands
    map: AffineMap
    in_bounds: tuple[bool, ...]
    mask: Operands = ()


class Load(Op):
    """result = the elements of memref from indices on, along its last dimensions"""

    name = "vector.load"
    memory = READS
    result: Result
    memref: Operand
    indices: Operands
    nontemporal: bool = False
    alignment: int | None = None


class Store(Op):
    """The elements of memref from indices on, along its last dimensions, = value"""

    name = "vector.store"
    memory = WRITES
    value: Operand
    memref: Operand
    indices: Operands
    nontemporal: bool = False
    alignment: int | None = None


class MaskedLoad(Op):
    """result = as in vector.load where mask is set, and pass_thru elsewhere, where nothing is read"""

    name = "vector.maskedload"
    memory = READS
    result: Result
    memref: Operand
    indices: Operands
    mask: Operand
    pass_thru: Operand
    alignment: int | None = None


class MaskedStore(Op):
    """As vector.store where mask is set; elsewhere nothing is written"""

    name = "vector.maskedstore"
    memory = WRITES
    memref: Operand
    indices: Operands
    mask: Operand
    value: Operand
    alignment: int | None = None


class Gather(Op):
    """result = where mask is set, the elements that lie as far behind indices as offsets say; pass_thru elsewhere

    An offset counts elements along the last dimension, and goes on in the next row.
    """

    name = "vector.gather"
    memory = READS
    result: Result
    memref: Operand
    indices: Operands
    offsets: Operand
    mask: Operand
    pass_thru: Operand
    alignment: int | None = None


class Scatter(Op):
    """The elements that lie as far behind indices as offsets say = value, where mask is set, lane after lane"""

    name = "vector.scatter"
    memory = WRITES
    memref: Operand
    indices: Operands
    offsets: Operand
    mask: Operand
    value: Operand
    alignment: int | None = None


class ExpandLoad(Op):
    """result = for each lane that mask sets the next element of memref from indices on; pass_thru elsewhere"""

    name = "vector.expandload"
    memory = READS
    result: Result
    memref: Operand
    indices: Operands
    mask: Operand
    pass_thru: Operand
    alignment: int | None = None


class CompressStore(Op):
    """The next element of memref from indices on = value, for each lane that mask sets"""

    name = "vector.compressstore"
    memory = WRITES
    memref: Operand
    indices: Operands
    mask: Operand
    value: Operand
    alignment: int | None = None


class Fma(Pure):
    """result = a * b + c, each lane rounded once"""

    name = "vector.fma"
    result: Result
    a: Operand
    b: Operand
    c: Operand


class Reduction(Pure):
    """result = acc <combine> lane 0 <combine> lane 1 ..., from the left, also for floats; combine in KINDS"""

    name = "vector.reduction"
    result: Result
    combine: str
    source: Operand
    acc: Operands = ()


class MultiReduction(Pure):
    """result = acc <combine> the lanes of source along the dimensions dims, from the left in row-major order"""

    name = "vector.multi_reduction"
    result: Result
    combine: str
    source: Operand
    acc: Operand
    dims: tuple[int, ...]


class Contract(Pure):
    """result = acc <combine> left * right, for all points of a box, in row-major order

    maps say which lanes of left, right and acc belong to a point, and iterators which dimensions of the box acc lacks.
    The factors are of acc's type first (extf, extsi); the product is rounded before it is added.
    """

    name = "vector.contract"
    result: Result
    left: Operand
    right: Operand
    acc: Operand
    maps: tuple[AffineMap, ...]
    iterators: tuple[str, ...]
    combine: str = "add"


class OuterProduct(Pure):
    """result[i, j] = acc[i, j] <combine> left[i] * right[j]; rounded once if combine is add and the lanes are floats

    Without acc it is the product alone. If right is a scalar, the result is a vector as left is.
    """

    name = "vector.outerproduct"
    result: Result
    left: Operand
    right: Operand
    acc: Operands = ()
    combine: str = "add"


class Broadcast(Pure):
    """result = source, a scalar or vector, again and again along dimensions that it lacks or where its size is 1"""

    name = "vector.broadcast"
    result: Result
    source: Operand


class Extract(Pure):
    """result = source[position], a scalar or vector; `static_position` has None for each of the values `position`"""

    name = "vector.extract"
    result: Result
    source: Operand
    position: Operands
    static_position: Static

    @property
    def positions(self) -> Mixed:
        """The position, its numbers and values together."""
        return mixed(self.static_position, self.position)


class Insert(Pure):
    """result = target, but for result[position] = value, a scalar or vector; positions as in vector.extract"""

    name = "vector.insert"
    result: Result
    value: Operand
    target: Operand
    position: Operands
    static_position: Static

    @property
    def positions(self) -> Mixed:
        """The position, its numbers and values together."""
        return mixed(self.static_position, self.position)


class ExtractStridedSlice(Pure):
    """result = source[offsets : offsets + sizes] along the first dimensions; strides are 1"""

    name = "vector.extract_strided_slice"
    result: Result
    source: Operand
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


class InsertStridedSlice(Pure):
    """result = target, but for value from offsets on, along the last dimensions; strides are 1"""

    name = "vector.insert_strided_slice"
    result: Result
    value: Operand
    target: Operand
    offsets: tuple[int, ...]
    strides: tuple[int, ...]


class Shuffle(Pure):
    """result = the rows of left, then right, that mask counts along their first dimension; any rows for POISON"""

    name = "vector.shuffle"
    result: Result
    left: Operand
    right: Operand
    mask: tuple[int, ...]


class Transpose(Pure):
    """result = source, whose dimension permutation[k] becomes dimension k"""

    name = "vector.transpose"
    result: Result
    source: Operand
    permutation: tuple[int, ...]


class ShapeCast(Pure):
    """result = the lanes of source, in their order, in another shape"""

    name = "vector.shape_cast"
    result: Result
    source: Operand


class BitCast(Pure):
    """result = the bits of source, in lanes of another type along the last dimension; lane 0 has the lowest bits"""

    name = "vector.bitcast"
    result: Result
    source: Operand


class FromElements(Pure):
    """result = the vector of these scalars, in row-major order"""

    name = "vector.from_elements"
    result: Result
    elements: Operands


class ToElements(Pure):
    """results = the lanes of source, in row-major order"""

    name = "vector.to_elements"
    results: Results
    source: Operand


class Step(Pure):
    """result = 0, 1, 2, ..."""

    name = "vector.step"
    result: Result


class CreateMask(Pure):
    """result is set where the lane lies below bounds along all dimensions; a vector without any has one bound"""

    name = "vector.create_mask"
    result: Result
    bounds: Operands


class ConstantMask(Pure):
    """result is set where the lane lies below the numbers sizes along all dimensions"""

    name = "vector.constant_mask"
    result: Result
    sizes: tuple[int, ...]


def map_dims(map: AffineMap) -> tuple[int | None, ...] | None:
    """Which dimension each result of a map is, None for a 0; no tuple at all if some result is anything else."""
    position = {dim(k): k for k in range(map.dims)}
    found: list[int | None] = []
    for result in map.results:
        if result.value in position:
            found.append(position[result.value])
        elif result.is_constant and result.constant == 0:
            found.append(None)
        else:
            return None
    return tuple(found)


def mask_dims(map: AffineMap) -> tuple[int, ...]:
    """Which dimensions of the vector the mask of a transfer has: those that are one of memref, in memref's order."""
    dims = map_dims(map) or ()
    return tuple(k for _, k in sorted((d, k) for k, d in enumerate(dims) if d is not None))


def minor_identity(rank: int, vector_rank: int) -> AffineMap:
    """The map of a transfer along the last dimensions, in their order.

    >>> print(minor_identity(3, 2))
    (d0, d1, d2) -> (d1, d2)
    """
    return AffineMap(rank, 0, tuple(dim(k) + 0 for k in range(rank - vector_rank, rank)))
