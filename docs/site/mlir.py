"""Colours for MLIR text."""

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text
from sphinx.application import Sphinx


class MlirLexer(RegexLexer):
    """MLIR: values, symbols, operations, types and attributes."""

    name = "MLIR"
    aliases: ClassVar = ["mlir"]
    tokens: ClassVar = {
        "root": [
            (r"//.*?$", Comment.Single),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"[#!][\w$.]+", Name.Attribute),
            (r"\^\w+", Name.Label),
            (r"[+-]?0x[0-9a-fA-F]+|[+-]?\d+\.\d*(?:[eE][+-]?\d+)?", Number),
            (r"(?:memref|vector|tensor|strided|affine_map|affine_set|loc)(?=<)", Keyword.Type),
            (r"(?:index|[su]?i\d+|b?f\d+)\b", Keyword.Type),
            (r"[a-z_]\w*(?:\.[a-z_]\w*)+", Name.Builtin),
            (words(("to", "step", "iter_args", "min", "max", "else", "do", "module", "return"), r"\b", r"\b"), Keyword),
            (r"\d+", Number.Integer),
            (r"->|[=*+:?-]", Operator),
            (r"[\[\](){}<>,]", Punctuation),
            (r"\w+", Name),
            (r"\s+|.", Text),
        ]
    }


def setup(app: Sphinx) -> dict[str, bool]:
    """Let blocks be of the language mlir."""
    app.add_lexer("mlir", MlirLexer)
    return {"parallel_read_safe": True}
