"""The checker of English finds doc lines without a name, odd phrases and long sentences."""

from pathlib import Path

import pytest

import english


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "a.rs",
            "/// Port of a host.\n/// Of the NIC.\nstruct A {\n    /// Of each flow.\n    b: u8,\n}\n",
            4,
        ),
        ("a.rs", "//! Whether it is lost.\n", 1),
        ("a.py", '"""Ports."""\n\n\ndef f() -> None:\n    """What is lost.\n\n    It is counted."""\n', 5),
        ("a.py", 'class A:\n    """Port of a host."""\n\n    b: int\n    """Its number."""\n', 5),
    ],
)
def test_doc_line_without_a_name_is_found_once(name: str, text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert [at for at, _ in english.vague_docstrings(tmp_path / name)] == [line]


def test_paragraph_that_begins_with_a_pronoun_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text("/// Port of a host.\n///\n/// It is fast.\n/// Of course.\nstruct A;\n")
    assert [at for at, _ in english.vague_docstrings(tmp_path / "a.rs")] == [3]


def test_phrases_have_a_word_of_the_field(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("It waits for ever.\nForever is right, and so is wherever.\n")
    assert list(english.forbidden_phrases(tmp_path / "a.md")) == [(1, "'for ever': write 'forever'")]


def test_sentences_end_at_points_and_lists(tmp_path: Path) -> None:
    words = " ".join(["word"] * 20)
    twice = f"{words} {words}"
    page = (
        f"# {twice}\n\n{words}\n- {words}\n- Word {twice}. Two.\n\n```\n{twice}\n```\n| {words} | {words} |\n"
    )
    (tmp_path / "a.md").write_text(page)
    long, every = english.long_sentences(tmp_path / "a.md")
    assert (len(long), every) == (1, 4)


def test_our_own_lines_pass() -> None:
    assert english.main([]) == 0
