"""Runs a kernel of fixed sizes in the interpreter of xDSL, by the Python that has xDSL."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

import affdsl as af
from tests.handed_on import lowered
from tests.native import Argument

SCRIPT = r"""
import json, sys
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType
from xdsl.interpreter import Interpreter
from xdsl.interpreters import register_implementations
from xdsl.interpreters.shaped_array import ShapedArray
from xdsl.interpreters.utils.ptr import TypedPtr
from xdsl.parser import Parser

text, name, arguments = json.load(sys.stdin)
context = Context()
for dialect, made in get_all_dialects().items():
    context.register_dialect(dialect, made)
module = Parser(context, text).parse_module()
module.verify()
interpreter = Interpreter(module)
register_implementations(interpreter, context)


def given(x, type):
    if isinstance(type, MemRefType):
        return ShapedArray(TypedPtr.new(x, xtype=type.element_type), list(type.get_shape()))
    return (FloatAttr if isinstance(x, float) else IntegerAttr)(x, type)


def found(x):
    return x.data if isinstance(x, ShapedArray) else x.value.data


function = interpreter.get_op_for_symbol(name)
values = [given(x, type) for x, type in zip(arguments, function.function_type.inputs.data)]
results = interpreter.call_op(function, tuple(values))
json.dump([[found(x) for x in values], [found(x) for x in results]], sys.stdout)
"""


def run(python: str, kernel: af.Kernel, arguments: Sequence[Argument]) -> object:
    """What a kernel that gives numbers back gives back there; arrays among the arguments are changed, as by a call.

    Its affine operations are lowered first: of affine loops the interpreter has those from one number to another alone.
    """
    text = str(kernel.apply("lower-affine").mlir(version="xdsl"))
    given = [_signed(x).ravel().tolist() if isinstance(x, np.ndarray) else np.asarray(x).item() for x in arguments]
    code = json.dumps((text, kernel.name, given)).encode()
    changed, results = json.loads(lowered.run(python, "-c", SCRIPT, given=code))
    for argument, after in zip(arguments, changed, strict=True):
        if isinstance(argument, np.ndarray):
            _signed(argument).flat = after
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def _signed(array: np.ndarray) -> np.ndarray:
    """The same memory as numbers with a sign, which all integers of the interpreter are."""
    return array.view(array.dtype.str.replace("u", "i"))
