"""Worker processes of this machine that only this process can reach.

Dask runs whatever reaches its ports as code. So every port demands TLS with a certificate that is made for
this cluster and is in the memory of its processes only, and no process opens a port for HTTP.
"""

from typing import Any

from distributed import Nanny, Scheduler, SpecCluster, Worker
from distributed.security import Security
from distributed.system import MEMORY_LIMIT

HOST, PROTOCOL = "127.0.0.1", "tls://"
# A terminal's Ctrl-C is for the sweep alone, which ends its workers then.
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


class WithoutHttp:
    """Node of Dask without its HTTP server, which has no TLS of its own."""

    def start_http_server(self, *arguments: Any, **options: Any) -> None:
        """Opens no port, whatever is asked for."""


class PrivateScheduler(WithoutHttp, Scheduler):
    """Scheduler that listens on its one port with TLS."""


class PrivateWorker(WithoutHttp, Worker):
    """Worker that listens on its one port with TLS."""


def start(workers: int) -> Any:
    """Starts so many processes with one thread each; they end with the cluster that is returned."""
    security = Security.temporary()  # type: ignore[no-untyped-call]
    shared = {"host": HOST, "protocol": PROTOCOL, "security": security}
    worker = {
        "cls": Nanny,
        "options": {
            **shared,
            "nthreads": 1,
            "memory_limit": MEMORY_LIMIT // workers,
            "worker_class": PrivateWorker,
            "silence_logs": "CRITICAL",
            "preload": [DEAF],
        },
    }
    return SpecCluster(  # type: ignore[no-untyped-call]
        scheduler={"cls": PrivateScheduler, "options": {**shared, "port": 0, "dashboard": False}},
        workers={number: worker for number in range(workers)},
        worker=worker,
        security=security,
        silence_logs="CRITICAL",
    )
