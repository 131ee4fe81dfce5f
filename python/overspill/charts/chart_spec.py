"""Figures as plain data: panels, axes and marks, which two renderers draw alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

QuantityKind = Literal["number", "time", "bytes", "rate", "share"]
Scale = Literal["linear", "log", "symlog"]

# Okabe and Ito's colours, which are distinguishable with any colour vision; with dashes, 28 variants.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
# Lengths of strokes and gaps in units of the line's width. If curves coincide, the wide one is visible beside
# and between the dashes of the narrow ones.
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 2), (2, 1.5), (7, 1.5, 1.5, 1.5))
WIDTHS = (2.8, 2.2, 1.8, 1.4)
GREY = "#8a9199"
# Viridis of van der Walt and Smith in even steps: it darkens evenly, and so is readable without colours.
SHADES = (
    "#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89",
    "#26828e", "#31688e", "#3e4989", "#482878", "#440154",
)  # fmt: skip
WHITE_SHARE = 1 / 32  # share of a scale that is white, for 0


@dataclass(frozen=True)
class LineStyle:
    """Style of a line; `dash` is in units of the line's width, as in matplotlib."""

    colour: str = COLOURS[0]
    dash: tuple[float, ...] = ()
    width: float = 1.6
    opacity: float = 1.0


def line_style_of_index(index: int) -> LineStyle:
    """Returns the line style of variant number `index`, equal in every figure.

    Args:
        index: Number of the variant in its scenario, from 0.

    """
    return LineStyle(COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)], WIDTHS[index % len(WIDTHS)])


@dataclass(frozen=True)
class Axis:
    """Axis of a panel. Times are in seconds, sizes in bytes, rates in bit/s, shares from 0 to 1.

    `ticks` are positions with texts, for categories. `whole_numbers` restricts ticks to whole numbers. A
    `symlog` axis places a value v at sign(v) log10(1 + |v|). `range` has both ends of the axis.
    """

    label: str = ""
    kind: QuantityKind = "number"
    scale: Scale = "linear"
    range: tuple[float, float] | None = None
    ticks: tuple[tuple[float, str], ...] | None = None
    whole_numbers: bool = False
    reversed: bool = False


@dataclass(frozen=True)
class LegendEntry:
    """Entry of a figure's legend; lines, bands, points and bars refer to it by `key`; a `ring` is hollow."""

    key: str
    label: str
    look: LineStyle
    symbol: Literal["line", "square", "circle", "ring"] = "line"


@dataclass(frozen=True)
class Line:
    """Line through points, or in steps: a value holds to the next point (`post`) or from the last (`pre`)."""

    x: np.ndarray
    y: np.ndarray
    look: LineStyle
    entry: str = ""
    step: Literal["", "pre", "post"] = ""
    hover: Sequence[str] = ()


@dataclass(frozen=True)
class Band:
    """Area between two curves, usually an `interval` over seeds; it has no hover text.

    Lines are visible through it unless it is more opaque.
    """

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    look: LineStyle
    entry: str = ""
    step: Literal["", "post"] = ""
    interval: bool = True
    opacity: float = 0.18


@dataclass(frozen=True)
class Points:
    """Points with error bars, filled or hollow."""

    x: np.ndarray
    y: np.ndarray
    look: LineStyle
    entry: str = ""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    hollow: bool = False
    size: float = 5.0
    hover: Sequence[str] = ()


@dataclass(frozen=True)
class Bars:
    """Bars from 0 upward, with error bars."""

    x: np.ndarray
    height: np.ndarray
    width: float
    look: LineStyle
    entry: str = ""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    hover: Sequence[str] = ()


