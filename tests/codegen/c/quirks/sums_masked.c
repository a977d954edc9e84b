// assembly: -O3
// shows: cmpb\t[^\n]*\n(\tmov[^\n]*\n)?\tj(e|ne)\t
double chosen(int n, const _Bool *restrict m, const double *restrict x);
double chosen(int n, const _Bool *restrict m, const double *restrict x)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        __asm__ volatile("");
        sum = sum + (m[i] ? x[i] : -0.0);
    }
    return sum;
}
