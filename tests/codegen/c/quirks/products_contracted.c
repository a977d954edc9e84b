// assembly: -O2 -std=c11 -mfma
// shows: vf(n?m(add|sub))
double f(double a, double b, double c);
double f(double a, double b, double c)
{
    return a * b + c;
}
