"""Every mistake that a user can make in a kernel, and the whole message that it gets: file, line, why, and what to do."""

# ruff: noqa: E501 - messages are quoted as they are

import functools
import inspect
import math
import textwrap
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest

import affdsl as af

M, N, P = af.symbols("M N P")

CASES: list[Callable[[], None]] = []


def mistake(kind: type[Exception], message: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """A function with a mistake in the line marked `# here`, the error that it raises, and all that the error says."""

    def add(case: Callable[[], None]) -> Callable[[], None]:
        lines, first = inspect.getsourcelines(case)
        (line,) = (n for n, text in enumerate(lines, first) if "# here" in text)
        there = [n for n, text in enumerate(lines, first) if "# there" in text]
        text = textwrap.dedent(message).strip().replace("<there>", str(*there))
        expected = f"tests/lang/test_mistakes.py:{line}: {text}"

        @functools.wraps(case)
        def run() -> None:
            with pytest.raises(af.AffdslError) as caught:
                case()
            assert str(caught.value) == expected
            assert type(caught.value) is kind

        CASES.append(run)
        return run

    return add


@mistake(
    af.ProgramIndexError,
    """
    i * j is not affine: both factors change inside the loops (i, j)
        one factor must be a number or a symbol; give the array one dimension more and write A[i, j], make the loop's step the number, use affdsl.index(i) * j as a data-dependent index, or affdsl.f64(i) in data
    """,
)
def product_of_loop_variables():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.for_(N) as j:
            A[i * j] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    i // j is not affine: the divisor changes inside the loops (i, j)
        divide by a number or a symbol, or use affdsl.index(i) // j as a data-dependent index
    """,
)
def quotient_of_loop_variables():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.for_(1, N) as j:
            A[i // j] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    i % (j + 1) is not affine: the divisor changes inside the loops (i, j)
        divide by a number or a symbol, or use affdsl.index(i) // j as a data-dependent index
    """,
)
def remainder_of_loop_variables():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.for_(1, N) as j:
            A[i % (j + 1)] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    i // 0: an index is divided by positive numbers only
    """,
)
def index_divided_by_zero():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i // 0] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    i // -2: an index is divided by positive numbers only
        write (-i) // 2
    """,
)
def index_divided_by_a_negative_number():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[N + i // -2] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    the index i is a whole number and has no operator /
        use // for the rounded-down quotient, or affdsl.f64(i) / affdsl.f64(n) for a fraction
    """,
)
def index_divided_with_a_fraction():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i / 2] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    index 0 of A must be a whole number, got x (f32)
        convert it with affdsl.index(affdsl.i64(x)), which drops the fraction
    """,
)
def float_as_an_index():
    @af.kernel
    def f(A: af.f32[N], x: af.f32):
        A[x] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    index 0 of A must be a whole number, got 2.0
        write 2
    """,
)
def python_float_as_an_index():
    @af.kernel
    def f(A: af.f32[N]):
        A[2.0] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    index 0 of A must be a whole number, got a number of type bool_
        convert it with affdsl.index(x)
    """,
)
def truth_value_as_an_index():
    @af.kernel
    def f(A: af.f32[N], x: af.f32):
        A[x > 0.0] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    + of an index and 0.5: an index is a whole number
        convert the index with affdsl.f64(i) to work with 0.5
    """,
)
def index_plus_a_fraction():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i] = i + 0.5  # here


@mistake(
    af.ProgramTypeError,
    """
    < of an index and 2.5: an index is a whole number
        convert the index with affdsl.f64(i) to work with 2.5
    """,
)
def index_compared_with_a_fraction():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_(i < 2.5):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    + of an index and x (f32): the types differ
        convert the index: affdsl.f32(i)
    """,
)
def index_plus_a_float_scalar():
    @af.kernel
    def f(A: af.f32[N], x: af.f32):
        with af.for_(N) as i:
            A[i] = i + x  # here


