// assembly: -O3 -mavx512bw -mavx512vl
// shows: vpmovb2m, 1 times
#include <immintrin.h>
typedef signed char V __attribute__((vector_size(64)));
int count(const V *a, const V *b);
int count(const V *a, const V *b)
{
    const V mask = *a != *b;
    return __builtin_popcountll(_mm512_movepi8_mask((__m512i)mask));
}
