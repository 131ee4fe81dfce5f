"""Worker processes of this machine that only this process can reach.

Dask executes whatever reaches its ports as code. So every port requires TLS, with a certificate made for this
cluster that is only in the memory of its processes. No process opens a port for HTTP.
"""

from typing import Any

from distributed import Nanny, Scheduler, SpecCluster, Worker
from distributed.security import Security
from distributed.system import MEMORY_LIMIT

LOCAL_HOST, TLS_PROTOCOL = "127.0.0.1", "tls://"
# Ctrl-C reaches every process of a terminal; only the sweep handles it, and then ends its workers.
IGNORE_SIGINT_CODE = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


class NodeWithoutHttp:
    """Node of Dask without its HTTP server, which has no TLS of its own."""

    def start_http_server(self, *arguments: Any, **options: Any) -> None:
        """Does nothing, so that no HTTP port is opened."""


class PrivateScheduler(NodeWithoutHttp, Scheduler):
    """Scheduler whose only port uses TLS."""


class PrivateWorker(NodeWithoutHttp, Worker):
    """Worker whose only port uses TLS."""


def start_cluster(workers: int) -> Any:
    """Starts `workers` processes with one thread each, which end when the returned cluster is closed."""
    security = Security.temporary()  # type: ignore[no-untyped-call]
    shared = {"host": LOCAL_HOST, "protocol": TLS_PROTOCOL, "security": security}
    worker = {
        "cls": Nanny,
        "options": {
            **shared,
            "nthreads": 1,
            "memory_limit": MEMORY_LIMIT // workers,
            "worker_class": PrivateWorker,
            "silence_logs": "CRITICAL",
            "preload": [IGNORE_SIGINT_CODE],
        },
    }
    return SpecCluster(  # type: ignore[no-untyped-call]
        scheduler={"cls": PrivateScheduler, "options": {**shared, "port": 0, "dashboard": False}},
        workers={number: worker for number in range(workers)},
        worker=worker,
        security=security,
        silence_logs="CRITICAL",
    )
