"""What follows the name of an operation in custom form, as a line of words from which it is read and printed.

A form is made of words, and looks as the operation does when it is printed:

    %x  %x*         an operand; any number of them, separated by commas
    [%x*]  (%x*)    any number of them in brackets
    [mixed:x]       `[4, %n]` or `(4, %n)`: values among numbers, which become the field or property static_x
    [x:affine]      affine expressions over values
    <x>  <x*>       the type of an operand or of `result`; of each of several, separated by commas
    <x,y>           one type, which both have
    <x:vector>      a type of a class of CLASSES in `pieces`
    fn              `(types of the operands) -> types of the results`
    {}              attributes in braces, or none
    {x y:numbers}   among them the fields x and y: x as its property is written, y as a kind says, and always said
    {flags}         fastmath<fast> and the like before them
    {generic}       read, but what has attributes is printed in generic form
    name:kind       a field or property, read and printed as KINDS of `kinds` say
    name:unit       a word that may be left out; `name=word:unit` where the word is another one
    (? ... ?)       a part that may be left out; it is there if its first word is
    anything else   stands there as it is
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from affdsl.frozen import Frozen, field
from affdsl.ir.types import Type


class Said(Protocol):
    """What has been read of an operation: types by name, fields, and the number of names that results have."""

    types: dict[str, tuple[Type, ...]]
    fields: dict[str, Any]

    @property
    def names(self) -> int:
        """The number of names."""
        ...


Rule: TypeAlias = "str | Callable[[Said], tuple[Type, ...]]"


class Form(Frozen):
    """What follows the name of an operation.

    `types` says those that do not stand there: "index", "i1", "x" for that of x, "element x" for that of its elements,
    "i1 like x" for an i1, or as many as x has elements, "i1 each x" for one of each value of x, or a function.

    Of operations with a class, `foreign` are types without one, with which they are kept as opaque ones, and `made`
    changes fields when all is read. Of operations without a class, `order` are the operands in the order of the generic
    form, if it is another one, `segments` says that they are counted in operandSegmentSizes, and `own` are the
    properties that may stand among the attributes in braces.
    """

    text: str
    types: Mapping[str, Rule] = field(default_factory=dict)
    order: str = ""
    segments: bool = False
    own: str = ""
    foreign: tuple[type[Type], ...] = ()
    made: Callable[[dict[str, Any]], None] | None = None


YIELD = Form("{}(? %values* : <values*>?)")
"""A terminator that hands on values."""


def names(prefix: str, names: str, form: Form) -> dict[str, Form]:
    """The same form for each of the operations of a dialect."""
    return {f"{prefix}.{name}": form for name in names.split()}
