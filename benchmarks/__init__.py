"""What is measured, as ratios against peers in one run."""