@mistake(
    af.ProgramTypeError,
    """
    the index i has no operator **
        convert it: affdsl.i64(x) has all operators of integers, affdsl.f64(x) those of floats
    """,
)
def power_of_an_index():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i**2] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    the index i has no operator &
        convert it: affdsl.i64(x) has all operators of integers, affdsl.f64(x) those of floats; comparisons need parentheses beside &, as in (i > 0) & (i < n)
    """,
)
def bits_of_an_index():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i & 1] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    A has 2 dimensions and needs as many indices, got 1
        its type is f32[M, N]; write them in one bracket, as in A[i, j]
    """,
)
def wrong_rank():
    @af.kernel
    def f(A: af.f32[M, N]):
        with af.for_(N) as i:
            A[i] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    A has 2 dimensions and needs as many indices, got 1
        its type is f32[M, N]; write them in one bracket, as in A[i, j]
    """,
)
def indices_in_two_brackets():
    @af.kernel
    def f(A: af.f32[M, N], x: af.f32[N]):
        with af.for_(N) as i:
            x[i] = A[i][i]  # here


@mistake(
    af.ProgramIndexError,
    """
    A is indexed element by element, not by slices
        write loops with affdsl.for_ over the elements
    """,
)
def slice_of_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        A[1:] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    A is indexed element by element, not by slices
        write loops with affdsl.for_ over the elements
    """,
)
def all_of_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        A[...] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    index 1 of A is -1, before its first element
        there is no counting from the end: write N - 1
    """,
)
def index_from_the_end():
    @af.kernel
    def f(A: af.f32[M, N]):
        A[0, -1] = 0.0  # here


@mistake(
    af.ProgramIndexError,
    """
    index 0 of A is 4, but that dimension has 4 elements
        the last one is 3
    """,
)
def index_past_a_static_end():
    @af.kernel
    def f(A: af.f32[4], B: af.f32[N]):
        B[0] = A[4]  # here


@mistake(
    af.ProgramIndexError,
    """
    index 0 of A is N + 1, but that dimension has N + 1 elements
        the last one is N
    """,
)
def index_past_a_symbolic_end():
    @af.kernel
    def f(A: af.f32[N + 1]):
        A[N + 1] = 0.0  # here


@mistake(
    af.ProgramNameError,
    """
    i is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; use i inside of it, or carry its value out with iter_args and yield_
    """,
)
def loop_variable_after_its_loop():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:  # there
            A[i] = 0.0
        A[i] = 1.0  # here


@mistake(
    af.ProgramNameError,
    """
    i is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; use i inside of it, or carry its value out with iter_args and yield_
    """,
)
def loop_variable_as_a_later_bound():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:  # there
            A[i] = 0.0
        with af.for_(i) as j:  # here
            A[j] = A[1.5]


@mistake(
    af.ProgramNameError,
    """
    i is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; use i inside of it, or carry its value out with iter_args and yield_
    """,
)
def loop_variable_in_a_later_condition():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:  # there
            A[i] = 0.0
        with af.if_(i > 3):  # here
            A[0] = A[1.5]


@mistake(
    af.ProgramNameError,
    """
    total is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; use total inside of it, or carry its value out with iter_args and yield_
    """,
)
def number_after_its_loop():
    @af.kernel
    def f(A: af.f32[N], s: af.f32[1]):
        total = af.f32(0)
        with af.for_(N) as i:  # there
            total += A[i]
        s[0] = total  # here


@mistake(
    af.ProgramNameError,
    """
    s is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; `s = ...` hides the s of its `as`: write yield_(...) of the new value under another name
    """,
)
def carried_number_hidden_by_an_assignment():
    @af.kernel
    def f(A: af.f32[N], out: af.f32[1]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):  # there
            s += A[i]
            af.yield_(s)
        out[0] = s  # here


@mistake(
    af.ProgramNameError,
    """
    T is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; allocate T before it
    """,
)
def array_after_its_loop():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:  # there
            T = af.alloc(af.f32[N])
            T[i] = 0.0
        A[0] = T[0]  # here


@mistake(
    af.ProgramNameError,
    """
    x is used outside of the branch, where it is defined
        the branch of line <there> has ended; use x inside of it, or give if_ a result type, as in affdsl.if_(c, affdsl.f32), and yield_ in both
    """,
)
def number_of_one_branch_in_the_other():
    @af.kernel
    def f(A: af.f32[N]):
        with af.if_(N > 3):  # there
            x = A[0]
        with af.else_():
            A[0] = x  # here


@mistake(
    af.ProgramNameError,
    """
    a value does not belong to kernel g
        it was computed in another kernel; pass it as an argument
    """,
)
def number_of_another_kernel():
    leaked = []

    @af.kernel
    def f(A: af.f32[N]):
        leaked.append(A[0])

    @af.kernel
    def g(B: af.f32[N]):
        B[0] = leaked[0]  # here


@mistake(
    af.ProgramNameError,
    """
    A does not belong to kernel g
        it was computed in another kernel; pass it as an argument
    """,
)
def array_of_another_kernel():
    @af.kernel
    def f(A: af.f32[N]):
        @af.kernel
        def g(B: af.f32[N]):
            with af.for_(N) as i:
                B[i] = A[i]  # here


@mistake(
    af.ProgramError,
    """
    this can be used only while a kernel is built
        write it inside a function decorated with @affdsl.kernel
    """,
)
def change_after_the_kernel_is_built():
    leaked = []

    @af.kernel
    def f(A: af.f32[N]):
        leaked.append(A)

    leaked[0][0] = 1.0  # here


@mistake(
    af.ProgramError,
    """
    this can be used only while a kernel is built
        write it inside a function decorated with @affdsl.kernel
    """,
)
def language_outside_of_a_kernel():
    with af.for_(N):  # here
        pass


@mistake(
    af.ProgramNameError,
    """
    the symbol M is not bound by any argument of f
        use M as a size of an argument, as in affdsl.f32[M], or add an argument annotated M
    """,
)
def symbol_that_no_argument_has():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(M) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramNameError,
    """
    nothing says what M is when f is called
        no argument has M alone, or a multiple of it plus a number, as one of its sizes
        add an argument `m: M`, or an array with the size M
    """,
)
def symbols_that_cannot_be_solved():
    @af.kernel
    def f(A: af.f32[M + P]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramNameError,
    """
    two different symbols are called N: this one is not that of f's arguments
        each call of affdsl.symbols("N") makes a new symbol; call it once and use the same N
    """,
)
def two_symbols_of_one_name_in_the_body():
    other = af.symbols("N")

    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(other) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramNameError,
    """
    the arguments of kernel f use two different symbols that are both called N
        each call of affdsl.symbols("N") makes a new symbol; call it once and use the same N
    """,
)
def two_symbols_of_one_name_in_the_arguments():
    vector = af.f32[af.symbols("N")]

    @af.kernel
    def f(A: af.f32[N], B: vector):  # here
        A[0] = B[0]


@mistake(
    af.ProgramNameError,
    """
    arguments n and m of kernel f are both the value of N
        give each its own symbol, or annotate one with affdsl.index
    """,
)
def two_arguments_for_one_symbol():
    @af.kernel
    def f(n: N, m: N, A: af.f32[N]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramNameError,
    """
    the symbol M is named twice; give each its own name
    """,
)
def symbol_named_twice():
    af.symbols("M N M")  # here


@mistake(
    af.ProgramNameError,
    """
    a symbol needs a name like N, got '2N'
    """,
)
def symbol_that_is_no_name():
    af.symbols("2N")  # here


@mistake(
    af.ProgramNameError,
    """
    an annotation of f uses Q, which is not defined
        a symbolic size is defined before the kernel: Q = affdsl.symbols("Q")
    """,
)
def unknown_name_in_an_annotation():
    @af.kernel
    def f(A: "af.f32[Q]"):  # here  # noqa: F821
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    A holds f32 and cannot store x (f64)
        convert it: affdsl.f32(...)
    """,
)
def wrong_dtype_stored():
    @af.kernel
    def f(A: af.f32[N], x: af.f64):
        A[0] = x  # here


@mistake(
    af.ProgramTypeError,
    """
    A holds f32 and cannot store the index i
        convert it: affdsl.f32(...)
    """,
)
def index_stored_as_a_float():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i] = i  # here


