"""Results: runs side by side, their tables and metrics, on disk and back."""
