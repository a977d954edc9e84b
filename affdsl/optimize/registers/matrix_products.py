"""Products of matrices, also in disguise: tiles in registers, on panels that are read in order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace

from affdsl.codegen.c.vector_helpers import has_row
from affdsl.codegen.targets.target import Target
from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.types import FloatType, IntegerType
from affdsl.lang.indices import Condition
from affdsl.optimize.attempts import AllOrNone, bring_innermost, names_made
from affdsl.optimize.machine import LARGE, PAGE, USUAL_CACHES, has_large_cache
from affdsl.optimize.nests import Nest, bits_in_register, lanes_of, nests, nests_in, unfit_where_refused, updates
from affdsl.optimize.notes import sizes_in
from affdsl.optimize.options import Choices, Options
from affdsl.optimize.registers import small_products
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector.inner_loops import ways
from affdsl.optimize.versions import in_other
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.storage import Buffer
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

AT_ONCE = 8
"""How many rows of a factor are copied into a panel before the next one."""
TERMS = 64
"""A tile has a multiple of so many terms, as many sizes do: the last tile has at least so many then."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with a sum of products tiled for the caches and for registers, in the order of the text.

        for i, j, k: C[i, j] += A[i, k] * B[k, j]

    Raises UnfitError.

    References
    ----------
    Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008; Van Zee and van de Geijn,
    "BLIS: a framework for rapidly instantiating BLAS functionality", TOMS 2015.
    """
    made = copy(s)
    with unfit_where_refused():
        return made, _tiled(made, nest, options)


def _tiled(s: Schedule, nest: Nest, options: Options) -> str:
    """Tile a sum of products, and say how; the schedule given is changed. Raises as steps do, and UnfitError."""
    found = product_of(nest)
    if found.is_triangular:
        raise UnfitError("it is a product of matrices whose sums are of different lengths")
    if found.has_rows_of_bytes(nest, options.target):
        raise UnfitError(
            "both factors of its products are narrow integers that lie side by side: sums of them are quick"
        )
    registers, tile = sizes_of(found, options)
    if small_products.is_narrow((found.i, found.j, found.k), registers.lanes) or is_tiny(found, options):
        i, j, k = bring_innermost(s, nest, found.i, found.j, found.k)
        return small_products.in_rows(s, (i, j, k), found.j, options, registers.lanes)
    small = small_products.with_small(s, nest, (found.i, found.j, found.k), bits_of(found.store), options)
    nest, found = with_factors(s, nest, found)
    i, j, k = bring_innermost(s, nest, found.i, found.j, found.k)
    batch = [nest.name(loop) for loop in nest.band if loop not in (found.i, found.j, found.k)]
    if sharing.batch(s, nest, batch, options):
        said = f"{in_tiles(s, nest, found, (i, j, k), tile, None, registers, options)[0]}; threads share its batch"
    else:
        tile, cut = sharing.tile_of(nest, found.i, found.j, tile, (registers.rows, registers.columns), options)
        few = sharing.few_rows(s, nest, found.i, found.j, options) if cut == "rows" and not batch else None
        many = _version(s, i, few)
        of_columns = sharing.of_columns(tile, (registers.rows, registers.columns))
        how = (of_columns, "columns") if many is not None else (tile, cut)
        again = batch if cut is None and not _moves_with(nest, found, batch) else ()
        said, kept = in_tiles(s, nest, found, (i, j, k), *how, registers, options, again)
        said += f"; threads share its {kept}" if kept else ""
        if few is not None and many is not None:
            of = product_of(many)
            named = many.name(of.i), many.name(of.j), many.name(of.k)
            _, elsewhere = in_tiles(s, many, of, named, tile, cut, registers, options)
            said += f" for {sizes_in(few)}" + (f", and its {elsewhere} for others" if elsewhere else "")
    small_products.finish(s, small, options)
    return small.beside(said)


def is_tiny(found: Product, options: Options) -> bool:
    """Whether a product of known size, with a vector of columns at least, fits into half of the nearest cache.

    Copies of its factors would take about as long as the products, of which there may be many.
    """
    bits, nearest = bits_of(found.store), (options.target.caches or USUAL_CACHES)[0]
    i, j, k = (small_products.trips(loop) for loop in (found.i, found.j, found.k))
    if found.is_triangular or i is None or j is None or k is None or j < options.target.lanes(bits):
        return False
    return (i * j + i * k + k * j) * bits // 8 <= nearest // 2


def tiny_ones(s: Schedule, inside: Collection[str], options: Options) -> bool:
    """Whether some of the nests in some loops are products of tiny matrices, whatever the sizes."""
    for nest in nests(s):
        with suppress(UnfitError):
            if nest.name(nest.innermost) in inside and is_tiny(product_of(nest), options):
                return True
    return False


def take_straight(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop that holds nothing but products of few columns and terms, with what begins their sums.

    It stays as it was, with no words, where compilers make good code of it, and where there are several. Raises
    UnfitError for all other loops.
    """
    found = [replace(each, band=(*each.loops,), around=()) for each in nests_in(s, root)]
    straight = [_straight(nest, options) for nest in found]
    if not found:
        raise UnfitError
    if len(found) == 1:
        with suppress(UnfitError):
            return small_products.in_one_register(s, found[0], straight[0], options)
    return s, ""


