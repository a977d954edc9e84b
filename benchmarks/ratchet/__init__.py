"""Two states of this project raced against each other, in one run."""
