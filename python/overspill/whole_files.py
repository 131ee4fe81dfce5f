"""Output files that are there as a whole or not at all, however the command that writes them ends."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from overspill.errors import OverspillError, Unwritable

LONGEST = 50  # characters of a file's name in that of its new version


@contextmanager
def writing(place: object, kind: type[OverspillError] = Unwritable) -> Iterator[None]:
    """Raises an error with a line for the user if the block cannot write to a place."""
    try:
        yield
    except OSError as error:
        raise kind(f"{place}: cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives the path of a new version beside a file, which takes the file's place at the end of the block.

    The earlier file stays as it is if the block fails or the process is killed. A link stays a link, and a
    device or a pipe is written directly.
    """
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not target.is_file():
        yield target
        return
    # The ending stays, since it says in which format a figure is saved.
    new = target.with_name(f".{target.stem[:LONGEST]}.new{target.suffix}")
    try:
        yield new
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a text in UTF-8, its line ends as they are."""
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8", newline="")
