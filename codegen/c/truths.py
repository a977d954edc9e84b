"""Vectors of truth values in memory, where each is a byte: any but 0 is true, and what is stored is 1 or 0."""

from __future__ import annotations

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, cast, negate
from affdsl.codegen.c.masks import NARROWEST
from affdsl.codegen.c.vector_types import Mask, address_of, integers, lanes_of, mask_of, on_vectors, resized
from affdsl.ir.expr import Value
from affdsl.ir.types import IntegerType

BYTE = IntegerType(NARROWEST)


def loaded(c: Context, result: Value, pointer: Code) -> Code:
    """The mask that the bytes from an element of an array on are."""
    return _as_wide(c, result, on_vectors(c, "truths", BYTE, lanes_of(result), pointer))


def stored(c: Context, value: Value, pointer: Code) -> Code:
    """The call that stores a mask from an element of an array on."""
    return on_vectors(c, "store_truths", BYTE, lanes_of(value), pointer, Mask(value))


def masked_load(c: Context, result: Value, pointer: Code, mask: Value, otherwise: Value) -> Code:
    """The mask that bytes are where another mask is set; the others are not read."""
    lanes = lanes_of(result)
    found = on_vectors(c, "masked_load", BYTE, lanes, cast("const int8_t *", pointer), Mask(mask), Mask(otherwise))
    bytes = address_of(c, integers(c, "i8", lanes), found)
    return _as_wide(c, result, on_vectors(c, "truths", BYTE, lanes, bytes))


def masked_store(c: Context, value: Value, pointer: Code, mask: Value) -> Code:
    """The call that stores a mask where another one is set; the others are not touched."""
    lanes = lanes_of(value)
    ones = address_of(c, integers(c, "i8", lanes), negate(mask_of(c, value, NARROWEST)))
    return on_vectors(c, "masked_store", BYTE, lanes, cast("int8_t *", pointer), Mask(mask), ones)


def _as_wide(c: Context, result: Value, shown: Code) -> Code:
    """A mask of bytes with lanes as wide as those of a value."""
    return resized(c, shown, NARROWEST, c.masks.get(result, NARROWEST), lanes_of(result))
