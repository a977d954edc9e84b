// assembly: -O3 -mavx2 -fopenmp
// shows: vmovupd\s+%ymm\d+, .*\(, 4 times
typedef double f64x4 __attribute__((vector_size(32)));
typedef double f64x4_at __attribute__((vector_size(32), aligned(8), may_alias));

void f(double *restrict A, double *restrict x, const double *restrict y, long n)
{
#pragma omp parallel for
    for (long j = 0; j < n; j += 4) {
        *(f64x4_at *)(A + j) = *(const f64x4_at *)(A + j) + y[0];
        *(f64x4_at *)(x + j) = *(const f64x4_at *)(x + j) + *(const f64x4_at *)(A + j) * y[0];
        *(f64x4_at *)(A + n + j) = *(const f64x4_at *)(A + n + j) + y[1];
        *(f64x4_at *)(x + j) = *(const f64x4_at *)(x + j) + *(const f64x4_at *)(A + n + j) * y[1];
    }
}
