#include "dot.h"

#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

double dot(int64_t N, const double *restrict x, const double *restrict y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}
