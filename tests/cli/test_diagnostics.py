"""Messages: read from errors with and without places, and shown with their line."""

from affdsl.cli.diagnostics import Diagnostic, diagnostics_of
from affdsl.errors import AffdslError

TEXT = "first\n\tsecond line\n"


def test_a_message_is_shown_with_its_line_and_a_caret():
    assert Diagnostic("error", "bad", "f.mlir", 2, 2).shown(TEXT, "f.mlir") == (
        "f.mlir:2:2: error: bad\n\tsecond line\n\t^"
    )
    assert Diagnostic("note", "bad", "f.mlir", 2).shown(TEXT, "f.mlir") == "f.mlir:2:0: note: bad\n\tsecond line"


def test_no_line_is_shown_where_there_is_none():
    assert Diagnostic("error", "bad", "f.mlir", 9, 1).shown(TEXT, "f.mlir") == "f.mlir:9:1: error: bad"
    assert Diagnostic("error", "bad", "g.mlir", 1, 1).shown(TEXT, "f.mlir") == "g.mlir:1:1: error: bad"
    assert Diagnostic("error", "bad").shown(TEXT, "f.mlir") == "f.mlir: error: bad"


def test_each_place_that_an_error_names_is_a_message():
    error = AffdslError("a b.mlir:1:2: one\nx.mlir:3: warning: two\n  more\nnothing known: three")
    assert diagnostics_of(error, "a b.mlir") == [
        Diagnostic("error", "one", "a b.mlir", 1, 2),
        Diagnostic("warning", "two\n  more", "x.mlir", 3),
        Diagnostic("error", "nothing known: three"),
    ]


def test_the_line_and_caret_of_an_error_are_left_out():
    error = AffdslError("f:2:2: bad\n\tsecond line\n ^\nf:1:1: worse")
    assert diagnostics_of(error, "f") == [
        Diagnostic("error", "bad", "f", 2, 2),
        Diagnostic("error", "worse", "f", 1, 1),
    ]


def test_an_error_without_words_still_has_a_message():
    assert diagnostics_of(MemoryError(), "f") == [Diagnostic("error", "MemoryError")]
