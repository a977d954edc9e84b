"""C identifiers for any text: valid, readable, unique in their scope, and nothing but identifiers."""

from __future__ import annotations

import re
import unicodedata

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

MACROS = frozenset(
    """
    NULL EOF NAN INFINITY HUGE_VAL HUGE_VALF I I8 DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS HUGE RAND_MAX EXIT_SUCCESS
    EXIT_FAILURE CHAR_BIT SIZE_MAX PTRDIFF_MAX PTRDIFF_MIN WCHAR_MAX WCHAR_MIN WINT_MAX WINT_MIN BUFSIZ EDOM ERANGE
    EILSEQ FLT_EVAL_METHOD M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2
    M_SQRT1_2 complex imaginary CMPLX CMPLXF ROUNDED noreturn assert errno stdin stdout stderr linux unix i386 major
    minor makedev near far isfinite isinf isnan isnormal signbit fpclassify isgreater isgreaterequal isless islessequal
    islessgreater isunordered math_errhandling offsetof main environ signgam timezone daylight
    size_t ssize_t ptrdiff_t time_t div_t ldiv_t lldiv_t float_t double_t max_align_t va_list FILE
    """.split()
) | frozenset(
    name
    for width in ("8", "16", "32", "64", "MAX", "PTR")
    for sign in ("", "u")
    for name in (
        f"{sign}int{width.lower()}_t", f"{sign}int_least{width}_t", f"{sign}int_fast{width}_t",
        f"{sign.upper()}INT{width}_MAX", f"{sign.upper()}INT{width}_MIN", f"{sign.upper()}INT{width}_C",
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
    """.split()
)  # fmt: skip
"""More functions of the C library and builtins of compilers: a function of ours must not be called like them."""

_OURS = re.compile(
    r"affdsl_\w*|([a-z]\w*|ALL|MULTIPLY_ADD|CHOOSE|CLOSE_TO_MIDDLE)_(i\d+|u64|f16|bf16|f32|f64)(x\d+)?|"
    r"new_buffer|new_aligned|odd_fma|checked_(add|mul)"
)


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
    return f"{name}_" if name in KEYWORDS | MACROS | CALLED or _OURS.fullmatch(name) else name


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
