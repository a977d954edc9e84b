"""Small faults planted into the source of analyses and legality: does the suite notice each one?"""
