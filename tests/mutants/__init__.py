"""Small faults planted into analyses and legality: does a test notice each one?"""