@dataclass(frozen=True)
class Colours:
    """Colour scale from light to dark; `log` begins at 1. `white_zero` adds a white part for 0 alone."""

    low: float
    high: float
    label: str
    log: bool = False
    kind: QuantityKind = "number"
    whole_numbers: bool = False
    white_zero: bool = False

    @property
    def stops(self) -> tuple[tuple[float, str], ...]:
        """Colours of the scale and their positions from 0 to 1, between which colours are interpolated."""
        first, last = (WHITE_SHARE if self.white_zero else 0.0), len(SHADES) - 1
        shades = [(first + (1 - first) * at / last, colour) for at, colour in enumerate(SHADES)]
        # The white part ends a little below the lowest value, so that rounding never makes that value white.
        edge = 0.9 * first
        white = [(0.0, "#ffffff"), (edge, "#ffffff"), (edge, SHADES[0])]
        return tuple(white + shades if self.white_zero else shades)

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest position on the colour scale with its white part, as in `positions_of`."""
        low, high = np.log10([self.low, self.high]).tolist() if self.log else (self.low, self.high)
        return (low - (high - low) * WHITE_SHARE / (1 - WHITE_SHARE) if self.white_zero else low), high

    def positions_of(self, values: np.ndarray) -> np.ndarray:
        """Returns positions of values on the scale (logarithms if `log`); 0 is in the middle of the white."""
        numbers = np.asarray(values, np.float64)
        with np.errstate(divide="ignore"):
            found = np.log10(numbers) if self.log else numbers
        low, high = self.ends
        return (
            np.where(numbers == 0, low + (high - low) * WHITE_SHARE / 2, found) if self.white_zero else found
        )


@dataclass(frozen=True)
class HeatMap:
    """Matrix as colours: row r from r to r + 1 on y, column c from `edges[c]` to `edges[c + 1]` on x.

    NaN stays white.
    """

    values: np.ndarray
    edges: np.ndarray
    rows: Sequence[str]


@dataclass(frozen=True)
class Span:
    """Shaded part of the x axis, and the sentence that explains it in a saved figure."""

    start: float
    end: float
    file_note: str = ""


@dataclass(frozen=True)
class EventLine:
    """Time at which the network changes: a thin vertical line with a label at its upper end."""

    time: float
    label: str


@dataclass(frozen=True)
class Links:
    """Links of one kind in a drawn network: paths separated by NaN, and a point with hover text for each."""

    x: np.ndarray
    y: np.ndarray
    width: float
    middle_x: np.ndarray
    middle_y: np.ndarray
    hover: Sequence[str]
    colour: str = "#b5bcc4"


@dataclass(frozen=True)
class LabelledArrow:
    """Arrow along a path, with a text in its middle."""

    x: np.ndarray
    y: np.ndarray
    look: LineStyle
    entry: str = ""
    label: str = ""
    hover: str = ""

    @property
    def middle(self) -> tuple[float, float]:
        """Position of the arrow's text."""
        at = len(self.x) // 2
        return float(self.x[at]), float(self.y[at])


@dataclass(frozen=True)
class Nodes:
    """Nodes of one kind, coloured by `value`, or in `plain_colour` if it is NaN; labels may be empty.

    A `box` is as large as its label, which is inside.
    """

    x: np.ndarray
    y: np.ndarray
    value: np.ndarray
    labels: Sequence[str]
    hover: Sequence[str]
    symbol: Literal["circle", "square", "box"]
    size: float
    plain_colour: str = GREY
    entry: str = ""


@dataclass(frozen=True)
class Graph:
    """Drawing of a network; its panel has no axes. `aspect` is the scale of y relative to x."""

    links: Sequence[Links]
    nodes: Sequence[Nodes]
    tiers: Sequence[tuple[float, str]]
    arcs: Sequence[LabelledArrow] = ()
    aspect: float | None = None


Mark = Line | Band | Points | Bars | HeatMap | Span | EventLine | Graph


@dataclass(frozen=True)
class Panel:
    """Panel of a figure: two axes and their marks; `note` is the text in the middle of an empty panel.

    `corner` are lines of text at the lower left; `height_share` is the height relative to other panels.
    """

    title: str = ""
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    marks: Sequence[Mark] = ()
    note: str = ""
    corner: Sequence[str] = ()
    height_share: float = 1.0

    @property
    def is_graph(self) -> bool:
        """True if the panel shows a network."""
        return any(isinstance(mark, Graph) for mark in self.marks)


