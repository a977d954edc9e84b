#!/usr/bin/env bash
# gcc 12 keeps addresses for which no register is left in vector registers, where AVX-512 has 32 of these, and not for all processors.
#
# Tool: gcc 12.2.0 of Debian 12.
# A good guess: rows of one array, a fixed number of elements apart in each iteration, are addressed from a few registers; addresses that are left over are on the stack.
# Seen: each row of a loop on vectors has a register of its own for its address. What is left over is loaded from the stack in each iteration, or, with AVX-512 for "generic"
# and "znver3", moved from a vector register ("vmovq %xmm, %r"), of which a core begins one a cycle. For "haswell" and "icelake-server" it is on the stack as well.
# The table: rows, -mtune, -march, moves from vector registers, loads from the stack, in the loop.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq cpp-12=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1 libgmp10=2:6.2.1+dfsg1-1.1 libzstd1=1.5.4+dfsg2-5+deb12u1 zlib1g=1:1.2.13.dfsg-1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/lib/x86_64-linux-gnu"

# The lines from the label to which the last jump behind the first addition of vectors goes back, up to that jump.
in_loop() {
    awk '/^\.L[0-9]+:/ { label = $1; sub(":", "", label); at[label] = NR }
         { line[NR] = $0 }
         /vaddpd/ && !first { first = NR }
         first && !last && $1 ~ /^j/ && ($2 in at) && at[$2] < first { from = at[$2]; last = NR }
         END { for (k = from; k <= last; k++) print line[k] }' "$1"
}
count() { grep -cE "$1" "$folder/loop" || true; }

for rows in 10 14 18 22; do
    sum="a[j]"
    for ((k = 1; k < rows; k++)); do sum="$sum + a[$k * n + j]"; done
    echo "void f(long n, const double *restrict a, double *restrict y) { for (long j = 0; j < n; ++j) y[j] = $sum; }" >"$folder/f.c"
    for tune in generic znver3 haswell icelake-server; do
        for machine in x86-64-v3 x86-64-v4; do
            "$folder/usr/lib/gcc/x86_64-linux-gnu/12/cc1" -quiet -O3 -march=$machine -mtune=$tune -mprefer-vector-width=512 -ffp-contract=off "$folder/f.c" -o "$folder/f.s"
            in_loop "$folder/f.s" >"$folder/loop"
            echo "$rows $tune $machine: $(count 'vmovq\s+%xmm[0-9]+, %r') $(count 'movq\s+-?[0-9]*\(%rsp\), %r')"
        done
    done
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "gcc-keeps-addresses-in-vector-registers: the output has changed" >&2; exit 1; }
10 generic x86-64-v3: 0 0
10 generic x86-64-v4: 0 0
10 znver3 x86-64-v3: 0 0
10 znver3 x86-64-v4: 0 0
10 haswell x86-64-v3: 0 0
10 haswell x86-64-v4: 0 0
10 icelake-server x86-64-v3: 0 0
10 icelake-server x86-64-v4: 0 0
14 generic x86-64-v3: 0 4
14 generic x86-64-v4: 3 1
14 znver3 x86-64-v3: 0 4
14 znver3 x86-64-v4: 4 0
14 haswell x86-64-v3: 0 4
14 haswell x86-64-v4: 0 4
14 icelake-server x86-64-v3: 0 4
14 icelake-server x86-64-v4: 0 4
18 generic x86-64-v3: 0 8
18 generic x86-64-v4: 6 2
18 znver3 x86-64-v3: 0 8
18 znver3 x86-64-v4: 8 0
18 haswell x86-64-v3: 0 8
18 haswell x86-64-v4: 0 8
18 icelake-server x86-64-v3: 0 8
18 icelake-server x86-64-v4: 0 8
22 generic x86-64-v3: 0 12
22 generic x86-64-v4: 11 1
22 znver3 x86-64-v3: 0 12
22 znver3 x86-64-v4: 12 0
22 haswell x86-64-v3: 0 12
22 haswell x86-64-v4: 0 12
22 icelake-server x86-64-v3: 0 12
22 icelake-server x86-64-v4: 0 12
SEEN
echo "gcc-keeps-addresses-in-vector-registers: as described"
