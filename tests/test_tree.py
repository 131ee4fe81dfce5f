"""Tests that files of the repository stay small, since large ones can be built."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST = 200_000  # largest size of a file in bytes
WHOLE = 16_000_000  # largest size of all files in bytes
PLOTTED = 600_000  # largest size of a paper's plotted data in bytes
PICTURE = 60_000  # largest size of a picture on a page in bytes
LARGE = {
    "docs/reference.md": "made from the declarations; pages link to its anchors, and a test holds it",
    "papers/*/rows.json": "published beside measured",
    "requirements/dev.lock": "hashes of every package",
    "studies/*/*.csv": "the numbers of a study",
}


def tracked() -> dict[Path, int]:
    """Returns the files that git tracks, with their sizes in bytes."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout
    paths = [Path(name) for name in names.decode().split("\0") if name]
    if not paths:
        pytest.skip("no checkout of git")
    return {path: (ROOT / path).stat().st_size for path in paths if (ROOT / path).is_file()}


def test_files_are_small_but_for_a_few_kinds() -> None:
    large = [path for path, size in tracked().items() if size > MOST]
    assert not [path for path in large if not any(path.match(kind) for kind in LARGE)]


def test_the_whole_tree_is_small() -> None:
    assert sum(tracked().values()) <= WHOLE


def test_plotted_data_and_pictures_of_papers_are_small() -> None:
    sizes = tracked()
    assert all(size <= PLOTTED for path, size in sizes.items() if path.match("papers/*/plotted.json.gz"))
    pictures = {path: size for path, size in sizes.items() if path.match("papers/*/images/*.png")}
    assert all(size <= PICTURE for size in pictures.values()), pictures
