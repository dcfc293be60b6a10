# tenner boot: what is done once, when the agent starts; forgotten after.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import __version__, services
from tenner.log import log
from tenner.store import files


def lines(port):
    """Yield what a person at the serial console wants to know first."""
    free, used = port.memory()
    yield "tenner %s on %s (%s start)" % (__version__, port.kind, port.reset_cause())
    yield "heap: %d KB free, %d KB used" % (free // 1024, used // 1024)
    for name in port.i2c_names():
        # Opened here, where there is room for the code that does it, and a wrong pin is seen at once.
        try:
            port.i2c(name)
            yield "bus %s is open" % name
        except (OSError, ValueError) as error:
            yield "bus %s cannot be opened: %s" % (name, error)


def _list(app):
    """Yield (name, coroutine function) of what runs beside each other while the agent is on."""
    if app.config.get("console.enabled"):
        app.console = app.part("console")
        yield "console", app.console.run
    wifi = None
    if app.config.get("wifi.ssid"):
        from tenner.net.wifi import Wifi

        wifi = Wifi(app.port, app.config.get("wifi.ssid"), app.config.get("wifi.password"))
        yield "wifi", wifi.run
        yield "link", lambda: services.relink(app, wifi.up)
    yield "network", lambda: services.network(app, wifi)
    yield "people", lambda: services.people(app)
    if app.config.get("telegram.token"):
        from tenner.channels import telegram_pair

        paired = telegram_pair.kept(app.state)
        if paired and not app.config.get("telegram.owner"):
            app.config.put("telegram.owner", paired)
        app.telegram = app.part("telegram")
        if not app.telegram.owner:
            log("telegram", "nobody is the owner. " + telegram_pair.offer(app.telegram, app.state))
        yield "telegram", lambda: _poll(app)
    else:
        log("telegram", "off: there is no telegram.token")
    if files.size(app.state + "/outbox.jsonl") > 0:
        app.start_sending()
    beat, jobs = app.part("heartbeat").service, lambda: services.jobs(app)
    if app.config.section("power").get("mode") == "sleep":
        from tenner import power

        yield "power", lambda: power.run(app)
        beat, jobs = power.after_sync(app, beat), power.after_sync(app, jobs)
    yield "heartbeat", beat
    yield "cron", jobs


async def _poll(app):
    await app.connected.wait()
    await app.telegram.poll()


async def run(app):
    """Start every service and wait for the end of the program."""
    asyncio.get_event_loop().set_exception_handler(services.unhandled)
    for name, service in list(_list(app)):
        asyncio.create_task(services.supervise(name, service))
    await app.ended.wait()
