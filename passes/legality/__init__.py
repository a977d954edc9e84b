"""What may be done to a program: order, witnesses, refusals and what is proposed instead."""
