"""Loops of the same categories in other words, five of each, as users write them, without steps of a schedule."""
