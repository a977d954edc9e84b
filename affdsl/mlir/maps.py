"""Affine maps and sets, read from MLIR text."""

from __future__ import annotations

from affdsl.ir.applied import meaning
from affdsl.ir.expr import Constraint
from affdsl.ir.maps import AffineMap, IntegerSet, dim, symbol
from affdsl.ir.written import Tree, add, mul
from affdsl.mlir.aliases import Aliases
from affdsl.mlir.expressions import Atoms, Expression
from affdsl.mlir.scanner import Scanner

_LONGEST_SHARED = 400  # characters of a map that may stand in the text several times


class Maps(Aliases):
    """Reads maps and sets at the scanner's place."""

    def __init__(self, scanner: Scanner) -> None:
        super().__init__(scanner)
        self._maps: dict[str, AffineMap | IntegerSet] = {}  # by alias, or by text

    def map(self) -> AffineMap:
        """`affine_map<(d0)[s0] -> (...)>`, or an alias of one."""
        place, found = self.scanner.start, self.map_or_set()
        if isinstance(found, IntegerSet):
            self.scanner.fail("expected an affine map, but this is a set", place)
        return found

    def set(self) -> IntegerSet:
        """`affine_set<(d0)[s0] : (...)>`, or an alias of one."""
        place, found = self.scanner.start, self.map_or_set()
        if isinstance(found, AffineMap):
            self.scanner.fail("expected an integer set, but this is a map", place)
        return found

    def map_or_set(self) -> AffineMap | IntegerSet:
        """A map or a set, or an alias of one."""
        s = self.scanner
        if s.token.startswith("#"):
            name = s.token
            if name in self._maps:
                s.advance()
                return self._maps[name]
            self._maps[name] = found = self.aliased(name, self.map_or_set)
            return found
        if s.token == "(":
            return self.bare_map_or_set()
        if s.token not in ("affine_map", "affine_set"):
            s.fail("expected an affine map or set")
        # The same maps stand there again and again. The end is a guess, which is right where it was right before.
        first, end = s.start, s.text.find(")>", s.start, s.start + _LONGEST_SHARED) + len(")>")
        text = s.text[first:end]
        known = self._maps.get(text)
        if known is not None:
            s.jump(end)
            return known
        word = s.advance()
        s.expect("<")
        place, made = s.start, self.bare_map_or_set()
        if isinstance(made, AffineMap) != (word == "affine_map"):
            s.fail(f"this is no {word}", place)
        if s.end == end:
            self._maps[text] = made
        s.expect(">")
        return made

    def bare_map_or_set(self) -> AffineMap | IntegerSet:
        """`(d0)[s0] -> (...)` or `(d0)[s0] : (...)`"""
        s = self.scanner
        place = s.start
        dims, symbols, atom = self._heading()
        d, n = tuple(map(dim, range(dims))), tuple(map(symbol, range(symbols)))
        try:
            if s.accept("->"):
                trees = self.listed(lambda: self.expression(atom))
                return AffineMap(dims, symbols, tuple([meaning(t, d, n) for t in trees]), trees)
            s.expect(":")
            written = self.listed(lambda: self._constraint(atom))
            means = tuple([Constraint(meaning(tree, d, n), equality) for tree, equality in written])
            return IntegerSet(dims, symbols, means, written)
        except ZeroDivisionError as error:
            s.fail(str(error), place)

    def _heading(self) -> tuple[int, int, Atoms]:
        s = self.scanner
        dims = self.listed(s.word)
        symbols = self.listed(s.word, "[", "]") if s.token == "[" else ()
        names = {name: f"d{n}" for n, name in enumerate(dims)} | {name: f"s{n}" for n, name in enumerate(symbols)}
        if len(names) != len(dims) + len(symbols):
            twice = next(n for n in names if (*dims, *symbols).count(n) > 1)
            s.fail(f"{twice} stands twice in the list of dimensions and symbols")

        def atom() -> Tree:
            if s.token not in names:
                s.fail(f"'{s.token}' is neither a dimension nor a symbol here")
            return names[s.advance()]

        return len(dims), len(symbols), atom

    def _constraint(self, atom: Atoms) -> tuple[Tree, bool]:
        s = self.scanner
        left = self.expression(atom)
        if s.token not in ("==", ">=", "<="):
            s.fail(f"expected '==', '>=' or '<='{f', not {s.token}' if s.token else ''}")
        relation = s.advance()
        right = self.expression(atom)
        if relation == "<=":
            left, right = right, left
        return add(left, mul(right, -1)), relation == "=="

    def expression(self, atom: Atoms) -> Tree:
        """An affine expression; `atom` reads its names."""
        return Expression(self.scanner, self.nested, atom).read()
