// assembly: -O3 -mavx
// shows: \n\torl\t
float smaller(float a, float b);
float smaller(float a, float b)
{
    const union { float value; int bits; } m = {b < a ? b : a}, n = {a < b ? a : b};
    const union { int bits; float value; } both = {m.bits | n.bits};
    return both.value;
}
