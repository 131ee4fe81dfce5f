"""Hooks of the documentation site: links out of `docs/` lead to pages made from the linked files."""

import importlib.util
import os.path
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LINK_PATTERN = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE_PATTERN = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)
PICTURE_SUFFIXES = (".png", ".svg")
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".csv": "text"}


def on_files(files: Files, config: Any) -> Files:
    """Adds a page for every file outside of `docs/` that pages link to, directly or through other files."""
    open_ones = [ROOT / "docs" / file.src_uri for file in files.documentation_pages()]
    files.append(File.generated(config, "internals/mutations.md", content=mutations_page()))
    seen: set[Path] = set()
    while open_ones:
        page = open_ones.pop()
        for target in linked_files(page):
            if target in seen or not target.exists() or is_in_docs(target):
                continue
            seen.add(target)
            found = target.read_bytes() if target.suffix in PICTURE_SUFFIXES else page_text(target)
            files.append(File.generated(config, site_address(target), content=found))
            if target.suffix == ".md" or target.is_dir():
                open_ones.append(target)
    return files


def mutations_page() -> str:
    """Returns the page of deliberate faults, generated from their tables."""
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "tests/mutate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return str(module.build_page())


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrites links out of `docs/` to the pages made for them."""
    here = page.file.src_uri
    source = source_file(here)
    return change_prose(
        markdown, lambda text: LINK_PATTERN.sub(lambda found: relocate_link(found, source, here), text)
    )


def relocate_link(found: re.Match[str], source: Path, here: str) -> str:
    """Returns a link of the file `source`, as it is written on the page `here`."""
    target = (source.parent / found[1]).resolve()
    if not target.exists() or (is_in_docs(target) and is_in_docs(source) and not target.is_dir()):
        return found[0]
    return os.path.relpath(site_address(target), os.path.dirname(here) or ".") + (found[2] or "")


def change_prose(markdown: str, change: Any) -> str:
    """Applies a change to Markdown text, code blocks excepted."""
    return "".join(
        part if FENCE_PATTERN.match(part) else change(part) for part in FENCE_PATTERN.split(markdown)
    )


def linked_files(page: Path) -> Iterator[Path]:
    """Yields the files to which a page links."""
    if page.is_file() and page.suffix == ".md":
        text = FENCE_PATTERN.sub("", page.read_text(encoding="utf-8"))
        yield from ((page.parent / found[1]).resolve() for found in LINK_PATTERN.finditer(text))


def is_in_docs(path: Path) -> bool:
    """Returns true if a file is a page or picture of `docs/` itself."""
    return path.is_relative_to(ROOT / "docs") and not path.is_dir()


def site_address(path: Path) -> str:
    """Returns the address of a project file on the site."""
    if is_in_docs(path):
        return path.relative_to(ROOT / "docs").as_posix()
    relative = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        return (
            f"source/{relative}/README.md"
            if (path / "README.md").is_file()
            else f"source/{relative}/files.md"
        )
    return f"source/{relative}" if path.suffix in (".md", *PICTURE_SUFFIXES) else f"source/{relative}.md"


def source_file(page: str) -> Path:
    """Returns the project file from which a page is made."""
    if not page.startswith("source/"):
        return ROOT / "docs" / page
    relative = page.removeprefix("source/")
    whole = ROOT / relative
    return whole if whole.is_file() else ROOT / relative.removesuffix(".md")


def page_text(path: Path) -> str:
    """Returns the text of a page."""
    relative = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        if (path / "README.md").is_file():
            return (path / "README.md").read_text(encoding="utf-8")
        names = sorted(one.name for one in path.iterdir() if one.is_file())
        return "\n".join([f"# {relative}\n", *(f"- `{name}`" for name in names)])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return f"# {relative}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n"
