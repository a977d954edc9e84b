// assembly: -O3 -march=x86-64-v4 -mprefer-vector-width=512
// shows: vpinsrb\s+\$1,, 30 times
#include <stdint.h>

void f(const uint8_t *restrict table, const uint8_t *restrict image, uint8_t *restrict out, long n)
{
    for (long i = 0; i < n; ++i)
        out[i] = table[image[i]];
}
