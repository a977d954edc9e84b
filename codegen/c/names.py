"""C identifiers for any text: valid, readable, unique in their scope, and nothing but identifiers."""

from __future__ import annotations

import re
import unicodedata

from affdsl.codegen.c.helpers import is_helper
from affdsl.codegen.c.vector_helpers import is_of_vectors

LONGEST = 60

KEYWORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm fortran
    typeof alignas alignof and and_eq atomic bitand bitor bool catch char8_t char16_t char32_t class co_await co_return
    co_yield compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export false
    friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename using
    virtual wchar_t xor xor_eq
    """.split()
)
"""Of C and of C++."""

_ENDS = ("MAX", "MIN", "C", "WIDTH")
MACROS = frozenset(
    """
    PTRDIFF_WIDTH SIZE_WIDTH WCHAR_WIDTH WINT_WIDTH SIG_ATOMIC_WIDTH
    NULL EOF NAN INFINITY HUGE_VAL HUGE_VALF I I8 DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS HUGE RAND_MAX EXIT_SUCCESS
    EXIT_FAILURE CHAR_BIT SIZE_MAX PTRDIFF_MAX PTRDIFF_MIN WCHAR_MAX WCHAR_MIN WINT_MAX WINT_MIN BUFSIZ EDOM ERANGE
    EILSEQ FLT_EVAL_METHOD M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2
    M_SQRT1_2 complex imaginary CMPLX CMPLXF ROUNDED noreturn assert errno stdin stdout stderr linux unix i386 major
    minor makedev near far isfinite isinf isnan isnormal signbit fpclassify isgreater isgreaterequal isless islessequal
    islessgreater isunordered math_errhandling offsetof main environ signgam timezone daylight
    size_t ssize_t ptrdiff_t time_t div_t ldiv_t lldiv_t float_t double_t max_align_t va_list FILE
    BIG_ENDIAN BYTE_ORDER CLOCKS_PER_SEC CLOCK_BOOTTIME CLOCK_BOOTTIME_ALARM CLOCK_MONOTONIC CLOCK_MONOTONIC_COARSE
    CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME CLOCK_REALTIME_ALARM CLOCK_REALTIME_COARSE CLOCK_TAI
    CLOCK_THREAD_CPUTIME_ID FD_SETSIZE FILENAME_MAX FOPEN_MAX FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL
    FP_SUBNORMAL FP_ZERO HUGE_VALL LITTLE_ENDIAN L_ctermid L_tmpnam MATH_ERREXCEPT MATH_ERRNO MB_CUR_MAX NFDBITS
    PDP_ENDIAN P_tmpdir SEEK_CUR SEEK_END SEEK_SET SIG_ATOMIC_MAX SIG_ATOMIC_MIN TIMER_ABSTIME TIME_UTC TMP_MAX
    WCONTINUED WEXITED WNOHANG WNOWAIT WSTOPPED WUNTRACED
    """.split()
) | frozenset(
    name
    for width in ("8", "16", "32", "64", "MAX", "PTR")
    for sign in ("", "u")
    for name in (
        f"{sign}int{width.lower()}_t", f"{sign}int_least{width}_t", f"{sign}int_fast{width}_t",
        *(f"{sign.upper()}INT{kind}{width}_{end}" for kind in ("", "_LEAST", "_FAST") for end in _ENDS),
    )
)  # fmt: skip
"""Of the standard headers and of common systems, with the types and global variables that they declare."""

CALLED = frozenset(
    f"{stem}{suffix}"
    for stem in """fabs acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 floor log log10
        log1p log2 round sin sinh sqrt tan tanh trunc atan2 copysign pow fma fmod creal
        cimag cabs carg conj cexp clog csqrt csin ccos ctan ctanh""".split()
    for suffix in ("", "f")
) | {
    "malloc", "free", "memcpy", "aligned_alloc", "printf", "snprintf", "fputs", "fflush", "stdout", "strtod", "strtof",
}  # fmt: skip
"""The functions of the C library that emitted code calls: a variable must not hide them."""

LIBRARY = frozenset(
    f"{stem}{suffix}"
    for stem in """drem fdim fmax fmin fpclassify frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround logb
        lrint lround modf nan nearbyint nextafter nexttoward remainder remquo rint roundeven scalb scalbln scalbn
        significand sincos tgamma y0 y1 yn pow10 exp10 cproj cpow casin cacos catan csinh ccosh casinh cacosh
        catanh""".split()
    for suffix in ("", "f", "l")
) | frozenset(f"{name}l" for name in CALLED) | frozenset(
    """
    abort abs alloca atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc clock div exit ffs fopen fork fclose
    fflush fprintf fputc fputs fread fscanf fwrite getc getchar getenv gets imaxabs imaxdiv index rindex isalnum isalpha
    isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit kill labs ldiv link llabs
    lldiv longjmp memchr memcmp memmove memset open perror pipe printf putc putchar puts qsort raise rand random read
    realloc remove rename rewind scanf select setjmp signal sleep snprintf sprintf srand sscanf stpcpy strcat strchr
    strcmp strcpy strcspn strdup strerror strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtof
    strtok strtol strtold strtoll strtoul strtoull system time tmpfile toascii tolower toupper ungetc vfprintf vprintf
    vsnprintf vsprintf wait write execl execv dup close truncate sync swab pthread_atfork
    CMPLXL FD_CLR FD_ISSET FD_SET FD_ZERO WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG
    a64l arc4random arc4random_buf arc4random_uniform asctime asctime_r at_quick_exit be16toh be32toh be64toh blkcnt_t
    blksize_t caddr_t clearenv clearerr clearerr_unlocked clock_getcpuclockid clock_getres clock_gettime
    clock_nanosleep clock_settime clock_t clockid_t ctermid ctime ctime_r daddr_t dev_t difftime dprintf drand48
    drand48_r dysize ecvt ecvt_r erand48 erand48_r explicit_bzero fcvt fcvt_r fd_mask fd_set fdopen feof feof_unlocked
    ferror ferror_unlocked fflush_unlocked ffsl ffsll fgetc fgetc_unlocked fgetpos fgets fileno fileno_unlocked finite
    finitef finitel flockfile fmemopen fpos_t fputc_unlocked fread_unlocked freopen fsblkcnt_t fseek fseeko fsetpos
    fsfilcnt_t fsid_t ftell ftello ftrylockfile funlockfile fwrite_unlocked gcvt getc_unlocked getchar_unlocked
    getdelim getline getloadavg getsubopt getw gid_t gmtime gmtime_r htobe16 htobe32 htobe64 htole16 htole32 htole64
    id_t initstate initstate_r ino_t isinff isinfl isnanf isnanl jrand48 jrand48_r key_t l64a lcong48 lcong48_r
    le16toh le32toh le64toh lgamma_r lgammaf_r lgammal_r locale_t localtime localtime_r loff_t lrand48 lrand48_r mblen
    mbstowcs mbtowc memccpy mkdtemp mkstemp mkstemps mktemp mktime mode_t mrand48 mrand48_r nanosleep nlink_t nrand48
    nrand48_r off_t on_exit open_memstream pclose pid_t popen posix_memalign pselect pthread_attr_t pthread_barrier_t
    pthread_barrierattr_t pthread_cond_t pthread_condattr_t pthread_key_t pthread_mutex_t pthread_mutexattr_t
    pthread_once_t pthread_rwlock_t pthread_rwlockattr_t pthread_spinlock_t pthread_t putc_unlocked putchar_unlocked
    putenv putw qecvt qecvt_r qfcvt qfcvt_r qgcvt quad_t quick_exit rand_r random_r reallocarray realpath register_t
    renameat rpmatch seed48 seed48_r setbuf setbuffer setenv setlinebuf setstate setstate_r setvbuf sigset_t srand48
    srand48_r srandom srandom_r stpncpy strcasecmp strcasecmp_l strcoll strcoll_l strerror_l strerror_r strftime
    strftime_l strncasecmp strncasecmp_l strndup strnlen strsep strsignal strtok_r strtoq strtouq strxfrm strxfrm_l
    suseconds_t tempnam timegm timelocal timer_create timer_delete timer_getoverrun timer_gettime timer_settime
    timer_t timespec_get tmpnam tmpnam_r tzname tzset u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t u_long
    u_quad_t u_short uid_t uint ulong unsetenv ushort valloc vdprintf vfscanf vscanf vsscanf wcstombs wctomb
    """.split()
)  # fmt: skip
"""More functions of the C library and builtins of compilers: a function of ours must not be called like them."""


def _is_ours(name: str) -> bool:
    """Whether something that we define may be called so."""
    return name.startswith("affdsl_") or is_helper(name) or is_of_vectors(name)


def identifier(text: str) -> str:
    """text as a valid C identifier that no language rule, header or helper of ours claims; the empty text if empty.

    >>> identifier("café"), identifier("变量"), identifier("for"), identifier('"; system("x")')
    ('cafe', 'u53d8_u91cf', 'for_', 'system_x')
    """
    plain = unicodedata.normalize("NFKD", text[: 4 * LONGEST])
    spelled = "".join(_spell(c) for c in plain if not unicodedata.combining(c))
    name = re.sub(r"_+", "_", spelled).strip("_")[:LONGEST].rstrip("_")
    if name[:1].isdigit():
        name = f"v{name}"
    return f"{name}_" if name in KEYWORDS | MACROS | CALLED or _is_ours(name) else name


def function_identifier(text: str) -> str:
    """text as a name for a function that the linker sees."""
    name = identifier(text) or "kernel"
    return f"{name}_" if name in LIBRARY or name.startswith("omp_") else name


def comment(text: str) -> str:
    """text made harmless inside a comment: printable ASCII on one line that cannot end the comment or continue it.

    >>> print(comment('a*/ b' + chr(10) + 'c?' + chr(63) + '/'))
    a* / b\\u000ac? ?/
    """
    shown = "".join(c if " " <= c <= "~" and c != "\\" else f"\\u{ord(c):04x}" for c in text)
    shown = re.sub(r"\*(?=/)", "* ", re.sub(r"/(?=\*)", "/ ", shown))
    return re.sub(r"\?(?=\?)", "? ", shown)


class Scope:
    """Names in use, here and in the scopes around: what is declared here is new in all of them."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}
        """Up to which number the names like one are taken, here and around."""
        self.declared: dict[str, int] = {}
        """The lines in which variables are declared here."""

    def takes(self, name: str) -> bool:
        """Whether the name is in use."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._taken:
                return True
            scope = scope.parent
        return False

    def declaration_of(self, name: str) -> int | str:
        """The line that declares a variable, here or around; the name itself where none does, as of a parameter."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.declared:
                return scope.declared[name]
            scope = scope.parent
        return name

    def declare(self, hint: str, otherwise: str = "t") -> str:
        """A new name, as near to hint as can be; `otherwise` where hint gives none."""
        return self.reserve(identifier(hint) or otherwise)

    def reserve(self, name: str) -> str:
        """A new name, like `name`, which is an identifier."""
        n, scope = 0, self.parent
        while scope is not None:
            n, scope = max(n, scope._last.get(name, 0)), scope.parent
        n = max(n, self._last.get(name, 0))
        while self.takes(found := _numbered(name, n)):
            n += 1
        self._taken.add(found)
        self._last[name] = n
        return found


def _numbered(name: str, n: int) -> str:
    if not n:
        return name
    return f"{name}{n}" if name.endswith("_") else f"{name}_{n}"


def _spell(character: str) -> str:
    if character.isascii():
        return character if character.isalnum() else "_"
    return f"_u{ord(character):04x}_"
