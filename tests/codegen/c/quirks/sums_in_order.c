// assembly: -O3 -mavx2 -ffp-contract=off -fno-math-errno -fno-trapping-math
// shows: vmulp[sd]
double f(const double *restrict x, const double *restrict y, long n)
{
    double sum = 0;
    for (long i = 0; i < n; ++i)
        sum += x[i] * y[i];
    return sum;
}
