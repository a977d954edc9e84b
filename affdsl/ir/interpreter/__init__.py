"""What IR means: runs any function on NumPy arrays, slowly and exactly, and refuses whatever would be undefined."""

from affdsl.ir.interpreter.contract import Argument, Result
from affdsl.ir.interpreter.environment import InterpreterError
from affdsl.ir.interpreter.program import Order, Prepared, Uninitialised, run

__all__ = ["Argument", "InterpreterError", "Order", "Prepared", "Result", "Uninitialised", "run"]
