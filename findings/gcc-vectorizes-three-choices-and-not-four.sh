#!/usr/bin/env bash
# gcc 12 makes vectors of a loop with three choices inside each other, and none of one with four.
#
# Tool: gcc 12.2.0 of Debian 12.
# A good guess: choices between numbers are selections of lanes, so that a loop of nothing else is on vectors for any number of them.
# Seen: "x == 65 ? 84 : x == 67 ? 71 : ... : 78" is vectorized with up to three choices, of integers and floats, by equality and by order.
# With four the loop stays scalar: they become jumps, or a table that is looked up.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq cpp-12=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1 libgmp10=2:6.2.1+dfsg1-1.1 libzstd1=1.5.4+dfsg2-5+deb12u1 zlib1g=1:1.2.13.dfsg-1)
for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/lib/x86_64-linux-gnu"

old=(65 67 71 84 85)
new=(84 71 67 65 65)
for type in "signed char" int float; do
    for comparison in "==" "<"; do
        for choices in 2 3 4 5; do
            chosen=78
            for ((k = choices - 1; k >= 0; k--)); do chosen="x[i] $comparison ${old[k]} ? ${new[k]} : $chosen"; done
            echo "void f(long n, $type *restrict x, $type *restrict y) { for (long i = 0; i < n; ++i) y[i] = $chosen; }" >"$folder/f.c"
            "$folder/usr/lib/gcc/x86_64-linux-gnu/12/cc1" -quiet -O3 -mavx2 -fno-trapping-math -fopt-info-vec "$folder/f.c" -o /dev/null 2>"$folder/said"
            grep -q "loop vectorized" "$folder/said" && found=vectors || found=scalar
            echo "$type $comparison $choices: $found"
        done
    done
done >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "gcc-vectorizes-three-choices-and-not-four: the output has changed" >&2; exit 1; }
signed char == 2: vectors
signed char == 3: vectors
signed char == 4: scalar
signed char == 5: scalar
signed char < 2: vectors
signed char < 3: vectors
signed char < 4: scalar
signed char < 5: scalar
int == 2: vectors
int == 3: vectors
int == 4: scalar
int == 5: scalar
int < 2: vectors
int < 3: vectors
int < 4: scalar
int < 5: scalar
float == 2: vectors
float == 3: vectors
float == 4: scalar
float == 5: scalar
float < 2: vectors
float < 3: vectors
float < 4: scalar
float < 5: scalar
SEEN
echo "gcc-vectorizes-three-choices-and-not-four: as described"
