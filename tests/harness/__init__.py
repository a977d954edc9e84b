"""What all random programs need: processes that may die, limits, guarded memory, compiled C, counts, a command."""
