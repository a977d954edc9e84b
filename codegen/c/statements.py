"""The body of one function: each operation as C statements."""

from __future__ import annotations

from dataclasses import replace

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Affine
from affdsl.ir.types import MemRefType
from codegen.c.calls import Calls
from codegen.c.names import comment


class Writer(Calls):
    """Writes the body of one function: `body`, then `finish` for its lines."""

    def body(self) -> None:
        """Write the whole function."""
        self._block(self.plan.func.body)

    def _block(self, block: Block) -> None:
        self._heap.append([])
        self._depth += 1
        for op in block:
            if op not in self._dead:
                if op in self._comments:
                    self._line(f"/* {comment(self._comments[op])} */")
                self._operation(op)
        if not (block and isinstance(block[-1], func.Return)):
            self._free(self._heap[-1])
        self._depth -= 1
        self._heap.pop()

    def _operation(self, op: Op) -> None:
        match op:
            case affine.For() | scf.For():
                self._loop(op)
            case affine.If() | scf.If():
                self._condition(op)
            case affine.Parallel():
                self._band(op)
            case affine.Store() | memref.Store():
                self._store(op)
            case affine.Yield() | scf.Yield():
                self._yield(op)
            case memref.Alloc() | memref.Alloca():
                self._allocate(op)
            case memref.Dealloc():
                self._deallocate(op)
            case memref.Copy():
                self._copy(op)
            case memref.Cast():
                known = self._buffers[op.source]
                assert isinstance(op.result.type, MemRefType)
                sizes = zip(known.shape, op.result.type.shape, strict=True)
                shape = tuple(Affine.of(size) if size is not None else s for s, size in sizes)
                self._buffers[op.result] = replace(known, shape=shape)
            case func.Call():
                self._call(op)
            case func.Return():
                self._return(op)
            case _:
                self._pure(op)
