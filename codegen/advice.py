"""What the author of a kernel can change where a call of it is refused. A wheel has `affdsl.codegen.aot.no_advice`."""

ANY_STRIDES = ", or let the kernel take any strides: annotate it with affdsl.strided(...)"
COMPLEX = ", or let the kernel take complex numbers: annotate it with affdsl.c128[...], or affdsl.c64[...]"
A_COMPLEX = ", or annotate {} as affdsl.c128"
AN_ARRAY = ", or take it as an array: annotate {} like affdsl.f64[N]"
