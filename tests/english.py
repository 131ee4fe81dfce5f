"""Finds doc lines that name nothing, phrases that the field does not use, and long sentences: `make lint`."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from circles import ROOT

SOURCES = ("crates", "python/overspill", "papers", "studies", "tests", "docs", "benches", "examples", "fuzz")
# A doc line that begins with one of these names no thing and says nothing that a function does.
VAGUE_FIRST_WORD = re.compile(
    r"(?:What|Who|Whose|Whom|How|That|Of|It|Its|By|Where|Whether|Which|Those|These|They|This|Something|Some|"
    r"Such|So|The same|The other|Another|One|With|Without|In|On|At|From|To|For|As|If|When|While|Until|After|"
    r"Before|And|Or|Nothing|Nobody|None of)\b"
)
# Nor does a paragraph of Rust's docs that begins with a pronoun.
VAGUE_PRONOUN = re.compile(
    r"(?:What|Who|Whose|How|That|Of|It|Its|They|Which|Those|Whether|Something|Where|By)\b"
)
# Phrases of no English reader, and the field's words for them.
PHRASES = {
    "hosts of today": "modern Linux hosts",
    "least timeout": "minimum RTO",
    "least RTO": "minimum RTO",
    "nothing comes of": "has no effect",
    "without effect": "has no effect",
    "told apart": "distinguished",
    "holds not": "is not reproduced",
    "for ever": "forever",
    "answer to overflow": "overflow mechanism",
    "the same bits": "bit-identical",
}
MAX_WORDS = 25  # words of a sentence
MAX_LONG_SHARE = 0.05  # of the sentences of all pages that may be longer
# Pages that are made from declarations, runs or what papers and studies publish.
GENERATED_PAGES = ("docs/reference.md", "docs/metrics.md", "docs/claims.md", "docs/internals/phase.md")
LineFault = tuple[int, str]


def doc_lines(path: Path) -> Iterator[LineFault]:
    """First lines of doc comments or docstrings, with their line numbers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from docstrings(ast.parse(text))
        return
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*(//[/!]) (.*)", line)
        if found and not before.lstrip().startswith(found[1]):
            yield number, found[2]
        before = line


def iterate_paragraphs(path: Path) -> Iterator[LineFault]:
    """First lines of the paragraphs of doc comments in Rust, with their line numbers."""
    before = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if (found := re.match(r"\s*//[/!] (.*)", line)) and not re.match(r"\s*//[/!] \S", before):
            yield number, found[1]
        before = line


def docstrings(tree: ast.Module) -> Iterator[LineFault]:
    """First lines of docstrings, and of strings below fields."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            before = [None, *node.body[:-1]]
            for previous, one in zip(before, node.body, strict=True):
                documents = previous is None or isinstance(previous, ast.Assign | ast.AnnAssign)
                if documents and (text := text_of(one)):
                    yield one.lineno, text.splitlines()[0]


def text_of(statement: ast.stmt) -> str:
    """The text of a statement that is a string alone; otherwise empty."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    found = value.value if isinstance(value, ast.Constant) else None
    return found.strip() if isinstance(found, str) else ""


def vague_docstrings(path: Path) -> Iterator[LineFault]:
    """Doc lines of a source whose first word names nothing."""
    firsts = set(doc_lines(path))
    for number, line in sorted(firsts):
        if VAGUE_FIRST_WORD.match(line):
            yield number, f"begins with no name and no verb: {line}"
    for number, line in iterate_paragraphs(path) if path.suffix == ".rs" else ():
        if VAGUE_PRONOUN.match(line) and (number, line) not in firsts:
            yield number, f"a paragraph that begins with a pronoun: {line}"


def forbidden_phrases(path: Path) -> Iterator[LineFault]:
    """Phrases of a file that have another word in the field."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for found in re.finditer("|".join(rf"\b{one}\b" for one in PHRASES), line):
            yield number, f"{found[0]!r}: write {PHRASES[found[0]]!r}"


def split_sentences(text: str) -> Iterator[str]:
    """Sentences of a page, without code, tables, headings and addresses."""
    text = re.sub(r"^ *```.*?^ *```", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?:\||#|<|!\[|    ).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for block in re.split(r"\n\s*\n|\n\s*(?=[-*+] |\d+\. )", text):
        plain = " ".join(block.split()).replace("e.g.", "eg").replace("i.e.", "ie")
        yield from filter(None, re.split(r"(?<=[.!?:])\s+(?=[A-Z`\[(*\d])", plain))


def long_sentences(path: Path) -> tuple[list[str], int]:
    """Sentences of a page that are too long, and the number of all."""
    found = list(split_sentences(path.read_text(encoding="utf-8")))
    return [one for one in found if len(one.split()) > MAX_WORDS], len(found)


def list_pages() -> list[Path]:
    """Pages that people write."""
    places = ("*.md", "docs/**/*.md", "studies/*/*.md")
    made = {ROOT / one for one in GENERATED_PAGES}
    return sorted({path for place in places for path in ROOT.glob(place)} - made)


def iterate_sources() -> Iterator[Path]:
    """Sources in both languages."""
    for place in SOURCES:
        yield from sorted(path for path in (ROOT / place).rglob("*") if path.suffix in (".rs", ".py"))


def main(arguments: list[str]) -> int:
    """The number of faults in these files or folders, or in all; `--long` lists long sentences."""
    given = [Path(one).resolve() for one in arguments if one != "--long"]

    def wanted(path: Path) -> bool:
        return not given or any(path.is_relative_to(one) for one in given)

    own = Path(__file__).resolve()
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in iterate_sources()
        if wanted(path) and path != own and path.name != "test_english.py"
        for line, fault in (*vague_docstrings(path), *forbidden_phrases(path))
    ]
    counted = {path: long_sentences(path) for path in list_pages() if wanted(path)}
    found += [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in counted
        for line, fault in forbidden_phrases(path)
    ]
    if "--long" in arguments:
        found += [f"{path.relative_to(ROOT)}: {one}" for path, (long, _) in counted.items() for one in long]
    long = sum(len(one) for one, _ in counted.values())
    every = sum(number for _, number in counted.values())
    if long > MAX_LONG_SHARE * every:
        found.append(
            f"{long} of {every} sentences have more than {MAX_WORDS} words; expected {MAX_LONG_SHARE:.0%} "
            "at most"
        )
    print("\n".join(found), end="\n" if found else "")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
