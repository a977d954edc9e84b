#include "dot.h"

#include <math.h>
#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

void dot(const float *restrict x, const float *restrict y, float *restrict r)
{
    const float zero = 0.0f;
    float acc[8];
    for (int64_t lane = 0; lane < 8; ++lane) {
        acc[lane] = 0.0f;
    }
    for (int64_t i = 0; i < 100; i += 8) {
        float a[8];
        for (int64_t lane = 0; lane < 8; ++lane) {
            a[lane] = i + lane < 100 ? x[i + lane] : zero;
        }
        float b[8];
        for (int64_t lane = 0; lane < 8; ++lane) {
            b[lane] = i + lane < 100 ? y[i + lane] : zero;
        }
        float next[8];
        for (int64_t lane = 0; lane < 8; ++lane) {
            next[lane] = fmaf(a[lane], b[lane], acc[lane]);
        }
        for (int64_t lane = 0; lane < 8; ++lane) {
            acc[lane] = next[lane];
        }
    }
    float total = acc[0];
    for (int64_t lane = 1; lane < 8; ++lane) {
        total += acc[lane];
    }
    *r = total;
}
