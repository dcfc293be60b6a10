# tenner runtime.boot: creates the long-lived objects, starts the services, or safe mode.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import __build__, __version__, overlay
from tenner.agent import answer
from tenner.agent.agent import Agent
from tenner.agent.message_queue import Queue
from tenner.channels.console import Console
from tenner.log import log
from tenner.net.clock import Clock
from tenner.net.tls import context
from tenner.net.tls_reserve import Reserve, TlsSemaphore
from tenner.net.wifi import Wifi
from tenner.overlay_loader import module
from tenner.port import open_port
from tenner.port.compat import const
from tenner.port.package import entries
from tenner.runtime import power, services
from tenner.schedule.service import CronJobs, Heartbeat
from tenner.store import attachments, config, configload, files, quarantine
from tenner.update import offer, request, slot, trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.agent.parts import Reaching
    from tenner.types import Beginning, Linking, Starting

#: The sentences about wrong settings that the owner knows.
_WRONG = const("state/config.wrong")
#: The settings of the last start, for one that finds a file it cannot read.
_GOOD = const("state/config.good")
_SHOWN = const(5)  # wrong settings in one message
_INBOX = const(8)  # messages of people that can wait

_BAD_STARTS = const(3)
_WELL_S = const(60)
_TEXT = (
    "%d starts in a row ended in a reset, so I run in safe mode: you can talk to me, but there "
    "are no heartbeats, jobs, readings or MQTT. Turn my power off and on to leave it."
)


def equip(app: "Beginning", root: str, config_path: str | None, workspace: str | None) -> None:
    """Create the long-lived objects of `app`; raise ValueError for an owner's mistake."""
    app.port = open_port(root)
    app.wrong = []
    place = config_path or app.port.path("config.json")
    # A new version that refuses settings which the old one took fails its trial.
    path = app.port.path
    strict = files.exists(path("lib/trial")) and not files.exists(path(_WRONG))
    app.workspace = workspace or app.port.path("workspace")
    app.state = path("state")
    try:
        app.aside = []
        files.make_dirs(app.state)
    except OSError:
        app.aside = quarantine.folder(app.state)
        files.make_dirs(app.state)
    if not workspace and files.exists(app.workspace):
        app.aside += quarantine.folder(app.workspace)
    app.config = _settings(app, place, strict)
    _configure(app, strict)
    for folder in (app.state, app.workspace):
        # In the state folder all .tmp files are ours; in the workspace people may have some.
        ending = files.TEMP if folder == app.state else files.WORKSPACE_TEMP
        strays = quarantine.clean_strays(folder, ending)
        if strays:
            log("boot", "%d unfinished file(s) of a power cut removed from %s" % (strays, folder))
    app.aside += quarantine.in_state(app.state) + quarantine.in_workspace(app.workspace)
    _forget_servers(app.state + "/mcp", app.config.section("mcp"))
    _want_bluetooth(app)
    app.clock = Clock(app.port)
    app.inbox = Queue(_INBOX)
    app.connected = asyncio.Event()
    app.mail = asyncio.Event()
    app.ended = asyncio.Event()
    app.agent = Agent(app.port, app.config, app.workspace, app)


def _settings(app: "Beginning", place, strict):
    """Return the settings of a file; of the last start's copy if the file cannot be read."""
    good = app.port.path(_GOOD)
    try:
        config = configload.load(place, None, None if strict else app.wrong)
    except (OSError, ValueError) as error:
        is_kept = files.size(good) > 0
        if strict or (files.is_file(place) and not is_kept):
            raise
        used = "settings of the last start" if is_kept else "defaults"
        app.wrong.append("%s; until then the %s are used" % (error, used))
        return configload.load(good, None, app.wrong)
    if files.size(place) > 0:
        text = files.read_text(place)
        try:
            if not _holds(good, text):
                files.write_atomic(good, text)
        except OSError as error:  # a folder or a link, which quarantine renames
            log("config", "%s: no copy of the settings: %s" % (good, error))
    return config


