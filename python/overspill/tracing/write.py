"""Files of a packet trace: `trace.json`, an offline page, and its figures."""

from collections.abc import Collection
from pathlib import Path

from overspill import atomic_files
from overspill.errors import BadInput
from overspill.results import results_folder
from overspill.results.line_labels import Line
from overspill.tracing.packet_trace import PacketTrace

DOCUMENT_FILE, PAGE_FILE = "trace.json", "trace.html"


def check_folder(folder: Path) -> None:
    """Raises `BadInput` unless the folder is new, empty, or holds a trace."""
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"--out: {folder} is a file; expected a folder")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / DOCUMENT_FILE).is_file():
            raise BadInput(
                f"--out: {folder} holds other files; expected a new folder, or one of `overspill trace`"
            )
    except OSError as error:
        raise BadInput(f"--out: {results_folder.shorten_path(str(folder))}: {error.strerror}") from error


def write_trace(traced: PacketTrace, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes the files of a trace in place of earlier ones, and returns the path of the page.

    `formats` are the file formats in which figures are saved as well.
    """
    from overspill.report import page
    from overspill.tracing import text
    from overspill.tracing import trace_figures as charts

    with atomic_files.report_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        results_folder.write_json(folder / DOCUMENT_FILE, traced.document())
        drawn = page.save_and_describe_charts(charts.build_figures(traced), folder, formats)
        facts = traced.facts
        lines = [
            Line("Run", f"{facts['scenario']}, variant {facts['variant']}, seed {facts['seed']}"),
            Line("Packet", traced.which),
            *(
                Line("PacketTrace" if not at else "", line)
                for at, line in enumerate(text.summary_lines(traced))
            ),
        ]
        rows = [text.visit_cells(traced, visit) for visit in traced.visits]
        drawn_page = page.render_template(
            "trace.html.j2", title=f"A packet of {facts['scenario']}", lines=lines, figures=drawn,
            heads=text.COLUMN_HEADS, rows=rows,
        )  # fmt: skip
        atomic_files.write_text(folder / PAGE_FILE, drawn_page)
    return folder / PAGE_FILE
