#include "dot.h"

#include <math.h>
#include <stdint.h>
#if defined(__SSE4_2__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
#endif

typedef float f32x8 __attribute__((vector_size(8 * sizeof(float))));
typedef int32_t i32x8 __attribute__((vector_size(8 * sizeof(int32_t))));

/* Functions that are always inlined: how their results would be passed does not matter. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

static inline __attribute__((always_inline)) f32x8 fma_f32x8(const f32x8 *a, const f32x8 *b, const f32x8 *c)
{
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__FMA__)
    return (f32x8)_mm256_fmadd_ps((__m256)*a, (__m256)*b, (__m256)*c);
#elif defined(__AVX2__) && defined(__FMA__)
    return (f32x8)_mm256_fmadd_ps((__m256)*a, (__m256)*b, (__m256)*c);
#else
    f32x8 found;
    for (int k = 0; k < 8; ++k)
        found[k] = fmaf((*a)[k], (*b)[k], (*c)[k]);
    return found;
#endif
}

void dot(const float *restrict x, const float *restrict y, float *restrict r)
{
    const float zero = 0.0f;
    f32x8 acc = (f32x8){0};
    for (int64_t i = 0; i < 100; i += 8) {
        f32x8 a = {0};
        for (int64_t lane = 0; lane < 8; ++lane) {
            a[lane] = i + lane < 100 ? x[i + lane] : zero;
        }
        f32x8 b = {0};
        for (int64_t lane = 0; lane < 8; ++lane) {
            b[lane] = i + lane < 100 ? y[i + lane] : zero;
        }
        const f32x8 next = fma_f32x8(&a, &b, &acc);
        acc = next;
    }
    float total = acc[0];
    total += acc[1];
    total += acc[2];
    total += acc[3];
    total += acc[4];
    total += acc[5];
    total += acc[6];
    total += acc[7];
    *r = total;
}
