# tenner app: the agent as one object: its parts, its ways to people, its services.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc

from tenner.log import log
from tenner.port.compat import const, sleep_ms

_SETTLE_MS = const(50)
_SETTLE_STEPS = const(60)


class App:
    """
    `root` is the folder of config.json, workspace/ and state/ ("" on a board); `boot` makes what is there
    from the start. A part is made when it is first asked for (`part`), and on a small board let go
    again when it has nothing to do (`rest`).
    """

    telegram = mqtt = console = None
    #: For deep sleep: was the clock set since the start, and when did somebody last write?
    synced = False
    heard_s = None
    #: Does something wait in the outbox, is it being sent now, and what of it must outlive its code?
    sending = delivering = hurry = False
    waiting = None
    #: The modules that stayed when there was room last.
    stays = ()

    def __init__(self, root="", config_path=None, workspace=None):
        from tenner import boot

        self._parts = {}
        boot.equip(self, root, config_path, workspace)

    def part(self, name):
        """Return a part of the agent, made on its first use (see wiring)."""
        if name not in self._parts:
            from tenner import wiring

            self._parts[name] = wiring.make(name, self)
            self.shed("tenner.wiring")
        return self._parts[name]

    def made(self, name):
        """Is this part there now?"""
        return name in self._parts

    def drop(self, name):
        """On a small board, let go of a part; it is made again when it is asked for."""
        if self.port.small:
            self._parts.pop(name, None)

    async def rest(self):
        """Between turns on a small board, let go of the code and the parts that only a turn needs."""
        if self.port.small and not self.agent.lane.holder:
            try:
                self._make_room()
            except MemoryError:
                # Not even for what makes room: as it was the last time, and then properly.
                for name in ("chain", "registry", "scheduled"):
                    self.drop(name)
                self.shed("tenner.", self.stays)
                gc.collect()
                self._make_room()
            await self.collect()

    def _make_room(self):
        from tenner import room

        room.make(self)

    async def collect(self):
        """
        Collect garbage in a task of its own, for its stack is short: a deeper one is full of what calls that are
        over have left on it, and a single stale pointer keeps a module that was let go of.
        """
        await asyncio.create_task(_collect())

    async def alone(self, work, *args):
        """
        Await `work(*args)`; on a small board when nothing else of its size runs: there is memory for one. It is not called
        before, for a coroutine keeps in memory what it has used, and whoever waits for it would keep the coroutine.
        """
        if not self.port.small:
            return await work(*args)
        async with self.room:
            if self.made("delivery"):
                # Something was said while nobody had the room.
                await self.rest()
            try:
                return await work(*args)
            finally:
                await self.rest()

    async def let_go(self, *names):
        """On a small board, let go of the sensors and of the modules that the last step of a beat has needed."""
        if self.port.small:
            # Whoever measures holds a lock that the next one must find.
            if self.made("sensors") and not self.part("sensors").lock.locked():
                self.drop("sensors")
            for name in names:
                self.shed("tenner." + name)
            await self.collect()

    def shed(self, prefix, keep=()):
        """On a small board, let go of the modules whose names begin so, if nobody runs them."""
        if self.port.small:
            from tenner.store.modules import forget

            forget(prefix, keep)

    def slots(self, name):
        """Return the little state of this name; not kept, so that its code need not be."""
        from tenner.store.slots import TwoSlots

        return TwoSlots(self.state + "/" + name)

    # --- the outside

    def http(self, yields=False):
        """Return a new HTTP client; all of them share the certificates and the one TLS session."""
        from tenner.net.http import Http

        return Http(self.tls, self.part("gate"), yields)

    def tls(self):
        """Return the one verified TLS context."""
        return self.part("tls")

    def online(self):
        """True, or what is missing."""
        return True if self.port.network_up() else "wifi"

    def linked(self):
        """The link is up: go on with what waits for it."""
        self.connected.set()
        self.hurry = True
        self.mail.set()

    def now_text(self):
        """Return the owner's local time for a prompt, or say that nobody knows it."""
        return self.part("zone").tell(self.clock.now(), self.clock.trusted)

    async def breathe(self):
        """Where a background turn has the one TLS session, let Telegram look for messages between rounds."""
        if self.telegram and self.part("gate").polls and self.telegram.is_deaf():
            await self.part("chain").close()
            await self.telegram.look()

    # --- people

    def owner(self):
        """Return (channel, chat) of the owner: Telegram when it is set up, else MQTT, else the console."""
        chat = self.config.get("telegram.owner")
        if chat and self.config.get("telegram.token"):
            return "telegram", chat
        if self.mqtt is not None:
            return "mqtt", self.mqtt.owner
        return ("console", "owner") if self.console is not None else (None, None)

    def deliver(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """Send a text to a person, through the outbox; return the ids of what waits there."""
        ids = self.part("delivery").post(channel, chat, text, alert, id, reply_to)
        self.mail.set()
        self.start_sending()
        return ids

    def say(self, chat, text, reply_to=None, id=None):
        """Send a text to a chat of Telegram."""
        return self.deliver("telegram", chat, text, False, id, reply_to)

    def start_sending(self):
        """See to it that what waits in the outbox is being sent."""
        if not self.sending:
            from tenner.services import supervise

            self.sending = True
            asyncio.create_task(supervise("delivery", self._send))

    async def _send(self):
        wait_s = 0
        while wait_s is not None or self.mail.is_set():
            try:
                # Meanwhile the code that sends is let go of.
                await asyncio.wait_for(self.mail.wait(), wait_s or 0)
            except asyncio.TimeoutError:
                pass
            self.mail.clear()
            wait_s = await self.alone(self._drain)
        self.sending = False

    async def _drain(self):
        self.delivering = True
        try:
            delivery = self.part("delivery")
            if self.hurry:
                self.hurry = False
                delivery.outbox.hurry()
            return await delivery.drain()
        finally:
            self.delivering = False

    async def settle(self):
        """Wait until what is just being sent has left; where the network is down not for long."""
        for _ in range(_SETTLE_STEPS):
            if not self.sending:
                return
            await sleep_ms(_SETTLE_MS)

    async def ask_owner(self, text, turn):
        """Ask whoever drives this turn, if that is the owner, else the owner; False is no."""
        from tenner.approval import ask

        return await ask(self, text, turn)

    async def command(self, message):
        """Return the answer to a line that begins with a slash."""
        await self.rest()
        from tenner.channels import commands
        from tenner.report import Report

        return await commands.run(Report(self), message)


def main(root="", config_path=None, workspace=None):
    """Run the agent until it is stopped; return an exit code. An owner's mistake is one sentence."""
    try:
        app = App(root, config_path, workspace)
    except ValueError as error:  # ConfigError, and settings that contradict each other
        log("config", error)
        return 2
    try:
        asyncio.run(run(app))
    finally:
        asyncio.new_event_loop()
    return 0


async def run(app):
    """Start every service and wait for the end of the program."""
    _boot(app)
    await app.rest()
    await app.ended.wait()


def _boot(app):
    # By itself: nothing that lasts may hold the code that is needed only once.
    from tenner import boot

    boot.start(app)


async def _collect():
    gc.collect()
