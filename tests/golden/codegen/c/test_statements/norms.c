#include "norms.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

static inline int64_t bits_f64(double a)
{
    int64_t b;
    memcpy(&b, &a, sizeof b);
    return b;
}

static inline double float_i64(int64_t a)
{
    double b;
    memcpy(&b, &a, sizeof b);
    return b;
}

static inline double maximum_f64(double a, double b)
{
    const double m = b > a ? b : a, e = a == b ? float_i64(bits_f64(a) & bits_f64(b)) : m;
    return b != b ? b : e;
}

static inline int32_t add_i32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

#if defined(_OPENMP)
#pragma omp declare reduction(reduce_maximumf_f64 : double : omp_out = maximum_f64(omp_out, omp_in)) initializer(omp_priv = -INFINITY)
#pragma omp declare reduction(reduce_addi_i32 : int32_t : omp_out = add_i32(omp_out, omp_in)) initializer(omp_priv = 0)
#endif

void norms(int64_t M, int64_t N, const double *restrict A, double *restrict total,
           int32_t *restrict count)
{
    double total_1 = -INFINITY;
    int32_t total_2 = 0;
#if defined(_OPENMP)
#pragma omp parallel for if((double)M * (double)N * 6.0 > 1000000.0) reduction(reduce_maximumf_f64 : total_1) reduction(reduce_addi_i32 : total_2)
#endif
    for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < N; ++j) {
            const double t = A[i * N + j];
            total_1 = maximum_f64(total_1, fabs(t));
            total_2 = add_i32(total_2, (int32_t)(t > 0.5));
        }
    }
    *total = total_1;
    *count = total_2;
}
