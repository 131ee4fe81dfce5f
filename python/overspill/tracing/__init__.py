"""Trace of one packet: arguments, simulation passes, text, figures and files."""

from overspill.tracing.packet_trace import PacketTrace
from overspill.tracing.run import trace

__all__ = ["PacketTrace", "trace"]
