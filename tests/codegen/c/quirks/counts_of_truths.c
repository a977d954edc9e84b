// assembly: -O3 -mavx2
// shows: vpmovzxbw
long changes(long n, const double *x);
long changes(long n, const double *x)
{
    long count = 0;
    for (long i = 1; i < n; ++i) {
        if ((x[i] < 0.0) != (x[i - 1] < 0.0)) {
            count += 1;
        }
    }
    return count;
}
