/* Accesses that are checked: the number of the check, and the index and the size. */
#include <inttypes.h>
#include <stdio.h>
#include "all_kinds.h"

int main(void)
{
    const double values[3] = {1, 2, 3};
    int64_t places[2] = {2, 0};
    double out[2];
    int64_t failure[3] = {0};
    printf("%d", gathered(3, 2, values, places, out, failure));
    printf(" %g %g\n", out[0], out[1]);
    places[1] = 5;
    printf("%d", gathered(3, 2, values, places, out, failure));
    printf(" %" PRId64 " %" PRId64 "\n", failure[1], failure[2]);
    return 0;
}
