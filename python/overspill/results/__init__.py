"""Results: finished runs of all variants, with tables and metrics, in memory and on disk."""
