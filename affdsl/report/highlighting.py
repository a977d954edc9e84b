"""Colours for the text of columns, by Pygments; lines stay lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affdsl.report.packages import package

LIGHT, DARK = "default", "github-dark"
"""The styles of Pygments for both modes of a page."""
_PLAIN = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')
"""Names, commas and spaces, which look like other text: without their marks a page is half as long."""
LONGEST = 400_000
"""Longer texts have no colours: they would be most of a page."""


def styles() -> str:
    """The rules of both styles."""
    formatter = package("pygments.formatters").HtmlFormatter
    light = formatter(style=LIGHT).get_style_defs(".code")
    dark = formatter(style=DARK).get_style_defs(".code")
    rules = (line for line in dark.splitlines() if line.startswith(".code .") and "background" not in line)
    plain = "\n".join(line for line in light.splitlines() if line.startswith(".code .") and "border" not in line)
    return f"{plain}\n@media (prefers-color-scheme: dark) {{\n{chr(10).join(rules)}\n}}\n"


def coloured(lines: Sequence[str], language: str) -> list[str]:
    """Each line as HTML."""
    text = "\n".join(lines)
    escape = package("markupsafe").escape
    if not lines or len(text) > LONGEST:
        return [str(escape(line)) for line in lines]
    lexer = _lexer(language)
    formatter = package("pygments.formatters").HtmlFormatter(nowrap=True)
    made = _PLAIN.sub(r"\1", str(package("pygments").highlight(text, lexer, formatter))).split("\n")[: len(lines)]
    return made if len(made) == len(lines) else [str(escape(line)) for line in lines]


def _lexer(language: str) -> object:
    options = {"stripnl": False, "ensurenl": True}
    if language == "mlir":
        return _mlir_lexer()(**options)
    return package("pygments.lexers").get_lexer_by_name({"asm": "gas"}.get(language, language), **options)


def _mlir_lexer() -> type:
    """What MLIR consists of, which Pygments has no lexer for."""
    lexer, token = package("pygments.lexer"), package("pygments.token")
    rules = [
        (r"//.*$", token.Comment.Single),
        (r'"(\\.|[^"\\])*"', token.String),
        (r"[%@#^!][\w$.-]+", token.Name.Variable),
        (r"\b[a-z_]+\.[\w.]+", token.Keyword),
        (r"\b(?:memref|vector|index|[fi]\d+|bf16|tensor|complex)\b", token.Keyword.Type),
        (r"\b(?:to|step|else|iter_args|min|max|floordiv|ceildiv|mod)\b", token.Keyword),
        (r"-?\d+(?:\.\d+(?:e[+-]?\d+)?)?\b", token.Number),
        (r"\s+|.", token.Text),
    ]
    return type("MlirLexer", (lexer.RegexLexer,), {"name": "MLIR", "tokens": {"root": rules}})