@mistake(
    af.ProgramTypeError,
    """
    * of a number of type f32 and a number of type f64: the types differ
        convert one of them: affdsl.f64(...) or affdsl.f32(...)
    """,
)
def mixed_dtypes():
    @af.kernel
    def f(A: af.f32[N], B: af.f64[N]):
        with af.for_(N) as i:
            B[i] = A[i] * B[i]  # here


@mistake(
    af.ProgramTypeError,
    """
    the number 0.5 is a float, but i32 is needed
        write a whole number, or compute with floats and convert the result: affdsl.i32(affdsl.f64(x) * 0.5)
    """,
)
def fraction_in_an_integer_array():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] = 0.5  # here


@mistake(
    af.ProgramTypeError,
    """
    200 does not fit in i8, which holds -128 to 127
        use a wider type; nothing wraps in silence
    """,
)
def number_too_large_for_its_dtype():
    @af.kernel
    def f(A: af.i8[N]):
        A[0] = 200  # here


@mistake(
    af.ProgramTypeError,
    """
    -1 does not fit in u8, which holds 0 to 255
        use a wider type; nothing wraps in silence
    """,
)
def negative_number_in_an_unsigned_array():
    @af.kernel
    def f(A: af.u8[N]):
        A[0] = -1  # here


@mistake(
    af.ProgramTypeError,
    """
    1e+39 does not fit in f32
        use a wider type, or affdsl.f32(float("inf")) for infinity
    """,
)
def float_that_would_become_infinite():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = 1e39  # here


@mistake(
    af.ProgramTypeError,
    """
    a number of so many digits does not fit in f64
        use a wider type, or affdsl.f64(float("inf")) for infinity
    """,
)
def whole_number_that_no_float_holds():
    @af.kernel
    def f(A: af.f64[N]):
        A[0] = 2**1024  # here


@mistake(
    af.ProgramTypeError,
    """
    A holds f32 and cannot store '1.5'
        store a number of the kernel
    """,
)
def text_stored():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = "1.5"  # here


@mistake(
    af.ProgramTypeError,
    """
    f32 cannot be made of np.str_('1.5'), which is no real number
        write a number
    """,
)
def numpy_text_as_a_number():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = np.str_("1.5")  # here


@mistake(
    af.ProgramTypeError,
    """
    f32 cannot be made of '1.5', which is no real number
        write a number
    """,
)
def text_as_a_number():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = af.f32("1.5")  # here


@mistake(
    af.ProgramTypeError,
    """
    True is a truth value, but f32 is needed
        write 1
    """,
)
def truth_value_stored_as_a_number():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = True  # here


@mistake(
    af.ProgramTypeError,
    """
    + of a number of type i32 and a number of type bool_: the types differ
        convert one of them: affdsl.bool_(...) or affdsl.i32(...)
    """,
)
def comparison_added_to_a_number():
    @af.kernel
    def f(A: af.f32[N], count: af.i32[1]):
        with af.for_(N) as i:
            count[0] += A[i] > 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    one element of A cannot hold the array B
        store its elements one by one, or all with affdsl.copy(B, A)
    """,
)
def array_stored_in_an_element():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[N]):
        A[0] = B  # here


@mistake(
    af.ProgramTypeError,
    """
    A is declared const and cannot be stored to
        annotate it as A: affdsl.f32[N] to write to it
    """,
)
def store_to_a_constant_array():
    @af.kernel
    def f(A: af.const(af.f32[N])):
        A[0] = 1.0  # here


@mistake(
    af.ProgramTypeError,
    """
    x (f32) is a number, a constant, and nothing can be stored to it
        only arrays can be stored to: an argument annotated like affdsl.f32[N], or affdsl.alloc(affdsl.f32[N])
    """,
)
def store_to_a_number():
    @af.kernel
    def f(x: af.f32, A: af.f32[N]):
        x[0] = 1.0  # here


@mistake(
    af.ProgramTypeError,
    """
    i32 has no operator /
        use // for the rounded-down quotient, or convert to affdsl.f64 first
    """,
)
def integer_division_with_a_fraction():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] = A[0] / 2  # here


@mistake(
    af.ProgramTypeError,
    """
    a number of type i32 // 0 divides by zero
        divide by another number; a divisor computed by the kernel may be 0 and then gives 0
    """,
)
def integer_divided_by_zero():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] = A[0] // 0  # here


@mistake(
    af.ProgramTypeError,
    """
    a number of type i32 % 0 divides by zero
        divide by another number; a divisor computed by the kernel may be 0 and then gives 0
    """,
)
def integer_modulo_zero():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] %= 0  # here


@mistake(
    af.ProgramTypeError,
    """
    a number of type i32 << -1 shifts by a negative number
        write >> 1
    """,
)
def negative_shift():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] = A[0] << -1  # here


@mistake(
    af.ProgramTypeError,
    """
    a number of type i32 ** -1 is a fraction, but i32 holds whole numbers
        write affdsl.f64(x) ** -1
    """,
)
def negative_power_of_an_integer():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] = A[0] ** -1  # here


@mistake(
    af.ProgramTypeError,
    """
    f32 has no operator %
        use affdsl.floor(a / b), or affdsl.fmod(a, b) for C's remainder
    """,
)
def remainder_of_floats():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = A[0] % 2.0  # here


@mistake(
    af.ProgramTypeError,
    """
    sqrt needs a float, got a number of type i32
        convert it: affdsl.f64(x)
    """,
)
def function_of_an_integer():
    @af.kernel
    def f(A: af.i32[N]):
        A[0] = af.sqrt(A[0])  # here


@mistake(
    af.ProgramTypeError,
    """
    exp works on one number, got A: f32[N]
        write a loop over the elements
    """,
)
def function_of_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = af.exp(A)  # here


@mistake(
    af.ProgramTypeError,
    """
    exp of the Python number 2.0 has no type
        write affdsl.f64(2.0)
    """,
)
def function_of_a_python_number():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = af.exp(2.0)  # here


@mistake(
    af.ProgramTypeError,
    """
    bitcast of a number of type f32 to i64: the widths differ
        convert it with affdsl.i64(x), or take a type of the same width
    """,
)
def bits_of_another_width():
    @af.kernel
    def f(A: af.f32[N], B: af.i64[N]):
        B[0] = af.bitcast(A[0], af.i64)  # here


@mistake(
    af.ProgramTypeError,
    """
    the condition (2 - i >= 0) has no operator ==
        conditions are combined with & | ^ ~; affdsl.bool_(condition) can be compared, and affdsl.select(condition, 1, x) makes a number of one
    """,
)
def conditions_compared():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_((i < 3) == (i > 1)):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    A is an array: operators work on its elements
        write a loop and use A[i]
    """,
)
def arrays_compared():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[N]):
        with af.if_(A == B):  # here
            A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    A is an array: operators work on its elements
        write a loop and use A[i]
    """,
)
def arrays_added():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[N]):
        A += B  # here


@mistake(
    af.ProgramTypeError,
    """
    copy from A: f32[N] to B: f32[M]: type and shape must be the same
        copy the elements with loops
    """,
)
def copy_between_shapes():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[M]):
        af.copy(A, B)  # here


@mistake(
    af.ProgramTypeError,
    """
    B is declared const and cannot be stored to
        annotate it as B: affdsl.f32[N] to write to it
    """,
)
def copy_to_a_constant_array():
    @af.kernel
    def f(A: af.f32[N], B: af.const(af.f32[N])):
        af.copy(A, B)  # here


@mistake(
    af.ProgramTypeError,
    """
    alloc takes an array type like affdsl.f32[M, N], got f32
    """,
)
def alloc_of_a_dtype():
    @af.kernel
    def f(A: af.f32[N]):
        T = af.alloc(af.f32)  # here
        A[0] = T[0]


@mistake(
    af.ProgramTypeError,
    """
    the truth of a number of type bool_ is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def python_if():
    @af.kernel
    def f(A: af.f32[N]):
        if A[0] > 0.0:  # here
            A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the truth of the condition (i - 1 >= 0) is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def python_and():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_(i > 0 and i < 5):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the truth of the condition (i - 1 >= 0) is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def python_not():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_(not i > 0):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the truth of a number of type f32 is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; compare the number, as in x != 0, and write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def python_bool():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = bool(A[0])  # here


