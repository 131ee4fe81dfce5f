"""Tests of packet traces through the buffers inside a switch of several stages."""

from overspill.tracing import PacketTrace


def test_buffers_inside_a_switch_are_told_by_what_they_are() -> None:
    network = {
        "nodes": [{"name": "h0"}, {"name": "s0"}, {"name": "h1"}],
        "links": [{"a": 0, "a_port": 0, "b": 1, "b_port": 0}, {"a": 2, "a_port": 0, "b": 1, "b_port": 1}],
    }
    traced = PacketTrace({}, {}, network)
    told = [traced.inside({"node": 1, "buffer": buffer}) for buffer in (0, 1, 2, 3, 6)]
    assert told == ["into its stage"] * 2 + ["before link 0", "behind link 0", "before link 2"]
