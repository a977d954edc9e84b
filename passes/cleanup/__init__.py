"""Passes that leave out, simplify and forward, and change no order."""
