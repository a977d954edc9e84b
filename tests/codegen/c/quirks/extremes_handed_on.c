// assembly: -O3 -march=x86-64-v3
// shows: cmpl[^\n]*\n(\tmov[^\n]*\n)?\t(j(l|le|g|ge|s|ns)|cmov)
void f(const int *restrict x, int *restrict out, long n, int s, int t);
void f(const int *restrict x, int *restrict out, long n, int s, int t)
{
    for (long i = 0; i < n; ++i) {
        const int above = x[i], least = (above < s ? above : s) + 1;
        s = t < least ? t : least;
        t = above + 3;
        out[i] = s;
    }
}
