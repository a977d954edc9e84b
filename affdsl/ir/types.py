"""The types of values: index, integers, floats, complex numbers, vectors, memrefs, functions, and what has no class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from affdsl.frozen import FrozenValue

if TYPE_CHECKING:  # a layout may be a map, whose positions have a type
    from affdsl.ir.maps import AffineMap

FloatName: TypeAlias = Literal["f16", "bf16", "f32", "f64"]
FLOAT_WIDTHS: dict[str, int] = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


class IndexType(FrozenValue):
    """A loop counter, size or subscript: 64 bits, signed."""

    def __str__(self) -> str:
        return "index"


class IntegerType(FrozenValue):
    """An integer of `width` bits: signless (i32), or with a sign of its own (`sign` "s" for si32, "u" for ui32)."""

    width: int
    sign: Literal["", "s", "u"] = ""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 64:
            raise ValueError(f"an integer type needs a width from 1 to 64 bits, got {self.width}")

    def __str__(self) -> str:
        return f"{self.sign}i{self.width}"


class FloatType(FrozenValue):
    """A floating-point number in one of the formats of `FLOAT_WIDTHS`."""

    name: FloatName

    def __post_init__(self) -> None:
        if self.name not in FLOAT_WIDTHS:
            raise ValueError(f"unknown float type {self.name!r}; known: {', '.join(FLOAT_WIDTHS)}")

    @property
    def width(self) -> int:
        """Bits."""
        return FLOAT_WIDTHS[self.name]

    def __str__(self) -> str:
        return self.name


class ComplexType(FrozenValue):
    """A complex number of two floats, the real and the imaginary part: f32 or f64, as C and NumPy have them."""

    part: FloatType

    def __post_init__(self) -> None:
        if self.part.name not in ("f32", "f64"):
            raise ValueError(f"the parts of a complex number are f32 or f64, not {self.part}")

    @property
    def width(self) -> int:
        """Bits of both parts."""
        return 2 * self.part.width

    def __str__(self) -> str:
        return f"complex<{self.part}>"


ScalarType: TypeAlias = IndexType | IntegerType | FloatType
"""What a lane of a vector may be."""
NumberType: TypeAlias = ScalarType | ComplexType
"""What a number that a program computes with may be."""


class OpaqueType(FrozenValue):
    """A type that the IR has no class for, as its text: tensor<4xf32>, i128, !dialect.name<...>."""

    text: str

    def __str__(self) -> str:
        return self.text


class VectorType(FrozenValue):
    """A fixed number of scalars, processed together.

    `scalable` says which sizes are multiples of a number known only at run time; empty if none is.
    """

    shape: tuple[int, ...]
    element: ScalarType
    scalable: tuple[bool, ...] = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __str__(self) -> str:
        scalable = self.scalable or (False,) * len(self.shape)
        sizes = [f"[{size}]x" if s else f"{size}x" for size, s in zip(self.shape, scalable, strict=True)]
        return f"vector<{''.join(sizes)}{self.element}>"


def element_of(type: Type) -> Type:
    """The type of a number, or of the lanes of a vector."""
    return type.element if isinstance(type, VectorType) else type


def same_shape(type: Type, element: ScalarType) -> Type:
    """A type with another one for its numbers."""
    return VectorType(type.shape, element, type.scalable) if isinstance(type, VectorType) else element


class StridedLayout(FrozenValue):
    """Element (i, j, ...) lies at offset + i * strides[0] + j * strides[1] + ...; None is known only at run time."""

    strides: tuple[int | None, ...]
    offset: int | None = 0

    def __str__(self) -> str:
        strides = ", ".join(_number(s) for s in self.strides)
        offset = "" if self.offset == 0 else f", offset: {_number(self.offset)}"
        return f"strided<[{strides}]{offset}>"


class MemRefType(FrozenValue):
    """A buffer of elements: its shape (None is a size known only at run time), layout and memory space.

    A layout of None is row-major and contiguous. A memory space that is no number is the text of its attribute.
    """

    shape: tuple[int | None, ...]
    element: ElementType
    layout: StridedLayout | AffineMap | None = None
    space: int | str = 0

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __str__(self) -> str:
        sizes = "".join(f"{_number(size)}x" for size in self.shape)
        match self.layout:
            case None:
                layout = ""
            case StridedLayout():
                layout = f", {self.layout}"
            case map:
                layout = f", affine_map<{map}>"
        return f"memref<{sizes}{self.element}{layout}{f', {self.space}' if self.space else ''}>"


class UnrankedMemRefType(FrozenValue):
    """A buffer whose very number of dimensions is known only at run time."""

    element: ElementType
    space: int | str = 0

    def __str__(self) -> str:
        return f"memref<*x{self.element}{f', {self.space}' if self.space else ''}>"


class FunctionType(FrozenValue):
    """What a function takes and gives."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        results = [str(t) for t in self.results]
        plain = len(self.results) == 1 and not isinstance(self.results[0], FunctionType)
        shown = results[0] if plain else f"({', '.join(results)})"
        return f"({', '.join(map(str, self.inputs))}) -> {shown}"


ElementType: TypeAlias = NumberType | VectorType | MemRefType | UnrankedMemRefType | OpaqueType
Type: TypeAlias = NumberType | VectorType | MemRefType | UnrankedMemRefType | FunctionType | OpaqueType

INDEX = IndexType()
I1, I8, I16, I32, I64 = (IntegerType(w) for w in (1, 8, 16, 32, 64))
F16, BF16, F32, F64 = FloatType("f16"), FloatType("bf16"), FloatType("f32"), FloatType("f64")
C64, C128 = ComplexType(F32), ComplexType(F64)


def _number(n: int | None) -> str:
    return "?" if n is None else str(n)
