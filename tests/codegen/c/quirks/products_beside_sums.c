// assembly: -O3 -mavx2 -mfma -ffp-contract=off -fno-math-errno -fno-trapping-math
// shows: vf(n?m(add|sub)|maddsub|msubadd)
void f(const float *restrict a, const float *restrict b, float *restrict c, long n)
{
    for (long i = 0; i < n; ++i) {
        c[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        c[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    }
}
