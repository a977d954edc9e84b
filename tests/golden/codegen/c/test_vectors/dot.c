#include "dot.h"

#include <math.h>
#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

typedef float f32x8 __attribute__((vector_size(8 * sizeof(float))));

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
        const f32x8 next = {fmaf(a[0], b[0], acc[0]), fmaf(a[1], b[1], acc[1]), fmaf(a[2], b[2], acc[2]),
                fmaf(a[3], b[3], acc[3]), fmaf(a[4], b[4], acc[4]), fmaf(a[5], b[5], acc[5]),
                fmaf(a[6], b[6], acc[6]), fmaf(a[7], b[7], acc[7])};
        acc = next;
    }
    float total = acc[0];
    for (int64_t lane = 1; lane < 8; ++lane) {
        total += acc[lane];
    }
    *r = total;
}
