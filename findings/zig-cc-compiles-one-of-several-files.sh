#!/usr/bin/env bash
# "zig cc -c a.c b.c c.c" compiles a.c, ends with status 0, and says nothing of the other two.
#
# Tool: zig 0.17.1 (ziglang).
# A good guess: gcc and clang write an object for each file, and zig cc stands in for them; what it cannot do ends with an error.
# Seen: a.o is there, b.o and c.o are not, the status is 0 and nothing is printed. One call for each file writes all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$folder/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache"

mkdir "$folder/work"
cd "$folder/work"
for name in a b c; do echo "int $name(void) { return 1; }" >$name.c; done
{
    "$folder/venv/bin/python" -m ziglang cc -c a.c b.c c.c 2>&1
    echo "status $?, objects:" *.o
    for name in a b c; do "$folder/venv/bin/python" -m ziglang cc -c $name.c; done
    echo "one by one, objects:" *.o
} >"$folder/seen"

diff - "$folder/seen" <<'SEEN' || { echo "zig-cc-compiles-one-of-several-files: the output has changed" >&2; exit 1; }
status 0, objects: a.o
one by one, objects: a.o b.o c.o
SEEN
echo "zig-cc-compiles-one-of-several-files: as described"
