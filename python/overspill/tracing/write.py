"""Files of a packet trace: `trace.json`, an offline page, and its figures."""

from collections.abc import Collection
from pathlib import Path

from overspill import whole_files
from overspill.errors import BadInput
from overspill.results import store
from overspill.results.labels import Line
from overspill.tracing.packet_trace import PacketTrace

DOCUMENT, PAGE = "trace.json", "trace.html"


def check(folder: Path) -> None:
    """Raises `BadInput` unless the folder is new, empty, or holds a trace."""
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"--out: {folder} is a file; expected a folder")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / DOCUMENT).is_file():
            raise BadInput(
                f"--out: {folder} holds other files; expected a new folder, or one of `overspill trace`"
            )
    except OSError as error:
        raise BadInput(f"--out: {store.shortened(str(folder))}: {error.strerror}") from error


def write(traced: PacketTrace, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes the files of a trace in place of earlier ones, and returns the path of the page.

    `formats` are the file formats in which figures are saved as well.
    """
    from overspill.report import page
    from overspill.tracing import figures as charts
    from overspill.tracing import text

    with whole_files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        store.write_json(folder / DOCUMENT, traced.document())
        drawn = page.draw(charts.build_figures(traced), folder, formats)
        facts = traced.facts
        lines = [
            Line("Run", f"{facts['scenario']}, variant {facts['variant']}, seed {facts['seed']}"),
            Line("Packet", traced.which),
            *(Line("PacketTrace" if not at else "", line) for at, line in enumerate(text.summary(traced))),
        ]
        rows = [text.cells(traced, visit) for visit in traced.visits]
        drawn_page = page.render(
            "trace.html.j2", title=f"A packet of {facts['scenario']}", lines=lines, figures=drawn,
            heads=text.HEADS, rows=rows,
        )  # fmt: skip
        whole_files.write_text(folder / PAGE, drawn_page)
    return folder / PAGE
