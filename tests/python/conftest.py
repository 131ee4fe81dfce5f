"""Fixtures that run the real command on the fake core."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import fake_core
import pytest
import small_paper
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from matplotlib.figure import Figure

from overspill import cli, report, run
from overspill.charts import figure_files
from overspill.engine import core, machine
from overspill.papers import paper_code
from overspill.results.results import Results

# A background job of a shell inherits an ignored SIGINT; tests interrupt themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

# With the profile `ci`, property tests draw the same inputs in every run. With `dev`, they draw other inputs
# each time, and Hypothesis keeps those that fail.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(__file__).parents[2] / "out" / "hypothesis"))
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
# Time limits would make a verdict depend on the machine.
PATIENT = settings(
    settings.get_profile("default"), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", PATIENT, derandomize=True, max_examples=60)
settings.register_profile("dev", PATIENT, max_examples=2000)
settings.load_profile(PROFILE)
if PROFILE == "ci":
    # Hypothesis also draws constants from loaded modules, and these depend on the tests that ran before.
    providers.is_local_module_file = lambda path: False

# Tests may import the code of papers: `overspill_papers.pabo.measures`.
for paper in (Path(__file__).parents[2] / "papers").iterdir():
    paper_code.register_package(paper)

# Files that run whole commands, sweeps and papers, or draw many figures.
SLOW = (
    "test_charts",
    "test_page",
    "test_paper_dibs_figures_1_to_6",
    "test_papers",
    "test_pauses_shown",
    "test_plots",
    "test_results",
    "test_safety",
    "test_stream",
    "test_sweep",
    "test_sweep_told",
    "test_sweep_whole",
    "test_trace",
    "test_trace_outcomes",
)

SCENARIO = """
name = "incast"
[variants.drop]
z = "tail_drop"
[variants.detour]
z = "detour"
[variants.bounce]
z = "bounce"
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of slow files, which `make check` leaves out."""
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker(pytest.mark.slow)


@dataclass
class Ran:
    """Exit status, output and errors of a command."""

    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # A command that is stopped while a network is built ends its process, which would end other tests.
    monkeypatch.setattr(machine.AbandonedThreads, "exist", False)
    monkeypatch.setattr(cli, "exit_immediately", sys.exit)
    fake_core.reset()
    core.use_backend(fake_core)
    yield
    core.use_backend(None)


@pytest.fixture
def compiled(fake: None) -> None:
    """Uses the compiled core instead of the fake."""
    core.use_backend(None)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "incast.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def command(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        said = capfd.readouterr()
        assert isinstance(left.value.code, int)
        return Ran(left.value.code, said.out, said.err)

    return call


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the report of two seeds."""
    core.use_backend(fake_core)
    folder = tmp_path_factory.mktemp("reported")
    (folder / "incast.toml").write_text(SCENARIO)
    made = run(folder / "incast.toml", seeds=2, out=folder / "out")
    return report.write(made, folder / "out", figure_files.FIGURE_FORMATS)


@pytest.fixture
def three_seeds(scenario: Path, tmp_path: Path) -> Results:
    return run(scenario, seeds=3, out=tmp_path / "three")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of figures are empty: drawing takes seconds."""

    def save(drawing: Figure, place: Path, name: str, formats: Iterable[str]) -> None:
        for kind in formats:
            (place / f"{name}.{kind}").write_text(name)

    monkeypatch.setattr(figure_files, "save_figure", save)


@pytest.fixture
def paper(command: Callable[..., Ran], tmp_path: Path) -> Callable[..., Ran]:
    papers = small_paper.write_paper_folder(tmp_path)
    small_paper.write_code(tmp_path, small_paper.MEASURES)
    return lambda *arguments: command("paper", "small", "--papers", papers, *arguments)
