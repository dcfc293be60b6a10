# tenner app: the agent as one object, with its parts, its channels and its services.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import os

from tenner import charts, overlay, overlay_loader
from tenner.agent import background, health
from tenner.agent.accounting import Budget
from tenner.channels import commands, question
from tenner.channels.delivery import Delivery
from tenner.llm.chain import Chain
from tenner.log import log, redact
from tenner.net.http import Http
from tenner.port.compat import const, sleep_ms
from tenner.remote import serve
from tenner.runtime import boot, memory_guard, services
from tenner.sensors.reading import Sensors
from tenner.store.outbox import Outbox
from tenner.store.posix_tz import Zone
from tenner.store.two_slot import TwoSlots
from tenner.tools.registry import Registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any

    from tenner.agent.agent import Agent
    from tenner.agent.message_queue import Message, Queue
    from tenner.agent.parts import Connected
    from tenner.channels.console import Console
    from tenner.channels.mqtt.channel import Mqtt
    from tenner.channels.telegram.channel import Telegram
    from tenner.net.clock import Clock
    from tenner.net.tls_reserve import TlsContext
    from tenner.page.channel import Page
    from tenner.page.chip import ChipPage
    from tenner.port import Port
    from tenner.store.config import Config
    from tenner.tools.types import Turn

_DRAIN_MS = const(50)
_DRAIN_STEPS = const(60)
_CHARTS = const(4)
#: Parts that end with their phase.
_PASSING = ("delivery", "budget", "zone", "chain", "registry", "sensors")


