"""Sources of the documentation site: `python docs/site.py out` writes them into the folder `out`.

Links out of `docs/` lead to pages made from the linked files. `zensical build` turns the pages into HTML.
"""

import importlib.util
import os.path
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIG = DOCS / "zensical.toml"
MUTATIONS = DOCS / "internals/mutations.md"  # page made from tables
LINK_PATTERN = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE_PATTERN = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)
COPIED_SUFFIXES = (".png", ".svg", ".gz")  # pictures and compressed data, which have no page
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".csv": "text"}


def main() -> int:
    """Writes the sources into the folder on the command line; prints wrong links and returns 2 if any."""
    out = Path(sys.argv[1])
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]
    pages = out / config["docs_dir"]
    for folder in (pages, out / config["site_dir"]):
        shutil.rmtree(folder, ignore_errors=True)
    write_file(out / CONFIG.name, CONFIG.read_bytes())
    faults = [*write_pages(pages), *missing_pages(config["nav"], pages)]
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    return 2 if faults else 0


def write_pages(folder: Path) -> list[str]:
    """Writes all pages and pictures, and returns the wrong links.

    Every file of `docs/` has one, except scripts and the configuration. So has every other file that a page
    links to, directly or indirectly.
    """
    open_ones = [path for path in sorted(DOCS.rglob("*")) if path.is_file() and is_published(path)]
    write_file(folder / site_address(MUTATIONS), relocate_links(mutations_page(), MUTATIONS).encode())
    seen = set(open_ones)
    faults = []
    while open_ones:
        path = open_ones.pop()
        write_file(folder / site_address(path), page_content(path))
        for link, target in links(path):
            if not is_project_file(target):
                faults.append(
                    f"{path.relative_to(ROOT)}: found a link to {link}; expected a file of the project"
                )
            elif target not in seen:
                seen.add(target)
                open_ones.append(target)
    return faults


def missing_pages(nav: Any, pages: Path) -> list[str]:
    """Returns a message for each page of the navigation that was not written."""
    if isinstance(nav, str):
        return [] if (pages / nav).is_file() else [f"{CONFIG.name}: found {nav} in nav; expected a page"]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [message for part in parts for message in missing_pages(part, pages)]


def write_file(path: Path, content: bytes) -> None:
    """Writes a file, and creates its missing parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def mutations_page() -> str:
    """Returns the page of deliberate faults, generated from their tables."""
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "tests/mutate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return str(module.build_page())


def relocate_links(markdown: str, source: Path) -> str:
    """Returns the Markdown of the file `source` with links to pages of the site, code blocks excepted."""
    here = os.path.dirname(site_address(source)) or "."

    def relocate(found: re.Match[str]) -> str:
        target = (source.parent / found[1]).resolve()
        if not is_project_file(target):
            return found[0]
        return os.path.relpath(site_address(target), here) + (found[2] or "")

    return "".join(
        part if FENCE_PATTERN.match(part) else LINK_PATTERN.sub(relocate, part)
        for part in FENCE_PATTERN.split(markdown)
    )


def links(page: Path) -> Iterator[tuple[str, Path]]:
    """Yields each link of a page to a file, with the path of that file."""
    if page.is_file() and page.suffix == ".md":
        text = FENCE_PATTERN.sub("", page.read_text(encoding="utf-8"))
        yield from ((found[1], (page.parent / found[1]).resolve()) for found in LINK_PATTERN.finditer(text))


def is_project_file(path: Path) -> bool:
    """Returns true if a file or folder of the project has this path."""
    return path.exists() and path.is_relative_to(ROOT)


def is_in_docs(path: Path) -> bool:
    """Returns true if a file is a page or picture of `docs/` itself."""
    return path.is_relative_to(DOCS) and not path.is_dir()


def is_published(path: Path) -> bool:
    """Returns true if a file of `docs/` is copied to the site: neither a script nor the configuration."""
    return path.suffix != ".py" and path != CONFIG


def site_address(path: Path) -> str:
    """Returns the address of a project file on the site."""
    if is_in_docs(path):
        return path.relative_to(DOCS).as_posix()
    relative = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        return (
            f"source/{relative}/README.md"
            if (path / "README.md").is_file()
            else f"source/{relative}/files.md"
        )
    return f"source/{relative}" if path.suffix in (".md", *COPIED_SUFFIXES) else f"source/{relative}.md"


def page_content(path: Path) -> bytes:
    """Returns the Markdown or the bytes that the site has for a project file."""
    if path.is_dir():
        return folder_page(path).encode()
    if path.suffix == ".md":
        return relocate_links(path.read_text(encoding="utf-8"), path).encode()
    if is_in_docs(path) or path.suffix in COPIED_SUFFIXES:
        return path.read_bytes()
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    return f"# {name}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n".encode()


def folder_page(folder: Path) -> str:
    """Returns the README of a folder, or a list of its files."""
    readme = folder / "README.md"
    if readme.is_file():
        return relocate_links(readme.read_text(encoding="utf-8"), readme)
    names = sorted(one.name for one in folder.iterdir() if one.is_file())
    return "\n".join([f"# {folder.relative_to(ROOT).as_posix()}\n", *(f"- `{name}`" for name in names)])


if __name__ == "__main__":
    sys.exit(main())
