// run: -O2
#include <stdint.h>

static inline int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

__attribute__((noipa)) static void sums(int32_t *restrict A, const int32_t *restrict B, int32_t z)
{
    for (int64_t i = 2; i < 10; i += 4) {
        const int32_t a = add(z, B[i - 1]), b = add(z, B[i]), d = add(z, B[i + 2]);
        A[4] = add(A[4], a);
        A[10] = add(A[4], a);
        A[5] = add(A[5], b);
        A[11] = add(A[5], b);
        A[3] = add(A[2], add(z, B[i + 1]));
        A[0] = add(A[3], d);
        A[3] = add(A[3], d);
        A[6] = add(A[3], d);
        A[9] = add(A[3], d);
    }
}

int main(void)
{
    int32_t A[14] = {0}, B[20];
    for (int k = 0; k < 20; ++k)
        B[k] = k * k + 3;
    sums(A, B, 5);
    return A[10] != A[4] + 5 + B[5] || A[11] != A[5] + 5 + B[6];
}
