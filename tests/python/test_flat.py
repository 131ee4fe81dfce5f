"""Tests of drawings of networks whose switches are all of one tier."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from overspill.charts import common, flat_layout, mpl, network, plotly_figure, saturation
from overspill.charts.chart_spec import Chart, Panel


def network_of(names: list[str], joined: list[tuple[int, int]], hosts: int = 1) -> network.Network:
    """Returns switches of these names, each with `hosts` hosts, and links between switches."""
    nodes = [network.Node(f"h{at}", "host", True) for at in range(hosts * len(names))]
    nodes += [network.Node(name, "switch", False) for name in names]
    first = hosts * len(names)
    links = [network.Link(at, first + at // hosts, 1e9, 1) for at in range(first)]
    links += [network.Link(first + a, first + b, 1e9, 1) for a, b in joined]
    return network.Network(tuple(nodes), tuple(links))


def square_network() -> network.Network:
    """Returns a hyperx of three by three."""
    names = [f"s{row}_{column}" for row in range(3) for column in range(3)]
    pairs = [(a, b) for a in range(9) for b in range(a + 1, 9) if a // 3 == b // 3 or a % 3 == b % 3]
    return network_of(names, pairs, 2)


def test_a_hyperx_is_a_grid_with_its_hosts_below_each_switch() -> None:
    place = network.place_nodes(square_network())
    assert [len(row) for row in place.rows] == [3, 3, 3]
    rows = [[18 + 3 * row + column for column in range(3)] for row in range(3)]
    assert [list(row) for row in place.rows] == rows
    for row in rows:
        assert len(set(place.y[row])) == 1 and list(place.x[row]) == sorted(place.x[row])
    assert place.y[rows[0][0]] > place.y[rows[1][0]] > place.y[rows[2][0]]
    for host in range(18):
        switch = 18 + host // 2
        assert place.y[switch] - 1 < place.y[host] < place.y[switch]
        assert abs(place.x[host] - place.x[switch]) < 1 / 6
    assert place.x.min() >= 0 and place.x.max() <= 1


def test_a_link_bows_around_the_switches_that_it_passes() -> None:
    net = square_network()
    place = network.place_nodes(net)
    drawn = {(link.a - 18, link.b - 18): network.link_path(link, place) for link in net.links[18:]}
    assert len(drawn[0, 1][0]) == len(drawn[0, 3][0]) == 2
    over_x, over_y = drawn[0, 2]
    assert over_y.max() > over_y[0] == pytest.approx(over_y[-1])
    beside_x, _ = drawn[0, 6]
    assert beside_x.max() > beside_x[0] == pytest.approx(beside_x[-1])
    assert beside_x.max() < over_x[len(over_x) // 2]
    assert flat_layout.path_midpoint((over_x, over_y)) == (pytest.approx(over_x.mean()), over_y.max())
    assert place.aspect is None
    for x, y in ((over_x, over_y / 3), drawn[0, 6]):
        turns = np.diff(np.unwrap(np.arctan2(np.diff(y), np.diff(x))))
        assert 0 < np.abs(turns).max() < np.radians(3), "a corner is seen"


def test_a_circle_is_drawn_as_one_by_both() -> None:
    net = network_of(
        [f"s{at}" for at in range(12)], [(at, (at + step) % 12) for at in range(12) for step in (1, 5)], 3
    )
    counts = {name: np.zeros(48) for name in ("drops", "longest queue")}
    panel = Panel(marks=[network.draw_quantity(net, counts, ("drops", 1))])
    height = common.network_panel_height(1, 1, even=True)
    chart = Chart("n", "n", "", [panel], height=height, colours=network.quantity_colours("drops", 0))
    figure = mpl.draw_figure(chart)
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    corners = axes.transData.transform(np.array([[0.0, 0.0], [1.0, 3.0]]))
    wide, high = corners[1] - corners[0]
    assert wide == pytest.approx(high) and high > 0.8 * axes.bbox.height
    layout = plotly_figure.build_plotly_figure(chart)["layout"]
    assert layout["yaxis"]["scaleanchor"] == "x" and layout["yaxis"]["scaleratio"] * 3 == pytest.approx(1)


def test_blocks_of_a_third_dimension_stand_apart() -> None:
    names = [f"s{a}_{b}_{c}" for a in range(2) for b in range(2) for c in range(2)]
    cells = flat_layout.parse_grid_cells(names)
    assert cells is not None
    assert [row for row, _ in cells] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [column for _, column in cells[:4]] == pytest.approx([0, 1, 2.6, 3.6])
    assert (
        flat_layout.parse_grid_cells(["s0", "s1"]) is None
        and flat_layout.parse_grid_cells(["s0_0", "s0_0_1"]) is None
    )


def test_a_jellyfish_is_a_circle_with_its_hosts_outside() -> None:
    joined = [(at, (at + step) % 12) for at in range(12) for step in (1, 5)]
    net = network_of([f"s{at}" for at in range(12)], joined, 3)
    place = network.place_nodes(net)
    assert place.flat_positions is not None and not place.flat_positions.grid
    out = np.hypot((place.x - 0.5) / 0.5, (place.y - 1.5) / 1.5)
    assert out[36:] == pytest.approx(flat_layout.INNER_RADIUS) and out[:36] == pytest.approx(1.0)
    assert place.aspect is not None and 3 * place.aspect == pytest.approx(1)
    spots = set(zip(place.x.round(6).tolist(), place.y.round(6).tolist(), strict=True))
    assert len(spots) == 48
    assert sorted(at for row in place.rows for at in row) == list(range(36, 48))
    crossing = network.link_path(network.Link(36, 41, 1e9, 1), place)
    assert len(crossing[0]) == 2


def test_a_chain_stays_a_line_and_a_tree_keeps_its_tiers() -> None:
    chain = network_of([f"s{at}" for at in range(5)], [(at, at + 1) for at in range(4)])
    place = network.place_nodes(chain)
    assert place.flat_positions is None and len(set(place.y[5:])) == 1
    bare = network_of(["s0", "s1", "s2"], [(0, 1), (1, 2), (0, 2)])
    nodes = (*bare.nodes, network.Node("top", "switch", False))
    without_hosts = network.Network(nodes, (*bare.links, network.Link(3, 6, 1e9, 1)))
    assert network.place_nodes(bare).flat_positions is not None
    assert network.place_nodes(without_hosts).flat_positions is None


def test_arrows_along_bows_stay_in_the_drawing_and_leave_as_much_free_at_every_node() -> None:
    net = square_network()
    place = network.place_nodes(net)
    ends = {(18, 19): (0, 1), (18, 20): (0, 2), (18, 24): (0, 6)}
    arcs = saturation.build_arrows(net, place, dict.fromkeys(ends, ("tree", saturation.TREE_LINE_STYLE)))
    for arc, (start, end) in zip(arcs, ends, strict=True):
        assert place.flat_positions is not None
        cell = np.array([place.flat_positions.cell, 1.0])
        nodes = np.stack([place.x, place.y], 1)
        way = np.hypot(*((np.stack([arc.x, arc.y], 1)[[0, -1]] - nodes[[start, end]]) / cell).T)
        assert way == pytest.approx([way[0]] * 2) and 0.06 < way[0] < 0.13
    axes = mpl.draw_figure(
        Chart("n", "n", "", [Panel(marks=[saturation.build_graph(net, place, {}, arcs)])])
    ).axes[0]
    bottom, top = axes.get_ylim()
    highest = max(float(np.nanmax(links.y)) for links in network.build_links(net, place))
    assert highest > place.y.max() and bottom < place.y.min() and top > highest


def test_arrows_in_a_circle_need_no_limits_that_its_shape_breaks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    net = network_of(
        [f"s{at}" for at in range(12)], [(at, (at + step) % 12) for at in range(12) for step in (1, 5)]
    )
    place = network.place_nodes(net)
    arcs = saturation.build_arrows(net, place, {(12, 17): ("tree", saturation.TREE_LINE_STYLE)})
    graph = saturation.build_graph(net, place, {}, arcs)
    assert graph.aspect and arcs
    FigureCanvasAgg(mpl.draw_figure(Chart("n", "n", "", [Panel(marks=[graph])]))).draw()
    assert not caplog.records
