"""Sound: conversions of samples, and effects."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, N

LOOPS = Group("audio")


@af.kernel
def tremolo(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = x[i] * (1.0 + 0.5 * af.sin(af.f32(i) * 0.0007))


@LOOPS.beside(tremolo, tolerance=1e-5, N=48000)
def _(x, y):
    y[:] = x * (1 + 0.5 * np.sin(np.arange(len(x), dtype=np.float32) * np.float32(0.0007)))


@af.kernel
def soft_clip(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = x[i] / (1.0 + af.abs(x[i]))


@LOOPS.beside(soft_clip, tolerance=1e-5, N=48000)
def _(x, y):
    y[:] = x / (1 + np.abs(x))


@af.kernel
def float_to_short(x: af.f32[N], y: af.i16[N]):
    with af.for_(N) as i:
        y[i] = af.i16(af.min(af.max(x[i] * 8192.0, -32768.0), 32767.0))


@LOOPS.beside(float_to_short, N=100000)
def _(x, y):
    y[:] = np.clip(x * np.float32(8192), -32768, 32767)


@af.kernel
def short_to_float(x: af.i16[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = af.f32(x[i]) / 32768.0


@LOOPS.beside(short_to_float, tolerance=1e-5, N=100000)
def _(x, y):
    y[:] = x / np.float32(32768)


@af.kernel
def stereo_to_mono(x: af.f32[N, 2], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = 0.5 * (x[i, 0] + x[i, 1])


@LOOPS.beside(stereo_to_mono, tolerance=1e-5, N=50000)
def _(x, y):
    y[:] = 0.5 * (x[:, 0] + x[:, 1])
