"""What explain() says of vectors: which loops run as some, which may, and what is in the way, with its line."""

import affdsl as af

N, M = af.symbols("N M")


@af.kernel
def several(a: af.f32[N], b: af.f32[N], c: af.f32[N, M], at: af.index[N], total: af.f32[1]):
    with af.for_(2, N) as i:
        a[i] = a[i - 2] * 2.0
    with af.for_(N) as j, af.for_(M) as k:
        b[j] = c[j, k] + a[N - 1 - j]
    with af.for_(N) as p:
        total[0] += a[at[p]]
    with af.for_(3) as q:
        a[q] = 0.0


LINE = several.loops()[0].loop.location.line - 1


def vectors(s):
    return s.explain().partition("\nvectors:\n")[2].splitlines()


def test_each_loop_is_tried():
    store, load = f"the store total[0] at line {LINE + 6}", f"the load total[0] at line {LINE + 6}"
    order = "the new order does not run them in this order"
    assert vectors(af.Schedule(several)) == [
        f"    i: no: the store a[i] at line {LINE + 2} feeds the load a[i - 2] at line {LINE + 2} with distance (2),",
        f"        e.g. i = 2 writes a[2], which i = 4 reads (for N = 6, M = 0); {order}",
        "    j: may be vectorized",
        f"        c at line {LINE + 4}: one lane after the other",
        "    k: may be vectorized",
        f"    p: no: {store} feeds {load} with distance (1..*),",
        f"        e.g. p = 0 writes total[0], which p = 1 reads (for N = 4, M = 0); {order}",
        "    q: no: it runs at most 3 times",
    ]


def test_a_loop_that_is_vectorized_says_how():
    s = af.Schedule(several).vectorize("k", 8)
    assert vectors(s)[2:6] == [
        "    j: k inside of it is",
        "    k: 8 lanes at once",
        f"        b at line {LINE + 4}: one lane after the other",
        "    k_2: may be vectorized",
    ]
