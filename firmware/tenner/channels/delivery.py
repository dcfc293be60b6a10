# tenner channels.delivery: takes what is in the outbox to its channel.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A channel has `async send(chat, text, reply_to, began)`, which calls `began()` before the first byte leaves, and returns ("ok", id), ("retry", seconds or None),
("refused", why) or ("unknown", why), `parts(text)` that cuts a text to what fits, and `async idle()`.
A channel with `show(chat, text)` instead is local: what it shows has arrived, and needs no outbox.
"""

import gc

from tenner.log import log


class Delivery:
    """
    What stands between the outbox and the channels; `owner()` returns the owner's (channel, chat), and
    `arrived(mark)` is told that an alert which was posted with a mark has arrived.
    """

    def __init__(self, outbox, owner, arrived=None):
        self.outbox = outbox
        self.owner = owner
        self.arrived = arrived
        self._channels = {}

    def register(self, name, channel):
        """Messages to `name` go to `channel` from now on."""
        self._channels[name] = channel

    def post(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """
        Queue a text; return the ids of its parts, [] when it was shown at once or is empty. `alert`
        may be a mark, by which the text is known as long as it waits and when it has arrived.
        """
        target = self._channels.get(channel)
        if alert:
            chat = getattr(target, "alert_chat", chat)
        if hasattr(target, "show"):
            target.show(chat, text)
            return []
        ids = []

        def add(part, alert):
            # Each part is confirmed by itself, so that none is repeated because a later one failed.
            part_id = "%s.%d" % (id, len(ids)) if id and ids else id
            quoted = None if ids else reply_to
            ids.append(self.outbox.add(channel, chat, part, alert, part_id, quoted))

        last = None
        for part in target.parts(text) if target else (text,):
            if last:
                add(last, bool(alert))
            last = part
        if last:
            # It has the mark, for the text has arrived when the last of it has.
            add(last, alert)
        return ids

    async def drain(self):
        """
        Send what is due, up to a failure: others may want the memory before the next try. Return the seconds
        until something is due, None when nothing waits.
        """
        outbox = self.outbox
        item = outbox.next_due()
        while item and await self._send(item):
            item = outbox.next_due()
        for channel in self._channels.values():
            if hasattr(channel, "idle"):
                await channel.idle()
        if outbox.dropped and not len(outbox):
            self._tell_owner("%d messages were dropped: the outbox was full." % outbox.dropped)
            outbox.dropped = 0
        return outbox.next_wake()

    async def _send(self, item):
        """Send an item; return False when it has to be tried again."""
        if item.arrived:
            return self._settle(item)
        channel = self._channels.get(item.channel)
        text = "(maybe sent before) " + item.text if item.maybe else item.text
        verdict, detail = "retry", None
        if hasattr(channel, "show"):
            channel.show(item.chat, text)
            verdict = "ok"
        elif channel:

            def began():
                self.outbox.began(item.id)

            verdict, detail = await channel.send(item.chat, text, item.reply_to, began=began)
        if verdict == "ok":
            return self._settle(item)
        outcome = self.outbox.failed(
            item.id,
            detail if verdict == "retry" else None,
            verdict == "unknown",
            detail if verdict == "refused" else None,
        )
        if outcome == "failed":
            self._tell_owner(
                "A message to %s:%s was not delivered: %s"
                % (item.channel, item.chat, detail or "no way to reach it for a day"),
                item.chat,
            )
        return outcome != "retry"

    def _settle(self, item):
        """Be done with what has arrived; False when there is no memory for that now: it is tried again, and not sent again."""
        self.outbox.has_arrived(item)
        try:
            # Before the outbox forgets it: a power cut in between repeats the alert, and marks it so.
            self._tell_arrived(item.alert)
            self.outbox.confirm(item.id)
            return True
        except MemoryError as error:
            gc.collect()
            log("outbox", "not written yet that a message has arrived: %s" % error)
            return False

    def _tell_arrived(self, mark):
        if self.arrived and isinstance(mark, str):
            try:
                self.arrived(mark)
            except OSError as error:
                log("outbox", "not kept that an alert has arrived: %s" % error)

    def _tell_owner(self, text, about=None):
        channel, chat = self.owner()
        # A line about a line to the owner would go round for ever.
        if chat is not None and str(chat) != str(about):
            self.post(channel, chat, text)
