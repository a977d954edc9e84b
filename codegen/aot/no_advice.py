"""What is advised where the author of a kernel is not there: nothing. In wheels it is `affdsl.codegen.advice`."""

ANY_STRIDES = ""
COMPLEX = ""
A_COMPLEX = ""
AN_ARRAY = ""
