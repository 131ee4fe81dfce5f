import subprocess
import sys
from pathlib import Path

import pytest

from overspill.engine import core
from overspill.errors import Failed


def list_with_core(named: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "overspill", "list", "mechanisms"]
    environment = {"PATH": "", core.CORE_VARIABLE: named}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_core_is_named_by_its_module_or_by_its_file() -> None:
    from overspill import _core

    assert core.load_compiled("overspill._core") is _core
    by_file = list_with_core(str(_core.__file__))
    assert by_file.returncode == 0 and by_file.stdout == list_with_core("").stdout, by_file.stderr


@pytest.mark.parametrize("named", ["no.such.module", "/no/such/file.so"])
def test_a_core_that_is_not_there_is_told_with_the_variable_that_names_it(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(core.CORE_VARIABLE, named)
    monkeypatch.setattr(core, "_backend", None)
    with pytest.raises(Failed, match=r"OVERSPILL_CORE names cannot be loaded \(.*\); build it, or unset"):
        core.backend()


def test_core_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old_core.py").write_text("def version():\n    return '0.0.1'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(core.CORE_VARIABLE, "old_core")
    monkeypatch.setattr(core, "_backend", None)
    with pytest.raises(Failed, match=r"cannot be loaded \(it has version 0\.0\.1, and the package \d"):
        core.backend()
