"""Files beside the code: papers and example scenarios, in the repository or in the installed wheel."""

import os
import tomllib
from pathlib import Path

from overspill.errors import BadInput

SCENARIOS = "scenarios"
PAPERS = "papers"


def find_folders(name: str) -> list[Path]:
    """Returns the folders of this name: in the repository, and in the installed wheel."""
    here = Path(__file__).resolve().parent
    return [here.parents[1] / name, here / "shipped" / name]


def example_scenarios() -> dict[str, Path]:
    """Returns the files of the example scenarios by name."""
    folder = next((one for one in find_folders(SCENARIOS) if any(one.glob("*.toml"))), None)
    return {} if folder is None else {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_example(name: str) -> Path:
    """Returns the file of an example scenario; raises `BadInput` if there is none of this name."""
    examples = example_scenarios()
    if name not in examples:
        from overspill.results.metric_names import similar_names_hint

        places = " or ".join(str(folder) for folder in find_folders(SCENARIOS))
        known = ", ".join(examples) or f"scenarios in {places}, where there are none"
        raise BadInput(f"demo: found {name!r}; expected one of {known}{similar_names_hint(name, examples)}")
    return examples[name]


def check_scenario_path(path: str) -> str:
    """Returns the path of a scenario; raises `BadInput` if only a shipped example has this name."""
    name = Path(path).name
    known = {f"{example}.toml": example for example in example_scenarios()}
    if name in known and not os.path.lexists(path):
        raise BadInput(
            f"{path}: no such file; `overspill demo {known[name]} --print > {name}` writes the example "
            "scenario of this name"
        )
    return path


def describe_example(path: Path) -> str:
    """Returns the description of a scenario file; empty if it has none."""
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))
