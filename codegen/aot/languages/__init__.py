"""Declarations of the functions of a library for languages that call C: Fortran, Rust, Julia."""
