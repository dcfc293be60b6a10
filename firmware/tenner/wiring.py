# tenner wiring: how the parts of the agent are made; read when one is needed, and let go.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Each function makes the part of its name for `App.part`. A part gets no function of this module: a part that stays
would keep all of it in memory.
"""


def make(name, app):
    return globals()[name](app)


def gate(app):
    from tenner.net.gate import Gate

    return Gate(1, app.port.tls_fits) if app.port.small else Gate(4)


def tls(app):
    from tenner.net.tls import context

    return context(app.port.path("certs"), getattr(app.port, "authorities", None))


def wifi(app):
    from tenner.net.wifi import Wifi

    get = app.config.get
    return Wifi(app.port, get("wifi.ssid"), get("wifi.password"), app.linked)


def zone(app):
    from tenner.schedule.zone import Zone

    return Zone(app.config.get("time.zone"))


def budget(app):
    from tenner.agent.budget import Budget

    return Budget(
        app.slots("budget"),
        app.clock,
        app.part("zone"),
        app.config.get("budget.tokens_per_day"),
        app.config.get("budget.person_reserve_percent"),
        app.agent.notify,
    )


def chain(app):
    from tenner.llm.chain import Chain

    return Chain(app.config, app.http, app.state + "/resting.json", notify=app.agent.notify)


def sensors(app):
    from tenner.sensors import Sensors

    return Sensors(app.port, app.workspace)


def registry(app):
    from tenner.tools.registry import Registry

    return Registry(app.port, app.config, app.workspace)


def spawner(app):
    from tenner.agent.spawn import Spawner

    return Spawner(app.agent, 1 if app.port.small else 4)


def delivery(app):
    from tenner.channels.delivery import Delivery
    from tenner.store.outbox import Outbox

    outbox = Outbox(app.state, app.clock, app.waiting)
    made = Delivery(outbox, app.owner, app.part("heartbeat").confirm)
    for channel in (app.console, app.telegram, app.mqtt):
        if channel is not None:
            made.register(channel.name, channel)
    return made


def telegram(app):
    from tenner.channels.telegram import Telegram

    made = Telegram(app.config, app.http, app.slots, app.inbox, say=app.say, now=app.clock.known)
    made.shed = app.shed
    if app.port.small:
        made.room = app.room
        made.lane = app.agent.lane
    else:
        made.draft = lambda message: app.agent.lane.draft("telegram:" + message.chat)
    return made


def mqtt(app):
    from tenner.channels.mqtt import Mqtt

    mono_s = app.clock.mono_s
    return Mqtt(app.config, app.port, app.tls, app.inbox, app.part, app.linked, mono_s)


def console(app):
    from tenner.channels.console import Console

    return Console(app.port.stdin_line, app.inbox)


def scheduled(app):
    from tenner.scheduled import Scheduled

    return Scheduled(app)


def heartbeat(app):
    from tenner.schedule.service import Heartbeat

    return Heartbeat(app)


def cron(app):
    from tenner.schedule.service import CronJobs

    return CronJobs(app)
