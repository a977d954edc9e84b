/* A product of matrices, and a number that the function returns. */
#include <stdio.h>
#include "all_kinds.h"

int main(void)
{
    const float a[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[3][2] = {{1, 0}, {2, 1}, {0, 3}};
    const int32_t x[4] = {1, 2, 3, 4};
    float c[2][2];
    product(2, 3, 2, &a[0][0], &b[0][0], &c[0][0]);
    printf("%g %g %g %g\n", c[0][0], c[0][1], c[1][0], c[1][1]);
    printf("%g\n", mean(4, x, 3));
    return 0;
}
