"""What follows the name of an operation in custom form, as a line of words.

A form is made of words:

    %x  %x*         an operand; any number of them, separated by commas
    <x>  <x*>       the type of an operand or of `result`; of each of several, separated by commas
    <x,y>           one type, which both have
    fn              `(types of the operands) -> types of the results`
    {}              attributes in braces, or none
    mixed:x         `[4, %n]`: values among numbers, which become the property static_x
    name:kind       a property, read as KINDS say; `name:unit` is a word that may be left out
    (? ... ?)       a part that may be left out; it is there if its first word is
    anything else   stands there as it is
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Form:
    """What follows the name of an operation.

    `types` says those that do not stand there: "index", "i1", "x" for that of x, "element x" for that of its elements,
    "i1 like x" for an i1, or as many as x has elements, "i1 each x" for one of each value of x.
    `order` are the operands in the order of the generic form, if it is another one; `segments` says that they are
    counted in operandSegmentSizes. `own` are the properties that may stand among the attributes in braces.
    """

    text: str
    types: Mapping[str, str] = field(default_factory=dict)
    order: str = ""
    segments: bool = False
    own: str = ""


def names(prefix: str, names: str, form: Form) -> dict[str, Form]:
    """The same form for each of the operations of a dialect."""
    return {f"{prefix}.{name}": form for name in names.split()}
