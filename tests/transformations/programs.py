"""The programs of the table of cases: small, with sizes, each with one thing that makes a step legal or not."""

# ruff: noqa: F841, RUF059  a loop is called as the variable that it is bound to
from __future__ import annotations

import affdsl as af
from affdsl.ir.dialects.func import Module
from affdsl.mlir.readers import parse

N, M = af.symbols("N M")


@af.kernel
def heat(A: af.i64[N + 2, N + 2]):
    """Each row is a time: an element is made of its three neighbours in the row before."""
    with af.for_(N) as t, af.for_(1, N + 1) as s:
        A[t + 1, s] = A[t, s - 1] + A[t, s] * 3 + A[t, s + 1]


@af.kernel
def jacobi(A: af.i64[N + 2], B: af.i64[N + 2], T: af.index):
    with af.for_(T) as t:
        with af.for_(1, N + 1) as s:
            B[s] = A[s - 1] + A[s + 1]
        with af.for_(1, N + 1) as u:
            A[u] = B[u]


@af.kernel
def seidel(A: af.i64[N + 2], T: af.index):
    with af.for_(T) as t, af.for_(1, N + 1) as s:
        A[s] = A[s - 1] + A[s] * 5 + A[s + 1]


@af.kernel
def seidel_2d(A: af.i64[N + 2, N + 2]):
    with af.for_(1, N + 1) as i, af.for_(1, N + 1) as j:
        A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i + 1, j] + A[i, j + 1]


@af.kernel
def diagonal(A: af.i64[N + 2, N + 2]):
    """Distance (1, -1)."""
    with af.for_(1, N + 1) as i, af.for_(N) as j:
        A[i, j] = A[i - 1, j + 1] + 1


@af.kernel
def prefix(A: af.i64[N + 1]):
    with af.for_(1, N + 1) as i:
        A[i] = A[i - 1] * 3 + A[i]


@af.kernel
def far(A: af.i64[N + 4]):
    """Distance 4."""
    with af.for_(N) as i:
        A[i + 4] = A[i] * 7


@af.kernel
def ahead(A: af.i64[N + 3]):
    """Each iteration reads what a later one overwrites."""
    with af.for_(N) as i:
        A[i] = A[i + 2] * 7


@af.kernel
def halves(A: af.i64[2 * N + 1]):
    """The two halves never meet."""
    with af.for_(N) as i:
        A[i] = A[i + N] + 1


@af.kernel
def parity(A: af.i64[2 * N + 2]):
    """Even elements are made of odd ones."""
    with af.for_(N) as i:
        A[2 * i] = A[2 * i + 1] * 3


@af.kernel
def backwards(A: af.i64[N + 1]):
    with af.for_(N + 1) as i:
        A[i] = A[N - i] + 1


@af.kernel
def overwritten(A: af.i64[N + 1]):
    """Each element is stored by two iterations: the later one stays."""
    with af.for_(N) as i, af.for_(2) as j:
        A[i + j] = af.i64(10 * i + j)


@af.kernel
def transposed(A: af.i64[N, N], B: af.i64[N, N]):
    with af.for_(N) as i, af.for_(i) as j:
        B[j, i] = A[i, j]


@af.kernel
def forward(L: af.i64[N, N], x: af.i64[N]):
    """Forward substitution, without the division."""
    with af.for_(N) as i, af.for_(i) as j:
        x[i] -= L[i, j] * x[j]


@af.kernel
def upper(A: af.i64[N + 1, N + 1]):
    with af.for_(N) as i, af.for_(i, N) as j:
        A[i, j] = A[i + 1, j] + 1


@af.kernel
def falling(A: af.i64[N + 1, 2 * N + 1]):
    """A triangle whose rows read to the right in the row before."""
    with af.for_(1, N) as i, af.for_(i) as j:
        A[i, j] = A[i - 1, j + 2] + 1


@af.kernel
def update(A: af.i64[N, N]):
    """The update of Cholesky."""
    with af.for_(N) as k, af.for_(k + 1, N) as i, af.for_(k + 1, i + 1) as j:
        A[i, j] -= A[i, k] * A[j, k]


