# tenner channels.delivery: sends the messages and files of the outbox over their channels.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A channel has `async idle()` and `async send(chat, text, reply_to, began, alarm)`, which calls
`began()` before the first byte leaves, and returns ("ok", id), ("retry", seconds or None),
("refused", why) or ("unknown", why). `max_units` limits the UTF-16 units of a part. A channel with
`show(chat, text)` instead is local: its texts arrive at once and need no outbox. A message that is
a file has the channel `NAME/file` (store.attachments).
"""

from tenner import overlay
from tenner.channels import split
from tenner.channels.mqtt import home_assistant
from tenner.channels.telegram import menu, message
from tenner.log import log, log_exception
from tenner.port.compat import const
from tenner.store import attachments, files
from tenner.store.outbox_item import is_last

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.channels.types import Local, Sending
    from tenner.store.outbox import Outbox
    from tenner.store.outbox_item import Item

_MARK = const("(maybe sent before) ")
_ALARM = const("al:")
# Those of messages with buttons: of alarms, and of the rule for a line (schedule.prose).
_BUTTONS = ("al:", "pr:")
# The marks of an alarm's messages: its beginning and repetitions, its end, an addition.
_ABOUT = ("al:", "ae:", "ad:")
#: The end of the mark of a message that goes to another chat than the first one.
NEXT = const(".e")
_LONGEST = const(5000)


class Delivery:
    """
    Connects the outbox with the channels. `owner()` returns the owner's (channel, chat);
    `arrived(mark, id)` is called when an alert that was delivered with a mark has arrived; `id` is
    its number in the channel. `first(mark)` returns that of the first message of its alarm.
    """

    def __init__(
        self,
        outbox: "Outbox",
        owner: "Callable[[], tuple[str | None, int | str | None]]",
        arrived: "Callable[[str, int | None], None] | None" = None,
        first: "Callable[[str], int | None] | None" = None,
    ) -> None:
        self.outbox = outbox
        self.owner = owner
        self.arrived = arrived
        self.first = first
        self._channels = {}

    def register(self, name: str, channel: "Local | Sending") -> None:
        """Send messages to `name` over `channel` from now on."""
        self._channels[name] = channel

    def deliver(
        self,
        channel: str,
        chat: int | str,
        text: str,
        alert: bool | str = False,
        id: str | None = None,
        reply_to: int | None = None,
    ) -> list[str | None]:
        """
        Queue a text as one entry, in parts that fit the channel; return [its id], or [] when it
        was shown at once or is empty. `alert` may be a mark, which identifies the text while it
        waits and when it has arrived. The mark of an alarm begins with `al:`; its message has
        buttons.
        """
        target = self._channels.get(channel)
        if alert:
            chat = getattr(target, "alert_chat", chat)
        ids = self._queue(target, channel, chat, text, alert, id, reply_to)
        if alert and text.strip():
            self._publish(channel, text)
        return ids

    def _queue(self, target, channel, chat, text, alert, id, reply_to):
        if hasattr(target, "show") and _shows(target, chat, text):
            return []
        limit = getattr(target, "max_units", None)
        if limit and alert:
            # A repetition begins with the mark.
            limit -= len(_MARK)
        parts = list(_parts(text, limit))
        if not parts:
            return []
        return [self.outbox.add(channel, chat, parts, alert, id, reply_to)]

    def _publish(self, channel, text):
        """Queue an alert for other channels that accept alerts, such as a broker, after the
        owner's: none of them holds that up."""
        for name in self._channels:
            chat = getattr(self._channels[name], "alert_chat", None)
            if name != channel and chat:
                # Queued without the mark, which belongs to the owner's copy.
                self.outbox.add(name, chat, text)

    async def drain(self) -> int | None:
        """
        Send all due messages, up to a failure: another task may need the memory before the next
        try. Return the seconds until a message is due, None when none waits.
        """
        outbox = self.outbox
        item = outbox.next_due()
        while item and await self._send(item):
            item = outbox.next_due()
        for channel in self._channels.values():
            if hasattr(channel, "idle"):
                await channel.idle()
        if files.exists(outbox.folder + attachments.FOLDER):
            attachments.sweep(outbox)
        if outbox.dropped and not len(outbox):
            self._tell_owner("%d messages were dropped: the outbox was full." % outbox.dropped)
            outbox.dropped = 0
        return outbox.next_wake()

    async def _send(self, item):
        """Send an item; return False when it needs a retry."""
        if item.arrived:
            self._resolve(item)
            return True
        channel = self._channels.get(item.channel.partition("/")[0])
        text = _MARK + item.text if item.possibly_sent else item.text
        verdict, detail = "retry", None
        if hasattr(channel, "show"):
            if _shows(channel, item.chat, text):
                verdict = "ok"
        elif channel:
            leaving = []

            def began():
                self.outbox.mark_sending(item.id)
                leaving.append(True)

            alarm = None
            if is_last(item) and str(item.alert)[:3] in _BUTTONS:
                alarm = item.alert[3:] if item.alert[:3] == _ALARM else item.alert
            try:
                if "/" in item.channel:
                    verdict, detail = await overlay.once("SENDING", send, channel, item, began)
                else:
                    quoted = self._quoted(item)
                    verdict, detail = await overlay.once(
                        "SENDING", channel.send, item.chat, text, quoted, began, alarm
                    )
            except MemoryError:
                # The channel knows whether all was sent; if not, the same step sends it again.
                raise
            except Exception as error:
                if not leaving:
                    raise
                verdict, detail = "unknown", log_exception("sending to " + item.channel, error)
        if verdict == "ok":
            self._resolve(item, detail)
            return True
        outcome = self.outbox.failed(
            item.id,
            detail if verdict == "retry" else None,  # type: ignore[arg-type]
            verdict == "unknown",
            detail if verdict == "refused" else None,
        )
        if outcome == "failed" and item.chat != getattr(channel, "alert_chat", None):
            self._tell_owner(
                "A message to %s:%s was not delivered: %s"
                % (item.channel, item.chat, detail or "no way to reach it for a day"),
                None if "/" in item.channel else item.chat,
            )
        return outcome != "retry"

    def _quoted(self, item):
        """Return the message that an item replies to: that of its alarm the first one."""
        mark = str(item.alert)
        if self.first and not item.part and mark[:3] in _ABOUT and mark[-2:] != NEXT:
            return self.first(mark)
        return item.reply_to

    def _resolve(self, item, id=None):
        """Remove an item that has arrived. After a MemoryError only this is repeated, not the
        sending."""
        self.outbox.has_arrived(item)
        if is_last(item):
            # Before the outbox forgets it: after a power cut in between, the alert is repeated
            # with a mark.
            self._tell_arrived(item.alert, id)
        self.outbox.confirm(item.id)

    def _tell_arrived(self, mark, id):
        if self.arrived and isinstance(mark, str):
            try:
                self.arrived(mark, None if mark[-2:] == NEXT else id)
            except OSError as error:
                log("outbox", "delivery of an alert not stored: %s" % error)

    def _tell_owner(self, text, about=None):
        channel, chat = self.owner()
        # A notice about a notice to the owner would go round forever.
        if chat is not None and str(chat) != str(about):
            self.deliver(channel, chat, text)


def _shows(channel, chat, text):
    try:
        channel.show(chat, text)
        return True
    except OSError as error:
        # Flash, which has a page's conversation, may be full.
        log("outbox", "not shown yet: %s" % error)
        return False


def _parts(text, limit):
    if limit is None and len(text) > _LONGEST:
        # A line of the outbox has a limit, too.
        limit = _LONGEST
    # Each character is one or two units.
    if limit is None or 2 * len(text) <= limit:
        return (text,) if text.strip() else ()
    return split.parts(text, limit)


async def send(channel: "Any", item: "Item", began: "Callable[[], None]") -> tuple:
    """Send it over its channel; return the outcome as the `send` of a channel does."""
    kind, path, caption = attachments.unpack(item.text)
    if kind == attachments.MENU:
        return await menu.send(channel, item.chat, path, caption, began)
    if not files.is_file(path):
        return "refused", "its file is gone"
    if channel.name == "mqtt":
        return await home_assistant.publish_image(channel, path, caption, began)
    return await message.send_message(channel, item.chat, kind, path, caption, began)
