"""What makes the site out of the pages and the docstrings, beside Sphinx itself."""