def _holds(path, text):
    try:
        return files.size(path) > 0 and files.read_text(path) == text
    except ValueError:
        return False  # damaged


def _configure(app: "Beginning", strict):
    """Give the settings to the port, without those that the board cannot have."""
    while True:
        try:
            app.port.configure(app.config)
            return
        except ValueError as error:
            key = str(error).partition(":")[0]
            if strict or not app.config.drop(key):
                raise
            app.wrong.append(configload.without(error, key))


def _tell_wrong(app: "Beginning"):
    """Log the wrong settings, and tell the owner of them, once until they are others."""
    path = app.port.path(_WRONG)
    app.wrong.sort()
    for sentence in app.wrong:
        log("config", sentence)
    text = "\n".join(app.wrong)
    if not text:
        files.remove(path)
    elif files.size(path) <= 0 or files.read_text(path) != text:
        rest = len(app.wrong) - _SHOWN
        shown = "\n".join(app.wrong[:_SHOWN]) + ("\n... and %d more" % rest if rest > 0 else "")
        app.agent.notify("Settings that are wrong, and not used:\n" + shown)
        files.write_atomic(path, text)


def _want_bluetooth(app: "Beginning"):
    """Write the order about Bluetooth's memory for the next start (see chip_heap), and log the
    gain of this one."""
    path = app.state + "/bluetooth"
    if not app.config.get("power.free_bluetooth"):
        files.remove(path)
    elif app.port.kind == "esp32":
        text = files.read_text(path) if files.size(path) > 0 else ""
        if not text:
            files.write_atomic(path, "on")
        else:
            log("boot", "Bluetooth's memory, taken back at the start, in bytes: " + text)


def _forget_servers(place, servers):
    """Remove the files of MCP servers that left the settings (see tools.mcp_refresh)."""
    if files.exists(place):
        for entry, kind in list(entries(place)):
            # A folder there is none of ours.
            if kind == "f" and entry.split(".")[0].split("-")[0] not in servers:
                files.remove(place + "/" + entry)


async def start(app: "Starting") -> None:
    """Log the state of the board, and start every service."""
    is_safe = begin(app)
    for line in _lines(app.port, () if is_safe else app.port.i2c_names()):
        log("boot", line)
    asyncio.get_event_loop().set_exception_handler(services.unhandled)
    path = app.port.path
    if any(map(files.exists, (path("lib/failed"), path("lib/passed"), app.state + slot.ORDER))):
        overlay.later("UPDATE", None, request.look_back, app)
    for name, service, *args in list(_list(app, is_safe)):
        asyncio.create_task(services.supervise(name, service, *args))
    _tell_wrong(app)
    for sentence in app.aside:
        app.agent.notify(sentence)
    services.look_after(app)


