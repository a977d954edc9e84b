"""`--verify-diagnostics`: which comments are met, next to mlir-opt, and what is said about the others."""

import pytest

from affdsl.cli.diagnostics import Diagnostic
from affdsl.cli.expected import compare, ignored
from tests.cli.tools import mlir_opt

BROKEN = "func.func @f() { retrn }"
FINE = "func.func @f() { return }"


@pytest.mark.parametrize(
    "text",
    [
        f"// expected-error @+1 {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error@+1 {{{{retrn}}}}  \n{BROKEN}\n",
        f"// expected-error@below {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error@below {{{{retrn}}}}\n// a comment\n{BROKEN}\n",
        f"// expected-error @below {{{{retrn}}}}\n// expected-error @below {{{{missing}}}}\n{BROKEN}\n",
        f"// expected-error @-1 {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error @2 {{{{retrn}}}}\n{BROKEN}\n",
        f"{BROKEN} // expected-error {{{{retrn}}}}\n",
        f"{BROKEN}\n// expected-error @above {{{{retrn}}}}\n",
        f"{BROKEN}\n// expected-error @above {{{{retrn}}}}\n// expected-error @-2 {{{{etrn}}}}\n",
        f"{BROKEN}\n\n// expected-error @above {{{{retrn}}}}\n",
        f"// expected-error-re @+1 {{{{{{{{re[a-z]+n}}}}}}}}\n{BROKEN}\n",
        f"// expected-error-re @+1 {{{{re.rn}}}}\n{BROKEN}\n",
        f"// expected-error-re @+1 {{{{{{{{re[}}}}}}}}\n{BROKEN}\n",
        f"// expected-error @+1 {{{{re.*n}}}}\n{BROKEN}\n",
        f"// expected-warning @+1 {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-remark @+1 {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-note @+1 {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error @unknown {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error @+1 retrn\n{BROKEN}\n",
        f"// expected-error @+1 {{{{retrn}}}} and more\n{BROKEN}\n",
        f"// expected-error @+1 {{{{retrn}}}} expected-note {{{{x}}}}\n{BROKEN}\n",
        f"{BROKEN}\n",
        f"{FINE}\n",
        f"// expected-error @+1 {{{{retrn}}}}\n{FINE}\n",
        f"// expected-error @+1 {{{{retrn}}}}\n{BROKEN}\n// -----\n{FINE}\n",
        f"{FINE}\n// -----\n// expected-error @+1 {{{{retrn}}}}\n{BROKEN}\n",
        f"{BROKEN}\n// -----\n// expected-error @+1 {{{{retrn}}}}\n{BROKEN}\n",
        f"// expected-error @+3 {{{{retrn}}}}\n{FINE}\n// -----\n{BROKEN}\n",
    ],
)
@pytest.mark.parametrize("strictness", ["", "=only-expected"])
def test_exit_status_and_output_are_those_of_mlir_opt(cli, text, strictness):
    flags = ["-", "--split-input-file", f"--verify-diagnostics{strictness}"]
    ours, theirs = cli("opt", *flags, text=text), mlir_opt(*flags, text=text)
    assert (ours.status, ours.out) == (theirs.status, theirs.out), (ours.err, theirs.err)


@pytest.mark.parametrize(
    "text",
    [
        f"// expected-error @+1 {{{{missing}}}}\n{FINE}\n",
        f"// expected-error @unknown {{{{missing}}}}\n{FINE}\n",
        f"  // expected-remark@below {{{{a {{{{b}}}} c}}}}\n{FINE}\n",
    ],
)
def test_what_is_missing_is_said_as_mlir_opt_says_it(cli, text):
    flags = ["-", "--verify-diagnostics"]
    ours, theirs = cli("opt", *flags, text=text).err, mlir_opt(*flags, text=text).err
    assert ours.splitlines() == list(dict.fromkeys(theirs.splitlines()))  # it says some of it twice


def test_another_severity_is_a_near_miss():
    text = "x\n// expected-warning @above {{a}}\n"
    problems = compare(text, "f", [Diagnostic("error", "a", "f", 1, 1)], "all")
    assert [p.splitlines()[0] for p in problems] == [
        "f:2:4: error: 'error' diagnostic emitted when expecting a 'warning'",
        'f:2:4: error: expected warning "a" was not produced',
    ]


def test_a_message_without_a_place_meets_unknown():
    text = "// expected-error @unknown {{schedule}}\n"
    assert compare(text, "f", [Diagnostic("error", "unable to schedule")], "all") == []
    (problem,) = compare("", "f", [Diagnostic("error", "unable to schedule")], "all")
    assert problem == "f: error: unexpected error: unable to schedule"


def test_a_comment_that_is_almost_an_expectation_is_named(cli):
    text = "// expected-error @+1 {missing}\nx"
    (warning,) = ignored(text, "f")
    assert warning.startswith("f:1:4: warning: this is no expectation that is understood, and is ignored")
    outcome = cli("opt", "-", "--verify-diagnostics", text=f"// expected-error @1 {{{{x}}}}\n{FINE}\n")
    assert outcome.status == 0
    assert "<stdin>:1:4: warning: " in outcome.err
