"""Faults as transformations make them, planted into programs and into what transformations make of programs."""
