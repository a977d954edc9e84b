// run: -O3
#include <stdint.h>

__attribute__((noipa)) static void windows(int64_t n, const int32_t *restrict B, int32_t *restrict C)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < i + 5; ++j)
            C[j] = B[i];
}

__attribute__((noipa)) static void diagonals(int64_t n, int64_t m, const int32_t *restrict B, int32_t *restrict C)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 1; j < m; ++j)
            C[i + j] = B[i];
}

int main(void)
{
    int32_t B[33], C[80] = {0}, D[80] = {0}, wrong = 0;
    for (int k = 0; k < 33; ++k)
        B[k] = k + 1;
    windows(33, B, C);
    diagonals(33, 17, B, D);
    for (int k = 0; k < 33; ++k)
        wrong |= C[k + 1] != B[k] ? 1 : 0, wrong |= D[k + 1] != B[k] ? 2 : 0;
    return wrong;
}
