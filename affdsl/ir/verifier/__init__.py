"""The rules that IR must keep: `verify` names every operation that breaks one."""

from affdsl.ir.verifier.structure import verify

__all__ = ["verify"]
