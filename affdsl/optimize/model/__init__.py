"""How long a program ought to take. There is one model, and whoever has to choose asks it.

`cost` walks a function: of the operations of a block it counts what they take of the units of a core (`units`), of an
innermost loop how long an iteration waits for the one before it (`chains`), and of each nest which bytes move between
caches (`moving`). What compilers of C do with scalar loops by themselves is in `compiled`. All figures of the machine
are in `optimize/machine.py`.
"""
