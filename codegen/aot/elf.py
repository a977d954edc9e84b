"""What a shared library of Linux needs of others: their names, and the versions of their symbols."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

_SECTION = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC = struct.Struct("<qQ")
_NEED = struct.Struct("<HHIII")
_VERSION = struct.Struct("<IHHII")
_IS_DYNAMIC, _IS_NEEDS = 6, 0x6FFFFFFE
_NEEDED = 1


def needed(image: bytes) -> dict[str, frozenset[str]]:
    """The libraries that one needs, in the bytes of an ELF file of 64 bits, each with the versions of its symbols.

    >>> needed(b"MZ")
    Traceback (most recent call last):
    ValueError: it is no ELF file of 64 bits, with the least byte first
    """
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("it is no ELF file of 64 bits, with the least byte first")
    sections = list(_sections(image))
    found: dict[str, frozenset[str]] = {}
    for kind, offset, size, names in sections:
        text = sections[names][1] if names < len(sections) else 0
        if kind == _IS_DYNAMIC:
            for at in range(offset, offset + size, _DYNAMIC.size):
                tag, value = _DYNAMIC.unpack_from(image, at)
                if tag == _NEEDED:
                    found.setdefault(_text(image, text + value), frozenset())
    for kind, offset, _, names in sections:
        if kind == _IS_NEEDS:
            found |= _versions(image, offset, sections[names][1])
    return found


def newest(of: Mapping[str, frozenset[str]], prefix: str) -> tuple[int, ...]:
    """The newest of the versions that begin with a prefix; (0,) where there is none.

    >>> newest({"libc.so.6": frozenset(["GLIBC_2.2.5", "GLIBC_2.17"])}, "GLIBC_")
    (2, 17)
    """
    versions = (v.removeprefix(prefix) for listed in of.values() for v in listed if v.startswith(prefix))
    numbers = (tuple(map(int, v.split("."))) for v in versions if v.replace(".", "").isdigit())
    return max(numbers, default=(0,))


def _sections(image: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Of each section its type, where it begins, how many bytes it has, and the section that it refers to."""
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    for k in range(count):
        _, kind, _, _, begin, length, link, _, _, _ = _SECTION.unpack_from(image, offset + k * size)
        yield kind, begin, length, link


def _versions(image: bytes, offset: int, names: int) -> dict[str, frozenset[str]]:
    """The versions of symbols by libraries, in a list of lists in which each entry says how far the next one is."""
    found: dict[str, frozenset[str]] = {}
    while True:
        _, _, file, first, following = _NEED.unpack_from(image, offset)
        versions, at = set[str](), offset + first
        while True:
            _, _, _, name, further = _VERSION.unpack_from(image, at)
            versions.add(_text(image, names + name))
            if not further:
                break
            at += further
        found[_text(image, names + file)] = frozenset(versions)
        if not following:
            return found
        offset += following


def _text(image: bytes, at: int) -> str:
    return image[at : image.index(b"\0", at)].decode()