@mistake(
    af.ProgramTypeError,
    """
    the truth of the condition (i - 1 >= 0) is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def chained_comparison():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_(0 < i < 5):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the truth of a number of type bool_ is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def python_while():
    @af.kernel
    def f(A: af.f32[N]):
        while A[0] > 0.0:  # here
            A[0] -= 1.0


@mistake(
    af.ProgramTypeError,
    """
    the truth of a number of type bool_ is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def python_max():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = max(A[0], A[1])  # here


@mistake(
    af.ProgramTypeError,
    """
    the index N is not known while the kernel is built, so Python cannot count with it
        write `with affdsl.for_(n) as i:` instead of `for i in range(n):`; a NumPy array w can be indexed with it as an argument of the kernel, or as w = affdsl.constant(w) in the kernel
    """,
)
def python_range():
    @af.kernel
    def f(A: af.f32[N]):
        for i in range(N):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    a number of type i32 is not known while the kernel is built, so it cannot become a Python number
        convert with affdsl.f64(x) or affdsl.i32(x), and use affdsl.exp, affdsl.sqrt, ... instead of math's
    """,
)
def python_float():
    @af.kernel
    def f(A: af.i32[N], B: af.f64[N]):
        B[0] = float(A[0])  # here


@mistake(
    af.ProgramTypeError,
    """
    a number of type f32 is not known while the kernel is built, so it cannot become a Python number
        convert with affdsl.f64(x) or affdsl.i32(x), and use affdsl.exp, affdsl.sqrt, ... instead of math's
    """,
)
def function_of_the_math_module():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = math.sqrt(A[0])  # here


@mistake(
    af.ProgramTypeError,
    """
    the length of A is known only when the kernel runs
        use A.shape[0]
    """,
)
def length_of_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(len(A)) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    A cannot be iterated over while the kernel is built
        write `with affdsl.for_(A.shape[0]) as i:` and use A[i]
    """,
)
def iteration_over_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        sum(A)  # here


@mistake(
    af.ProgramTypeError,
    """
    what A holds is known only when the kernel runs
        write a loop over its elements and compare A[i]
    """,
)
def number_found_in_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        with af.if_(1.0 in A):  # here
            A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the truth of the condition (i - 1 == 0) is not known while the kernel is built
        Python's if, while, and, or, not and chained comparisons need it at once; write `with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, & | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's
    """,
)
def number_found_in_a_list():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_(i in [1, 2]):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the index i is not known while the kernel is built, so it cannot be found in a dict or a set
        use affdsl.select(condition, a, b), or an array that is an argument of the kernel
    """,
)
def number_as_the_key_of_a_dict():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i] = {0: 1.0, 1: 2.0}.get(i, 0.0)  # here


@mistake(
    af.ProgramTypeError,
    """
    the index i is not known while the kernel is built, so Python cannot count with it
        write `with affdsl.for_(n) as i:` instead of `for i in range(n):`; a NumPy array w can be indexed with it as an argument of the kernel, or as w = affdsl.constant(w) in the kernel
    """,
)
def constant_numpy_array_indexed():
    weights = np.ones(3)

    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(3) as i:
            A[i] = weights[i]  # here


@mistake(
    af.ProgramTypeError,
    """
    NumPy's sqrt cannot work on a number of type f32, which is not known while the kernel is built
        use affdsl.sqrt
    """,
)
def numpy_function_of_a_number():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = np.sqrt(A[0])  # here


@mistake(
    af.ProgramTypeError,
    """
    NumPy's sum cannot work on A, which is not known while the kernel is built
        write the loop with affdsl.for_
    """,
)
def numpy_function_of_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = np.sum(A)  # here


@mistake(
    af.ProgramTypeError,
    """
    NumPy's where cannot work on a number of type bool_, which is not known while the kernel is built
        use affdsl.select
    """,
)
def numpy_choice():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = np.where(A[0] > 0.0, A[0], 0.0)  # here


@mistake(
    af.ProgramTypeError,
    """
    NumPy's multiply cannot work on a number of type f32, which is not known while the kernel is built
        write the loop with affdsl.for_
    """,
)
def numpy_array_in_arithmetic():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = np.ones(3) * A[0]  # here


