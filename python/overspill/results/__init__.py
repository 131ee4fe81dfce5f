"""Results: finished runs side by side, with tables and metrics, in memory and on disk."""
