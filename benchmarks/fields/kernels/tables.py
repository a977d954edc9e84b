"""What databases do with columns: decoding, probing, hashing, sorting."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below, row_starts
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("tables")


@af.kernel
def unpacked_twelve_bits(x: af.u8[3 * N], y: af.u16[2 * N]):
    with af.for_(N) as i:
        a, b, c = (af.u16(x[3 * i + k]) for k in range(3))
        y[2 * i] = a | ((b & 15) << 8)
        y[2 * i + 1] = (b >> 4) | (c << 4)


@LOOPS.beside(unpacked_twelve_bits, N=8000)
def _(x, y):
    a, b, c = x.reshape(-1, 3).T.astype(np.uint16)
    y[::2] = a | ((b & 15) << 8)
    y[1::2] = (b >> 4) | (c << 4)


@af.kernel
def run_lengths_decoded(first: af.i32[N + 1], value: af.i32[N], out: af.i32[K]):
    with af.for_(N) as r, af.for_(first[r], first[r + 1]) as i:
        out[i] = value[r]


@LOOPS.beside(run_lengths_decoded, given={"first": row_starts("N", "K")}, N=6000, K=100000)
def _(first, value, out):
    out[:] = np.repeat(value, np.diff(first))


@LOOPS.written(N=100000)
def run_starts(x: af.u8[N], out: af.i32[N], n: af.i32[1]):
    k = af.var(af.i32(0))
    with af.for_(1, N) as i:
        out[i] = k
        with af.if_(x[i] // 64 != x[i - 1] // 64):
            k += 1
    n[0] = k


@LOOPS.written(
    given={
        "key": lambda r, s: r.integers(1, 2000, s["N"]).astype("u4"),
        "table": lambda r, s: np.where(r.random(4096) < 0.5, r.integers(1, 2000, 4096), 0).astype("u4"),
    },
    N=50000,
)
def hash_probes(key: af.u32[N], table: af.u32[4096], hit: af.u8[N]):
    with af.for_(N) as i:
        slot = af.var((key[i] * 2654435761) >> 20)
        with af.while_(lambda: (table[slot] != 0) & (table[slot] != key[i])):
            slot.set((slot + 1) & 4095)
        hit[i] = af.u8(table[slot] == key[i])


@af.kernel
def maximum_by_group(key: af.i32[N], v: af.f32[N], m: af.f32[K]):
    with af.for_(N) as i:
        m[key[i]] = af.max(m[key[i]], v[i])


@LOOPS.beside(maximum_by_group, given={"key": below("K", "N")}, N=100000, K=200)
def _(key, v, m):
    np.maximum.at(m, key, v)


@LOOPS.written(M=5000, K=16)
def row_hashes(x: af.u8[M, K], h: af.u32[M]):
    with af.for_(M) as i:
        s = af.var(af.u32(2166136261))
        with af.for_(K) as k:
            s.set((s ^ af.u32(x[i, k])) * 16777619)
        h[i] = s


@LOOPS.written(given={"day": below(40_000, "N")}, N=20000)
def civil_dates(day: af.i32[N], ymd: af.i32[N]):
    with af.for_(N) as i:
        z = day[i] + 719468
        era = z // 146097
        doe = z - era * 146097
        yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
        doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
        mp = (5 * doy + 2) // 153
        d = doy - (153 * mp + 2) // 5 + 1
        m = af.select(mp < 10, mp + 3, mp - 9)
        y = yoe + era * 400 + af.i32(m <= 2)
        ymd[i] = (y * 100 + m) * 100 + d


@af.kernel
def zone_maps(x: af.i64[M, N], lo: af.i64[M], hi: af.i64[M]):
    with af.for_(M) as b:
        least, most = af.var(x[b, 0]), af.var(x[b, 0])
        with af.for_(1, N) as i:
            least.set(af.min(least, x[b, i]))
            most.set(af.max(most, x[b, i]))
        lo[b] = least
        hi[b] = most


@LOOPS.beside(zone_maps, M=200, N=512)
def _(x, lo, hi):
    x.min(axis=1, out=lo)
    x.max(axis=1, out=hi)


@af.kernel
def parsed_digits(text: af.u8[M, 8], out: af.i32[M]):
    with af.for_(M) as i:
        v = af.var(af.i32(0))
        with af.for_(8) as k:
            v.set(10 * v + af.i32(text[i, k]) - 48)
        out[i] = v


@LOOPS.beside(parsed_digits, given={"text": lambda r, s: r.integers(48, 58, (s["M"], 8)).astype("u1")}, M=10000)
def _(text, out):
    out[:] = (text.astype(np.int32) - 48) @ 10 ** np.arange(7, -1, -1, dtype=np.int32)


@LOOPS.written(given={"x": lambda r, s: r.integers(0, 1 << 32, s["N"]).astype("u4")}, N=50000)
def radix_pass(x: af.u32[N], y: af.u32[N]):
    at = af.alloc(af.i32[257])
    with af.for_(257) as b:
        at[b] = 0
    with af.for_(N) as i:
        at[af.i32((x[i] >> 8) & 255) + 1] += 1
    with af.for_(256) as b:
        at[b + 1] += at[b]
    with af.for_(N) as i:
        b = af.i32((x[i] >> 8) & 255)
        y[at[b]] = x[i]
        at[b] += 1
