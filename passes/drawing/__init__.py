"""How a dependence graph is drawn: its words, where they stand, and the files they become."""
