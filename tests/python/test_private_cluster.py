"""Tests that clients without the cluster's own certificate get no byte from a port of `--on local:N`."""

import os
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overspill.engine import cluster
from overspill.errors import Failed

pytest.importorskip("distributed")
pytest.importorskip("cryptography")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc that lists open ports"),
]
WORKERS = 2
LISTENS = "0A"  # state of a listening socket in /proc/net/tcp


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder that this process and its children take for temporary files."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr("tempfile.tempdir", None)
        yield folder


@pytest.fixture(scope="module")
def started(temporary: Path) -> Iterator[Any]:
    from distributed import Client

    from overspill.engine import private_cluster

    with (
        private_cluster.start_cluster(WORKERS) as made,
        Client(made, timeout=30, set_as_default=False) as client,
    ):
        client.wait_for_workers(WORKERS, timeout=30)
        assert client.submit(os.getpid).result() != os.getpid()
        yield made


def child_processes() -> list[int]:
    """Returns the process ids of this process and all its descendants."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [os.getpid()]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def open_ports() -> dict[int, str]:
    """Returns the TCP ports on which this process or a descendant listens, with their addresses in hex."""
    held = set()
    for pid in child_processes():
        for fd in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                held.add(os.readlink(fd))
            except OSError:
                continue
    found = {}
    for table in ("tcp", "tcp6"):
        path = Path(f"/proc/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            fields = line.split()
            if fields[3] == LISTENS and f"socket:[{fields[9]}]" in held:
                address, port = fields[1].split(":")
                found[int(port, 16)] = address
    return found


def context_of(security: Any) -> ssl.SSLContext:
    """Returns the TLS settings of a client that has the certificate of a cluster."""
    made = security.get_connection_args("client")["ssl_context"]
    assert isinstance(made, ssl.SSLContext)
    return made


def first_byte(port: int, context: ssl.SSLContext | None) -> bytes:
    """Returns the first byte that a port sends after the first message of a client; empty if it refuses."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
            if context is None:
                plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
                # A TLS alert is the refusal itself.
                return b"" if (found := plain.recv(1)) == b"\x15" else found
            with context.wrap_socket(plain) as secure:
                return secure.recv(1)
    except (ssl.SSLError, ConnectionError):
        return b""


def test_every_port_demands_the_certificate_of_the_cluster(started: Any) -> None:
    from distributed.security import Security

    ports = open_ports()
    assert len(ports) == 1 + 2 * WORKERS, "scheduler, and worker and nanny of each process"
    assert set(ports.values()) == {"0100007F"}, "127.0.0.1 alone"
    nothing = ssl.create_default_context()
    nothing.check_hostname, nothing.verify_mode = False, ssl.CERT_NONE
    another = context_of(Security.temporary())
    another.check_hostname, another.verify_mode = False, ssl.CERT_NONE
    for port in ports:
        assert first_byte(port, context_of(started.security)), "its own certificate is let in"
        for stranger in (None, nothing, another):
            assert not first_byte(port, stranger)


def test_no_key_is_on_disk_or_in_an_environment(started: Any, temporary: Path) -> None:
    key = "PRIVATE KEY"
    assert key in started.security.tls_worker_key
    files = [path for path in temporary.rglob("*") if path.is_file()]
    assert not [path for path in files if key.encode() in path.read_bytes()]
    children = child_processes()[1:]
    assert len(children) >= WORKERS
    for pid in children:
        for name in ("environ", "cmdline"):
            assert key.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()


def test_local_workers_without_cryptography_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None if name == "cryptography" else object())
    cluster.check_address("tls://head:8786")
    with pytest.raises(Failed, match=r"needs cryptography.*pip install 'overspill\[dask\]'"):
        cluster.check_address("local:2")


def test_a_tls_address_without_certificates_names_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SCHEDULER_TIMEOUT", 0.5)
    joined = cluster.Cluster("tls://127.0.0.1:9", None, None)  # type: ignore[arg-type]
    with pytest.raises(Failed, match=r"check the certificates that `distributed\.comm\.tls` names"):
        joined.__enter__()


def test_a_tls_scheduler_is_joined_by_keys_of_dask(started: Any, tmp_path: Path) -> None:
    import dask

    security = started.security
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key.write_text(security.tls_client_key)
    certificate.write_text(security.tls_client_cert)
    names = {
        "distributed.comm.tls.ca-file": str(certificate),
        "distributed.comm.tls.client.key": str(key),
        "distributed.comm.tls.client.cert": str(certificate),
    }
    with (
        dask.config.set(names),
        cluster.Cluster(started.scheduler_address, None, None) as joined,  # type: ignore[arg-type]
    ):
        assert sum(joined.client.ncores().values()) == WORKERS
