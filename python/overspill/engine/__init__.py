"""Execution: scenarios are read and checked, and their runs are done in parallel and stored."""
