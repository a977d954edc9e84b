// assembly: -O3 -march=x86-64-v3
// shows: memset
void f(unsigned char *restrict x, long n)
{
    for (long i = n > 2 ? n - 1 : 1; i < n; ++i)
        x[i] = 255;
}
