"""Output files that appear whole or not at all, even if the writing command fails or is killed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from overspill.errors import OverspillError, Unwritable

MAX_NAME_LENGTH = 50  # characters of a file's name that the name of its new version keeps


@contextmanager
def report_write_errors(place: object, kind: type[OverspillError] = Unwritable) -> Iterator[None]:
    """Raises an error of class `kind`, with a message of one line, if the block cannot write to `place`."""
    try:
        yield
    except OSError as error:
        raise kind(f"{place}: cannot be written: {error.strerror or error}") from error


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yields the path of a new version of a file, which replaces the file at the end of the block.

    The earlier file stays unchanged if the block fails or the process is killed. A symbolic link stays a
    link, and a device or a pipe is written directly.
    """
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not target.is_file():
        yield target
        return
    # The suffix stays, since it selects the format in which a figure is saved.
    new = target.with_name(f".{target.stem[:MAX_NAME_LENGTH]}.new{target.suffix}")
    try:
        yield new
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a text file as UTF-8, with line endings unchanged."""
    with replace_file(path) as new:
        new.write_text(text, encoding="utf-8", newline="")