@mistake(
    af.ProgramIndexError,
    """
    the step of a loop must be positive, got 0
        a loop with step 0 would never end
    """,
)
def step_zero():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(0, N, 0) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramIndexError,
    """
    the step of a loop must be positive, got -1
        to count down, run up and index with n - 1 - i
    """,
)
def negative_step():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, 0, -1) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the step of a loop must be a whole number known now, got the index M
        for a symbolic step s write `with for_((n + s - 1) // s) as t:` and use t * s
    """,
)
def symbolic_step():
    @af.kernel
    def f(A: af.f32[N], s: M):
        with af.for_(0, N, s) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the end of a loop must be a whole number, got 2.5
        write a whole number, an index, or an integer of the kernel
    """,
)
def loop_over_a_fraction():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(2.5) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    the end of a loop must be a whole number, got A: f32[N]
        one element of an array is A[i], its sizes are A.shape[0], A.shape[1], ...
    """,
)
def loop_over_an_array():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(A) as x:  # here
            A[x] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    this for_ gives 1 value, but `as` has 2 names: i, j
        the loop variable comes first, then one name for each of iter_args: `as (i, s)`
    """,
)
def two_names_for_one_loop_variable():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as (i, j):  # here
            A[i] = j


@mistake(
    af.ProgramTypeError,
    """
    this parallel gives 2 values, but `as` has 3 names: i, j, k
        the loop variables come first, then one name for each of reduce: `as (i, j, s)`
    """,
)
def too_many_names_for_a_parallel_loop():
    @af.kernel
    def f(A: af.f32[M, N]):
        with af.parallel(M, N) as (i, j, k):  # here
            A[i, j] = k


@mistake(
    af.ProgramError,
    """
    the loop i must end with yield_(f32)
        each of its iterations or branches hands on the values that it declares
    """,
)
def missing_yield():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):  # here
            A[i] = s


@mistake(
    af.ProgramTypeError,
    """
    the loop i takes a yielded f32, got a number of type f64
        convert it: affdsl.f32(...)
    """,
)
def yield_of_the_wrong_type():
    @af.kernel
    def f(A: af.f64[N]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):
            A[i] = af.f64(s)
            af.yield_(A[i])  # here


@mistake(
    af.ProgramTypeError,
    """
    the loop i takes 1 yielded values, got 2
    """,
)
def yield_of_too_many():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):
            af.yield_(s, A[i])  # here


@mistake(
    af.ProgramError,
    """
    the loop i yields twice; yield_ once, as the last thing in the block
    """,
)
def yield_twice():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):
            af.yield_(s)
            af.yield_(s + A[i])  # here


@mistake(
    af.ProgramError,
    """
    the loop i takes no yield_
        declare what it carries: affdsl.for_(n, iter_args=[x]), affdsl.if_(c, affdsl.f32), or affdsl.parallel(n, reduce=[("addf", affdsl.f32)]); a kernel gives its results with return
    """,
)
def yield_without_anything_to_carry():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            af.yield_(A[i])  # here


@mistake(
    af.ProgramTypeError,
    """
    iter_args needs typed values, got 0.0
        give it a type: affdsl.f32(0.0)
    """,
)
def untyped_number_carried():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=[0.0]) as (i, s):  # here
            af.yield_(s + A[i])


@mistake(
    af.ProgramTypeError,
    """
    iter_args needs typed values, got A: f32[N]
        carry numbers; an array is changed in place by what the loop stores
    """,
)
def array_carried():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=[A]) as (i, B):  # here
            B[i] = 0.0


@mistake(
    af.ProgramError,
    """
    the result of a loop or branch is used before it has ended
        use it after the with-block (for if_, after its else_)
    """,
)
def result_used_inside_of_its_branch():
    @af.kernel
    def f(A: af.f32[N]):
        with af.if_(N > 3, af.f32) as x:
            A[0] = x  # here


@mistake(
    af.ProgramError,
    """
    else_ must follow the block of an if_ directly
        put `with affdsl.else_():` right after the with-block of its if_, at the same indentation
    """,
)
def else_without_if():
    @af.kernel
    def f(A: af.f32[N]):
        with af.else_():  # here
            A[0] = 0.0


@mistake(
    af.ProgramError,
    """
    else_ must follow the block of an if_ directly
        put `with affdsl.else_():` right after the with-block of its if_, at the same indentation
    """,
)
def else_after_something_else():
    @af.kernel
    def f(A: af.f32[N]):
        with af.if_(N > 3):
            A[0] = 0.0
        A[1] = 0.0
        with af.else_():  # here
            A[2] = 0.0


@mistake(
    af.ProgramError,
    """
    else_ must follow the block of an if_ directly
        put `with affdsl.else_():` right after the with-block of its if_, at the same indentation
    """,
)
def two_elses():
    @af.kernel
    def f(A: af.f32[N]):
        with af.if_(N > 3):
            A[0] = 0.0
        with af.else_():
            A[1] = 0.0
        with af.else_():  # here
            A[2] = 0.0


@mistake(
    af.ProgramError,
    """
    an if_ with results needs an else_ right after it, which yields them too
        write `with affdsl.else_():` and `affdsl.yield_(...)` directly after its block
    """,
)
def results_without_else():
    @af.kernel
    def f(A: af.f32[N]):
        with af.if_(N > 3, af.f32):  # here
            af.yield_(A[0])
        A[0] = 0.0


@mistake(
    af.ProgramError,
    """
    an if_ with results needs an else_ right after it, which yields them too
        write `with affdsl.else_():` and `affdsl.yield_(...)` directly after its block
    """,
)
def results_without_else_at_the_end():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i, af.if_(i > 3, af.f32):  # here
            af.yield_(A[0])


@mistake(
    af.ProgramTypeError,
    """
    if_ needs a condition, got a number of type i32
        compare it: x != 0
    """,
)
def number_as_a_condition():
    @af.kernel
    def f(A: af.i32[N]):
        with af.if_(A[0]):  # here
            A[0] = 0


@mistake(
    af.ProgramTypeError,
    """
    if_ needs a condition like i < n, got 1
    """,
)
def python_number_as_a_condition():
    @af.kernel
    def f(A: af.i32[N]):
        with af.if_(1):  # here
            A[0] = 0


