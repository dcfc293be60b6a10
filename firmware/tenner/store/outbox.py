# tenner store.outbox: what was said to people and is not yet known to have arrived.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One file of JSON lines: `["+", id, added, channel, chat, alert, reply_to, text]` when a message is added,
`["-", id]` when it is settled, `["?", id]` when it may have arrived. Texts stay on flash until they are
sent; RAM holds a few numbers for each. `alert` is false, true, or a text by which whoever
queued the message knows it again. A message costs two appends. Which one is being sent is
written to two slots of inline size, so that after a power cut that one, and no other, is in doubt.

What is rare, to give up, to make room and to tidy the file, is in `outbox_upkeep`.
"""

import json
from binascii import hexlify
from os import urandom

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import AppendLog, dumps
from tenner.store.slots import TwoSlots

_RETRY_S = (5, 25, 120, 600, 3600)
_GIVE_UP_S = const(86400)
_KNOWN_IDS = const(16)


class Item:
    """
    A message on its way; `text` is there while it is sent. `maybe`: it may have arrived already. It has no function, so
    that what waits keeps none of this module in memory.
    """

    id: str
    added: int
    channel: str
    chat: str
    alert: bool
    reply_to: object
    born: int
    due: int
    start: int
    size: int
    text = None
    maybe = held = False  # held: the other side told us when to come again
    #: It has arrived, but that could not be written down yet.
    arrived: bool
    tries = 0


class Outbox:
    """Messages in the order they were added; the order is kept within a chat."""

    #: Most messages that wait; each takes about 200 bytes of RAM.
    max_items = 40

    #: Most bytes of messages that wait. When full, the oldest that is no alert goes first.
    max_bytes = 48 * 1024

    #: Longest line of the file, so that one message can be read into a small heap.
    max_line = 16384

    #: How much settled text may lie in the file before it is written anew.
    slack_bytes = 8192

    def __init__(self, folder, clock, kept=None):
        self.clock = clock
        self.folder = folder
        self.path = folder + "/outbox.jsonl"
        self.items = []
        self.settled = []  # the last ids that are done with
        #: Messages given up for want of room, of which nobody was told.
        self.dropped = 0
        self._log = AppendLog(self.path, 1 << 28)
        self._slot = TwoSlots(folder + "/sending")
        if kept:
            self.items, self.settled, self.dropped, self._sending = kept
        else:
            self._load()

    def kept(self):
        """
        Return what another Outbox of this folder needs to go on where this one ends: what the file does not hold. It
        keeps no code in memory. None: the file holds all.
        """
        if self.items or self.dropped:
            return self.items, self.settled, self.dropped, self._sending

    def __len__(self):
        return len(self.items)

    def add(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """
        Keep a message until it is confirmed; return its id. An `id` seen before adds nothing. None
        means that there was no room: only alerts wait, and this is none.
        """
        if id is None:
            id = hexlify(urandom(4)).decode()
        if id in self.settled or self.waits(id):
            return id
        added = int(self.clock.now()) if self.clock.trusted else 0
        record = ["+", id, added, channel, chat, alert, reply_to, text]
        line = dumps(record).encode() + b"\n"
        size = len(line)
        if size > self.max_line:
            raise ValueError("a message of %d bytes is too long: split it" % size)
        item = _item(record, -1, size, self.clock.mono_s())
        if len(self.items) >= self.max_items or self.used() + size > self.max_bytes:
            from tenner.store.outbox_upkeep import make_room

            if not make_room(self, item):
                return None
        if id == self._sending:
            self._mark_sending(None)  # its namesake was; this one is not yet
        # First of all: what is on flash must not be missing here for want of memory.
        self.items.append(item)
        try:
            item.start = self._log.append([line])
        except OSError as error:
            # Better sent from RAM than lost for certain.
            log("outbox", "cannot keep a message on flash: %s" % error)
            item.text = text
        except MemoryError:
            self.items.remove(item)
            raise
        return id

    def waits(self, id):
        """Is this message still on its way? Return it, or None."""
        for item in self.items:
            if item.id == id:
                return item
        return None

    def used(self):
        """Bytes of the messages that wait."""
        return sum([item.size for item in self.items])

    def next_due(self):
        """Return the item to send now, or None."""
        now = self.clock.mono_s()
        for item in self._heads():
            if item.due <= now:
                if item.arrived:
                    return item
                text = self.text_of(item)
                if text is None:
                    log("outbox", "a message to %s cannot be read back" % item.chat)
                    self.settle(item)
                    return self.next_due()
                item.text = text
                return item
        return None

    def began(self, id):
        """Its first byte is about to leave: a power cut from here on leaves in doubt whether it arrived."""
        self._mark_sending(id)

    def next_wake(self):
        """Seconds until something is due, 0 when it is now; None when nothing waits."""
        now = self.clock.mono_s()
        waits = [max(0, item.due - now) for item in self._heads()]
        return min(waits) if waits else None

    def confirm(self, id):
        """The message has arrived: forget it."""
        item = self.waits(id)
        if item is not None:
            self.settle(item)

    def has_arrived(self, item):
        """It is not sent again, whatever happens before `confirm`; that is tried again a little later."""
        item.arrived = True
        item.due = self.clock.mono_s() + _RETRY_S[0]

    def failed(self, id, retry_after_s=None, unknown=False, refused=None):
        """
        The message was not confirmed. `unknown`: it may have arrived; an alert is then sent again,
        marked, and others are not. `refused` says why it never will. Returns "retry", "maybe" or "failed".
        """
        item = self.waits(id)
        if item is None:
            return "failed"
        now = self.clock.mono_s()
        age_s = now - item.born
        if item.added and self.clock.trusted:
            age_s = max(age_s, self.clock.now() - item.added)
        outcome = "failed"
        if unknown and not item.alert:
            outcome = "maybe"
            refused = "maybe sent"
        elif age_s >= _GIVE_UP_S:
            refused = refused or "not delivered within 24 hours"
        if refused is not None:
            from tenner.store.outbox_upkeep import give_up

            give_up(self, item, refused)
            return outcome
        if unknown and not item.maybe:
            item.maybe = True
            self._write(["?", id])
        item.held = retry_after_s is not None
        if item.held:
            item.due = now + retry_after_s
        else:
            item.due = now + _RETRY_S[min(item.tries, len(_RETRY_S) - 1)]
            item.tries += 1
        if item.start >= 0:
            item.text = None
        self._mark_sending(None)
        return "retry"

    def hurry(self):
        """The network is back: try at once what waits for a retry nobody asked us to wait for."""
        now = self.clock.mono_s()
        for item in self.items:
            if not item.held and item.due > now:
                item.due = now
                item.tries = 0

    # --- what waits

    def _heads(self):
        """Yield the oldest item of each chat: the others wait behind it."""
        seen = []
        for item in self.items:
            chat = (item.channel, item.chat)
            if chat not in seen:
                if not item.arrived:
                    seen.append(chat)
                yield item

    def _mark_sending(self, id):
        if id != self._sending:
            self._slot.save({"id": id})
            self._sending = id

    def settle(self, item):
        """Be done with an item."""
        # First of all: what fails here for want of memory is done again, and nothing is sent again.
        self._write(["-", item.id])
        self.items.remove(item)
        self._remember(item.id)
        if files.size(self.path) - self.used() > self.slack_bytes:
            from tenner.store.outbox_upkeep import compact

            compact(self)

    def _remember(self, id):
        self.settled.append(id)
        if len(self.settled) > _KNOWN_IDS:
            self.settled.pop(0)

    # --- the file

    def _write(self, record):
        try:
            self._log.append([record])
        except OSError as error:
            log("outbox", "cannot write to %s: %s" % (self.path, error))

    def text_of(self, item):
        """Return the text of an item; None when its line in the file is not what it was."""
        if item.start < 0:
            return item.text
        try:
            with open(self.path, "rb") as file:
                file.seek(item.start)
                record = _parse(file.read(item.size))
            if record[1] == item.id:
                return record[7]
        except (OSError, ValueError, IndexError) as error:
            log("outbox", "%s is damaged at %d: %s" % (self.path, item.start, error))
        return None

    def _load(self):
        """Read the file; a line that is none of ours is passed over, and what was being sent is in doubt."""
        start = skipped = 0
        now = self.clock.mono_s()
        try:
            size = files.size(self.path)
            with open(self.path, "rb") as file:
                # MicroPython's readline(n) takes a block of n bytes, which a used heap may not have.
                for line in files.lines(file):
                    line += b"\n"[: size - start - len(line)]
                    try:
                        record = _parse(line)
                        kind, id = record[:2]
                        item = self.waits(id)
                        if kind == "+" and not item:
                            self.items.append(_item(record, start, len(line), now))
                        elif kind == "-":
                            self._remember(id)
                            if item:
                                self.items.remove(item)
                        elif kind == "?" and item:
                            item.maybe = True
                    except (ValueError, TypeError):
                        skipped += 1
                    start += len(line)
        except OSError as error:
            if files.exists(self.path):
                log("outbox", "cannot read %s: %s" % (self.path, error))
        if skipped:
            log("outbox", "%s: passed over %d damaged lines" % (self.path, skipped))
        self._sending = self._slot.load().get("id")
        if self.waits(self._sending):
            log("outbox", "a message was being sent when the power went")
            self.failed(self._sending, retry_after_s=0, unknown=True)


def _item(record, start, size, now):
    """Return the Item of a record; `start` is that of its line in the file, -1 while flash refuses to take it."""
    item = Item()
    _, item.id, item.added, item.channel, item.chat, item.alert, item.reply_to, _ = record
    item.born = item.due = now  # seconds of the monotonic clock
    item.start = start
    item.size = size
    item.arrived = False
    return item


def _parse(line):
    """Return the list in a line; ValueError when it is damaged or torn."""
    # MicroPython's reader takes some cut-off texts for good, hence the look at both ends.
    if line[:1] + line[-2:] != b"[]\n":
        raise ValueError("no whole line")
    return json.loads(line.decode())
