// assembly: -O3
// shows: \n\tjn?b\t
void turns(long n, unsigned *restrict x, const unsigned *restrict y, const unsigned long *restrict w);
void turns(long n, unsigned *restrict x, const unsigned *restrict y, const unsigned long *restrict w)
{
    for (long i = 0; i < n; ++i) {
        const unsigned t = (unsigned)(w[i] * y[i] % 998244353);
        x[i] = x[i] >= t ? x[i] - t : x[i] + 998244353 - t;
    }
}
