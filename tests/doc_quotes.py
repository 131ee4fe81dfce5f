"""Texts of pages that quote measured numbers, with their rows in docs/measured.csv."""

from collections.abc import Iterator
from dataclasses import dataclass

WIRE_FACTOR = 1542 / 1464  # bytes of a frame on the wire divided by its payload
FRAME_FACTOR = 1 / 1.518  # frames of 1518 B in a KB


@dataclass(frozen=True)
class Cell:
    """Value of the file that a page quotes, times a factor."""

    measurement: str
    variant: str
    metric: str
    value: str = "mean"
    factor: float = 1.0

    @property
    def key(self) -> tuple[str, str, str]:
        """Measurement, variant and metric: the key of a row in the file."""
        return self.measurement, self.variant, self.metric


@dataclass(frozen=True)
class Quote:
    """Text of a page with `{}` for each number; cells of a text without `{}` are all 0."""

    page: str
    text: str
    cells: tuple[Cell, ...]


def quote_models(
    row: str, name: str, variant: str, count: str = "", lossless: str = "both"
) -> Iterator[Quote]:
    """Yields the two cells of a row of cioq.md, each with the mean QCT, a count, and drops."""
    counted, word = count.partition(" ")[::2]
    texts, cells, free = [], [], []
    for model in ("output_queued", "cioq"):
        at = f"{name}, {variant}, {model}"
        none = lossless in ("both", model)
        texts.append(
            ", ".join(["{}", *(["{} " + word] if count else []), "no drops" if none else "{} drops"])
        )
        cells += [Cell(at, variant, "qct_mean"), *([Cell(at, variant, counted)] if count else [])]
        (free if none else cells).append(Cell(at, variant, "drops"))
    yield Quote("cioq", f"{row} | {' | '.join(texts)} |", tuple(cells))
    if free:
        yield Quote("cioq", "no drops |", tuple(free))


def quote_victims(row: str, measurement: str) -> Quote:
    """Returns a row of the table of fabric.md."""
    metric, variants = "goodput_from_110_to_150_ms", ("pfc", "os_in", "two_samples", "os_acks")
    cells = tuple(Cell(measurement, variant, metric) for variant in variants)
    return Quote("fabric", f"| {row} | {{}} | {{}} | {{}} | {{}} |", cells)


def quote_at_rest(gbps: int, flows: int) -> Quote:
    """Returns the measured columns of a row of dcqcn.md's table, each from the least to the largest value."""
    metrics = ("marked_share", "mean_queue_of_1522_B", "jain_of_all")
    cells = tuple(
        Cell(f"dcqcn, {gbps} Gb/s, {flows}", "default", metric, value)
        for metric in metrics
        for value in ("smallest", "largest")
    )
    row = rf"| {gbps} Gb/s, {flows} | #\# | {{}}-{{}} | #\# | {{}}-{{}} | #\# | {{}}-{{}} |"
    return Quote("dcqcn", row, cells)


def wire_cell(measurement: str, variant: str) -> Cell:
    return Cell(measurement, variant, "goodput_from_110_to_150_ms", factor=WIRE_FACTOR)


