"""Affine expressions as they are written: trees over positions, simplified no more than MLIR does when it reads them.

A tree is a number, the name of a position ("d0", "s1"), or (operator, left, right) with the operator one of
`+ * floordiv ceildiv mod`. Make inner nodes with the functions below. What an expression means is an `Affine`; a tree
only says how to print it, so that foreign text comes back as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TypeAlias

Tree: TypeAlias = "int | str | tuple[str, Tree, Tree]"
WrittenConstraint: TypeAlias = "tuple[Tree, bool]"
"""A tree that is at least zero, or that equals zero where the second part is True."""


def add(left: Tree, right: Tree) -> Tree:
    """left + right: numbers to the right, equal terms together, two positions of one kind in their order."""
    if isinstance(left, int):
        if isinstance(right, int):
            return left + right
        left, right = right, left
    elif not isinstance(right, int) and not is_symbolic(right) and is_symbolic(left):
        left, right = right, left
    left, right = _ordered(left, right)
    if right == 0:
        return left
    match left, right:
        case ("+", inner, int(first)), int(second):
            return add(inner, first + second)
    x, a = _scaled(left)
    y, b = _scaled(right)
    if x == y:
        return mul(x, a + b)
    if not isinstance(right, int):
        match left:
            case ("+", inner, int(number)):
                return add(add(inner, right), number)
    return ("+", left, right)


def mul(left: Tree, right: Tree) -> Tree:
    """left * right: the number or the symbolic factor to the right, two symbols in their order."""
    if isinstance(left, int):
        if isinstance(right, int):
            return left * right
        left, right = right, left
    elif not isinstance(right, int) and not is_symbolic(right):
        left, right = right, left
    left, right = _ordered(left, right)
    if right == 1:
        return left
    if right == 0:
        return 0
    match left:
        case ("*", inner, int(number)):
            return mul(inner, number * right) if isinstance(right, int) else mul(mul(inner, right), number)
    return ("*", left, right)


def floordiv(left: Tree, right: Tree) -> Tree:
    """left floordiv right."""
    if not isinstance(right, int) or right < 1:
        return ("floordiv", left, right)
    if isinstance(left, int):
        return left // right
    if right == 1:
        return left
    match left:
        case ("*", inner, int(number)) if number % right == 0:
            return mul(inner, number // right)
        case ("+", a, b) if is_multiple(a, right) or is_multiple(b, right):
            return add(floordiv(a, right), floordiv(b, right))
    return ("floordiv", left, right)


def ceildiv(left: Tree, right: Tree) -> Tree:
    """left ceildiv right."""
    if not isinstance(right, int) or right < 1:
        return ("ceildiv", left, right)
    if isinstance(left, int):
        return -(-left // right)
    if right == 1:
        return left
    match left:
        case ("*", inner, int(number)) if number % right == 0:
            return mul(inner, number // right)
    return ("ceildiv", left, right)


def mod(left: Tree, right: Tree) -> Tree:
    """left mod right."""
    if not isinstance(right, int) or right < 1:
        return ("mod", left, right)
    if isinstance(left, int):
        return left % right
    if is_multiple(left, right):
        return 0
    match left:
        case ("+", a, b) if is_multiple(a, right):
            return mod(b, right)
        case ("+", a, b) if is_multiple(b, right):
            return mod(a, right)
        case ("mod", inner, int(number)) if number >= 1 and number % right == 0:
            return mod(inner, right)
    return ("mod", left, right)


MAKE: dict[str, Callable[[Tree, Tree], Tree]] = {
    "+": add, "*": mul, "floordiv": floordiv, "ceildiv": ceildiv, "mod": mod,
}  # fmt: skip
"""What makes the inner node of each operator."""


def is_symbolic(tree: Tree) -> bool:
    """Whether there is no dimension in a tree."""
    match tree:
        case int():
            return True
        case str():
            return tree[0] == "s"
        case (_, left, right):
            return is_symbolic(left) and is_symbolic(right)


def is_pure(tree: Tree) -> bool:
    """Whether a tree is affine in its symbols too: no product of two, no divisor among them."""
    match tree:
        case int() | str():
            return True
        case ("+", left, right):
            return is_pure(left) and is_pure(right)
        case ("*", left, right):
            return is_pure(left) and is_pure(right) and (isinstance(left, int) or isinstance(right, int))
        case (_, left, right):
            return is_pure(left) and isinstance(right, int)


def is_multiple(tree: Tree, number: int) -> bool:
    """Whether a positive number is known to divide a tree: whether it divides its `divisor`.

    Mostly the first short part says that it does not, where the divisor takes a look at all of a tree.
    """
    if number == 1:
        return True
    match tree:
        case int():
            return tree % number == 0
        case ("*", left, int(factor)):
            return is_multiple(left, number // gcd(number, factor))
        case ("*", left, right):
            return divisor(left) * divisor(right) % number == 0
        case ("+" | "mod", left, right):
            first, second = (right, left) if _is_short(right) else (left, right)
            return is_multiple(first, number) and is_multiple(second, number)
        case ("floordiv" | "ceildiv", left, int(by)) if by:
            return left != 0 and is_multiple(left, number * abs(by))
    return False


def divisor(tree: Tree) -> int:
    """The largest number that is known to divide a tree; 0 is divided by all."""
    match tree:
        case int():
            return abs(tree)
        case ("*", left, right):
            return divisor(left) * divisor(right)
        case ("+" | "mod", left, right):
            first, second = (right, left) if _is_short(right) else (left, right)
            found = divisor(first)  # mostly 1, and found without a look into what is long
            return 1 if found == 1 else gcd(found, divisor(second))
        case ("floordiv" | "ceildiv", left, int(number)) if number:
            inside = divisor(left)
            if inside and inside % number == 0:
                return inside // abs(number)
    return 1


def _is_short(tree: Tree) -> bool:
    return not isinstance(tree, tuple) or not (isinstance(tree[1], tuple) or isinstance(tree[2], tuple))


def positions(tree: Tree) -> set[str]:
    """The positions that stand in a tree."""
    match tree:
        case int():
            return set()
        case str():
            return {tree}
        case (_, left, right):
            return positions(left) | positions(right)


def is_longer(tree: Tree, limit: int) -> bool:
    """Whether more than so many positions, numbers and operators stand in a tree; it may be far more."""
    left, count = [tree], 0
    while left:
        count += 1
        if count > limit:
            return True
        match left.pop():
            case (_, first, second):
                left += (first, second)
    return False


def replace(tree: Tree, new: Callable[[str], Tree]) -> Tree:
    """A tree with its positions replaced."""
    match tree:
        case int():
            return tree
        case str():
            return new(tree)
        case (operator, left, right):
            return MAKE[operator](replace(left, new), replace(right, new))


def spell_tree(tree: Tree, name: Callable[[str], str] = str, *, inner: bool = False) -> str:
    """A tree in MLIR's syntax, its positions called as `name` says; `inner` asks for brackets round operators.

    >>> spell_tree(add(mul("d0", -1), add("s0", -1))), spell_tree(floordiv(add("d0", 3), 4))
    ('-d0 + s0 - 1', '(d0 + 3) floordiv 4')
    """
    match tree:
        case int():
            return str(tree)
        case str():
            return name(tree)
        case ("*", left, -1):
            text = f"-{spell_tree(left, name, inner=True)}"
        case ("+", left, int(number)) if number < 0:
            text = f"{spell_tree(left, name)} - {-number}"
        case ("+", left, ("*", right, -1)):
            weak = isinstance(right, tuple) and right[0] == "+"
            text = f"{spell_tree(left, name)} - {spell_tree(right, name, inner=weak)}"
        case ("+", left, ("*", right, int(number))) if number < -1:
            text = f"{spell_tree(left, name)} - {spell_tree(right, name, inner=True)} * {-number}"
        case ("+", left, right):
            text = f"{spell_tree(left, name)} + {spell_tree(right, name)}"
        case (operator, left, right):
            text = f"{spell_tree(left, name, inner=True)} {operator} {spell_tree(right, name, inner=True)}"
    return f"({text})" if inner else text


def _ordered(left: Tree, right: Tree) -> tuple[Tree, Tree]:
    """Two operands of + or *, of which two dimensions or two symbols stand in the order of their numbers."""
    if isinstance(left, str) and isinstance(right, str) and left[0] == right[0] and int(right[1:]) < int(left[1:]):
        return right, left
    return left, right


def _scaled(tree: Tree) -> tuple[Tree, int]:
    match tree:
        case ("*", inner, int(number)):
            return inner, number
    return tree, 1


# Numbers and symbols to the right, `s1 + s0` as `s0 + s1`, `x * a + x * b` together, `(x + 2) + y` as `(x + y) + 2`,
# what is divisible divided: that is what MLIR 22 does to each node as it reads or composes expressions, and printing a
# tree shows the same text as there. One rule of MLIR is left out on purpose: it turns `x - (y floordiv q) * q` into
# `x mod q` also in cases in which y is not x.
