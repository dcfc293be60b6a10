# tenner channels.delivery: takes what is in the outbox to its channel, and says when it arrived.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A channel has `async send(chat, text, reply_to)` that returns ("ok", id), ("retry", seconds or None),
("refused", why) or ("unknown", why), `parts(text)` that cuts a text to what fits, and `async idle()`.
A channel with `show(chat, text)` instead is local: what it shows has arrived, and needs no outbox.
"""

import asyncio

from tenner.log import log
from tenner.port.compat import const

_LONGEST_WAIT_S = const(60)
_MAYBE = "(maybe sent before) "


class Delivery:
    """The service between the outbox and the channels; `owner()` returns the owner's (channel, chat)."""

    def __init__(self, outbox, owner=None):
        self.outbox = outbox
        self.owner = owner
        self._channels = {}
        self._wake = asyncio.Event()
        self._waiting = {}  # message id -> [Event, has it arrived]
        self._dropped = 0

    def register(self, name, channel):
        """Messages to `name` go to `channel` from now on."""
        self._channels[name] = channel
        self._wake.set()

    def wake(self):
        """The network is back: try again now."""
        self.outbox.hurry()
        self._wake.set()

    def post(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """Queue a text; return the ids of its parts, [] when it was shown at once or is empty."""
        target = self._channels.get(channel)
        if hasattr(target, "show"):
            target.show(chat, text)
            return []
        ids = []
        for part in target.parts(text) if target is not None else (text,):
            # Each part is confirmed by itself, so that none is repeated because a later one failed.
            part_id = id if id is None or not ids else "%s.%d" % (id, len(ids))
            ids.append(self.outbox.add(channel, chat, part, alert, part_id, reply_to))
            reply_to = None
        self._wake.set()
        return ids

    async def deliver(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """Queue a text and wait until it has arrived (True) or was given up (False)."""
        ids = self.post(channel, chat, text, alert, id, reply_to)
        arrived = True
        for one in ids:
            if one is None:
                arrived = False
            elif self.outbox.waits(one):
                entry = self._waiting.setdefault(one, [asyncio.Event(), False])
                await entry[0].wait()
                arrived = arrived and entry[1]
        return arrived

    async def run(self):
        """Send what is due, for ever."""
        while True:
            await self.drain()
            await self._wake.wait()

    async def drain(self):
        """Send what is due until nothing waits any more."""
        while True:
            self._wake.clear()
            item = self.outbox.next_due()
            while item is not None:
                await self._send(item)
                item = self.outbox.next_due()
            for channel in self._channels.values():
                if hasattr(channel, "idle"):
                    await channel.idle()
            for id in list(self._waiting):
                if not self.outbox.waits(id):
                    self._settled(id, False)  # it had to make room for others
            self._tell_dropped()
            wait_s = self.outbox.next_wake()
            if wait_s is None:
                return
            try:
                # Not longer than a minute: the network may be back without anybody saying so.
                wait_s = max(0.01, min(wait_s, _LONGEST_WAIT_S))
                await asyncio.wait_for(self._wake.wait(), wait_s)
            except asyncio.TimeoutError:
                pass

    async def _send(self, item):
        channel = self._channels.get(item.channel)
        if channel is None:
            self.outbox.failed(item.id)
            return
        text = _MAYBE + item.text if item.maybe else item.text
        if hasattr(channel, "show"):
            channel.show(item.chat, text)
            verdict, detail = "ok", None
        else:
            verdict, detail = await channel.send(item.chat, text, item.reply_to)
        if verdict == "ok":
            self.outbox.confirm(item.id)
            self._settled(item.id, True)
            return
        outcome = self.outbox.failed(
            item.id,
            retry_after_s=detail if verdict == "retry" else None,
            unknown=verdict == "unknown",
            refused=detail if verdict == "refused" else None,
        )
        if outcome != "retry":
            self._settled(item.id, False)
        if outcome == "failed":
            self._tell_owner(item, detail or "no way to reach it for a day")

    def _settled(self, id, arrived):
        entry = self._waiting.pop(id, None)
        if entry is not None:
            entry[1] = arrived
            entry[0].set()

    def _tell_owner(self, item, why):
        channel, chat = self.owner() if self.owner is not None else (None, None)
        # A failed line about a failed line would go round for ever.
        if chat is None or str(chat) == str(item.chat) or item.id.startswith("lost-"):
            return
        text = "A message to %s:%s was not delivered: %s" % (item.channel, item.chat, why)
        self.post(channel, chat, text, id=("lost-" + item.id)[:64])

    def _tell_dropped(self):
        """Once there is room again, say what had to go for want of it."""
        count = self.outbox.dropped - self._dropped
        if count and len(self.outbox) == 0 and self.owner is not None:
            log("outbox", "%d messages were dropped" % count)
            channel, chat = self.owner()
            if chat is not None:
                self.post(channel, chat, "%d messages were dropped: the outbox was full." % count)
            self._dropped = self.outbox.dropped
