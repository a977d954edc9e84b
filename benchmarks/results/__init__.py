"""What is measured beside peers, as one file of data, one page and one plot."""
