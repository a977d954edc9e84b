// assembly: -O3
// shows: \n\tj(?!mp)\w+, 9 times
void runs(int n, const int *restrict x, int *restrict y);
void runs(int n, const int *restrict x, int *restrict y)
{
    int length = 1;
    for (int i = 1; i < n; ++i) {
        length = x[i] == x[i - 1] ? length + 1 : 1;
        y[i] = length;
    }
}
