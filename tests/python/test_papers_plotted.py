"""Tests of plotted data: a drawing made again from JSON is equal to the pixel, except for rounded numbers."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from overspill import Failed, plots
from overspill.papers import plotted_data
from overspill.papers.common import (
    draw_legend,
    draw_mean_line,
    draw_published_values,
    new_panels,
    set_log_scale,
)
from overspill.papers.plotted_data import make_object
from overspill.plots import SHADES


def pixels(figure: Figure) -> np.ndarray:
    canvas = FigureCanvasAgg(figure)
    with plots.style():
        canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def drawn_twice(draw: Callable[[], object]) -> tuple[np.ndarray, np.ndarray]:
    with plots.style(), plotted_data.record_drawings() as notes:
        draw()
    with plots.style():
        again = plotted_data.redraw_figure(json.loads(json.dumps(notes[0].document)))
    return pixels(notes[0].kept[0]), pixels(again)


def lines(axes: Axes) -> None:
    draw_mean_line(
        axes, range(1, 4), np.array([[1.0, 20, 300], [2, 30, 350]]), "#aa0000", label="a", marker="o"
    )
    axes.errorbar([1, 2], [3, 4], [0.5, float("nan")], fmt="none")
    axes.bar(np.arange(2), [5, 6], 0.4, label="bars")
    draw_published_values(axes, [(1, 2.0), (2, None)])
    set_log_scale(axes)
    draw_legend(axes, loc="upper left", bbox_to_anchor=(0, 1))


def axes_of_their_own(axes: Axes) -> None:
    other = axes.twinx()
    other.spines["right"].set_position(("axes", 1.11))
    [line] = other.plot([1, 2], [5, 6])
    line.set_linestyle((0, (1, 2)))
    axes.add_patch(make_object("arrow", (0.1, 0.2), (0.8, 0.9), connectionstyle="arc3,rad=0.2"))
    axes.plot([0], [1], marker="D", transform=axes.transAxes, clip_on=False)
    axes.yaxis.set_major_formatter(make_object("percent", 1))
    axes.xaxis.set_major_locator(make_object("whole"))
    axes.set_ylim(0, 1.5 * axes.get_ylim()[1])
    if (shown := axes.legend(["x"])) is not None:
        shown.set_visible(False)


def shades(axes: Axes, figure: Figure) -> None:
    image = axes.imshow([[1.0, 2.0], [float("nan"), 4.0]], cmap=make_object("shades", SHADES), aspect="auto")
    figure.colorbar(image, ax=axes, pad=0.01).set_label("shades")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center")


def test_a_figure_is_drawn_again() -> None:
    def draw() -> None:
        figure, panels = new_panels(3)
        lines(panels[0])
        axes_of_their_own(panels[1])
        shades(panels[2], figure)
        for axes in figure.axes:
            axes.set_title("panel")

    first, again = drawn_twice(draw)
    assert first.shape == again.shape
    assert (first != again).any(axis=-1).mean() < 1e-4, "numbers have five digits"


def test_axes_that_share_an_axis_are_drawn_again() -> None:
    def draw() -> None:
        figure = plotted_data.new_figure(figsize=(4, 3), layout="constrained")
        high, low = figure.subplots(2, 1, sharex=True, height_ratios=(1, 2))
        high.plot([1, 2, 3])
        low.step([1, 2, 9], [3, 1, 2], where="post")

    first, again = drawn_twice(draw)
    assert (first == again).all()


def test_numbers_have_five_digits_and_other_things_are_refused() -> None:
    with plots.style(), plotted_data.record_drawings() as notes:
        _, [axes] = new_panels(1)
        axes.plot([1 / 3, np.float64(2) / 3, 10**9 + 1])
        with pytest.raises(Failed, match="found object in a drawing"):
            axes.annotate("x", (0, 0), gid=object())
    assert notes[0].document["calls"][-1] == ["#0", "plot", [[0.33333, 0.66667, 10**9 + 1]], {}]


def test_hidden_cells_stay_hidden_and_long_lists_are_kept_once() -> None:
    def draw() -> None:
        _, [axes, beside] = new_panels(2)
        axes.imshow(
            np.ma.masked_equal(np.arange(30).reshape(5, 6) % 4, 0), cmap=make_object("shades", SHADES)
        )
        for factor in (1, 2):
            beside.fill_between(np.arange(40), np.arange(40), factor * np.arange(40))

    first, again = drawn_twice(draw)
    assert (first == again).all()
    with plots.style(), plotted_data.record_drawings() as notes:
        draw()
    assert len(notes[0].document["arrays"]) == 2
    filled = [call[2] for call in notes[0].document["calls"] if call[1] == "fill_between"]
    assert filled == [[{"array": 0}] * 3, [{"array": 0}, {"array": 0}, {"array": 1}]]


def test_nothing_is_noted_unless_asked() -> None:
    with plots.style():
        figure, _ = new_panels(1)
    assert isinstance(figure, Figure)