@af.kernel
def product(A: af.i64[N, N], B: af.i64[N, N], C: af.i64[N, N]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def float_product(A: af.f64[N, N], B: af.f64[N, N], C: af.f64[N, N]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def total(A: af.i64[N, N], s: af.i64[1]):
    with af.for_(N) as i, af.for_(N) as j:
        s[0] += A[i, j]


@af.kernel
def float_total(A: af.f64[N, N], s: af.f64[1]):
    with af.for_(N) as i, af.for_(N) as j:
        s[0] += A[i, j]


@af.kernel
def carried(A: af.i64[N], s: af.i64[1]):
    with af.for_(N, iter_args=af.i64(7)) as (i, t):
        af.yield_(t + A[i])
    s[0] = t


@af.kernel
def float_carried(A: af.f64[N], s: af.f64[1]):
    with af.for_(N, iter_args=af.f64(7)) as (i, t):
        af.yield_(t + A[i])
    s[0] = t


@af.kernel
def fibonacci(s: af.i64[2], n: af.index):
    """Two values, handed on crosswise: no sum."""
    with af.for_(n, iter_args=[af.i64(0), af.i64(1)]) as (k, a, b):
        af.yield_(b, a + b)
    s[0] = a
    s[1] = b


@af.kernel
def rows(A: af.i64[N, N], s: af.i64[N]):
    with af.for_(N) as i:
        with af.for_(N, iter_args=af.i64(0)) as (j, t):
            af.yield_(t * 3 + A[i, j])
        s[i] = t


@af.kernel
def counted(A: af.i64[N], s: af.i64[1]):
    """The sum so far is stored: it is seen in between."""
    with af.for_(N) as i:
        s[0] += A[i]
        A[i] = s[0]


@af.kernel
def copied(A: af.i64[N, M], B: af.i64[N, M]):
    with af.for_(N) as i, af.for_(M) as j:
        B[i, j] = A[i, j] * 3


@af.kernel
def stepped(A: af.i64[N + 3, M + 2]):
    with af.for_(1, N + 1, 3) as i, af.for_(0, M, 2) as j:
        A[i + 1, j + 1] = A[i, j] + 1


@af.kernel
def wavefront(A: af.i64[N + 1, N + 1]):
    """Of each step of t, the iterations of s are independent."""
    with af.for_(N) as t, af.parallel(N) as s:
        A[t + 1, s] = A[t, s] * 3 + 1


@af.kernel
def nested(A: af.i64[N + 1, N + 1]):
    """A loop that is independent, in one that is not."""
    with af.for_(1, N) as i:
        with af.for_(N) as j:
            A[i, j] = A[i - 1, j] + 1


@af.kernel
def guarded(A: af.i64[N + 1, N + 1]):
    """The dependence (1, -1) only where i + j < 3."""
    with af.for_(1, N + 1) as i, af.for_(N) as j:
        with af.if_(i + j < 3):
            A[i, j] = A[i - 1, j + 1] + 1


@af.kernel
def guarded_away(A: af.i64[N + 1, N + 1]):
    """No two iterations below the condition depend on each other."""
    with af.for_(1, N + 1) as i, af.for_(N) as j:
        with af.if_(i >= N):
            A[i, j] = A[i - 1, j + 1] + 1


@af.kernel
def first_only(A: af.i64[N + 1], n: af.index):
    """The condition does not depend on the loop."""
    with af.for_(N) as i:
        with af.if_(n >= 3):
            A[i] = A[i] * 5
        with af.else_():
            A[i + 1] = A[i] + 1


@af.kernel
def on_the_edge(A: af.i64[N + 1]):
    """The condition is of the loop."""
    with af.for_(N) as i:
        with af.if_(i >= 2):
            A[i] = A[0] + 1


@af.kernel
def pairs(A: af.i64[N + 1], B: af.i64[N + 1], C: af.i64[N + 1]):
    """The second statement reads what the first one wrote, in the same and in the last iteration."""
    with af.for_(1, N + 1) as i:
        A[i] = C[i] + 1
        B[i] = A[i] + A[i - 1]


@af.kernel
def cycle(A: af.i64[N + 1], B: af.i64[N + 1]):
    with af.for_(1, N + 1) as i:
        A[i] = B[i - 1] + 1
        B[i] = A[i] * 3


@af.kernel
def crossed(A: af.i64[N + 2], B: af.i64[N + 2]):
    """The first statement reads what the second one overwrites later."""
    with af.for_(N) as i:
        B[i] = A[i + 1]
        A[i] = B[i + 2]


@af.kernel
def imperfect(A: af.i64[N + 1, N + 1], s: af.i64[N + 1]):
    with af.for_(N) as i:
        s[i] = 1
        with af.for_(N) as j:
            A[i, j] = s[i] + 1
        s[i + 1] = A[i, 0]


@af.kernel
def invariant(A: af.i64[N + 1], B: af.i64[N + 1]):
    """What is loaded is the same in each iteration."""
    with af.for_(N) as i:
        A[i] = B[0] + 1


@af.kernel
def reused(A: af.i64[N + 1], B: af.i64[N + 1]):
    with af.for_(N) as i:
        B[i] = A[i] + 1
        B[i] = B[i] * A[i]


@af.kernel
def scratch(A: af.i64[N, M], B: af.i64[N, M]):
    """A row that each iteration of i fills and reads."""
    t = af.alloc(af.i64[M])
    with af.for_(N) as i:
        with af.for_(M) as j:
            t[j] = A[i, j] + 1
        with af.for_(M) as k:
            B[i, k] = t[k] * 3


@af.kernel
def handed_on(A: af.i64[N, M], B: af.i64[N, M]):
    """A row that an iteration of i reads as the last one left it."""
    t = af.alloc(af.i64[M])
    with af.for_(M) as z:
        t[z] = 0
    with af.for_(N) as i:
        with af.for_(M) as k:
            B[i, k] = t[k] * 3
        with af.for_(M) as j:
            t[j] = A[i, j] + 1


@af.kernel
def kept(A: af.i64[N], B: af.i64[N]):
    """What an iteration leaves alone is still there from the one before."""
    t = af.alloc(af.i64[1])
    t[0] = 0
    with af.for_(N) as i:
        with af.if_(i % 2 == 0):
            t[0] = A[i]
        B[i] = t[0] * 3


@af.kernel
def handed_down(A: af.i64[N + 1, 8], B: af.i64[N, 8]):
    """Each iteration reads the row that the one before wrote."""
    with af.for_(N) as i:
        with af.for_(8) as j:
            B[i, j] = A[i, j] * 3
        with af.for_(8) as k:
            A[i + 1, k] = B[i, k] + 1


def _text(body: str, before: str = "", args: str = "%A: memref<32x32xi64>, %B: memref<32x32xi64>, %n: index") -> Module:
    return parse(f"{before}\nfunc.func @f({args}) {{\n{body}\nreturn\n}}", "case.mlir")


TEXTS: dict[str, Module] = {
    # Bounds of several kinds, and loops that never run
    "clipped": _text("""affine.for %i = 0 to %n {
      affine.for %j = max affine_map<(d0) -> (0, d0 - 3)>(%i) to min affine_map<(d0)[s0] -> (s0, d0 + 4)>(%i)[%n] {
        %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
        affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
      } }"""),
    "never": _text("""affine.for %i = 5 to 5 { affine.for %j = 0 to %n {
        %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
        affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
      } }"""),
    "once": _text("""affine.for %i = 5 to 6 { affine.for %j = 0 to %n {
        %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
        affine.store %a, %A[%i, %j] : memref<32x32xi64>
      } }"""),
    "seven": _text("""affine.for %i = 0 to 7 { affine.for %j = 0 to 5 {
        %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
        affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
      } }"""),
    "chain": _text("""affine.for %i = 1 to 9 {
        %a = affine.load %A[%i - 1, 0] : memref<32x32xi64>
        %b = affine.load %B[%i, 0] : memref<32x32xi64>
        %c = arith.muli %a, %b : i64
        affine.store %c, %A[%i, 0] : memref<32x32xi64>
      }"""),
    # What is loaded is overwritten by the first iteration
    "varying": _text("""affine.for %i = 0 to %n {
        %a = affine.load %A[0, 0] : memref<32x32xi64>
        %b = arith.muli %a, %a : i64
        affine.store %b, %A[%i, 0] : memref<32x32xi64>
      }"""),
    "outside": _text("""%b = affine.load %B[0, 0] : memref<32x32xi64>
      affine.for %i = 0 to %n {
        %c = affine.load %A[%i, 0] : memref<32x32xi64>
        %d = arith.addi %b, %c : i64
        affine.store %d, %A[%i, 0] : memref<32x32xi64>
      }"""),
    "beside": _text("""affine.for %i = 0 to %n {
        %b = affine.load %B[%i, 0] : memref<32x32xi64>
        affine.store %b, %A[%i, 9] : memref<32x32xi64>
        affine.for %j = 0 to 5 {
          %c = affine.load %A[%i, %j + 9] : memref<32x32xi64>
          %d = arith.muli %c, %b : i64
          affine.store %d, %A[%i, %j + 10] : memref<32x32xi64>
        }
        %e = affine.load %A[%i, 14] : memref<32x32xi64>
        affine.store %e, %B[%i, 1] : memref<32x32xi64>
      }"""),
    # The inner loop never has three iterations
    "few": _text("""affine.for %i = 0 to %n { affine.for %j = 0 to affine_map<(d0) -> (d0 mod 3)>(%i) {
        affine.for %k = 0 to 3 {
          %a = affine.load %A[%j, %k + 1] : memref<32x32xi64>
          affine.store %a, %A[%j + 1, %k] : memref<32x32xi64>
        } } }"""),
    # Only the last two iterations of the outer loop depend on each other
    "late": _text("""affine.for %i = 0 to 6 { affine.for %j = 1 to 4 {
        affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
          %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
          affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
        } } }"""),
    "straight": _text("""affine.for %i = 0 to 7 { affine.for %j = 0 to 5 {
        %a = affine.load %A[%i, %j] : memref<32x32xi64>
        affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
      } }"""),
    "rectangle": _text("""affine.for %i = 0 to 7 { affine.for %j = 0 to 5 {
        %a = affine.load %B[%i, %j + 1] : memref<32x32xi64>
        affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
      } }"""),
    # A negative size has a positive square
    "square": _text("""affine.for %i = 0 to %n { affine.for %j = 0 to %n {
        %a = affine.load %B[%i, %j] : memref<32x32xi64>
        affine.store %a, %A[%j, %i] : memref<32x32xi64>
      } }"""),
    # Iterations counted by an outer loop that has the only reader of a promoted one
    "counted twice": _text("""affine.for %i = -1 to %n {
      affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 3)>(%i) step 4 {
        %a = affine.load %B[%j + 1, 0] : memref<32x32xi64>
        affine.store %a, %A[%j + 2, 1] : memref<32x32xi64>
      } }"""),
    # Indices
    "modulo": _text("""affine.for %i = 0 to %n {
        %a = affine.load %A[%i, 0] : memref<32x32xi64>
        affine.store %a, %B[%i mod 3, 0] : memref<32x32xi64>
      }"""),
    "blocks": _text("""affine.for %i = 0 to %n {
        %a = affine.load %A[%i, 0] : memref<32x32xi64>
        affine.store %a, %B[%i floordiv 2, %i mod 2] : memref<32x32xi64>
      }"""),
    "scattered": _text("""affine.for %i = 0 to %n {
        %k = affine.load %I[%i] : memref<32xindex>
        %a = affine.load %A[%i, 0] : memref<32x32xi64>
        memref.store %a, %B[%k, %k] : memref<32x32xi64>
      }""", args="%A: memref<32x32xi64>, %B: memref<32x32xi64>, %I: memref<32xindex>, %n: index"),
    "linear": _text("""affine.for %i = 0 to %n { affine.for %j = 0 to %m {
        %a = affine.load %B[%i, %j] : memref<32x32xi64>
        affine.store %a, %A[%i * symbol(%m) + %j] : memref<1024xi64>
      } }""", args="%A: memref<1024xi64>, %B: memref<32x32xi64>, %n: index, %m: index"),
    # Two names for one buffer
    "views": _text("""%v = memref.subview %A[0, 0] [31, 32] [1, 1]
        : memref<32x32xi64> to memref<31x32xi64, strided<[32, 1]>>
      %w = memref.subview %A[1, 0] [31, 32] [1, 1]
        : memref<32x32xi64> to memref<31x32xi64, strided<[32, 1], offset: 32>>
      affine.for %i = 0 to %n { affine.for %j = 1 to %n {
        %a = affine.load %v[%i, %j] : memref<31x32xi64, strided<[32, 1]>>
        affine.store %a, %w[%i, %j - 1] : memref<31x32xi64, strided<[32, 1], offset: 32>>
      } }"""),
    "views apart": _text("""%v = memref.subview %A[0, 0] [16, 32] [1, 1]
        : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1]>>
      %w = memref.subview %A[16, 0] [16, 32] [1, 1]
        : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1], offset: 512>>
      affine.for %i = 0 to 5 { affine.for %j = 1 to 6 {
        %a = affine.load %v[%i, %j] : memref<16x32xi64, strided<[32, 1]>>
        affine.store %a, %w[%i, %j - 1] : memref<16x32xi64, strided<[32, 1], offset: 512>>
      } }"""),
    "views to n": _text("""%v = memref.subview %A[0, 0] [16, 32] [1, 1]
        : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1]>>
      %w = memref.subview %A[16, 0] [16, 32] [1, 1]
        : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1], offset: 512>>
      affine.for %i = 0 to %n { affine.for %j = 1 to %n {
        %a = affine.load %v[%i, %j] : memref<16x32xi64, strided<[32, 1]>>
        affine.store %a, %w[%i, %j - 1] : memref<16x32xi64, strided<[32, 1], offset: 512>>
      } }"""),
    "casts": _text("""%v = memref.cast %A : memref<32x32xi64> to memref<?x32xi64>
      affine.for %i = 0 to %n {
        %a = affine.load %A[%i, 0] : memref<32x32xi64>
        affine.store %a, %v[%i + 1, 0] : memref<?x32xi64>
      }"""),
    "flat": _text("""%v = memref.collapse_shape %A [[0, 1]] : memref<32x32xi64> into memref<1024xi64>
      affine.for %i = 0 to %n {
        %a = affine.load %A[%i, 1] : memref<32x32xi64>
        affine.store %a, %v[%i * 32 + 33] : memref<1024xi64>
      }"""),
    "handles": _text("""%g = memref.get_global @g : memref<32xi64>
      %h = memref.get_global @g : memref<32xi64>
      affine.for %i = 0 to %n {
        %a = affine.load %g[%i] : memref<32xi64>
        %b = affine.load %A[%i, 0] : memref<32x32xi64>
        %c = arith.addi %a, %b : i64
        affine.store %c, %h[%i + 1] : memref<32xi64>
        affine.store %a, %B[%i, 0] : memref<32x32xi64>
      }""", 'memref.global "private" @g : memref<32xi64> = dense<3>'),
    # Calls
    "calls": _text("""affine.for %i = 0 to %n {
        func.call @next(%A, %i) : (memref<32x32xi64>, index) -> ()
      }""", """func.func private @next(%X: memref<32x32xi64>, %i: index) {
        %a = affine.load %X[symbol(%i), 0] : memref<32x32xi64>
        affine.store %a, %X[symbol(%i) + 1, 0] : memref<32x32xi64>
        return
      }"""),
    "other calls": _text("""affine.for %i = 0 to %n {
        %s = func.call @square(%i) : (index) -> i64
        affine.store %s, %A[%i, 0] : memref<32x32xi64>
      }""", """func.func private @square(%i: index) -> i64 {
        %a = arith.index_cast %i : index to i64
        %b = arith.muli %a, %a : i64
        return %b : i64
      }"""),
    # Vectors
    "vectors": _text("""affine.for %i = 0 to %n {
        %a = affine.vector_load %A[%i, 0] : memref<32x32xi64>, vector<4xi64>
        affine.vector_store %a, %A[%i, 3] : memref<32x32xi64>, vector<4xi64>
      }"""),
    "lanes": _text("""affine.for %i = 0 to 7 { affine.for %j = 0 to %n {
        %a = affine.vector_load %A[%i, %j] : memref<32x32xi64>, vector<4xi64>
        affine.vector_store %a, %A[%i + 1, %j] : memref<32x32xi64>, vector<4xi64>
      } }"""),
}  # fmt: skip


def module_of(name: str) -> Module:
    """The module of a program: a kernel of this file, or a text."""
    if name in TEXTS:
        return TEXTS[name]
    kernel = globals()[name]
    assert isinstance(kernel, af.Kernel), name
    return kernel.module
