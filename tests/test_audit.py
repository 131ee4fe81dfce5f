"""Tests that `make audit` reports advisories or a missing database, and that locks match the declarations."""

import json
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import audit

BAD = audit.LockedPackage("crates.io", "leaky", "1.0.0")
GOOD = audit.LockedPackage("PyPI", "sound", "2.0")
PAGES = {
    "": {"vulns": [{"id": "RUSTSEC-1"}], "next_page_token": "more"},
    "more": {"vulns": [{"id": "RUSTSEC-2"}]},
}


class Database(BaseHTTPRequestHandler):
    """Handler of a fake database with two advisories on one crate, one on each page."""

    def do_POST(self) -> None:
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        results = [
            PAGES[one.get("page_token", "")] if one["package"]["name"] == BAD.name else {} for one in queries
        ]
        body = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def database() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Database)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_known_advisory_is_told_with_the_file_that_locks_it(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.report_advisories(database, {"Cargo.lock": {BAD}, "requirements/dev.lock": {GOOD}}) == 1
    said = capsys.readouterr().out
    assert "leaky 1.0.0 (Cargo.lock): RUSTSEC-1, RUSTSEC-2" in said
    assert "sound" not in said
    assert "2 locked crates and packages, 1 of them with known advisories" in said


def test_without_an_advisory_the_status_is_0(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.report_advisories(database, {"requirements/dev.lock": {GOOD}}) == 0
    assert "1 locked crates and packages, 0 of them" in capsys.readouterr().out


def test_a_database_that_cannot_be_had_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.report_advisories("http://127.0.0.1:9", {"Cargo.lock": {BAD}}) == 0
    said = capsys.readouterr().out
    assert said.startswith("NOT AUDITED: http://127.0.0.1:9 cannot be had")
    assert "were not looked for" in said


def test_every_lock_file_is_read() -> None:
    files = audit.read_all_locks(audit.ROOT)
    assert set(files) == {"Cargo.lock", "fuzz/Cargo.lock", "requirements/dev.lock", "requirements/setup.lock"}
    assert any(one.name == "pyo3" for one in files["Cargo.lock"])
    assert any(one.name == "pytest" for one in files["requirements/dev.lock"])
    assert files["requirements/setup.lock"] <= files["requirements/dev.lock"], "make setup and make dev agree"


def declared_requirements() -> dict[str, list[Requirement]]:
    """Returns the requirements of pyproject.toml, by lock file."""
    data = tomllib.loads(Path(audit.ROOT / "pyproject.toml").read_text())
    setup = data["build-system"]["requires"] + data["project"]["dependencies"]
    extras = [one for names in data["project"]["optional-dependencies"].values() for one in names]
    asked = {"setup": setup, "dev": setup + extras}
    return {file: [Requirement(one) for one in names] for file, names in asked.items()}


@pytest.mark.parametrize("file", ["setup", "dev"])
def test_a_lock_file_holds_what_pyproject_asks_for(file: str) -> None:
    locked = audit.read_packages(audit.ROOT / "requirements" / f"{file}.lock")
    for asked in declared_requirements()[file]:
        if asked.name == "overspill":
            continue
        versions = [one.version for one in locked if one.name == canonicalize_name(asked.name)]
        assert versions, f"{asked.name} is not in requirements/{file}.lock: make lock"
        assert all(asked.specifier.contains(one) for one in versions), (
            f"{asked}, locked {versions}: make lock"
        )