class App:
    """
    The agent. `root` is the folder of config.json, workspace/ and state/ ("" on a board); `boot`
    makes the objects that exist from the start. `get` makes each other part on its first use; on a
    small board the end of a phase frees the parts that only the phase needs.
    """

    port: "Port"
    config: "Config"
    clock: "Clock"
    agent: "Agent"
    #: The folders of the owner's files and of the agent's own.
    workspace: str
    state: str
    inbox: "Queue"
    #: Is the network there, is there something to send, and shall the program end?
    connected: asyncio.Event
    mail: asyncio.Event
    ended: asyncio.Event
    telegram: "Telegram | None"
    mqtt: "Mqtt | None"
    console: "Console | None"
    page: "Page | ChipPage | None"
    telegram = mqtt = console = page = None
    #: The channels that only send.
    one_way: "tuple[str, ...]" = ()
    #: Sentences about settings of the file that have their defaults for now.
    wrong: "list[str]"
    #: The sentences about quarantined files at the start.
    aside: "list[str]"
    #: Has the start ended well?
    is_up = False
    #: For deep sleep: was the clock set since the start, and when did a person last write?
    synced = False
    heard_s: int | None = None
    #: Is a task sending the outbox, and shall it retry failed messages now? Does an update run?
    sending = retry_now = updating = False
    #: The state of the outbox beyond its file (Outbox.kept).
    outbox_state: tuple | None = None
    #: The charts to draw when no turn runs, for charts.draw_next.
    charts: "tuple[charts.Request, ...]" = ()
    #: Waits for the end of the program on platforms that ask for it otherwise.
    until_end: "Callable[[], Coroutine] | None" = None
    #: Does agent.answer keep a message for the next start?
    again = False

    def __init__(
        self, root: str = "", config_path: str | None = None, workspace: str | None = None
    ) -> None:
        self._parts = {}
        boot.equip(self, root, config_path, workspace)
        small = self.port.small
        overlay.configure(small, self._phase_over, sum(self.port.memory()) if small else 0)

    def get(self, name: str) -> "Any":
        """Return a part of the agent, made on its first use (see _make, and factories for
        long-lived parts)."""
        if name not in self._parts:
            self._parts[name] = self._make(name)
        return self._parts[name]

    def _make(self, name):
        if name == "zone":
            return Zone(self.config.get("time.zone"))
        if name == "chain":
            return _chain(self)
        if name == "sensors":
            return Sensors(self.port, self.workspace)
        if name == "registry":
            return Registry(self.port, self.config, self.workspace)
        if name == "budget":
            return _budget(self)
        if name == "delivery":
            return _delivery(self)
        return boot.make(name, self)

    def has(self, name: str) -> bool:
        """Return whether this part exists now."""
        return name in self._parts

    def _phase_over(self):
        delivery = self._parts.get("delivery")
        if delivery:
            self.outbox_state = delivery.outbox.kept()
        for name in _PASSING:
            if name in self._parts:
                overlay_loader.remove(self._parts, name)

    def slots(self, name: str) -> TwoSlots:
        """Return the small state of this name; not cached, so that its code can be evicted."""
        return TwoSlots(self.state + "/" + name)

    # --- the outside

    def http(self, yields: bool = False) -> Http:
        """Return a new HTTP client; all share the certificates and the limit of TLS sessions."""
        return Http(self.tls, self.get("semaphore"), yields)

    def tls(self) -> "TlsContext":
        """Return the shared, verifying TLS context."""
        return self.get("tls")

    def online(self) -> bool | str:
        """Return True, or the name of the missing link."""
        return True if self.port.network_up() else "wifi"

    def linked(self) -> None:
        """Start the services and messages that wait for the link."""
        self.connected.set()
        self.retry_now = True
        self.mail.set()

    def now_text(self) -> str:
        """Return the owner's local time for a prompt, or a note that it is unknown."""
        return self.get("zone").tell(self.clock.now(), self.clock.trusted)

    async def breathe(self, turn: "Connected | None" = None) -> bool:
        """Let Telegram poll if it has waited long: before a background turn, and between the
        rounds of `turn`, which holds the only TLS session. Return True if it did."""
        if not self.telegram or not self.telegram.is_starved():
            return False
        if turn:
            await turn.chain.close()
        async with overlay.released("WAIT"):
            await self.telegram.poll_once()
        return True

    # --- people

    def owner(self) -> tuple[str | None, int | str | None]:
        """Return (channel, chat) of the owner: Telegram when it is set up, else MQTT, else the
        console."""
        chat = self.config.get("telegram.owner")
        if chat and self.config.get("telegram.token"):
            return "telegram", self.telegram.home if self.telegram else chat
        if self.mqtt is not None:
            return "mqtt", self.mqtt.owner
        return ("console", "owner") if self.console is not None else (None, None)

    def deliver(
        self,
        channel: str,
        chat: int | str,
        text: str,
        alert: bool | str = False,
        id: str | None = None,
        reply_to: int | None = None,
    ) -> list[str | None]:
        """Send a text to a person, through the outbox and without secrets; return the ids of its
        entries."""
        ids = self.get("delivery").deliver(channel, chat, redact(text), alert, id, reply_to)
        self.mail.set()
        self.start_sending()
        return ids

    def say(
        self,
        chat: int | str,
        text: str,
        reply_to: int | None = None,
        id: str | None = None,
        channel: str = "telegram",
    ) -> list[str | None]:
        """Send a text to a chat of Telegram."""
        return self.deliver(channel, chat, text, False, id, reply_to)

    def reply(
        self, message: "Message", text: str, failed: bool = False, lines: "Sequence[bytes]" = ()
    ) -> None:
        """Send the answer to a message, or an error, and quote the message where the channel can;
        `lines` are the records of its turn."""
        self.heard_s = self.clock.mono_s()
        if self.page is not None and self.page.name == message.channel:
            self.page.lines = lines
        if failed:
            for channel in (self.console, self.page):
                if channel is not None and channel.name == message.channel:
                    channel.fail()
        telegram = self.telegram if message.channel == "telegram" else None
        quoted = message.reply_to
        # The id is that of a restart notice: after a power cut here there is only one answer.
        id = quoted and "tg-%s-%d" % (message.chat, quoted)
        self.deliver(message.channel, message.chat, text, id=id, reply_to=quoted)
        if telegram:
            # Telegram may forget the message only after the answer is in the outbox.
            telegram.done(message)

    def start_sending(self) -> None:
        """Start the task that sends the outbox, unless it runs already."""
        if not self.sending:
            self.sending = True
            asyncio.create_task(services.supervise("delivery", self._send))

    async def _send(self):
        wait_s = 0
        while wait_s is not None or self.mail.is_set():
            try:
                await asyncio.wait_for(self.mail.wait(), wait_s or 0)
            except asyncio.TimeoutError:
                pass
            self.mail.clear()
            wait_s = await overlay.run("SEND", _drain, self)
            health.finished("delivery", wait_s)
        self.sending = False

    async def drain(self) -> None:
        """Wait until the outbox is sent, a few seconds at most."""
        for _ in range(_DRAIN_STEPS):
            if not self.sending:
                return
            await sleep_ms(_DRAIN_MS)

    async def ask_owner(self, text: str, turn: "Turn") -> bool:
        """Ask the owner, in the channel of this turn where possible; return False for no."""
        return await question.ask(self, text, turn)

    def spawn(self, text: str, turn: "Turn") -> str:
        """Start a task in the background for `turn`; return the sentence for the model."""
        return background.start(self.agent, text, turn)

    def chart(
        self,
        value: str,
        seconds: int,
        channel: str,
        chat: int | str,
        tells: bool,
        seen: "tuple[tuple[int, float], ...]" = (),
    ) -> bool:
        """
        Send the last `seconds` of a value as a picture, as soon as no turn needs the memory;
        return False if too many pictures wait. `tells`: the person hears why there is none;
        `seen`: see charts.send.
        """
        wanted = (value, seconds, channel, chat, tells, seen)
        if wanted not in self.charts:
            if len(self.charts) >= _CHARTS:
                return False
            self.charts += (wanted,)
            if len(self.charts) == 1:
                overlay.later("CHART", self.agent.wait_quiet, charts.draw_next, self)
        return True

    async def command(self, message: "Message") -> None:
        """Answer a line that begins with a slash."""
        text = await self.command_text(message)
        self.reply(message, text)

    async def command_text(self, message: "Message") -> str:
        """Return the answer to a line that begins with a slash."""
        text = await commands.run(self, message)
        # The code of the commands makes room for an answer in steps.
        return text if isinstance(text, str) else await text

    def take_request(self, data: bytes) -> None:
        """Start the answer to a message of the owner's computer at the broker."""
        overlay.later("REMOTE", None, serve.take, self.mqtt, data)


