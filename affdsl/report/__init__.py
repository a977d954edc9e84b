"""One page that shows of a kernel why it is as fast as it is, and what to try next."""
