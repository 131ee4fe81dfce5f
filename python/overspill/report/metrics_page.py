"""Page on metrics as Markdown: its text, and a table of formulas for each subject (`make docs`)."""

import re
from importlib import resources

from overspill.results import metrics
from overspill.stats import bootstrap


def build_page() -> str:
    """Returns the text of the metrics page."""
    text = resources.files("overspill").joinpath("templates/metrics.md").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fill_placeholder(found[1]), text)


def fill_placeholder(name: str) -> str:
    """Returns the text for a placeholder of the metrics page: a table of metrics, or a number."""
    return f"{bootstrap.RESAMPLES}" if name == "resamples" else "\n".join(section_table(name))


def section_table(name: str) -> list[str]:
    """Returns the table of a subject's metrics."""
    rows = ["| metric | unit | formula | source |", "| --- | --- | --- | --- |"]
    for one in metrics.SECTIONS[name]:
        rows.append(f"| `{one.name}` | {one.unit} | {one.formula} | {one.source} |")
    return rows


if __name__ == "__main__":
    print(build_page(), end="")
