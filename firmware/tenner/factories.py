# tenner factories: makes the long-lived parts of the agent.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.console import Console
from tenner.channels.mqtt.channel import Mqtt
from tenner.channels.telegram.channel import Telegram
from tenner.net.tls import context
from tenner.net.tls_reserve import Reserve
from tenner.net.tls_semaphore import TlsSemaphore
from tenner.net.wifi import Wifi
from tenner.schedule.service import CronJobs, Heartbeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.app import App


def make(name: str, app: "App") -> "Any":
    """Return a new part of this name for `App.get`."""
    return _MAKERS[name](app)


def _semaphore(app):
    return TlsSemaphore(1, app.port.tls_fits) if app.port.small else TlsSemaphore(4)


def _tls(app):
    made = context(app.port.path("certs"), getattr(app.port, "authorities", None))
    if app.port.shares_memory:
        planned = app.port.tls_bytes()
        made = Reserve(made, app.port.system_memory, app.state + "/tls", planned)
        app.get("semaphore").reserve = made
    return made


def _wifi(app):
    get = app.config.get
    return Wifi(app.port, get("wifi.ssid"), get("wifi.password"), app.linked)


def _telegram(app):
    made = Telegram(app.config, app.http, app.slots, app.inbox, say=app.say, now=app.clock.known)
    made.lane = app.agent.lane
    if not app.port.small:
        made.draft = lambda message: app.agent.lane.draft("telegram:" + message.chat)
    return made


def _mqtt(app):
    mono_s = app.clock.mono_s
    return Mqtt(app.config, app.port, app.tls, app.inbox, app.get, app.linked, mono_s, app)


def _console(app):
    return Console(app.port.stdin_line, app.inbox)


def _heartbeat(app):
    return Heartbeat(app)


def _cron(app):
    return CronJobs(app)


_MAKERS = {
    "semaphore": _semaphore,
    "tls": _tls,
    "wifi": _wifi,
    "telegram": _telegram,
    "mqtt": _mqtt,
    "console": _console,
    "heartbeat": _heartbeat,
    "cron": _cron,
}