@dataclass(frozen=True)
class Chart:
    """Figure of panels, row by row or column by column, each `height` inches high.

    `note` is a warning that a file has below its title, and the page before its caption. `file_note`
    describes lines and marks in a file, which has no caption. With `share_x` the panels have one x axis,
    labelled below the lowest; with `share_y` one range of y.
    """

    name: str
    title: str
    caption: str
    panels: Sequence[Panel]
    columns: int = 1
    height: float = 3.0
    legend: Sequence[LegendEntry] = ()
    colours: Colours | None = None
    share_x: bool = False
    share_y: bool = False
    fill_columns_first: bool = False
    note: str = ""
    file_note: str = ""

    @property
    def rows(self) -> int:
        """Number of rows of panels."""
        return -(-len(self.panels) // self.columns)

    @property
    def row_heights(self) -> list[float]:
        """Height of each row of panels relative to `height`: that of the highest panel in it."""
        cells = [self.cell_of(index)[0] for index in range(len(self.panels))]
        rows = range(self.rows)
        return [
            max(
                (one.height_share for at, one in zip(cells, self.panels, strict=True) if at == row),
                default=1.0,
            )
            for row in rows
        ]

    def cell_of(self, index: int) -> tuple[int, int]:
        """Returns the row and the column in which a panel of the figure is."""
        return (
            (index % self.rows, index // self.rows)
            if self.fill_columns_first
            else divmod(index, self.columns)
        )

    def is_in_last_row(self, index: int) -> bool:
        """Returns true if the figure has no panel below this one."""
        row, column = self.cell_of(index)
        return (row + 1, column) not in {self.cell_of(at) for at in range(len(self.panels))}


def symlog_positions(values: np.ndarray) -> np.ndarray:
    """Returns the positions of values on a `symlog` axis."""
    numbers = np.asarray(values, np.float64)
    return np.asarray(np.sign(numbers) * np.log10(1 + np.abs(numbers)))


def symlog_inverse(places: np.ndarray) -> np.ndarray:
    """Returns the values at positions of a `symlog` axis."""
    numbers = np.asarray(places, np.float64)
    return np.asarray(np.sign(numbers) * (10 ** np.abs(numbers) - 1))


def symlog_ticks(low: float, high: float) -> list[float]:
    """Returns zero and powers of ten on both sides, within the range."""
    largest = max(abs(low), abs(high), 1.0)
    powers = [10.0**power for power in range(int(np.floor(np.log10(largest))) + 1)]
    if len(powers) > 5:
        powers = powers[:: -(-len(powers) // 5)]
    return [tick for tick in (*(-one for one in reversed(powers)), 0.0, *powers) if low <= tick <= high]


def axis_extent(panels: Sequence[Panel], which: Literal["x", "y"]) -> tuple[float, float]:
    """Returns the smallest and largest finite numbers that panels draw along an axis; 0 and 1 if none."""
    found = [one for panel in panels for mark in panel.marks for one in axis_numbers(mark, which)]
    every = np.concatenate(found) if found else np.zeros(0)
    every = every[np.isfinite(every)]
    return (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)


def axis_numbers(mark: Mark, which: Literal["x", "y"]) -> list[np.ndarray]:
    """Returns the numbers of a line, band, point, bar or heat map that an axis has to include."""
    if isinstance(mark, HeatMap):
        return [np.asarray(mark.edges if which == "x" else (0, len(mark.rows)), np.float64)]
    if isinstance(mark, Span | EventLine | Graph):
        return []
    if which == "x":
        return [np.asarray(mark.x, np.float64)]
    if isinstance(mark, Band):
        return [np.asarray(mark.low, np.float64), np.asarray(mark.high, np.float64)]
    main = mark.height if isinstance(mark, Bars) else mark.y
    errors = [] if isinstance(mark, Line) else [one for one in (mark.low, mark.high) if one is not None]
    return [np.asarray(one, np.float64) for one in (main, *errors)]