def _lines(port, buses):
    """Yield the first lines for a person at the serial console; open these buses."""
    free, used = port.memory()
    yield "tenner %s on %s (%s start)" % (__version__, port.kind, port.reset_cause())
    if __build__:
        yield "build %s" % __build__
    yield "heap: %d KB free, %d KB used" % (free // 1024, used // 1024)
    system = port.system_memory()
    if system:
        yield "for Wi-Fi and TLS: %d KB free, %d KB of it in one block" % (
            system[0] // 1024,
            system[1] // 1024,
        )
    # Here, where memory has room for the code of the check.
    found = [kind for kind in ("i2c", "spi", "gpio", "adc", "pwm") if port.has(kind)]
    yield "hardware: %s" % (" ".join(found) or "none")
    for name in buses:
        # Here, where memory has room for the code, and the log shows a wrong pin at once.
        try:
            port.i2c(name)
            yield "bus %s is open" % name
        except (OSError, ValueError) as error:
            yield "bus %s cannot be opened: %s" % (name, error)


def _list(app: "Starting", is_safe):
    """
    Yield (name, coroutine function, its arguments) of the concurrent services, in safe mode of the
    few for people. None is a function of this module: it would keep the entire module in memory.
    """
    if app.config.get("console.enabled"):
        app.console = app.get("console")
        yield "console", app.console.run
    if app.config.get("wifi.ssid"):
        yield "wifi", app.get("wifi").run
    else:
        app.connected.set()
    yield "network", services.network, app
    yield "people", services.people, app
    if app.port.shares_memory:
        yield "memory", services.memory, app
    else:
        yield "watch", services.watch, app
    yield from _parts(app, is_safe)
    if app.telegram is not None and files.exists(answer.path(app)):
        overlay.later("RESTART", app.connected.wait, answer.ask, app)
    if files.size(app.state + "/outbox.jsonl") > 0 or files.exists(app.state + attachments.FOLDER):
        app.start_sending()
    if is_safe:
        return
    timed = (
        ("heartbeat", app.get("heartbeat").service),
        ("cron", services.jobs, app),
    )
    if files.exists(app.port.path("lib/trial")):
        # Awake: a start in the middle of it would end the trial.
        yield "trial", trial.run, app
    elif app.config.section("power").get("mode") == "sleep":
        yield "power", power.run, app
        timed = [(one[0], power.after_sync, app) + one[1:] for one in timed]
    elif app.config.get("update.check") and app.config.get("update.url"):
        if slot.is_possible(app):
            yield "update", offer.service, app
    yield from timed
    yield "readings", services.readings, app


def _parts(app: "Starting", is_safe):
    """
    Make the parts that the settings turn on, and yield their services as `_list` does. A channel
    without services is made again for each delivery of the outbox.
    """
    known = list(config.parts())
    on = [one for one in known if app.config.get(one[1])]
    keys = ", ".join([key for _, key in on or known])
    log("boot", "channels: " + (keys if on else "none, set " + keys))
    for package, key in on:
        try:
            part = module("tenner.%s.part" % package)
        except (OSError, ImportError) as error:
            log("boot", "%s: its code is not on this board yet: `tenner sync` brings it" % key)
            log("boot", "%s: %s" % (package, error))
            continue
        if is_safe and not hasattr(part, "IN_SAFE_MODE"):
            continue
        if not hasattr(part, "services"):
            app.one_way += (package.rpartition(".")[2],)
            continue
        made = part.make(app)
        for service, run in part.services(app, made):
            yield service, services.when_connected, app, run


# A start is bad if a crash or a watchdog resets the board within a minute. /state/starts has the
# number of bad starts in a row and the time of the last one. Switching the power off and on or a
# soft reset clears it; Ctrl-C (app.main) and `tenner` remove it.
def begin(app: "Reaching") -> bool:
    """Count this start; return whether it is one in safe mode."""
    cause = app.port.reset_cause() if app.port.kind == "esp32" else "DEEPSLEEP"
    if cause == "DEEPSLEEP":
        return False
    # A chip's clock goes on over a reset, so no task has to wait for the minute. 0: it was not
    # set.
    now_s = app.port.unix_time() if app.port.clock_is_set() else 0
    path = app.state + "/starts"
    bad = 0
    if cause not in ("PWRON", "SOFT") and files.exists(path):
        words = files.read_text(path).split() + ["", ""]
        if words[0].isdigit() and (words[1] == "0" or _is_recent(words[1], now_s)):
            bad = int(words[0])
    try:
        files.write_atomic(path, "%d %d" % (bad + 1, now_s))
    except OSError as error:
        log("boot", "this start is not counted: %s" % error)
    if bad < _BAD_STARTS:
        return False
    log("boot", _TEXT % bad)
    channel, chat = app.owner()
    if channel is not None:
        app.deliver(channel, chat, _TEXT % bad)
    return True


def _is_recent(text, now_s):
    return text.isdigit() and abs(now_s - int(text)) < _WELL_S


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
