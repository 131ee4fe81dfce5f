"""What runs: scenarios read and checked, points and seeds run several at a time, and where they are kept."""
