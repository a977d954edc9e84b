"""What a schedule can do to loops and arrays: a method for each kind of step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from affdsl.frames import plain_tracebacks
from affdsl.lang.indices import Condition, Index
from affdsl.schedule import register_tile

if TYPE_CHECKING:
    from affdsl.schedule.schedule import Schedule

Size: TypeAlias = int | str | Index
"""A number; or an argument of the kernel, by its name or its symbol, that it assumes to be from 1 to 2**31 - 1."""


@plain_tracebacks()
class Primitives:
    """Each of these methods takes a step at once, if it is legal, and gives the schedule itself."""

    def _take(self, verb: str, *arguments: object, **options: object) -> Self:
        """Take a step."""
        raise NotImplementedError

    def _together(self, steps: Callable[[Schedule], None]) -> Self:
        """Take several steps, or none of them where one is refused."""
        raise NotImplementedError

    def tile(
        self,
        loops: Sequence[str],
        sizes: Sequence[Size] | Size,
        *,
        separate: bool = False,
        reassociate: bool = False,
        names: Sequence[str] = (),
        grid: bool = False,
    ) -> Self:
        """Run a band of perfectly nested loops tile by tile.

            for i: for j: S   ->   for i_tile step 32: for j_tile step 32: for i in its tile: for j in its tile: S

        Parameters
        ----------
        loops
            The loops, outermost first: each holds the next one and nothing else.
        sizes
            How many iterations of each loop a tile has; one for all of them, or one for each.
        separate
            Run full tiles by loops without `min`, and the others by loops of their own.
        reassociate
            Allow sums in memory to be made in another order, which may round in another way.
        names
            What the loops over tiles are called, instead of `i_tile`, `j_tile`.
        grid
            Count tiles: number `i_tile` has the iterations from `i_tile * size` on, wherever the loop starts. Then a
            wavefront over tiles needs `skew("i_tile", "j_tile", 1)`, whatever the sizes are.
        """
        return self._take("tile", loops, sizes, separate=separate, reassociate=reassociate, names=names, grid=grid)

    def strip_mine(self, loop: str, size: int, *, name: str = "") -> Self:
        """Run a loop strip by strip, in the same order: `for i` becomes `for i_strip step 32: for i in its strip`."""
        return self._take("strip_mine", loop, size, name=name)

    def permute(self, loops: Sequence[str], *, reassociate: bool = False) -> Self:
        """Bring perfectly nested loops into the order in which they are named, outermost first.

        With `reassociate`, sums in memory may be made in another order, which may round in another way.
        """
        return self._take("permute", loops, reassociate=reassociate)

    def interchange(self, outer: str, inner: str, *, reassociate: bool = False) -> Self:
        """Swap two perfectly nested loops; triangles get new bounds. `reassociate` as in `permute`."""
        return self._take("interchange", outer, inner, reassociate=reassociate)

    def skew(self, outer: str, inner: str, factor: int) -> Self:
        """Count the inner loop from `factor` times the outer one on. The order stays: it makes other steps legal."""
        return self._take("skew", outer, inner, factor)

    def shift(self, loop: str, by: int) -> Self:
        """Count a loop from another number on; the order stays."""
        return self._take("shift", loop, by)

    def reverse(self, loop: str, *, reassociate: bool = False) -> Self:
        """Run the last iteration of a loop first. `reassociate` as in `permute`."""
        return self._take("reverse", loop, reassociate=reassociate)

    def distribute(self, loop: str) -> Self:
        """Split a loop into as many as its dependences allow, each with some of its statements.

        The first one keeps the name; the others, and the loops in them, are `i_2`, `i_3` and so on.
        """
        return self._take("distribute", loop)

    def fuse(self, first: str, second: str, *, shift: Size = 0, guarded: bool = False) -> Self:
        """Make one loop of two that stand in one block: `for i: S; for j: T` becomes `for i: { S; T }`.

        The loop of both keeps the name of the first one. Where only one of the two runs, there are loops of their own,
        `i_first` or `j_first` before it, and `i_last` or `j_last` behind it.

        Parameters
        ----------
        first, second
            The loops, in the order of the text. What stands between them moves before or behind both.
        shift
            Iteration x of the second loop runs with iteration x + shift of the first one: a number, or an expression of
            symbols.
        guarded
            Make one loop, with conditions, and no others: a nest that stays perfect can be tiled.
        """
        return self._take("fuse", first, second, shift=shift, guarded=guarded)

    def split(self, loop: str, at: Size) -> Self:
        """Split the iterations of a loop at a number: those below it, then the others, in a loop `i_rest`.

        The number may be an expression of symbols, which stand for sizes, and loops around, by their names: `N // 2`.
        """
        return self._take("split", loop, at)

    def peel(self, loop: str, *, first: int = 0, last: int = 0) -> Self:
        """Give the first or the last iterations of a loop a loop of their own: `i_first` and `i_last`."""
        return self._take("peel", loop, first=first, last=last)

    def unroll(self, loop: str, factor: int | None = None) -> Self:
        """Run several iterations of a loop in each turn, the rest in a loop `i_tail`; without a factor, all of them."""
        return self._take("unroll", loop, *(() if factor is None else (factor,)))

    def unroll_jam(self, loop: str, factor: int, *, reassociate: bool = False) -> Self:
        """Run several iterations of a loop together, statement by statement, inside of the loops that it holds."""
        return self._take("unroll_jam", loop, factor, reassociate=reassociate)

    def vectorize(
        self,
        loop: str | Sequence[str],
        width: int | Sequence[int],
        *,
        tail: Literal["scalar", "masked", "folded", "overlapped", "halved", "early", "covered"] = "scalar",
        reassociate: bool = False,
    ) -> Self:
        """Run several iterations of a loop at once, as lanes of vectors, in the order of the text.

        Parameters
        ----------
        loop
            One loop; or perfectly nested ones, which are the dimensions of the vectors in this order.
        width
            How many lanes the vectors have; for several loops, as many numbers.
        tail
            How iterations run that are left over: one by one, as lanes of which not all run, or overlapped: in a last
            vector with iterations that ran before, where that changes nothing; or halved, like that, in a vector of
            half as many lanes where these suffice, and there are 4 lanes at least; or early, like overlapped, and what
            the loop stores is loaded for the last vector before the loop; or covered, like overlapped, and with a mask
            where there are fewer iterations than lanes. If folded, all vectors have masks, and one loop does for all
            iterations.
        reassociate
            Allow sums and products of floats that the loop carries to be rounded in another way.
        """
        return self._take("vectorize", loop, width, tail=tail, reassociate=reassociate)

    def contract(self, loop: str, *, reassociate: bool = False) -> Self:
        """Compute a * b + c in one operation everywhere in a loop, rounded once: in another way than as written.

        Parameters
        ----------
        reassociate
            Allow a constant, or what is known before the loop, to be added first to a sum of products: then each of
            them takes part in one operation. Allow like terms to be added first, too, where that takes fewer
            operations: 0.5 * (a - 2 * b) + 0.5 * c + 2 * b is 0.5 * (a + c) + b.
        """
        return self._take("contract", loop, reassociate=reassociate)

    def approximate(self, loop: str) -> Self:
        """Compute exp, exp2, log, log2, log10, erf, tanh, sin and cos in a loop by polynomials, in all lanes at once.

        In f32 and f64, the results are at most 1.5 ulp away from the exact ones, and those of log2 and log10 at most 3;
        and the same to the bit wherever they run. Sines and cosines of angles beyond 2**20 are what the C library makes
        of them.
        """
        return self._take("approximate", loop)

    def reciprocal(self, loop: str) -> Self:
        """Multiply by the reciprocals of constants, and of what is known before a loop, instead of dividing by them.

        The quotients are rounded in another way: at most 1.5 ulp away from the exact ones, where the reciprocal and
        they are normal numbers.
        """
        return self._take("reciprocal", loop)

    def extremes(self, loop: str, *, no_nans: bool = False, no_signed_zeros: bool = False) -> Self:
        """Let minima and maxima of a loop be a comparison and a choice, where some numbers do not come or matter.

        Parameters
        ----------
        no_nans
            No operand is NaN: if one is, the result may be any number.
        no_signed_zeros
            Which of 0 and -0 is the result does not matter. If it does, nothing is simpler, and the step is refused.
        """
        return self._take("extremes", loop, no_nans=no_nans, no_signed_zeros=no_signed_zeros)

    def register_tile(
        self, i: str, j: str, k: str, *, rows: int, vectors: int, lanes: int, contract: bool = False, grid: bool = False
    ) -> Self:
        """Run three loops, one in the other, tile by tile, with what a tile sums up in registers.

        Loop k runs outermost in a tile, over `rows` iterations of i and `vectors` vectors of `lanes` iterations of j:
        so many sums are carried in vectors, and each k loads what they need once. It takes `tile`, `permute`,
        `vectorize`, `unroll`, `scalar_replace` and `contract`, each of which is proved legal or refuses the whole, and
        undone one by one; at the edges, lanes run of which not all are there.

        Loop k may stand between other statements in j, as one that begins a sum and one that uses it: `distribute`
        takes them apart in a tile then, and they run before and after its sums.

        Parameters
        ----------
        rows, vectors
            The size of the tile: together `rows * vectors` registers for the sums, with some to spare for operands.
        lanes
            How many numbers a vector has, as `af.native_target().lanes(32)` says for 32 bits on this machine.
        contract
            Compute a * b + c rounded once.
        grid
            Let tiles start at multiples of their size, wherever loops start, as `tile` does: in a triangle where each
            row of the result starts one later, tiles then begin where panels do.
        """
        return self._together(
            partial(
                register_tile.take, loops=(i, j, k), rows=rows, vectors=vectors, lanes=lanes,
                contract=contract, grid=grid,
            )
        )  # fmt: skip

    def coalesce(self, loops: Sequence[str]) -> Self:
        """Make one loop `i_j` of perfectly nested loops, which runs as often as all of them together."""
        return self._take("coalesce", loops)

    def parallel(self, loop: str, *, reassociate: bool = False, copies: int = 0) -> Self:
        """Let the iterations of a loop run in any order, also at once.

        What is summed up in an element of an array is carried as a value first, as by `scalar_replace`. Where MLIR has
        no reduction for a band, as for the greatest of integers or the place of an extreme, the band is a loop around
        this one, over 64 parts of its iterations. Where something sees what is combined so far, as a prefix sum, there
        are two such bands: one combines the parts, and one goes through them again.

        Parameters
        ----------
        reassociate
            Let sums and products of floats be rounded in another way.
        copies
            So many parts of the iterations have a copy of the array each whose elements they update, where data chooses
            these, as of a histogram. The copies are added up in the end.
        """
        return self._take("parallel", loop, reassociate=reassociate, copies=copies)

    def map_gpu(self, outer: str, inner: str = "", *, blocks: int = 256, threads: int = 128) -> Self:
        """Share the iterations of a loop among blocks of a GPU, and those of the loop right inside among their threads.

        Without an inner loop all threads of all blocks share the outer one. Around the loops come two bands, `block`
        and `thread`, of which passes of MLIR make a `gpu.launch`; C runs them as it does other bands. With one block
        and one thread iterations stay in their order, so that any loop runs on the device.

        Parameters
        ----------
        blocks, threads
            How many blocks there are, and how many threads in each.
        """
        return self._take("map_gpu", outer, inner, blocks=blocks, threads=threads)

    def hoist(self, loop: str) -> Self:
        """Do once before a loop what is the same in each of its iterations."""
        return self._take("hoist", loop)

    def if_convert(self, loop: str) -> Self:
        """Compute both sides of the conditions in a loop and choose between them.

        What is added to a sum under a condition is added in any case then, or -0.0, which changes no float. It pays
        where data decides at random: processors guess where branches go.
        """
        return self._take("if_convert", loop)

    def scalar_replace(self, loop: str) -> Self:
        """Keep in values, not in memory, what one iteration of a loop leaves for the next ones.

        Where the loop may not run, it gets a condition, so that it touches nothing then.
        """
        return self._take("scalar_replace", loop)

    def splice(self, loop: str, *, ahead: bool = False, more_loads: int = 0) -> Self:
        """Load each element of a row once in a loop over vectors: those that overlap come from two others by a shuffle.

        It comes after `vectorize`, and after `unroll_jam` of loops around. It pays where vectors are as long as lines
        of the cache, so that those beside an aligned one take two of them.

        Parameters
        ----------
        ahead
            Load for the next iteration: then no load comes soon after a store to an address a line or two further on,
            as far as its last 12 bits say, for which processors let it wait.
        more_loads
            How many more vectors of each row that overlap an iteration loads, for itself also with `ahead`: the others
            come by shuffles from the hindmost one that is loaded, and that of the iteration before.
        """
        return self._take("splice", loop, ahead=ahead, more_loads=more_loads)

    def slp(self, loop: str, lanes: int) -> Self:
        """Make vectors of values that a loop carries side by side, and makes alike: superword-level parallelism.

        Each is computed as it was, in the same order. It comes after `unroll_jam` of a loop around, which makes them,
        `scalar_replace`, which keeps them, and `unroll` by `lanes`, a power of two: a square of as many rows and
        columns is loaded by rows, and turned in registers.
        """
        return self._take("slp", loop, lanes)

    def demote(self, loop: str) -> Self:
        """Keep in memory what a loop carries in values (`iter_args`): the inverse of `scalar_replace`.

        That is the element in which the last value is stored behind the loop, if nothing else touches that, or else a
        buffer of one element. `tile`, `interchange`, `permute`, `make_perfect` and others take this step by themselves
        where a carried value is in their way.
        """
        return self._take("demote", loop)

    def normalize(self, loop: str) -> Self:
        """Let a loop count from 0 in steps of 1."""
        return self._take("normalize", loop)

    def reroll(self, loop: str) -> Self:
        """Let a loop that was unrolled by hand do one of the same things in each iteration, which `unroll` undoes."""
        return self._take("reroll", loop)

    def locate(self, loop: str, strip: int) -> Self:
        """Look for what a loop chooses in the strip that has it: on the way, only that strip is found.

        The loop chooses the least or the greatest of integers, the first of equal ones, and does nothing else: lanes
        then need no place beside each number. Or it keeps what the first or the last iteration with a condition has,
        and ends where that is found; the last one is looked for from the end.
        """
        return self._take("locate", loop, strip)

    def make_perfect(self, outer: str, inner: str) -> Self:
        """Move all that stands beside an inner loop into it, under conditions, so that the two are perfectly nested."""
        return self._take("make_perfect", outer, inner)

    def sink(self, loop: str) -> Self:
        """Compute what only a loop uses in each of its iterations: the inverse of `hoist`."""
        return self._take("sink", loop)

    def copy(
        self,
        array: str,
        loop: str,
        *,
        space: int = 0,
        layout: Sequence[int] = (),
        panels: Mapping[int, int] | None = None,
        dma: bool = False,
        name: str = "",
        private: bool = False,
        still: str = "",
    ) -> Self:
        """Let a loop work on a copy of what it touches of an array, made right before it and taken back behind it.

        Parameters
        ----------
        array
            An argument, or an array that the kernel allocates.
        space
            The memory space of the copy.
        layout
            In which order the dimensions of the array are those of the copy; as they are by default.
        panels
            Which dimensions are cut into panels, and how wide: `{0: 8}` packs rows in groups of 8.
        dma
            Copy by `dma_start` and `dma_wait` instead of loops.
        name
            What the copy is called, instead of `A_fast`.
        private
            Let the copy belong to the loops around as well: it is made once, and only what something sees is taken
            back, as in the last iteration, where all others write the elements again before anything reads them.
        still
            A loop: only accesses whose subscripts do not move with it go to the copy, so that of `C[i, j] += C[i, k]`
            with `still="j"` the second one does. It is refused where the others write elements of the copy.
        """
        options = {"space": space, "layout": layout, "panels": panels, "dma": dma, "name": name, "private": private}
        return self._take("copy", array, loop, **options, still=still)

    def pipeline(self, loop: str) -> Self:
        """Let the DMAs that bring data into a loop, as `copy` with `dma` makes them, start one iteration early."""
        return self._take("pipeline", loop)

    def prefetch(self, array: str, loop: str, of: str, *, distance: int | None = None) -> Self:
        """Ask in each iteration of a loop for the lines of an array that loop `of` touches in the same place.

        So that loop need not wait for them. It pays where arrays are larger than the caches, the first loop computes or
        reads what the caches hold, and loops are over vectors already: there is one prefetch for each line. With
        `distance`, it is for what is touched so many iterations later; a loop then may ask for what it touches itself.
        """
        return self._take("prefetch", array, loop, of, distance=distance)

    def load_ahead(self, array: str, loop: str) -> Self:
        """Load in each iteration of a loop what the next one reads of an array; the last one runs behind the loop.

        So no load waits for the store before it, whose address may end in the same 12 bits: arrays that are as long as
        pages, and made one after the other, lie so. It comes after `vectorize`, and takes a loop that carries no values
        and has a whole number of steps.
        """
        return self._take("load_ahead", array, loop)

    def align(self, array: str, loop: str, lanes: int, *, least: int | None = None) -> Self:
        """Let a loop begin where a line of an array does that it goes over: what it does before is a loop of its own.

        It comes before `vectorize`, which makes vectors of `lanes` elements, as many as a line has; and it takes an
        array that is a parameter, since only a call says where that lies. For rows of a whole number of lines it holds
        in each of them. A loop over fewer than `least` lines, 16 if that is not said, begins where it did.
        """
        return self._take("align", array, loop, lanes, least=least)

    def stream(self, array: str, loop: str, least: int) -> Self:
        """Store the vectors of an array in a loop past the caches, where the array has at least `least` bytes.

        Lines need not be read first then. It pays for arrays that are larger than the caches, and that nobody reads
        soon. It takes vectors that begin at multiples of their length, as after `align`; others are stored as ever.
        """
        return self._take("stream", array, loop, least)

    def compute_at(self, array: str, loop: str) -> Self:
        """Compute what each iteration of a loop reads of an array right there, in an array of only so many elements."""
        return self._take("compute_at", array, loop)

    def precompute(self, array: str, loop: str) -> Self:
        """Compute once, before a loop, what it computes of each element of an array with a value from before the loop.

        So `alpha * A[i, k] * B[k, j]` multiplies by alpha once for each element of A, in an array of its own. An array
        that each iteration stores alike is computed once as a whole: `p[j] = c / (b - a * p[j - 1])` in a loop over i.
        """
        return self._take("precompute", array, loop)

    def privatize(self, array: str, loop: str) -> Self:
        """Let each iteration of a loop make an array that only it uses: an array that the kernel allocates."""
        return self._take("privatize", array, loop)

    def expand(self, array: str, loop: str) -> Self:
        """Give an array that the kernel allocates a new dimension, with a slice for each iteration of a loop."""
        return self._take("expand", array, loop)

    def merge(self, array: str) -> Self:
        """Let a variable be the element that is stored behind it: a sum is then made where it is stored in the end.

        Loops around it can be distributed without a place for each of their iterations, as `expand` would make.
        """
        return self._take("merge", array)

    def fold(self, array: str, dim: int, size: int) -> Self:
        """Keep so few elements of an array that the kernel allocates, along a dimension: each takes turns."""
        return self._take("fold", array, dim, size)

    def pad(self, array: str, dim: int, factor: int, offset: int = 0) -> Self:
        """Make a dimension of an array that the kernel allocates longer: a multiple of `factor`, and `offset` more.

        Where rows are a power of two long, elements of one column compete for few places of a cache. With a factor of
        32 and an offset of 16, rows of 32-bit numbers begin an odd number of cache lines apart.
        """
        return self._take("pad", array, dim, factor, offset)

    def skew_array(self, array: str, dim: int, along: int, factor: int) -> Self:
        """Move elements of an array that the kernel allocates: index `i` of one dimension becomes `i + factor * j`.

        `j` is the index along another dimension, `along`. Loops that are skewed find what they access at once in a row
        then, where it was a diagonal.
        """
        return self._take("skew_array", array, dim, along, factor)

    def displace(self, array: str, other: str) -> Self:
        """Let an array that the kernel allocates begin half a page away from another one, wherever a call has that.

        A core lets a load wait for a store before it to an address that ends in the same 12 bits. So a loop that stores
        to `other`, a parameter, is slower where it loads from an array that begins a few lines in front of it, in some
        other page. It takes arrays of one dimension; what `copy` makes is one. Rows of whole pages all lie as the first
        one does.
        """
        return self._take("displace", array, other)

    def inline(self, array: str) -> Self:
        """Compute each element of an array that the kernel allocates where it is read, and do away with the array."""
        return self._take("inline", array)

    def unswitch(self, loop: str) -> Self:
        """Ask the first condition in a loop that does not depend on the loop before it."""
        return self._take("unswitch", loop)

    def specialize(self, loop: str, condition: Condition) -> Self:
        """Give a loop two versions: the loop where a condition on sizes holds, and `i_else`, a copy, where it does not.

        Steps that pay for large sizes alone then change one of them: `s.specialize("i", N >= 64).tile("i", 16)`. The
        condition compares expressions of symbols and of loops around; several are joined by `&`.
        """
        return self._take("specialize", loop, condition)
