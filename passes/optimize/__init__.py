"""What an optimizer chooses: which steps pay, of those that are legal."""