@mistake(
    af.ProgramIndexError,
    """
    the bounds of parallel must be affine, but one is known only as data
        use affdsl.for_, or compute the bound before all loops
    """,
)
def parallel_loop_with_a_bound_from_data():
    @af.kernel
    def f(A: af.f32[N], count: af.i32[N]):
        with af.for_(N) as i, af.parallel(count[i]) as j:  # here
            A[j] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    a parallel reduction of f32 cannot be 'subf'
        possible: addf, mulf, maximumf, minimumf
        for the smallest or largest integer use affdsl.for_ with iter_args
    """,
)
def reduction_of_an_unknown_kind():
    @af.kernel
    def f(A: af.f32[N]):
        with af.parallel(N, reduce=[("subf", af.f32)]) as (i, s):  # here
            af.yield_(A[i] + s)


@mistake(
    af.ProgramError,
    """
    for_(...) is called, but no with-block is made of it
        without its block it does nothing; write `with affdsl.for_(...):`
    """,
)
def loop_without_with():
    @af.kernel
    def f(A: af.f32[N]):
        i = 0
        af.for_(N)  # here
        A[i] = 0.0


@mistake(
    af.ProgramError,
    """
    if_(...) is called, but no with-block is made of it
        without its block it does nothing; write `with affdsl.if_(...):`
    """,
)
def branch_kept_but_never_entered():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            positive = af.if_(A[i] > 0.0)  # here
            A[i] = 0.0
        del positive


@mistake(
    af.ProgramError,
    """
    this for_ has been built already; call affdsl.for_(...) again
    """,
)
def block_entered_twice():
    @af.kernel
    def f(A: af.f32[N]):
        loop = af.for_(N)
        with loop as i:
            A[i] = 0.0
        with loop as i:  # here
            A[i] = 1.0


@mistake(
    af.ProgramError,
    """
    kernel f ends inside of the loop i
        enter each block with its own `with`, so that it ends too
    """,
)
def block_entered_and_never_left():
    @af.kernel
    def f(A: af.f32[N]):
        i = af.for_(N).__enter__()  # here
        A[i] = 0.0


@mistake(
    af.ProgramError,
    """
    the loop i ends before the loop j inside of it
        blocks end in the opposite order in which they begin; enter each with its own `with`
    """,
)
def blocks_that_end_in_the_wrong_order():
    @af.kernel
    def f(A: af.f32[M, N]):
        with ExitStack() as outer:
            inner = ExitStack()
            i = inner.enter_context(af.for_(M))
            j = outer.enter_context(af.for_(N))
            A[i, j] = 0.0
            inner.close()  # here


@mistake(
    af.ProgramError,
    """
    return inside of a with-block of for_
        the block runs once, while the kernel is built, for all of its iterations
        return after all with-blocks; to carry a value out of a loop use iter_args and yield_
    """,
)
def return_in_a_loop():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i] = 0.0
            return  # here


@mistake(
    af.ProgramError,
    """
    break inside of a with-block of for_
        the block runs once, while the kernel is built, for all of its iterations
        to skip the rest for some iterations write `with affdsl.if_(condition):` around it
    """,
)
def break_out_of_a_loop():
    @af.kernel
    def f(A: af.f32[N]):
        for k in range(3):
            with af.for_(N) as i:
                A[i] = k
                break  # here


@mistake(
    af.ProgramError,
    """
    continue inside of a with-block of if_
        the block runs once, while the kernel is built, for all of its iterations
        to skip the rest for some iterations write `with affdsl.if_(condition):` around it
    """,
)
def continue_in_a_branch():
    @af.kernel
    def f(A: af.f32[N]):
        for k in range(3):
            with af.if_(N > k):  # noqa: SIM300
                A[k] = 0.0
                continue  # here


@mistake(
    af.ProgramError,
    """
    a return, break or continue leaves the loop i
        the block runs once, while the kernel is built, for all of its iterations: what follows would be lost
        put a return after all with-blocks; to skip the rest for some iterations use affdsl.if_
    """,
)
def return_in_a_loop_of_a_helper():
    def fill(A, stop):
        with af.for_(A.shape[0]) as i:  # here
            A[i] = 0.0
            if stop:
                return
            A[i] = 1.0

    @af.kernel
    def f(A: af.f32[N]):
        fill(A, True)
        fill(A, False)


@mistake(
    af.ProgramError,
    """
    a return, break or continue leaves the loop i
        the block runs once, while the kernel is built, for all of its iterations: what follows would be lost
        put a return after all with-blocks; to skip the rest for some iterations use affdsl.if_
    """,
)
def return_in_a_loop_under_another_name():
    language = SimpleNamespace(loop=af.for_)

    @af.kernel
    def f(A: af.f32[N]):
        loop = language.loop
        with loop(N) as i:  # here
            A[i] = 0.0
            if len("static") == 6:
                return
        A[0] = 1.0


@mistake(
    af.ProgramTypeError,
    """
    argument b of kernel f has no annotation
        write affdsl.f32[M, N] for an array, affdsl.f32 for a number, affdsl.index or a symbol for a size
    """,
)
def missing_annotation():
    @af.kernel
    def f(A: af.f32[N], b):  # here
        A[0] = b


@mistake(
    af.ProgramTypeError,
    """
    argument A of kernel f is annotated <class 'numpy.ndarray'>
        write affdsl.f32[M, N] for an array, affdsl.f32 for a number, affdsl.index or a symbol for a size
    """,
)
def annotation_of_the_wrong_kind():
    @af.kernel
    def f(A: np.ndarray):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    argument n of kernel f is annotated N + 1, which is not a symbol alone
        write affdsl.f32[M, N] for an array, affdsl.f32 for a number, affdsl.index or a symbol for a size
    """,
)
def annotation_with_an_expression():
    @af.kernel
    def f(n: N + 1, A: af.f32[N]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    affdsl.f32[...] takes sizes, got 'N'
        a size is a whole number, a symbol from affdsl.symbols, or an affine expression of symbols like N + 1
    """,
)
def text_as_a_size():
    @af.kernel
    def f(A: af.f32["N"]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    affdsl.f32[...] takes sizes, got 2.5
        a size is a whole number, a symbol from affdsl.symbols, or an affine expression of symbols like N + 1
    """,
)
def text_as_a_size_in_a_text():
    @af.kernel
    def f(A: "af.f32[2.5]"):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    affdsl.f32[...]: a size cannot be negative, got -1
    """,
)
def negative_size():
    @af.kernel
    def f(A: af.f32[-1]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    const takes an array type like affdsl.f32[N], got f32
    """,
)
def constant_of_a_dtype():
    @af.kernel
    def f(A: af.f32[N], x: af.const(af.f32)):  # here
        A[0] = x


