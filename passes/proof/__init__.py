"""What is proved of two functions for all sizes: that they do the same, by where every value comes from."""
