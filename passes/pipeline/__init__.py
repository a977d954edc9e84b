"""Pipelines of passes: the table of passes, their options, the language, and what runs them."""