def is_one_vector(s: Schedule, root: str, options: Options) -> bool:
    """Whether a loop is straight code of one product, all sums of which fill a vector, or half of one, or less.

    gcc 12 makes one vector of them then. Of fused products and sums it makes a vector for each row or column, and turns
    these: 2 x 4 sums of 4 terms take 2.4 times as long.
    """
    nests = [replace(each, band=(*each.loops,), around=()) for each in nests_in(s, root)]
    with suppress(UnfitError):
        if len(nests) == 1 and not nests[0].has_vectors:
            rows, columns, _ = map(small_products.trips, _straight(nests[0], options))
            sums = (rows or 0) * (columns or 0)
            return sums.bit_count() == 1 and sums <= lanes_of(nests[0], options)
    return False


def _straight(nest: Nest, options: Options) -> tuple[affine.For, ...]:
    """The loops of a product of few columns and terms. Raises UnfitError for another nest."""
    lanes = lanes_of(nest, options)
    if _sums_in_variable(nest):
        loops = nest.band[-3:]
    else:
        of = product_of(nest)
        loops = of.i, of.j, of.k
    if len(loops) < 3 or not small_products.is_straight(loops, lanes):
        raise UnfitError
    return loops


def _sums_in_variable(nest: Nest) -> bool:
    """Whether the innermost loop adds products of elements of two arrays to a variable."""
    update = updates(nest)
    if update is None or len(nest.band) < 2:
        return False
    made = {v for op in nest.band[-2].body if isinstance(op, memref.Allocation) for v in op.defines()}
    if update[0].buffer.rank or update[0].buffer.root not in made:
        return False
    reads = [a for a in nest.accesses if a.kind == "read" and a.buffer.rank]
    return len(reads) == 2 and sum(getattr(op, "kind", "") == "mulf" for op in nest.innermost.body) == 1


def _permutes(s: Schedule, order: tuple[str, ...]) -> bool:
    """Run loops in an order where that is legal, and say if it is; the schedule given is changed."""
    with suppress(IllegalTransform, ScheduleError):
        s.permute(order)
        return True
    return False


def _moves_with(nest: Nest, found: Product, batch: Sequence[str]) -> bool:
    """Whether what is read along the columns of the result is another matrix in each iteration of some loops."""
    along = [a for a in found.factors if not nest.is_still(a, found.j)]
    return any(not nest.is_still(a, loop) for a in along for loop in nest.band if nest.name(loop) in batch)


def _version(s: Schedule, loop: str, few: Condition | None) -> Nest | None:
    """The nest that runs where a condition does not hold, if there is one, before the other one is long."""
    if few is None:
        return None
    innermost = in_other(s, loop, few)[-1]
    return next(each for each in nests(s) if each.name(each.innermost) == innermost)


