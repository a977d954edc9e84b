#include "jacobi.h"

#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
#endif

void jacobi(int64_t T, int64_t N, double *restrict A, double *restrict B)
{
    for (int64_t t = 0; t < T; ++t) {
        for (int64_t i = 1; i < N - 1; ++i) {
            for (int64_t j = 1; j < N - 1; ++j) {
                B[i * N + j] = 0.2 * (A[i * N + j] + A[i * N + j - 1] + A[i * N + j + 1] + A[(i + 1) * N + j]
                        + A[(i - 1) * N + j]);
            }
        }
        for (int64_t i = 1; i < N - 1; ++i) {
            for (int64_t j = 1; j < N - 1; ++j) {
                A[i * N + j] = 0.2 * (B[i * N + j] + B[i * N + j - 1] + B[i * N + j + 1] + B[(i + 1) * N + j]
                        + B[(i - 1) * N + j]);
            }
        }
    }
}
