# tenner app: wires the parts and keeps the services running.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import __version__
from tenner.agent.bus import Queue
from tenner.log import log
from tenner.port import open_port
from tenner.port.compat import const
from tenner.store import files
from tenner.store.config import Config, ConfigError

_INBOX = const(8)  # messages of people that may wait


class App:
    """
    `root` is the folder of config.json, workspace/ and state/ ("" on a board). The parts that talk to
    the outside are made when first asked for, so that `--once` costs no more than it uses.
    """

    def __init__(self, root="", config_path=None, workspace=None):
        self.port = open_port(root)
        self.config = Config.load(config_path or self.port.path("config.json"))
        self.workspace = workspace or self.port.path("workspace")
        self.state = self.port.path("state")
        files.make_dirs(self.state)
        for folder in (self.state, self.workspace):
            strays = files.clean_strays(folder)
            if strays:
                log("boot", "%d unfinished file(s) of a power cut removed from %s" % (strays, folder))
        from tenner.net.clock import Clock
        from tenner.schedule.zone import Zone

        self.clock = Clock(self.port)
        self.zone = Zone(self.config.get("time.zone"))
        self.inbox = Queue(_INBOX)
        self.connected = asyncio.Event()
        self.ended = asyncio.Event()
        self.telegram = None
        self.console = None
        self._tls = None
        self._gate = None
        self._delivery = None
        self._heartbeat = None
        self.agent = self._make_agent()

    # --- wiring

    def _make_agent(self):
        from tenner.agent.agent import Agent
        from tenner.agent.budget import Budget
        from tenner.llm.chain import Chain
        from tenner.sensors import Sensors
        from tenner.tools.registry import Registry

        config = self.config
        budget = Budget(config, self.clock, self.zone, self.state + "/budget", self._notify)
        chain = Chain(config, self.http, self.state + "/cooldown.json", notify=self._notify)
        sensors = Sensors(self.port, self.workspace)
        registry = Registry(self.port, config, self.workspace)
        agent = Agent(self.port, config, sensors, registry, chain, budget)
        agent.workspace = self.workspace
        agent.deliver = self.deliver
        agent.ask_owner = self.ask_owner
        agent.now_text = self.now_text
        agent.owner = self.owner
        return agent

    @property
    def delivery(self):
        if self._delivery is None:
            from tenner.channels.delivery import Delivery
            from tenner.store.outbox import Outbox

            self._delivery = Delivery(Outbox(self.state, self.clock), self.owner)
        return self._delivery

    @property
    def outbox(self):
        return self.delivery.outbox

    @property
    def heartbeat(self):
        if self._heartbeat is None:
            from tenner.schedule.heartbeat import Heartbeat

            agent = self.agent
            self._heartbeat = Heartbeat(
                self.port,
                self.config,
                self.clock,
                self.zone,
                agent.sensors,
                agent.lane,
                agent.budget,
                self._run_turn,
                self._deliver_alert,
                agent.notify,
                self._online,
            )
        return self._heartbeat

    def _online(self):
        return True if self.port.network_up() else "wifi"

    async def _run_turn(self, pieces, kind="heartbeat", model=None):
        """Run a turn nobody waits for; LaneBusy and PutBack leave it."""
        from tenner.agent.turn import Turn

        turn = Turn(self.agent, kind, "".join(pieces()), model=model)
        return await self.agent.lane.background(kind, turn)

    async def _deliver_alert(self, text):
        """Queue an alert for the owner; False: the heartbeat is told later whether it arrived."""
        channel, chat = self.owner()
        if chat is None:
            raise OSError("there is no owner to tell: set telegram.owner")
        self.agent.remember(channel, chat, text)
        asyncio.create_task(self._follow(channel, chat, text))
        return False

    async def _follow(self, channel, chat, text):
        if await self.delivery.deliver(channel, chat, text, alert=True):
            self.heartbeat.confirm(text)
        else:
            self.heartbeat.given_up(text)

    def http(self, yields=False):
        """Return a new HTTP client; all of them share the certificates and the one TLS session."""
        from tenner.net.http import Http

        if self._gate is None:
            from tenner.net.gate import Gate

            self._gate = Gate(1 if self.port.small else 4)
        return Http(self.tls, self._gate, yields)

    def tls(self):
        if self._tls is None:
            from tenner.net.tls import context

            self._tls = context(self.port.path("certs"))
        return self._tls

    def services(self):
        """Yield (name, coroutine function) of what runs beside each other while the agent is on."""
        from tenner import services

        from tenner.channels.console import Console

        if self.config.get("console.enabled"):
            self.console = Console(self.port.stdin_line, self.inbox)
            self.delivery.register("console", self.console)
            yield "console", self.console.run
        yield "network", lambda: services.network(self)
        yield "people", lambda: services.people(self)
        if self.config.get("telegram.token"):
            self.telegram = self._make_telegram()
            self.delivery.register("telegram", self.telegram)
            yield "telegram", self._poll
        else:
            log("telegram", "off: there is no telegram.token")
        yield "delivery", self.delivery.run
        yield "heartbeat", self.heartbeat.service

    async def _poll(self):
        await self.connected.wait()
        await self.telegram.poll()

    def _make_telegram(self):
        from tenner.channels.telegram import Telegram
        from tenner.store.slots import TwoSlots

        return Telegram(
            self.config,
            self.http,
            TwoSlots(self.state + "/telegram"),
            self.inbox,
            say=self._say_telegram,
            now=self._trusted_now,
        )

    def _say_telegram(self, chat, text, reply_to=None, id=None):
        return self.delivery.post("telegram", chat, text, id=id, reply_to=reply_to)

    def _trusted_now(self):
        return self.clock.now() if self.clock.trusted else None

    async def command(self, message):
        """Return the answer to a line that begins with a slash."""
        from tenner.channels import commands
        from tenner.report import Report

        return await commands.run(Report(self), message)

    def now_text(self):
        """Return the owner's local time for a prompt, or say that nobody knows it."""
        from tenner.schedule.prompt import tell_time

        return tell_time(self.zone, self.clock.now(), self.clock.trusted)

    def owner(self):
        """Return (channel, chat) of the owner: Telegram when it is set up, else the console."""
        chat = self.config.get("telegram.owner")
        if chat and self.config.get("telegram.token"):
            return "telegram", chat
        return ("console", "owner") if self.console is not None else (None, None)

    def deliver(self, channel, chat, text, alert=False, reply_to=None):
        """Send a text to a person, through the outbox."""
        self.delivery.post(channel, chat, text, alert, reply_to=reply_to)

    def _notify(self, text):
        self.agent.notify(text)

    async def ask_owner(self, text, turn):
        """Ask whoever drives this turn, if that is the owner, else the owner; False is no."""
        if turn.channel == "console" and self.console is not None:
            return await self.console.ask(text)
        if self.telegram is not None:
            return await self.telegram.ask(text)
        return False



def boot_lines(port):
    """Yield what a person at the serial console wants to know first."""
    free, used = port.memory()
    yield "tenner %s on %s (%s start)" % (__version__, port.kind, port.reset_cause())
    yield "heap: %d KB free, %d KB used" % (free // 1024, used // 1024)


def main(root="", config_path=None, workspace=None):
    """Run the agent until it is stopped; return an exit code. An owner's mistake is one sentence."""
    try:
        app = App(root, config_path, workspace)
    except (ConfigError, ValueError) as error:
        log("config", error)
        return 2
    for line in boot_lines(app.port):
        log("boot", line)
    from tenner.services import run

    try:
        asyncio.run(run(app))
    finally:
        asyncio.new_event_loop()
    return 0