class Registers(FrozenValue):
    """How many rows of a product are in registers, and how many vectors of so many lanes each of them has."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """How many numbers of a row are in registers."""
        return self.vectors * self.lanes


def in_tiles(
    s: Schedule,
    nest: Nest,
    found: Product,
    loops: tuple[str, str, str],
    sizes: sharing.Tile,
    cut: sharing.Cut,
    registers: Registers,
    options: Options,
    batch: Sequence[str] = (),
) -> tuple[str, sharing.Cut]:
    """Tile a product of matrices that runs its rows, columns and terms in this order: how, and what threads share.

    The schedule given is changed. Raises as steps do.

    Parameters
    ----------
    nest, found
        The product, which tells what arrays it reads and how.
    loops
        What its loops over rows, columns and terms are called in this schedule.
    sizes
        How many rows, columns and terms a tile has.
    batch
        The loops around with which B does not move: all of their products are made with its panels, once these are
        copied.
    """
    i, j, k = loops
    s.tile(loops, sizes, grid=found.starts_late)
    i_tile, j_tile, k_tile = names_made(s)
    left = {row.names[0] for row in s.loops()}  # a tile as large as its loop runs once, and has no loop
    if left.isdisjoint((i, i_tile)):
        raise UnfitError("it never runs with sizes that are large enough")
    tiles = (k_tile, i_tile, j_tile) if cut == "columns" else (k_tile, j_tile, i_tile)
    order = tuple(name for name in tiles if name in left)
    if batch and not _permutes(s, tuple(name for name in (*tiles[:2], *batch, *tiles[2:]) if name in left)):
        batch = ()
    if not batch and len(order) > 1:
        s.permute(order)
    of_b, of_a = next(name for name in (*batch, i_tile, i) if name in left), i  # panels of B are of one tile of columns
    if cut == "columns":  # each chunk has its panels of B, and those of A are of all
        of_b, of_a = i, next(name for name in (j_tile, i) if name in left)
    chunks = {"rows": i_tile, "columns": j_tile}.get(cut or "")
    copied = _in_panels(s, nest, found, (of_b, of_a), chunks, registers, options)
    if chunks:
        try:
            s.parallel(chunks)
        except (IllegalTransform, ScheduleError):  # where it multiplies with what it makes, or has one chunk
            cut = None
    s.register_tile(
        i, j, k, rows=registers.rows, vectors=registers.vectors, lanes=registers.lanes, grid=found.starts_late
    )
    copies = f", on copies of {' and '.join(copied)} in panels" if copied else ""
    return f"a product of matrices: {registers.rows} x {registers.columns} sums in registers{copies}", cut


def _in_panels(
    s: Schedule,
    nest: Nest,
    found: Product,
    loops: tuple[str, str],
    chunks: str | None,
    registers: Registers,
    options: Options,
) -> list[str]:
    """Copy what two loops read of B, and of A, into panels, where that may be and pays: the arrays that are copied.

    Threads share the copies that all `chunks` need. The schedule given is changed.
    """
    copied: list[str] = []
    stays = options.contract and has_large_cache(options.target) and ways(options) > registers.rows
    for columns, loop, width in zip((True, False), loops, (registers.columns, registers.rows), strict=True):
        for buffer, axis in found.panels(nest, columns=columns):
            if not columns and stays and found.lies_along_terms(nest, buffer):
                continue
            try:
                packing = packed(s, buffer, loop, axis, width, registers.lanes)
            except IllegalTransform:  # it is read where it stands
                continue
            copied.append(buffer.name)
            if loop == chunks:
                s.parallel(packing)
    return copied


def with_factors(s: Schedule, nest: Nest, found: Product) -> tuple[Nest, Product]:
    """The product after what multiplies elements of a factor by a number is done once for each of them."""
    before = len(s.steps)
    for name in dict.fromkeys(access.buffer.name for access in found.factors if not nest.around):
        with suppress(IllegalTransform, ScheduleError):  # nothing is computed of it alone
            s.precompute(name, nest.name(nest.band[0]))
    if len(s.steps) == before:
        return nest, found
    again = next(each for each in nests(s) if each.innermost.iv is nest.innermost.iv)
    return again, product_of(again)


def packed(s: Schedule, buffer: Buffer, loop: str, axis: int, width: int, lanes: int) -> str:
    """Copy what a loop reads of an array into panels along one of its dimensions; the outermost loop that copies.

    Whether a panel is whole is asked once for each of them, where that can be. Rows of whole panels are vectors: a
    compiler of C may make moves of single numbers of short ones.
    """
    before = {row.iv for row in s.loops()}
    made = s.copy(buffer.name, loop, layout=_first(axis, buffer.rank), panels={axis: width}).made
    innermost = max(row.depth for row in made)
    around = next((row for row in reversed(made) if row.depth == innermost - 1), made[0]).names[0]
    outermost = made[0].names[0]
    whole = next(row.names[0] for row in made if row.depth == innermost)
    if axis == buffer.rank - 1 and width % lanes == 0:
        with suppress(IllegalTransform, ScheduleError):
            s.vectorize(whole, lanes)
    with AllOrNone(s):
        if axis == buffer.rank - 1:  # the same place of many panels may be one place of the nearest cache
            s.strip_mine(outermost, AT_ONCE)
            s.permute((around, outermost))
        else:
            s.unswitch(around)
    return next(row.names[0] for row in s.loops() if row.iv not in before)


class Product(Frozen):
    """A sum over k of products, one factor of which does not move with j and one of which does not move with i."""

    store: Access
    i: affine.For
    j: affine.For
    k: affine.For
    factors: Sequence[Access]

    @property
    def is_triangular(self) -> bool:
        """Whether some sums have more terms than others."""
        return is_tied(self.i, self.k) or is_tied(self.j, self.k)

    @property
    def starts_late(self) -> bool:
        """Whether the result is a triangle whose rows or columns start where others do not.

        Its tiles are on a grid, as panels are, and square at most, so that those on the diagonal are cut once.
        """
        ends = ((self.i, self.j), (self.j, self.i))
        return any(around.iv in bound.values() for around, loop in ends for bound in loop.lower)

    def lies_along_terms(self, nest: Nest, buffer: Buffer) -> bool:
        """Whether all that is read of an array are rows, from one term to the next."""
        return all(nest.stride(a, self.k).motion == "contiguous" for a in self.factors if a.buffer is buffer)

    def has_rows_of_bytes(self, nest: Nest, target: Target) -> bool:
        """Whether all products are of narrow integers along rows, which a target adds up several at once."""
        kinds = {op.kind for op in nest.innermost.body if isinstance(op, arith.Cast)}
        widest = 16 if kinds == {"extsi"} else 8
        types = [a.buffer.type.element for a in self.factors]
        return (
            all(isinstance(type, IntegerType) and type.width in (8, widest) for type in types)
            and all(self.lies_along_terms(nest, a.buffer) for a in self.factors)
            and has_row(f"dot_i{widest}", "i32", target.lanes(32), target)
        )

    def panels(self, nest: Nest, *, columns: bool) -> list[tuple[Buffer, int]]:
        """The arrays that move with j, or with i alone, and along which dimension."""
        found: dict[Buffer, int] = {}
        for access in self.factors:
            moves = not nest.is_still(access, self.j)
            vector = nest.stride(access, self.j if columns else self.i).vector
            if access.buffer is self.store.buffer or vector is None or access.buffer.rank < 2:
                continue
            axes = [axis for axis, step in enumerate(vector) if step]
            if moves == columns and len(axes) == 1 and vector[axes[0]] == 1:
                found.setdefault(access.buffer, axes[0])
        others = {a.buffer for a in self.factors if not nest.is_still(a, self.j)} if not columns else set()
        return [(buffer, axis) for buffer, axis in found.items() if buffer not in others]


def product_of(nest: Nest) -> Product:
    """The product that a nest computes. Raises UnfitError where it is none."""
    if len(nest.band) < 3:
        raise UnfitError("it is no product of matrices: it has fewer than three loops")
    found = updates(nest)
    if found is None:
        raise UnfitError("it is no product of matrices: it does not add to one element in each iteration")
    store, _ = found
    still = [loop for loop in nest.band if nest.is_still(store, loop)]
    if len(still) != 1:
        raise UnfitError(f"it is no product of matrices: the sums run over {len(still)} loops")
    (k,) = still
    others = [loop for loop in nest.band if loop is not k]
    j = next((loop for loop in reversed(others) if nest.stride(store, loop).motion == "contiguous"), None)
    if j is None:
        raise UnfitError("no loop runs along the rows of the result")
    held = {(a.op.memref, a.op.index) for a in (store,) if isinstance(a.op, affine.Store)}
    factors = [
        a
        for a in nest.accesses
        if a.kind == "read" and not (isinstance(a.op, affine.Load) and (a.op.memref, a.op.index) in held)
    ]
    for i in reversed([loop for loop in others if loop is not j]):
        left = [a for a in factors if nest.is_still(a, j) and not nest.is_still(a, i)]
        right = [a for a in factors if nest.is_still(a, i) and not nest.is_still(a, j)]
        if left and right:
            return Product(store, i, j, k, factors)
    raise UnfitError("it is no product of matrices: no factor is the same for all rows of the result")


def is_tied(a: affine.For, b: affine.For) -> bool:
    """Whether the bounds of one of two loops move with the other."""
    return any(loop.iv in bound.values() for loop, of in ((a, b), (b, a)) for bound in (*of.lower, *of.upper))


def register_tile(choices: Choices, target: Target, *, contract: bool) -> tuple[int, int]:
    """How many rows of sums, and vectors of each row, there are registers for beside a row of B and elements of A.

    An instruction that repeats an element of A takes the place of a sum on some processors. C compilers leave it out
    where the element is an operand of one product only, so each row has one vector, unless products are fused with
    sums: then half of the places are free.

    >>> from affdsl.codegen.targets.avx2 import AVX2
    >>> from affdsl.codegen.targets.avx512 import AVX512
    >>> register_tile(Choices(), AVX2, contract=False)
    (6, 2)
    >>> [register_tile(Choices(), AVX512, contract=contract) for contract in (False, True)]
    [(12, 1), (8, 2)]
    """
    if target.repeats_operands and not contract:
        return max(1, min(choices.lone_rows, target.registers - 4)), 1
    vectors = max(1, min(choices.register_vectors, target.registers // 4))
    return max(1, min(choices.register_rows, (target.registers - 2 - vectors) // vectors)), vectors


def sizes_of(found: Product, options: Options) -> tuple[Registers, sharing.Tile]:
    """How large the tiles of a product in registers are, and those in caches. Raises UnfitError without vectors."""
    bits = bits_of(found.store)
    lanes = options.target.lanes(bits)
    if lanes < 2:
        raise UnfitError(f"a register has {lanes} numbers of {bits} bits")
    rows, vectors = register_tile(options.choices, options.target, contract=options.contract)
    if found.starts_late:
        rows = min(rows, vectors * lanes)
    registers = Registers(rows, vectors, lanes)
    return registers, tile_sizes(options.target, bits // 8, rows, registers.columns, options.choices)


def tile_sizes(target: Target, size: int, rows: int, columns: int, choices: Choices) -> tuple[int, int, int]:
    """The tile of a product: its panels of A stay in the second cache, and those of B in the last one.

    Where the second cache is a large one, those of B stay there, too, each of them in the nearest cache when its turn
    has come, beside one of A; rows of B are whole pages then, as far as tiles of registers allow.

    >>> from affdsl.codegen.targets.avx512 import AVX512
    >>> tile_sizes(AVX512, 8, 8, 16, Choices())
    (128, 1536, 384)
    >>> from dataclasses import replace
    >>> tile_sizes(replace(AVX512, caches=(48 << 10, 2 << 20, 260 << 20)), 8, 8, 16, Choices())
    (128, 512, 192)
    """
    nearest, second, last = USUAL_CACHES if len(target.caches) < 2 else (*target.caches[:2], target.caches[-1])
    terms, held = choices.product_terms, last // 2
    if second >= LARGE:
        near = nearest * 5 // 6 // ((rows + columns) * size)
        terms, held = max(1, min(terms, near // TERMS * TERMS or near)), second // 2
    most_rows = min(choices.product_rows, second // 2 // (terms * size))
    most_columns = min(choices.product_columns * 8 // size, held // (terms * size))
    if second >= LARGE:
        most_columns = most_columns // (PAGE // size) * (PAGE // size) or most_columns
    return max(rows, most_rows // rows * rows), max(columns, most_columns // columns * columns), terms


def _first(axis: int, rank: int) -> tuple[int, ...]:
    """The dimensions with one of them first."""
    return (axis, *(k for k in range(rank) if k != axis))


def bits_of(store: Access) -> int:
    """How wide in a register the elements are that are stored. Raises UnfitError where vectors have no such."""
    type = store.buffer.type.element
    if not isinstance(type, FloatType | IntegerType):
        raise UnfitError(f"vectors have no elements of type {type}")
    return bits_in_register(type)
