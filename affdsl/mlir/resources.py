"""What stands at the end of a text between {-# and #-}: the bytes that dense_resource attributes name, kept as text."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.later import pattern
from affdsl.mlir.registry import is_registered
from affdsl.mlir.scanner import Scanner

_BLOB = pattern(r'"0x((?:[0-9A-Fa-f]{2}){4,})"')


def read_resources(s: Scanner) -> str:
    """`{-# dialect_resources: { builtin: { name: "0x..." } }, external_resources: {...} #-}`, as it is."""
    first = s.start
    s.expect("{-#")
    while s.token != "#-}":
        place, section = s.start, s.word()
        if section not in ("dialect_resources", "external_resources"):
            s.fail(f"there are dialect_resources and external_resources, but no {section}", place)
        s.expect(":")
        _entries(s, section)
        if s.token != "#-}":
            s.expect(",")
            if s.token == "#-}":
                s.fail("a section is missing after ','")
    end = s.end
    s.advance()
    return s.text[first:end]


def _entries(s: Scanner, section: str) -> None:
    """`{ owner: { key: value, ... }, ... }`"""
    for owner in _keys(s):
        if section == "dialect_resources":
            if not is_registered(owner):
                s.fail(f"there is no dialect {owner}, whose resources these could be")
            if owner != "builtin":
                s.fail(f"the dialect {owner} has no resources; those of dense_resource belong to builtin")
        for key in _keys(s):
            if section == "dialect_resources":
                _check_blob(s, key)
            if not s.is_string and s.token not in ("true", "false"):
                s.fail(f"the resource {key} must be a string, true or false")
            s.advance()


def _keys(s: Scanner) -> Iterator[str]:
    """The keys of `{key: ..., key: ...}`; where one is given, what follows its colon is to be passed."""
    s.expect("{")
    while s.token != "}":
        if not (s.is_word or s.is_string):
            s.fail("expected the name of a resource")
        key = s.advance()
        s.expect(":")
        yield key.strip('"')
        if s.token != "}":
            s.expect(",")
            if s.token == "}":
                s.fail("a resource is missing after ','")
    s.advance()


def _check_blob(s: Scanner, key: str) -> None:
    found = _BLOB.fullmatch(s.token)
    if found is None:
        s.fail(f'the resource {key} must be bytes, "0x" with two hexadecimal digits for each, and 4 for the alignment')
    alignment = int.from_bytes(bytes.fromhex(found[1][:8]), "little")
    if alignment & (alignment - 1):
        s.fail(f"the alignment of the resource {key} must be a power of two, but is {alignment}")
