"""What pages of the reference say instead of lists of names: all of some modules, all errors, all in one table."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import get_overloads

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

import affdsl
from affdsl import errors
from affdsl.lang.blocks import WithBlock
from affdsl.lang.dtypes import DType
from affdsl.lang.traced import Arithmetic, Comparable, Traced, Wide
from docs.site.docstrings import restructured
from docs.site.names import named

HOOKS = {name for base in (Traced, Comparable, Arithmetic, Wide) for name in vars(base)} - {"ceildiv"}
HOOKS |= {"bind", "like", "value"}
"""How the language works with what a kernel computes: no method of these is for users."""


class Names(SphinxDirective):
    """The public names of some modules with what they are: `{names} lang.control lang.whiles`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The entries of the reference."""
        return _parsed(self, [line for name in named(self.arguments[0]) for line in entry(name)])


class AllNames(SphinxDirective):
    """All public names, in the order of the alphabet, with the first sentence of each."""

    def run(self) -> list[nodes.Node]:
        """A table."""
        rows = [f"   * - :py:obj:`~affdsl.{name}`\n     - {summary(name)}" for name in sorted(affdsl.__all__, key=_key)]
        return _parsed(self, [".. list-table::", "   :widths: 25 75", "", *"\n".join(rows).split("\n")])


class ErrorTree(SphinxDirective):
    """The tree of errors, as the docstring of their module draws it."""

    def run(self) -> list[nodes.Node]:
        """A block."""
        drawn = [line for line in (inspect.getdoc(errors) or "").splitlines() if re.match("AffdslError|[├│└]", line)]
        text = "\n".join(drawn)
        return [nodes.literal_block(text, text, language="text")]


def entry(name: str) -> Iterable[str]:
    """What the reference says of a public name, as lines for Sphinx."""
    thing = getattr(affdsl, name)
    if isinstance(thing, DType):
        held = "ml_dtypes.bfloat16" if name == "bf16" else f"numpy.{thing.numpy}"
        words = f"{_described(thing)}; MLIR has ``{thing.type}``, arrays ``{held}``."
        return (f".. py:data:: {name}", "   :module: affdsl", "", f"   {words}", "")
    if isinstance(thing, type):
        # What Python calls when a with-block begins and ends is no method for users.
        members = () if issubclass(thing, WithBlock) else ("   :members:",)
        hidden = (f"   :exclude-members: {', '.join(sorted(HOOKS))}",) if issubclass(thing, Traced) else ()
        signature = _signature_of(thing, show_return_annotation=False) if _is_overloaded(thing.__init__) else ""
        inherited = ("   :inherited-members: _Called",) if name == "Kernel" else ()
        return (f".. autoclass:: affdsl.{name}{signature}", *members, *inherited, *hidden, "")
    if not _is_overloaded(thing):
        return (f".. autofunction:: affdsl.{name}", "")
    said = NumpyDocstring("\n".join(restructured((inspect.getdoc(thing) or "").splitlines())), what="function")
    head = f".. py:function:: {name}{_signature_of(thing)}", "   :module: affdsl"
    return (*head, "", *(f"   {line}" for line in said.lines()), "")


def _is_overloaded(function: Callable[..., object]) -> bool:
    """Whether type checkers are told several signatures; readers are better off with all of it in one."""
    inner = inspect.unwrap(function)
    return inspect.isfunction(inner) and bool(get_overloads(inner))


def _signature_of(thing: Callable[..., object], *, show_return_annotation: bool = True) -> str:
    """What a call takes.

    >>> _signature_of(affdsl.fma)
    '(a: Operand, b: Operand, c: Operand) -> Scalar | Vector'
    """
    signature = inspect.signature(thing)
    return stringify_signature(signature, show_return_annotation=show_return_annotation, unqualified_typehints=True)


def summary(name: str) -> str:
    """The first sentence about a public name, as reStructuredText."""
    thing = getattr(affdsl, name)
    if isinstance(thing, DType):
        return f"{_described(thing)}."
    first = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    sentence = re.match(r"(?:`[^`]*`|[^`])*?\.(?= |$)", first)
    return restructured([sentence[0] if sentence else f"{first.rstrip(':')}."])[0]


def _described(dtype: DType) -> str:
    """What numbers of a type are.

    >>> _described(affdsl.u16)
    'Integers of 16 bits without a sign'
    """
    bits = "".join(filter(str.isdigit, dtype.name))
    kinds = {
        "float": f"Floats of {bits} bits",
        "complex": f"Complex numbers of {bits} bits, two floats",
        "signed": f"Integers of {bits} bits with a sign",
        "unsigned": f"Integers of {bits} bits without a sign",
        "bool": "Truth values",
        "index": "Sizes and indices: integers of 64 bits with a sign",
    }
    return kinds[dtype.kind]


def _key(name: str) -> tuple[str, str]:
    return name.lower(), name


def _parsed(directive: SphinxDirective, lines: Iterable[str]) -> list[nodes.Node]:
    """Lines of reStructuredText as nodes, in whatever language the page is."""
    source = ["````{eval-rst}", *lines, "````"]
    container = nodes.container()
    directive.state.nested_parse(StringList(source, "the reference"), directive.content_offset, container)
    return container.children


def _signature(
    _app: Sphinx, _what: str, _name: str, thing: object, _options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """Types that users do not make have no signature; aliases of types are called by their names."""
    if isinstance(thing, type):
        documented = "Parameters\n---" in (inspect.getdoc(thing) or "") and not issubclass(thing, BaseException)
        is_made = documented or issubclass(thing, WithBlock)
        if not is_made and signature:
            return "", ""
    return plain(signature), plain(returns)


def plain(signature: str | None) -> str | None:
    """A signature without what Sphinx puts around the names of aliases.

    >>> plain("(n: TypeAliasForwardRef('Size') | None)")
    '(n: Size | None)'
    """
    return signature and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature)


def setup(app: Sphinx) -> dict[str, bool]:
    """Give pages these directives."""
    app.connect("autodoc-process-signature", _signature)
    app.add_directive("names", Names)
    app.add_directive("error-tree", ErrorTree)
    app.add_directive("all-names", AllNames)
    return {"parallel_read_safe": True}
