"""Page on metrics as Markdown: its text, and a table of formulas for each subject (`make docs`)."""

import re
from importlib import resources

from overspill.results import metrics
from overspill.stats import bootstrap


def markdown() -> str:
    """Returns the whole page."""
    text = resources.files("overspill").joinpath("templates/metrics.md").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled(found[1]), text)


def filled(name: str) -> str:
    """Returns the text that replaces a placeholder."""
    return f"{bootstrap.RESAMPLES}" if name == "resamples" else "\n".join(section(name))


def section(name: str) -> list[str]:
    """Returns the table of a subject's metrics."""
    rows = ["| metric | unit | formula | source |", "| --- | --- | --- | --- |"]
    for one in metrics.SECTIONS[name]:
        rows.append(f"| `{one.name}` | {one.unit} | {one.formula} | {one.source} |")
    return rows


if __name__ == "__main__":
    print(markdown(), end="")
