"""How the custom form of each operation continues after its name: one module for each dialect."""