def _chain(app):
    return Chain(app.config, app.http, app.state + "/cooldown.json", notify=app.agent.notify)


def _budget(app):
    get = app.config.get
    per_day = get("budget.tokens_per_day")
    reserve = get("budget.person_reserve_percent")
    return Budget(
        app.slots("budget"), app.clock, app.get("zone"), per_day, reserve, app.agent.notify
    )


def _delivery(app):
    outbox = Outbox(app.state, app.clock, app.outbox_state)
    heartbeat = app.get("heartbeat")
    made = Delivery(outbox, app.owner, heartbeat.confirm, heartbeat.first)
    for channel in (app.console, app.telegram, app.mqtt, app.page):
        if channel is not None:
            made.register(channel.name, channel)
    for name in app.one_way:
        made.register(name, overlay_loader.module("tenner.channels.%s.part" % name).make(app))
    return made


async def _drain(app):
    delivery = app.get("delivery")
    if app.retry_now:
        app.retry_now = False
        delivery.outbox.retry_now()
    return await delivery.drain()


def main(
    root: str = "",
    config_path: str | None = None,
    workspace: str | None = None,
    equip: "Callable[[App], None] | None" = None,
) -> int:
    """Run the agent until it stops; return an exit code. Log one sentence for an owner's mistake.
    `equip(app)` adds parts that only some platforms have."""
    try:
        app = App(root, config_path, workspace)
        if equip:
            equip(app)
    except ValueError as error:  # ConfigError, and settings that contradict each other
        log("config", error)
        return 2
    try:
        asyncio.run(run(app))
    except KeyboardInterrupt:
        # A person or a tool ends this start, so it is not a bad one (safe_mode).
        if "starts" in os.listdir(app.state):
            os.remove(app.state + "/starts")
        raise
    except (OSError, MemoryError) as error:
        # asyncio polls the sockets in no task, and lwIP's select needs memory.
        if not app.is_up or app.port.system_memory() is None:
            raise
        memory_guard.restart(app, error)
    finally:
        asyncio.new_event_loop()
    return 0


async def run(app: App) -> None:
    """Start every service and wait for the end of the program."""
    await overlay.run("BOOT", boot.start, app)
    app.is_up = True
    try:
        await (app.until_end or app.ended.wait)()
    finally:
        # CPython cancels the services now, which end then.
        services.look_after(None)