@mistake(
    af.ProgramTypeError,
    """
    kernel f has the argument *arrays; name each argument
        annotate each one: affdsl.f32[M, N] for an array, affdsl.f32 for a number, affdsl.index or a symbol for a size
    """,
)
def any_number_of_arguments():
    @af.kernel
    def f(*arrays: af.f32[N]):  # here
        arrays[0][0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    argument x of kernel f can be given by its name only
        arguments of a kernel have an order: remove the * before it
    """,
)
def argument_by_name_only():
    @af.kernel
    def f(A: af.f32[N], *, x: af.f32):  # here
        A[0] = x


@mistake(
    af.ProgramTypeError,
    """
    argument x of kernel f has a default; kernels take none
        pass it at each call
    """,
)
def default_value():
    @af.kernel
    def f(A: af.f32[N], x: af.f32 = 1.0):  # here
        A[0] = x


@mistake(
    af.ProgramTypeError,
    """
    kernel f is a generator: it has a yield
        a kernel is a plain function, defined with def
        to hand on a value in a loop or branch write affdsl.yield_(...)
    """,
)
def generator():
    @af.kernel
    def f(A: af.f32[N]):  # here
        yield A[0]


@mistake(
    af.ProgramTypeError,
    """
    kernel f is defined with async def
        a kernel is a plain function, defined with def
    """,
)
def asynchronous():
    @af.kernel
    async def f(A: af.f32[N]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    a kernel is made of a lambda, which has no name and no annotations
        a kernel is a plain function, defined with def
    """,
)
def function_without_a_name():
    af.kernel(lambda: None)  # here


@mistake(
    af.ProgramTypeError,
    """
    kernel takes a function defined with def, got <built-in function print>
    """,
)
def no_function_at_all():
    af.kernel(print)  # here


@mistake(
    af.ProgramTypeError,
    """
    kernel takes a function defined with def, got the static method f
        write @staticmethod above @affdsl.kernel
    """,
)
def static_method_the_wrong_way_round():
    def f(A: af.f32[N]):
        pass

    af.kernel(staticmethod(f))  # here


@mistake(
    af.ProgramTypeError,
    """
    affdsl.for_ is a with-block and cannot be iterated over
        write `with affdsl.for_(...) as ...:` instead of `for ... in affdsl.for_(...):`
    """,
)
def loop_over_a_loop():
    @af.kernel
    def f(A: af.f32[N]):
        for i in af.for_(N):  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    index 0 of A must be a whole number, got affdsl.for_(...) without its `with`
        write a whole number, an index, or an integer of the kernel
    """,
)
def loop_without_its_with():
    @af.kernel
    def f(A: af.f32[N]):
        i = af.for_(N)
        A[i] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    / of s (f32) and N (index): the types differ
        convert the index: affdsl.f32(...)
    """,
)
def mean_by_a_size():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=af.f32(0)) as (i, s):
            af.yield_(s + A[i])
        A[0] = s / N  # here


@mistake(
    af.ProgramError,
    """
    kernel f returns its argument A
        A is changed in place: the caller has it already
    """,
)
def returned_argument():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = 0.0
        return A  # here


@mistake(
    af.ProgramNameError,
    """
    T is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; allocate T before it
    """,
)
def returned_array_of_a_loop():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:  # there
            T = af.alloc(af.f32[N])
            T[i] = A[i]
        return T  # here


@mistake(
    af.ProgramError,
    """
    kernel f returns T, which it cannot give away
        return each array once, and allocate it with affdsl.alloc outside of all loops and branches
    """,
)
def returned_array_of_the_stack():
    @af.kernel
    def f(A: af.f32[N]):
        T = af.alloca(af.f32[4])
        T[0] = A[0]
        return T  # here


@mistake(
    af.ProgramError,
    """
    kernel f returns T, which it cannot give away
        return each array once, and allocate it with affdsl.alloc outside of all loops and branches
    """,
)
def array_returned_twice():
    @af.kernel
    def f(A: af.f32[N]):
        T = af.alloc(af.f32[N])
        af.copy(A, T)
        return T, T  # here


@mistake(
    af.ProgramTypeError,
    """
    kernel f returns 3.0
        a kernel returns arrays that it allocates and numbers that it computes; give a Python number a type: affdsl.f64(x)
    """,
)
def returned_python_number():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = 0.0
        return 3.0  # here


@mistake(
    af.ProgramNameError,
    """
    x is used outside of the loop i, where it is defined
        the loop i of line <there> has ended; use x inside of it, or carry its value out with iter_args and yield_
    """,
)
def returned_number_of_a_loop():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:  # there
            x = A[i]
        return x  # here


@mistake(
    af.ProgramError,
    """
    assume takes comparisons of symbols, like affdsl.assume(N >= 2, M == 2 * K)
        it cannot depend on data, and != and | cannot be assumed
    """,
)
def assume_about_data():
    @af.kernel
    def f(A: af.i32[N]):
        af.assume(A[0] > 0)  # here


@mistake(
    af.ProgramError,
    """
    assume stands inside of the branch, but it holds for the whole kernel
        write it before all with-blocks
    """,
)
def assume_inside_of_a_branch():
    @af.kernel
    def f(A: af.i32[N]):
        with af.if_(N > 5):
            af.assume(N >= 6)  # here


@mistake(
    af.ProgramError,
    """
    assume: no sizes make the condition (-1 >= 0) true
    """,
)
def assume_what_cannot_be():
    @af.kernel
    def f(A: af.i32[N]):
        af.assume(N < N)  # here


