"""One packet's journey: which packet, the passes that find it, its words, its files."""

from overspill.tracing.journey import Journey
from overspill.tracing.run import trace

__all__ = ["Journey", "trace"]
