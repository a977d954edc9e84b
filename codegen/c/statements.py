"""The body of one function: each operation as C statements."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf, ub
from affdsl.ir.expr import Affine
from affdsl.ir.types import VectorType
from codegen.c.names import comment
from codegen.c.structured import Structured
from codegen.c.views import View


class Writer(Structured):
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
            case scf.Parallel():
                self._scf_band(op)
            case scf.While():
                self._while(op)
            case scf.Condition():
                self._condition_of_while(op)
            case scf.Reduce():
                self._reduce_values(op)
            case scf.ReduceReturn():
                self._reduce_return(op)
            case scf.IndexSwitch():
                self._switch(op)
            case scf.ExecuteRegion():
                self._once(op)
            case affine.VectorLoad():
                self._check_divisors(op, op.index)
                self._load_vector(op, op.result, op.memref, [self._expression(e) for e in op.index])
            case affine.VectorStore():
                self._check_divisors(op, op.index)
                self._store_vector(op, op.value, op.memref, [self._expression(e) for e in op.index])
            case affine.DmaStart() | memref.DmaStart():
                self._dma_start(op)
            case affine.DmaWait() | memref.DmaWait():
                self._dma_wait(op)
            case affine.Prefetch() | memref.Prefetch():
                self._prefetch(op)
            case memref.AtomicRMW():
                self._atomic(op)
            case affine.DelinearizeIndex() | affine.LinearizeIndex():
                self._digits(op)
            case memref.Rank():
                self._affine[op.result] = Affine.of(self._buffers[op.memref].type.rank)
            case ub.Poison() if not isinstance(op.result.type, VectorType):
                self._no_value(op)
            case _ if isinstance(op, View):
                self._view(op)
            case func.Call():
                self._call(op)
            case func.Return():
                self._return(op)
            case _:
                self._pure(op)
