"""Tests that files of the repository stay small, since large ones can be built."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_FILE_BYTES = 200_000  # largest size of a file in bytes
MAX_TREE_BYTES = 16 << 20  # largest size of all files in bytes
MAX_PLOTTED_BYTES = 600_000  # largest size of a paper's plotted data in bytes
MAX_PICTURE_BYTES = 60_000  # largest size of a picture on a page in bytes
LARGE_FILES = {
    "docs/reference.md": "made from the declarations; pages link to its anchors, and a test holds it",
    "papers/*/rows.json": "published beside measured",
    "requirements/dev.lock": "hashes of every package",
}


def tracked_file_sizes() -> dict[Path, int]:
    """Returns the files that git tracks, with their sizes in bytes."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout
    paths = [Path(name) for name in names.decode().split("\0") if name]
    if not paths:
        pytest.skip("no checkout of git")
    return {path: (ROOT / path).stat().st_size for path in paths if (ROOT / path).is_file()}


def test_files_are_small_but_for_a_few_kinds() -> None:
    large = [path for path, size in tracked_file_sizes().items() if size > MAX_FILE_BYTES]
    assert not [path for path in large if not any(path.match(kind) for kind in LARGE_FILES)]


def test_the_whole_tree_is_small() -> None:
    assert sum(tracked_file_sizes().values()) <= MAX_TREE_BYTES


def test_plotted_data_and_pictures_of_papers_are_small() -> None:
    sizes = tracked_file_sizes()
    assert all(
        size <= MAX_PLOTTED_BYTES for path, size in sizes.items() if path.match("papers/*/plotted.json.gz")
    )
    pictures = {path: size for path, size in sizes.items() if path.match("papers/*/images/*.png")}
    assert all(size <= MAX_PICTURE_BYTES for size in pictures.values()), pictures
