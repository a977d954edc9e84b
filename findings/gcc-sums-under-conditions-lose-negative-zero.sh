#!/usr/bin/env bash
# gcc 12 makes 0.0 of a sum that is -0.0 and to which, under a condition, nothing is added.
#
# Tool: gcc 12.2.0 of Debian 12.
# A good guess: -O3 keeps what IEEE 754 says. -fno-trapping-math lets it compare numbers that may be NaN without thinking of flags of the
# processor, and changes no result: signs of zeros are left to -fno-signed-zeros.
# Seen: for "if (x[i] < most) s += x[i];" vectors add 0.0 where the condition does not hold, and (-0.0) + 0.0 is 0.0. So they do where the
# program itself adds -0.0, which changes no number. "s -= x[i]" stays -0.0, since 0.0 is subtracted. With masks (-mavx512f) it needs no
# option but -O3.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq cpp-12=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1 libgmp10=2:6.2.1+dfsg1-1.1 libzstd1=1.5.4+dfsg2-5+deb12u1 zlib1g=1:1.2.13.dfsg-1)
(cd "$folder" && apt-get download -qq binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libctf0=2.40-2 libjansson4=2.14-2)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/lib/x86_64-linux-gnu"

cat >"$folder/sums.c" <<'C'
double sum(long n, const double *x, double most, double s)
{
    for (long i = 0; i < n; ++i)
        if (x[i] < most)
            s += x[i];
    return s;
}

double sum_of_chosen(long n, const double *x, double most, double s)
{
    for (long i = 0; i < n; ++i)
        s += x[i] < most ? x[i] : -0.0;
    return s;
}

double difference(long n, const double *x, double most, double s)
{
    for (long i = 0; i < n; ++i)
        if (x[i] < most)
            s -= x[i];
    return s;
}
C
for options in "-O3" "-O3 -fno-trapping-math"; do
    # shellcheck disable=SC2086
    "$folder/usr/lib/gcc/x86_64-linux-gnu/12/cc1" -quiet $options -fPIC "$folder/sums.c" -o "$folder/sums.s"
    "$folder/usr/bin/x86_64-linux-gnu-as" "$folder/sums.s" -o "$folder/sums.o"
    "$folder/usr/bin/x86_64-linux-gnu-ld" -shared "$folder/sums.o" -o "$folder/sums.so"
    env -u LD_LIBRARY_PATH "${PYTHON:-python3}" - "$folder/sums.so" "$options" <<'PYTHON'
import ctypes
import sys

library, options = ctypes.CDLL(sys.argv[1]), sys.argv[2]
x = (ctypes.c_double * 64)(*[5.0] * 64)
for name in ("sum", "sum_of_chosen", "difference"):
    function = getattr(library, name)
    function.restype = ctypes.c_double
    print(options, name, function(ctypes.c_long(64), x, ctypes.c_double(1.0), ctypes.c_double(-0.0)))
PYTHON
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "gcc-sums-under-conditions-lose-negative-zero: the output has changed" >&2; exit 1; }
-O3 sum -0.0
-O3 sum_of_chosen -0.0
-O3 difference -0.0
-O3 -fno-trapping-math sum 0.0
-O3 -fno-trapping-math sum_of_chosen 0.0
-O3 -fno-trapping-math difference -0.0
SEEN
echo "gcc-sums-under-conditions-lose-negative-zero: as described"