TEN_GIGABIT = "fabric, 10 Gb/s"
QUOTES = (
    Quote(
        "roce",
        "Switches drop {}, and senders retransmit {}. With the default `rto` and host jitter the numbers are "
        "{} and {} ([numbers]",
        tuple(
            Cell("roce_incast", name, at) for name in ("exact", "default") for at in ("drops", "retransmits")
        ),
    ),
    Quote("roce", "at a mean queue of {} KB where", (Cell("roce_qcn", "default", "mean_queue_of_1066_B"),)),
    *(
        Quote(
            "roce",
            f"| {row} | {{}} | {{}} | {{}} |",
            tuple(Cell("roce_tcp", variant, metric) for variant in ("together", "apart", "dcqcn")),
        )
        for row, metric in (
            ("p99 of the FCT of web flows up to 100 KB, us", "fct_p99[size=0-100KB]"),
            ("the six writes, ms", "qct_mean"),
            ("pauses", "pauses"),
        )
    ),
    Quote(
        "roce",
        "Nothing is lost. A class",
        tuple(Cell("roce_tcp", variant, "drops") for variant in ("together", "apart", "dcqcn")),
    ),
    *quote_models("[incast](../../scenarios/incast.toml), detour", "incast", "detour", "detours detours"),
    *quote_models("| incast, bounce", "incast", "bounce", "bounces bounces"),
    *quote_models("[trim](../../scenarios/trim.toml), cp", "trim", "cp", "trims cut"),
    *quote_models("| trim, uec", "trim", "uec", "trims cut"),
    *quote_models("[abq](../../scenarios/abq.toml), abq", "abq", "abq", "held_acks held", "cioq"),
    *quote_models("| incast, drop", "incast", "drop", lossless="neither"),
    *quote_models("| trim, drop", "trim", "drop", lossless="neither"),
    Quote("fabric", "PFC alone gives the victim {} Gb/s on the wire", (wire_cell(TEN_GIGABIT, "pfc"),)),
    Quote(
        "fabric",
        "gives the victim {} of 5 Gb/s after an initial phase",
        (wire_cell(TEN_GIGABIT, "two_samples"),),
    ),
    Quote("fabric", "(`acknowledged`) gives the victim {} Gb/s", (wire_cell(TEN_GIGABIT, "os_acks"),)),
    Quote("fabric", "and the victim has {} Gb/s", (wire_cell("fabric, round_robin", "two_samples"),)),
    Quote("fabric", "and {} with `round_robin`", (wire_cell("fabric, round_robin", "os_acks"),)),
    *(quote_victims(rate, f"fabric, {rate}") for rate in ("10 Gb/s", "40 Gb/s", "100 Gb/s")),
    quote_victims("10 Gb/s, eight stages and 16 ports", "fabric, eight stages"),
    *(quote_at_rest(gbps, flows) for gbps, flows in ((40, 2), (40, 4), (40, 10), (25, 2), (100, 2))),
    Quote(
        "bounce",
        "Inputs hold at most {} frames at a time ({} KB,",
        tuple(
            Cell("pabo inputs, 2501", "pabo", "input_bytes_max", "largest", by) for by in (FRAME_FACTOR, 1.0)
        ),
    ),
    Quote(
        "bounce", "With inputs of 120 KB no packet is lost", (Cell("pabo inputs, 120KB", "pabo", "drops"),)
    ),
    Quote(
        "bounce",
        "With 100 KB {} of 7,515 packets of the mild load are lost",
        (Cell("pabo inputs, 100KB", "pabo", "drops"),),
    ),
    Quote(
        "bounce",
        "inputs of 6 KB. With it no packet of the mild load is lost",
        tuple(Cell("pabo small inputs, 501", "without", metric) for metric in ("drops", "drop_ratio")),
    ),
    Quote(
        "bounce",
        "Of the severe load {}% are lost",
        (Cell("pabo small inputs, 2501", "without", "drop_ratio"),),
    ),
    Quote(
        "bounce",
        "loses {} of 7,515 packets without bouncing ({}%; the paper says",
        tuple(Cell("packet_bounce", "drop", metric) for metric in ("drops", "drop_ratio")),
    ),
    Quote(
        "bounce",
        "and none with it. With it",
        tuple(Cell("packet_bounce", "bounce", metric) for metric in ("drops", "drop_ratio")),
    ),
    Quote("bounce", "With it {}% of the packets", (Cell("packet_bounce", "bounce", "bounced_share"),)),
    *(
        Quote(
            "bounce",
            f"| {row} | {{}} | {{}} | {{}} | {{}} | {{}} |",
            (
                Cell("bounce_storm", variant, "slowdown_mean[traffic=search]"),
                Cell("bounce_storm", variant, "slowdown_mean[traffic=search]", "largest"),
                Cell("bounce_storm", variant, "bounces"),
                Cell("bounce_storm", variant, "drops"),
                Cell("bounce_storm", variant, "drops[reason=ttl_expired]"),
            ),
        )
        for row, variant in (
            ("default", "default"),
            ("`transport.ttl = 64`", "short_ttl"),
            ('`back_port = "ingress"`', "ingress"),
            ('`bounce_signal = "window_cut"`', "signal"),
            ("tail drop, equal memory", "drop"),
        )
    ),
    Quote("abq", "they wait {} ms on average", (Cell("abq, linux_dctcp", "abq", "hold_time_mean"),)),
    Quote(
        "abq", "B they wait {} ms, and none", (Cell("abq, linux_dctcp, 65535 B", "abq", "hold_time_mean"),)
    ),
    Quote(
        "abq",
        "and none is lost ([numbers]",
        (Cell("abq, linux_dctcp, 65535 B", "abq", "drops[reason=hold_full]"),),
    ),
    Quote(
        "trim",
        "`ndp` makes {} million packet-hops, and the variant `drop` makes {}.",
        (Cell("trim", "ndp", "packet_hops", factor=1e-6), Cell("trim", "drop", "packet_hops")),
    ),
    Quote(
        "trim",
        "{} segments are cut {} times",
        tuple(Cell("trim, ndp", "ndp", at) for at in ("segments", "trims")),
    ),
    Quote("trim", "and no header returns to its source", (Cell("trim, ndp", "ndp", "returned"),)),
    Quote(
        "trim",
        "A query takes {} ms with `ndp`, {} ms with `cp` and {} ms with `drop`.",
        tuple(Cell("trim", variant, "qct_mean") for variant in ("ndp", "cp", "drop")),
    ),
    Quote(
        "trim",
        "A single query of 10, 20 and 40 senders has {}, {} and {} cuts.",
        tuple(Cell(f"trim, one query of {senders}", "ndp", "trims") for senders in (10, 20, 40)),
    ),
)