@mistake(
    af.ProgramError,
    """
    assume takes comparisons of symbols, like affdsl.assume(N >= 2, M == 2 * K)
        it cannot depend on data, and != and | cannot be assumed
    """,
)
def assume_one_of_two():
    @af.kernel
    def f(A: af.i32[N]):
        af.assume((N > 3) | (N < 2))  # here


@mistake(
    af.ProgramError,
    """
    kernel f calls itself
        a kernel's loops are known when it is built, so it cannot be recursive; write a loop with affdsl.for_
    """,
)
def recursion():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N):
            f(A)  # here


@mistake(
    af.ProgramTypeError,
    """
    f takes 2 arguments, got 1
        its arguments are A, B
    """,
)
def too_few_arguments():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[N]):
        af.copy(A, B)

    @af.kernel
    def g(A: af.f32[N]):
        f(A)  # here


@mistake(
    af.ProgramTypeError,
    """
    f has no argument B, or it is given twice
        its arguments are A
    """,
)
def argument_that_does_not_exist():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = 0.0

    @af.kernel
    def g(B: af.f32[N]):
        f(B=B)  # here


@mistake(
    af.ProgramTypeError,
    """
    argument A of f is f32[N], got B: f64[N]
        element type and number of dimensions must be the same: copy it to an array that has them
    """,
)
def argument_of_another_dtype():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = 0.0

    @af.kernel
    def g(B: af.f64[N]):
        f(B)  # here


@mistake(
    af.ProgramTypeError,
    """
    argument x of f is f32, got y (f64)
        convert it: affdsl.f32(...)
    """,
)
def scalar_argument_of_another_dtype():
    @af.kernel
    def f(A: af.f32[N], x: af.f32):
        A[0] = x

    @af.kernel
    def g(B: af.f32[N], y: af.f64):
        f(B, y)  # here


@mistake(
    af.ProgramError,
    """
    dimension 0 of argument B of f must be N = M, but Y has P there
        sizes of a call must agree as expressions; give both arrays the same symbol
    """,
)
def sizes_that_differ():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[N]):
        af.copy(A, B)

    @af.kernel
    def g(X: af.f32[M], Y: af.f32[P]):
        f(X, Y)  # here


@mistake(
    af.ProgramError,
    """
    f is given the array X twice, as A and as B, and writes to it
        arguments of a kernel may not overlap where one is written; copy it first with affdsl.copy
    """,
)
def array_passed_twice():
    @af.kernel
    def f(A: af.f32[N], B: af.f32[N]):
        af.copy(A, B)

    @af.kernel
    def g(X: af.f32[N]):
        f(X, X)  # here


@mistake(
    af.ProgramTypeError,
    """
    X is declared const, but f writes to its argument A
        annotate it as X: affdsl.f32[N]
    """,
)
def constant_array_passed_to_be_written():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = 0.0

    @af.kernel
    def g(X: af.const(af.f32[N])):
        f(X)  # here


@mistake(
    af.ProgramTypeError,
    """
    argument n of f is a size, but a number of type index is known only as data
        pass a number, a symbol, or an expression of them
    """,
)
def data_passed_as_a_size():
    @af.kernel
    def f(n: M, A: af.f32[N]):
        A[0] = 0.0

    @af.kernel
    def g(X: af.f32[N], sizes: af.i32[N]):
        with af.for_(N) as i:
            f(sizes[i], X)  # here


@mistake(
    af.ProgramError,
    """
    f assumes N - 4 >= 0, and is given N = 3, with which it is not true
        call it with arguments for which that holds
    """,
)
def assumption_that_does_not_hold():
    @af.kernel
    def f(A: af.f32[N]):
        af.assume(N >= 4)
        A[3] = 0.0

    @af.kernel
    def g(X: af.f32[3]):
        f(X)  # here


@mistake(
    af.ProgramError,
    """
    before is one more name for s, which the loop i carries
        after the loop it would be what the last iteration yielded, as s is; to keep the value of this iteration write before = +s
    """,
)
def second_name_for_a_carried_value():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N, iter_args=[af.f32(0)]) as (i, s):  # here
            before = s
            af.yield_(s + A[i])
        A[0] = before


@mistake(
    af.ProgramTypeError,
    """
    9223372036854775808 does not fit in index, which holds -9223372036854775808 to 9223372036854775807
        sizes and indices have 64 bits
    """,
)
def index_of_more_than_64_bits():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N) as i:
            A[i + 2**63] = 0.0  # here


@mistake(
    af.ProgramTypeError,
    """
    18446744073709551616 does not fit in index, which holds -9223372036854775808 to 9223372036854775807
        sizes and indices have 64 bits
    """,
)
def bound_of_more_than_64_bits():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(2**64) as i:  # here
            A[i] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    9223372036854775808 does not fit in index, which holds -9223372036854775808 to 9223372036854775807
        sizes and indices have 64 bits
    """,
)
def size_of_more_than_64_bits():
    @af.kernel
    def f(A: af.f32[2**63]):  # here
        A[0] = 0.0


@mistake(
    af.ProgramTypeError,
    """
    a number of type f32 has no operator round
        use affdsl.round(x)
    """,
)
def rounding_with_python():
    @af.kernel
    def f(A: af.f32[N]):
        A[0] = round(A[0])  # here


@mistake(
    af.ProgramError,
    """
    the loop i exchanges the names old, new
        Python does this once, while the block is built, and not in each of its iterations
        write the loop over pairs of steps, from one array to the other and back; exchange numbers by iter_args
    """,
)
def exchanged_buffers():
    @af.kernel
    def f(u: af.f32[N], v: af.f32[N]):
        old, new = u, v
        with af.for_(10) as i:  # here
            new[i] = old[i]
            old, new = new, old


@mistake(
    af.ProgramError,
    """
    the branch exchanges the names a, b, c
        Python does this once, while the block is built, and not in each of its iterations
        write the loop over pairs of steps, from one array to the other and back; exchange numbers by iter_args
    """,
)
def exchanged_numbers_in_a_branch():
    @af.kernel
    def f(a: af.f32, b: af.f32, c: af.f32, x: af.f32[N]):
        with af.if_(a < b):  # here
            a, b, c = b, c, a
            x[0] = a


@pytest.mark.parametrize("run", CASES, ids=lambda run: run.__name__)
def test_mistake(run, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    run()
