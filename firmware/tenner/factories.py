# tenner factories: makes the long-lived parts of the agent.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.console import Console
from tenner.net.tls import context
from tenner.net.tls_reserve import Reserve
from tenner.net.tls_semaphore import TlsSemaphore
from tenner.net.wifi import Wifi
from tenner.schedule.service import CronJobs, Heartbeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.types import Linking


def make(name: str, app: "Linking") -> "Any":
    """Return a new part of this name for `App.get`."""
    return _MAKERS[name](app)


def _semaphore(app: "Linking"):
    return TlsSemaphore(1, app.port.tls_fits) if app.port.small else TlsSemaphore(4)  # type: ignore[union-attr]


def _tls(app: "Linking"):
    made = context(app.port.path("certs"), getattr(app.port, "authorities", None))
    if app.port.shares_memory:
        planned = app.port.tls_bytes()  # type: ignore[union-attr]
        made = Reserve(made, app.port.system_memory, app.state + "/tls", planned)
        app.get("semaphore").reserve = made
    return made


def _wifi(app: "Linking"):
    get = app.config.get
    return Wifi(app.port, get("wifi.ssid"), get("wifi.password"), app.linked)


def _console(app: "Linking"):
    return Console(app.port.stdin_line, app.inbox)


def _heartbeat(app: "Linking"):
    return Heartbeat(app)


def _cron(app: "Linking"):
    return CronJobs(app)


_MAKERS = {
    "semaphore": _semaphore,
    "tls": _tls,
    "wifi": _wifi,
    "console": _console,
    "heartbeat": _heartbeat,
    "cron": _cron,
}
