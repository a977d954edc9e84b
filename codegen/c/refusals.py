"""What a C file refuses: compilers that compute floats in wider ones, and vector registers of another length."""

from __future__ import annotations

from affdsl.codegen.c.threads import EXPORT
from affdsl.codegen.lengths import MISFIT

NARROW_FLOATS = """\
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16
#error "floats would be computed in wider ones: compile with -fexcess-precision=fast, or on x86 with -mfpmath=sse"
"""
"""The branch for a compiler that would round in another way, see the note at the end."""

ASKED = "affdsl_is_asked"
"""What is defined where the library of a wheel is compiled, which Python asks before it calls anything."""
SAID = "was compiled for vector registers of"
"""Part of the message, which is in a library that was compiled for one length."""
NAMES = (MISFIT, "affdsl_lengths", "affdsl_require_lengths")
"""What no function of a kernel is called."""

_IS_FIXED = """\
#if (defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0) || \\
    (defined(__riscv_v_min_vlen) && __riscv_v_min_vlen > 128) || defined(__riscv_v_fixed_vlen)
"""
_LENGTHS = """\
/* The compiler was told how many bits vector registers have: with others, numbers would be wrong. */
static int32_t affdsl_lengths(int32_t *bits)
{
    uint64_t bytes;
#if defined(__riscv)
    __asm__ volatile("csrr %0, vlenb" : "=r"(bytes));
#else
    __asm__ volatile("rdvl %0, #1" : "=r"(bytes));
#endif
    bits[1] = 8 * (int32_t)bytes;
#if defined(__ARM_FEATURE_SVE_BITS)
    bits[0] = __ARM_FEATURE_SVE_BITS;
#elif defined(__riscv_v_fixed_vlen)
    bits[0] = __riscv_v_fixed_vlen;
#else
    bits[0] = __riscv_v_min_vlen;
    return bits[1] < bits[0];
#endif
    return bits[1] != bits[0];
}
"""
_ASKED = f"""
{EXPORT}int32_t {MISFIT}(int32_t *bits);

int32_t {MISFIT}(int32_t *bits)
{{
    return affdsl_lengths(bits);
}}
"""
_REQUIRED = """
__attribute__((constructor)) static void affdsl_require_lengths(void)
{
    int32_t bits[2];
    if (affdsl_lengths(bits) != 0) {
        fprintf(stderr, "WHAT was compiled for vector registers of %d bits, and those here have %d\\n", (int)bits[0],
                (int)bits[1]);
        abort();
    }
}
"""


def asked() -> str:
    """The end of a file whose library is loaded from Python: a function says what does not fit."""
    return f"\n{_IS_FIXED}{_LENGTHS}{_ASKED}#endif\n"


def stops(name: str) -> str:
    """The end of a file whose library anybody loads: it ends the process, with a message that calls it `name`."""
    headers = "#include <stdio.h>\n#include <stdlib.h>\n\n"
    loaded = _REQUIRED.replace("WHAT", name).replace("SAID", SAID)
    return f"\n{_IS_FIXED}{headers}{_LENGTHS}\n#if defined({ASKED}){_ASKED}#else{loaded}#endif\n#endif\n"


def fits(name: str) -> str:
    """The end of a file with a function `name`, which says whether the others may run; it is declared elsewhere."""
    known = f"int {name}(void)\n{{\n    int32_t bits[2];\n    return affdsl_lengths(bits) == 0;\n}}\n"
    return f"\n{_IS_FIXED}{_LENGTHS}\n{known}#else\nint {name}(void)\n{{\n    return 1;\n}}\n#endif\n"


# Wider floats
# ------------
# gcc computes floats in doubles on s390x where it is told -std=c11, and on the x87 of 32-bit x86: results then have
# other bits than the IR, and a number beside a vector of floats does not compile. No pragma changes that, so the file
# asks for the flag. The method is 16 where a processor computes _Float16 (gcc -march=sapphirerapids, without -std=c11):
# floats and doubles are computed as they are.
#
# Lengths of vector registers
# ---------------------------
# What gcc and clang make of a file for SVE runs with registers of any length, unless they are told one
# (-msve-vector-bits=512), and then it is wrong with others, in silence. On RISC-V they may be told a length
# (-mrvv-vector-bits=512) or the least one (rv64gcv_zvl512b). Each processor of 64 bits says how many bytes a register
# has; compilers fold the intrinsic functions for that to what they were told. Linux may give a process shorter ones
# than the processor has: so it is asked where the code runs.
