"""The trace of one packet: which packet, the passes that find it, its words, its files."""

from overspill.tracing.packet_trace import PacketTrace
from overspill.tracing.run import trace

__all__ = ["PacketTrace", "trace"]
