"""Tests that the checker of circles finds all circles, and only them."""

from pathlib import Path

import pytest

import circles


def write_crate(folder: Path, **files: str) -> Path:
    """Creates a crate of files named by their paths with `__` for `/`; returns the path of its root."""
    for name, text in files.items():
        path = folder / "one" / "src" / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "one" / "src" / "lib.rs"


def find_circles_in(root: Path) -> list[list[str]]:
    """Returns the circles of a crate, by the names of its files."""
    uses = circles.build_graph(circles.parse_crate(root))
    return [[str(path.relative_to(root.parent)) for path in circle] for circle in circles.find_circles(uses)]


def test_two_files_that_use_each_other_are_a_circle(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path,
        lib="mod a;\nmod b;\n",
        a="use crate::b::B;\npub struct A;",
        b="use super::a::A; pub struct B;",
    )
    assert find_circles_in(root) == [["a.rs", "b.rs"]]


def test_a_chain_is_none(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path, lib="mod a; mod b; mod c;", a="use crate::{b::B, c::C};", b="use crate::c::C;", c=""
    )
    assert find_circles_in(root) == []


def test_a_longer_circle_is_printed_with_the_lines_that_close_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_crate(
        tmp_path,
        lib="mod a; mod b; mod c;",
        a="use crate::b::B;",
        b="\nfn f() { crate::c::g() }",
        c="use super::a::{A};",
    )
    assert circles.main([str(root)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "3 files use each other in a circle: one/src/a.rs, one/src/b.rs, one/src/c.rs",
        "  one/src/a.rs uses one/src/b.rs:",
        "    one/src/a.rs:1: crate::b::B",
        "  one/src/b.rs uses one/src/c.rs:",
        "    one/src/b.rs:2: crate::c::g",
        "  one/src/c.rs uses one/src/a.rs:",
        "    one/src/c.rs:1: super::a::A",
    ]


def test_a_parent_and_its_submodules_are_one(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path,
        lib="mod a; pub struct L;",
        a="mod below; use below::B; pub struct A;",
        a__below="use super::A; use crate::L;",
    )
    assert find_circles_in(root) == []


def test_submodules_of_one_parent_may_not_use_each_other_in_a_circle(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path, lib="mod a;", a__mod="mod b; mod c;", a__b="use super::c::C;", a__c="use super::b::B;"
    )
    assert find_circles_in(root) == [["a/b.rs", "a/c.rs"]]
    root = write_crate(
        tmp_path / "two", lib="mod a;", a="mod b; mod c;", a__b="use super::c::C;", a__c="use super::b::B;"
    )
    assert find_circles_in(root) == [["a/b.rs", "a/c.rs"]]


def test_a_submodule_stands_for_its_parent_outside_of_it(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path,
        lib="mod a; mod b;",
        a="mod x; mod y; pub struct A;",
        a__x="use crate::b::B;",
        a__y="pub struct Y;",
        b="use crate::a::y::Y; pub struct B;",
    )
    assert find_circles_in(root) == [["a.rs", "b.rs"]]


def test_a_re_export_leads_to_the_file_that_defines(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path,
        lib="mod a; mod b; pub use a::A; pub use b::*;",
        a="use crate::B; pub struct A;",
        b="pub struct B; use crate::A;",
    )
    assert find_circles_in(root) == [["a.rs", "b.rs"]]
    through = write_crate(
        tmp_path / "two",
        lib="mod a;",
        a="mod x; mod y; use x::X; pub struct A;",
        a__x="use super::y::Y; pub struct X;",
        a__y="use super::X; pub struct Y;",
    )
    assert find_circles_in(through) == [["a/x.rs", "a/y.rs"]]


@pytest.mark.parametrize(
    "silent",
    [
        "// use crate::a::A;",
        "/* use crate::a::A; /* */ use crate::a::A; */",
        'const S: &str = "use crate::a::A;";',
        'const S: &str = r#"" use crate::a::A;"#;',
        "#[cfg(test)]\nmod tests { use crate::a::A; fn f() { crate::a::g() } }",
        "#[cfg(test)]\n#[allow(dead_code)]\nuse crate::a::{A, g};",
        "#[cfg(test)]\nimpl B { fn f<A, C>() -> A where A: C { crate::a::g() } }",
        "struct S { #[cfg(test)] a: crate::a::A, b: u8 }",
        "fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' || c == 'a' }",
        "use a::A;",
    ],
)
def test_what_is_not_code_of_the_crate_does_not_count(tmp_path: Path, silent: str) -> None:
    root = write_crate(
        tmp_path, lib="mod a; mod b;", a="use crate::b::B; pub struct A;", b=f"{silent}\npub struct B;"
    )
    assert find_circles_in(root) == []
    closed = write_crate(tmp_path, b=f"{silent}\npub struct B; use crate::a::A;")
    assert find_circles_in(closed.with_name("lib.rs")) == [["a.rs", "b.rs"]], "and what follows is read"


def test_a_module_inside_of_a_file_is_part_of_it(tmp_path: Path) -> None:
    root = write_crate(
        tmp_path, lib="mod a; mod b;", a="mod inner { use crate::b::B; }", b="use crate::a::A;"
    )
    assert find_circles_in(root) == [["a.rs", "b.rs"]]
    alone = write_crate(
        tmp_path / "two",
        lib="mod a;",
        a="mod x { use super::y::Y; } mod y { use super::x::X; pub struct Y; }",
    )
    assert find_circles_in(alone) == []


def test_every_crate_of_the_project_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    roots = sorted(circles.ROOT.glob("crates/*/src/lib.rs"))
    files = {module.file for root in roots for module in circles.iterate_modules(circles.parse_crate(root))}
    assert len(files) > 200, "files that are modules of some crate"
    assert circles.main([]) == 0, capsys.readouterr().out
