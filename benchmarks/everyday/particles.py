"""Points that are compared with points."""

import math

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
D, K, M, N = af.symbols("D K M N")


@af.kernel
def forces_of_bodies(
    x: af.f64[N], y: af.f64[N], z: af.f64[N], mass: af.f64[N], ax: af.f64[N], ay: af.f64[N], az: af.f64[N]
):
    """How the bodies of a cluster pull at each other."""
    with af.for_(N) as i:
        sx = af.var(af.f64(0))
        sy = af.var(af.f64(0))
        sz = af.var(af.f64(0))
        with af.for_(N) as j:
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 1e-6
            pull = mass[j] / (r2 * af.sqrt(r2))
            sx += pull * dx
            sy += pull * dy
            sz += pull * dz
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


@LOOPS.beside(forces_of_bodies, lambda r, n: (*r.normal(size=(4, n)), *np.zeros((3, n))), 800, tolerance=1e-9)
def _(x, y, z, mass, ax, ay, az):
    for i in range(len(x)):
        sx = sy = sz = 0.0
        for j in range(len(x)):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 1e-6
            pull = mass[j] / (r2 * math.sqrt(r2))
            sx += pull * dx
            sy += pull * dy
            sz += pull * dz
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


@af.kernel
def pairwise_distances(a: af.f64[M, D], b: af.f64[N, D], out: af.f64[M, N]):
    """The distance of each point to each of others."""
    with af.for_(M) as i, af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(D) as d:
            apart = a[i, d] - b[j, d]
            total += apart * apart
        out[i, j] = af.sqrt(total)


@LOOPS.beside(
    pairwise_distances,
    lambda r, n: (r.normal(size=(n, 24)), r.normal(size=(n - 1, 24)), np.zeros((n, n - 1))),
    450,
    tolerance=1e-12,
)
def _(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for d in range(a.shape[1]):
                apart = a[i, d] - b[j, d]
                total += apart * apart
            out[i, j] = math.sqrt(total)


@af.kernel
def step_of_k_means(
    points: af.f64[N, 3], centers: af.f64[K, 3], label: af.i64[N], sums: af.f64[K, 3], count: af.i64[K]
):
    """Which center is nearest to each point of space, and the sums of the points of each."""
    with af.for_(N) as i:
        nearest = af.var(af.i64(0))
        least = af.var(af.f64(math.inf))
        with af.for_(K) as k:
            total = af.var(af.f64(0))
            with af.for_(3) as d:
                apart = points[i, d] - centers[k, d]
                total += apart * apart
            with af.if_(total < least):
                least.set(total)
                nearest.set(af.i64(k))
        label[i] = nearest
        count[nearest] += 1
        with af.for_(3) as d:
            sums[nearest, d] += points[i, d]


@LOOPS.beside(
    step_of_k_means,
    lambda r, n: (
        r.normal(size=(n, 3)), r.normal(size=(16, 3)), np.zeros(n, "i8"), np.zeros((16, 3)), np.zeros(16, "i8")
    ),
    20000,
    tolerance=1e-9,
)  # fmt: skip
def _(points, centers, label, sums, count):
    for i in range(points.shape[0]):
        nearest = 0
        least = math.inf
        for k in range(centers.shape[0]):
            total = 0.0
            for d in range(3):
                apart = points[i, d] - centers[k, d]
                total += apart * apart
            if total < least:
                least = total
                nearest = k
        label[i] = nearest
        count[nearest] += 1
        for d in range(3):
            sums[nearest, d] += points[i, d]


@af.kernel
def energy_of_a_gas(x: af.f64[N], y: af.f64[N], z: af.f64[N], energy: af.f64[1], reach: af.f64):
    """What all pairs of atoms have after Lennard-Jones that are near enough."""
    total = af.var(af.f64(0))
    with af.for_(N) as i, af.for_(i + 1, N) as j:
        dx, dy, dz = x[i] - x[j], y[i] - y[j], z[i] - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        with af.if_(r2 < reach * reach):
            q = 1 / r2
            q6 = q * q * q
            total += 4 * (q6 * q6 - q6)
    energy[0] = total


@LOOPS.beside(energy_of_a_gas, lambda r, n: (*(10 * r.random((3, n))), np.zeros(1), 3.0), 1500, tolerance=1e-9)
def _(x, y, z, energy, reach):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            dx, dy, dz = x[i] - x[j], y[i] - y[j], z[i] - z[j]
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < reach * reach:
                q = 1 / r2
                q6 = q * q * q
                total += 4 * (q6 * q6 - q6)
    energy[0] = total


@af.kernel
def points_in_a_polygon(px: af.f64[N], py: af.f64[N], x: af.f64[M + 1], y: af.f64[M + 1], inside: af.u8[N]):
    """Which points of a map lie within a border: those from which a ray crosses it an odd number of times."""
    with af.for_(N) as i:
        odd = af.var(af.i32(0))
        with af.for_(M) as e, af.if_((y[e] > py[i]) != (y[e + 1] > py[i])):
            with af.if_(px[i] < (x[e + 1] - x[e]) * (py[i] - y[e]) / (y[e + 1] - y[e]) + x[e]):
                odd.set(1 - odd)
        inside[i] = af.cast(odd, af.u8)


def _map(r: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    angle, far = np.linspace(0, 2 * np.pi, 51), 1 + 0.3 * r.random(51)
    far[-1] = far[0]
    return (*r.uniform(-1.5, 1.5, (2, n)), far * np.cos(angle), far * np.sin(angle), np.zeros(n, "u1"))


@LOOPS.beside(points_in_a_polygon, _map, 40000)
def _(px, py, x, y, inside):
    for i in range(len(px)):
        odd = 0
        for e in range(len(x) - 1):
            crosses = (y[e] > py[i]) != (y[e + 1] > py[i])
            if crosses and px[i] < (x[e + 1] - x[e]) * (py[i] - y[e]) / (y[e + 1] - y[e]) + x[e]:
                odd = 1 - odd
        inside[i] = odd
