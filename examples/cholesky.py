"""The Cholesky factor of a symmetric, positive definite matrix, in place."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cholesky as scipy_cholesky

import affdsl as af
from examples.case import Case, report

N = af.symbols("N")


@af.kernel
def cholesky(A: af.f64[N, N]):
    """The lower triangle of A becomes L, where A = L @ L.T; what stands above the diagonal is not touched."""
    with af.for_(N) as i:
        with af.for_(i) as j:
            with af.for_(j) as k:
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        with af.for_(i) as k:
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = af.sqrt(A[i, i])


def reference(a):
    """The same by LAPACK."""
    return scipy_cholesky(a, lower=True) + np.triu(a, 1)


def cases() -> Iterator[Case]:
    """Matrices with eigenvalues from 1 to about 2 and a bit: both ways are then off by less than N * 2**-52."""
    rng = np.random.default_rng(4)
    for n in [0, 1, 2, 3, 8, 13]:
        b = rng.uniform(-1, 1, (n, n)) / max(n, 1) ** 0.5
        a = b @ b.T + np.eye(n)
        yield Case(cholesky, (a,), {"A": reference(a)}, atol=4 * (n + 1) * 2**-52)


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
