"""Instruction sets: what each has an instruction for where vector types have no operator, one table each."""
