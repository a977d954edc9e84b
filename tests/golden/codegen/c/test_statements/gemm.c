#include "gemm.h"

#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
#endif

void gemm(int64_t M, int64_t N, int64_t K, const float *restrict A, const float *restrict B,
          float *restrict C)
{
    for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < N; ++j) {
            C[i * N + j] = 0.0f;
            for (int64_t k = 0; k < K; ++k) {
                C[i * N + j] += A[i * K + k] * B[k * N + j];
            }
        }
    }
}
