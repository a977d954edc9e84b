"""Every kind of value with every operator and method: each gives a result, or an error that teaches."""

import numpy as np
import pytest

import affdsl as af

N = af.symbols("N")


@af.kernel
def other(x: af.f64[N]):
    x[0] = 1.0


KINDS = {
    "index": "i", "symbol": "N", "affine": "i + 2 * N", "extremum": "af.min(i, N)", "data index": "af.index(A[0])",
    "i32": "B[0]", "u8": "U[0]", "f64": "F[0]", "bf16": "af.bf16(F[0])", "bool": "af.bool_(i > 1)",
    "condition": "i >= 1", "vector of floats": "af.vector_load(F, (0,), 4)",
    "vector of integers": "af.vector_load(B, (0,), 4)", "array": "F",
}  # fmt: skip
OTHERS = {
    "kernel": "other", "None": "None", "int": "5", "float": "2.5", "complex": "2j", "text": "'x'",
    "NumPy array": "np.ones(3)", "NumPy number": "np.float64(2)", "truth": "True", "large": "10**30",
}  # fmt: skip
BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!="]
UNARY = """
    -{} +{} ~{} abs({}) round({}) round({},2) np.floor({}) np.ceil({}) int({}) float({}) complex({}) bool({}) len({})
    iter({}) {}[0] {}(0) {}.ceildiv(2) {}.ceildiv(N) {}.ceildiv(B[0]) {}.ceildiv(0) {}.floordiv(2) {}.astype('f4')
    {}.shape {}.T {}.dtype {}.sum() {}.min() {}.max() {}.value np.sqrt({}) np.add({},1) divmod({},2) divmod(7,{})
    pow({},2,3) hash({}) str({}) repr({}) format({},'.2f') format({}) range({}) [0,1,2][{}] 'a'*{} {}.real {}.item()
    {}.copy() {}.fill(0) {}.size {}.ndim {}.foo sum([{}]) max({},1) sorted([{},{}]) {}.reshape(2) {}.mean() {}.dot(F)
    list({}) copy.copy({}) delete({}) hasattr({},'foo') {}.exp() {}.sqrt {}.clip(0,1)""".split()


def delete(x: object) -> None:
    del x[0]


def tried(expressions: list[str]) -> dict[str, object]:
    """What each expression gives in a kernel, or raises."""
    import copy  # noqa: PLC0415 - a name for the expressions

    found: dict[str, object] = {}

    @af.kernel
    def kernel(A: af.i64[N], B: af.i32[N], U: af.u8[N], F: af.f64[N]):
        af.assume(N >= 5)
        with af.for_(2, N) as i:
            names = {"A": A, "B": B, "U": U, "F": F, "i": i, "np": np, "af": af, "N": N, "other": other}
            for expression in expressions:
                try:
                    found[expression] = eval(expression, names | {"delete": delete, "copy": copy})  # noqa: S307
                except Exception as error:  # noqa: BLE001 - what it is, the test says
                    found[expression] = error

    assert kernel.name
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_operator_and_method_gives_a_result_or_an_error_that_teaches(kind):
    x = KINDS[kind]
    pairs = [(x, y) for y in (KINDS | OTHERS).values()] + [(y, x) for y in OTHERS.values()]
    expressions = [f"({a}) {symbol} ({b})" for a, b in pairs for symbol in BINARY]
    expressions += [form.replace("{}", f"({x})") for form in UNARY]
    raised = {e: r for e, r in tried(expressions).items() if isinstance(r, Exception)}
    assert {e: repr(r) for e, r in raised.items() if not isinstance(r, af.AffdslError)} == {}
    assert all(str(r).startswith("tests/lang/test_operators.py:") or "<string>:1" in str(r) for r in raised.values())


def test_ceildiv_of_data():
    @af.kernel
    def rounded(A: af.i64[N], B: af.u8[N], out: af.i64[8, N]):
        with af.for_(N) as i:
            a, n = af.index(A[i]), af.min(i, N - 1)
            out[0, i] = af.i64(a.ceildiv(2))
            out[1, i] = A[i].ceildiv(-3)
            out[2, i] = af.i64(B[i].ceildiv(3))
            out[3, i] = af.i64((a + i).ceildiv(N))
            out[4, i] = af.i64(n.ceildiv(2))
            out[5, i] = af.i64(i.ceildiv(a))
            out[6, i] = A[i].ceildiv(A[0])
            v = af.vector_load(A, (i,), 1).ceildiv(2)
            af.vector_store(v, out, (7, i))

    def ceil(a: np.ndarray, b: object) -> np.ndarray:
        return np.where(np.equal(b, 0), 0, -(-a // np.where(np.equal(b, 0), 1, b)))

    a, b, i = np.array([3, -7, 0, 2**63 - 1]), np.array([255, 1, 0, 9], "u1"), np.arange(4)
    wanted = [
        ceil(a, 2),
        ceil(a, -3),
        ceil(b.astype(int), 3),
        ceil(a[:3] + i[:3], 4),
        ceil(i, 2),
        ceil(i, a),
        ceil(a, 3),
    ]
    for run in (rounded, rounded.interpret):
        out = np.empty((8, 4), "i8")
        run(a, b, out)
        for k, row in enumerate(wanted):
            assert out[k, : len(row)].tolist() == row.tolist(), k
        assert out[7].tolist() == wanted[0].tolist()


def test_what_to_write_instead_is_said():
    found = tried(
        ["A[0].astype('f4')", "F[0].ceildiv(2)", "F.T", "F(i)", "i.foo", "F[0].exp()", "i.floordiv(2)", "F.sum()"]
    )
    said = [str(found[e]).replace("\n    ", " | ") for e in found]
    assert [s.partition(": ")[2] for s in said] == [
        "a number of type i64 has no attribute astype | write affdsl.f32(x), affdsl.i64(x), ... to convert",
        "f64 has no operator ceildiv | use affdsl.ceil(a / b)",
        "the array F has no attribute T | exchange the indices instead: A[j, i]",
        "F is an array and cannot be called | an element is F[i], with brackets",
        "the index i has no attribute foo",
        "a number of type f64 has no attribute exp | write affdsl.exp(x)",
        "the index i has no attribute floordiv | write x // y",
        "the array F has no attribute sum | write a loop and use F[i]",
    ]
