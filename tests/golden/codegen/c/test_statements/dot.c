#include "dot.h"

#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
#endif

/* no vectors of iterations: gcc 12 makes some that are wrong, and slow ones of lookups and sums in order */
#if defined(__GNUC__) && !defined(__clang__)
#define affdsl_in_order() __asm__ volatile("")
#else
#define affdsl_in_order() ((void)0)
#endif

double dot(int64_t N, const double *restrict x, const double *restrict y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; ++i) {
        affdsl_in_order();
        sum += x[i] * y[i];
    }
    return sum;
}
