# tenner channels.delivery: takes what is in the outbox to its channel, and says when it arrived.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A channel has `async send(chat, text, reply_to)` that returns ("ok", id), ("retry", seconds or None),
("refused", why) or ("unknown", why), `parts(text)` that cuts a text to what fits, and `async idle()`.
A channel with `show(chat, text)` instead is local: what it shows has arrived, and needs no outbox.
"""

import asyncio


class Delivery:
    """The service between the outbox and the channels; `owner()` returns the owner's (channel, chat)."""

    def __init__(self, outbox, owner):
        self.outbox = outbox
        self.owner = owner
        self._channels = {}
        self._wake = asyncio.Event()
        self._waiting = {}  # message id -> [Event, has it arrived]
        self._dropped = 0  # how many the owner was told of

    def register(self, name, channel):
        """Messages to `name` go to `channel` from now on."""
        self._channels[name] = channel

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
        for part in target.parts(text) if target else (text,):
            # Each part is confirmed by itself, so that none is repeated because a later one failed.
            part_id = "%s.%d" % (id, len(ids)) if id and ids else id
            ids.append(self.outbox.add(channel, chat, part, alert, part_id, reply_to))
            reply_to = None
        self._wake.set()
        return ids

    async def deliver(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """Queue a text and wait until it has arrived (True) or was given up (False)."""
        arrived = True
        for one in self.post(channel, chat, text, alert, id, reply_to):
            if one is None:
                arrived = False
            elif self.outbox.waits(one):
                entry = self._waiting.setdefault(one, [asyncio.Event(), False])
                await entry[0].wait()
                arrived = arrived and entry[1]
        return arrived

    async def drain(self):
        """Send what is due until nothing waits any more."""
        while True:
            self._wake.clear()
            item = self.outbox.next_due()
            while item:
                await self._send(item)
                item = self.outbox.next_due()
            for channel in self._channels.values():
                if hasattr(channel, "idle"):
                    await channel.idle()
            for id in list(self._waiting):
                if not self.outbox.waits(id):
                    self._settled(id, False)  # it had to make room for others
            dropped = self.outbox.dropped - self._dropped
            if dropped and not len(self.outbox):
                self._dropped += dropped
                self._tell_owner("%d messages were dropped: the outbox was full." % dropped)
            wait_s = self.outbox.next_wake()
            if wait_s is None:
                return
            try:
                await asyncio.wait_for(self._wake.wait(), wait_s)
            except asyncio.TimeoutError:
                pass

    async def _send(self, item):
        channel = self._channels.get(item.channel)
        text = "(maybe sent before) " + item.text if item.maybe else item.text
        verdict, detail = "retry", None
        if hasattr(channel, "show"):
            channel.show(item.chat, text)
            verdict = "ok"
        elif channel:
            verdict, detail = await channel.send(item.chat, text, item.reply_to)
        if verdict == "ok":
            self.outbox.confirm(item.id)
            self._settled(item.id, True)
            return
        outcome = self.outbox.failed(
            item.id,
            detail if verdict == "retry" else None,
            verdict == "unknown",
            detail if verdict == "refused" else None,
        )
        if outcome != "retry":
            self._settled(item.id, False)
        if outcome == "failed":
            self._tell_owner(
                "A message to %s:%s was not delivered: %s"
                % (item.channel, item.chat, detail or "no way to reach it for a day"),
                item.chat,
            )

    def _settled(self, id, arrived):
        entry = self._waiting.pop(id, None)
        if entry:
            entry[1] = arrived
            entry[0].set()

    def _tell_owner(self, text, about=None):
        channel, chat = self.owner()
        # A line about a line to the owner would go round for ever.
        if chat is not None and str(chat) != str(about):
            self.post(channel, chat, text)
