// run: -O1
/* It prints 0 10 0, for -2 / 9 is -1, ten times: see docs/decisions/0015. */
#include <stdint.h>
#include <stdio.h>

static inline int64_t floordiv_i64(int64_t a, int64_t b)
{
    return b > 0 ? a / b - (a % b < 0 ? 1 : 0) : 0;
}

static inline int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t checked_add(int64_t a, int64_t b, int32_t *failed)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        *failed = 1;
        return 0;
    }
    return a + b;
}

static void f(int64_t N, int64_t *A, const double *B, int64_t p)
{
    for (int64_t i = max(2, N - 2); i < N; ++i) {
        for (int64_t j = 0; j < 1; ++j)
            A[floordiv_i64(p, N + 4)] += 1;
        for (int64_t j = 1; j < N; ++j)
            A[floordiv_i64(p, N + 4)] += B[3];
    }
}

static int32_t bind(const int64_t *sizes, int64_t *symbols)
{
    int32_t failed = 0;
    const int64_t N = checked_add(sizes[0], -4, &failed);
    const int64_t M = checked_add(sizes[2], -4, &failed);
    if (sizes[2] != checked_add(M, 4, &failed))
        return 1;
    symbols[1] = N;
    return 0;
}

__attribute__((noipa)) int32_t entry(void *const *pointers, const int64_t *sizes)
{
    int64_t symbols[3] = {0};
    if (bind(sizes, symbols) != 0)
        return 1;
    f(symbols[1], pointers[0], pointers[1], *(const int64_t *)pointers[2]);
    return 0;
}

int main(void)
{
    int64_t A[4] = {0}, p = -2, sizes[3] = {9, 9, 11};
    double B[4] = {0, 0, 0, 1};
    void *pointers[3] = {A + 2, B, &p};
    if (entry(pointers, sizes) != 0)
        return 1;
    printf("%d %d %d\n", (int)A[0], (int)A[1], (int)A[2]);
    return A[1] != 10;
}
