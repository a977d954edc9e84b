"""How each operation is printed in its custom form: one module for each dialect."""
