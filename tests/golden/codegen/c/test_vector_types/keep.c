#include "keep.h"

#include <stdbool.h>
#include <stdint.h>
#if defined(__SSE4_2__)
#include <immintrin.h>
#endif
#if defined(__AARCH64EL__) && defined(__ARM_FEATURE_SVE)
#include <arm_sve.h>
#endif
#if defined(__riscv_v) && defined(__riscv_v_intrinsic)
#include <riscv_vector.h>
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
#endif

typedef int32_t i32x8 __attribute__((vector_size(8 * sizeof(int32_t))));
typedef float f32x8 __attribute__((vector_size(8 * sizeof(float))));

/* Functions that are always inlined: how their results would be passed does not matter. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

static inline __attribute__((always_inline)) i32x8 first_i32x8(int64_t count)
{
#if defined(__AVX2__) && defined(__FMA__)
    static const int32_t set[2 * 8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const int64_t end = count < 0 ? 0 : count < 8 ? count : 8;
    i32x8 found;
    __builtin_memcpy(&found, set + 8 - end, sizeof found);
    return found;
#else
    const int32_t end = (int32_t)(count < 0 ? 0 : count < 8 ? count : 8);
    return (i32x8){0, 1, 2, 3, 4, 5, 6, 7} < (i32x8){end, end, end, end, end, end, end, end};
#endif
}

static inline __attribute__((always_inline)) f32x8 masked_load_f32x8(const float *at, const i32x8 *mask, const f32x8 *otherwise)
{
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__FMA__)
    return (f32x8)_mm256_mask_loadu_ps((__m256)*otherwise, _mm256_movepi32_mask((__m256i)*mask), at);
#elif defined(__AVX2__) && defined(__FMA__)
    const __m256i found = (__m256i)_mm256_maskload_ps((const float *)at, (__m256i)*mask);
    return (f32x8)(found | (~(__m256i)*mask & (__m256i)*otherwise));
#elif defined(__AARCH64EL__) && defined(__ARM_FEATURE_SVE)
    f32x8 found;
    for (int k = 0; k < 8; k += (int)svcntw()) {
        const svbool_t inside = svwhilelt_b32_s32(k, 8);
        const svint32_t given = svld1_s32(inside, (const int32_t *)(const void *)mask + k);
        const svbool_t wanted = svcmpne_n_s32(inside, given, 0);
        const svfloat32_t other = svld1_f32(inside, (const float *)(const void *)otherwise + k);
        svst1_f32(inside, (float *)(void *)&found + k, svsel_f32(wanted, svld1_f32(wanted, at + k), other));
    }
    return found;
#elif defined(__riscv_v) && defined(__riscv_v_intrinsic)
    f32x8 found;
    size_t n;
    for (int k = 0; k < 8; k += (int)n) {
        n = __riscv_vsetvl_e32m1((size_t)(8 - k));
        const vint32m1_t given = __riscv_vle32_v_i32m1((const int32_t *)(const void *)mask + k, n);
        const vbool32_t wanted = __riscv_vmsne_vx_i32m1_b32(given, 0, n);
        const vfloat32m1_t other = __riscv_vle32_v_f32m1((const float *)(const void *)otherwise + k, n);
        const vfloat32m1_t loaded = __riscv_vle32_v_f32m1_mu(wanted, other, at + k, n);
        __riscv_vse32_v_f32m1((float *)(void *)&found + k, loaded, n);
    }
    return found;
#else
    f32x8 found = *otherwise;
    for (int k = 0; k < 8; ++k)
        if ((*mask)[k])
            found[k] = at[k];
    return found;
#endif
}

static inline __attribute__((always_inline)) f32x8 all_f32x8(float a)
{
    return (f32x8){a, a, a, a, a, a, a, a};
}

static inline __attribute__((always_inline)) f32x8 choose_f32x8(const i32x8 *mask, const f32x8 *a, const f32x8 *b)
{
    return (f32x8)((*mask & (i32x8)*a) | (~*mask & (i32x8)*b));
}

static inline __attribute__((always_inline)) void masked_store_f32x8(float *at, const i32x8 *mask, const f32x8 *value)
{
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__FMA__)
    _mm256_mask_storeu_ps(at, _mm256_movepi32_mask((__m256i)*mask), (__m256)*value);
#elif defined(__AVX2__) && defined(__FMA__)
    _mm256_maskstore_ps((float *)at, (__m256i)*mask, (__m256)*value);
#elif defined(__AARCH64EL__) && defined(__ARM_FEATURE_SVE)
    for (int k = 0; k < 8; k += (int)svcntw()) {
        const svbool_t inside = svwhilelt_b32_s32(k, 8);
        const svint32_t given = svld1_s32(inside, (const int32_t *)(const void *)mask + k);
        const svbool_t wanted = svcmpne_n_s32(inside, given, 0);
        svst1_f32(wanted, at + k, svld1_f32(inside, (const float *)(const void *)value + k));
    }
#elif defined(__riscv_v) && defined(__riscv_v_intrinsic)
    size_t n;
    for (int k = 0; k < 8; k += (int)n) {
        n = __riscv_vsetvl_e32m1((size_t)(8 - k));
        const vint32m1_t given = __riscv_vle32_v_i32m1((const int32_t *)(const void *)mask + k, n);
        const vbool32_t wanted = __riscv_vmsne_vx_i32m1_b32(given, 0, n);
        const vfloat32m1_t stored = __riscv_vle32_v_f32m1((const float *)(const void *)value + k, n);
        __riscv_vse32_v_f32m1_m(wanted, at + k, stored, n);
    }
#else
    for (int k = 0; k < 8; ++k)
        if ((*mask)[k])
            at[k] = (*value)[k];
#endif
}

void keep(const float *restrict x, float *restrict y, float t, int64_t i, int64_t n)
{
    const i32x8 m = first_i32x8(n);
    const f32x8 v = masked_load_f32x8(&x[i], &m, &(f32x8){0});
    const i32x8 above = v > all_f32x8(t);
    const f32x8 kept = choose_f32x8(&above, &v, &(f32x8){0});
    masked_store_f32x8(&y[i], &m, &kept);
}
