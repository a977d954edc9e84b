"""Standalone C from IR."""
