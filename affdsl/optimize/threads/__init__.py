"""What threads share."""
