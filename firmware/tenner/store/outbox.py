# tenner store.outbox: what was said to people and is not yet known to have arrived.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One file of JSON lines: `["+", id, added, channel, chat, alert, reply_to, text]` when a message is added,
`["-", id]` when it is settled, `["?", id]` when it may have arrived. Texts stay on flash until they are
sent; RAM holds a few numbers for each. A message costs two appends. Which one is being sent is
written to two slots of inline size, so that after a power cut that one, and no other, is in doubt.
"""

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import AppendLog, dumps
from tenner.store.jsontext import loads
from tenner.store.slots import TwoSlots

_RETRY_S = (5, 25, 120, 600)
_RETRY_LATER_S = const(3600)
_GIVE_UP_S = const(86400)
_MAX_ID = const(64)
_KNOWN_IDS = const(16)
_FAILED_BYTES = const(16384)


class Item:
    """A message on its way. `maybe` is set when it may have arrived already."""

    text = None  # kept here only while flash refuses to take it

    def __init__(self, id, added, channel, chat, alert, reply_to):
        self.id = id
        self.added = added
        self.channel = channel
        self.chat = chat
        self.alert = alert
        self.reply_to = reply_to
        self.maybe = False
        self.tries = 0
        self.born = self.due = 0  # seconds of the monotonic clock
        self.held = False  # the other side told us when to come again
        self.start = 0
        self.size = 0


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

    def __init__(self, folder, clock):
        self.clock = clock
        #: Messages given up for want of room, since boot.
        self.dropped = 0
        #: Messages whose fate is unknown and which were not sent again, since boot.
        self.maybe_sent = 0
        self._path = folder + "/outbox.jsonl"
        self._failed_path = folder + "/failed.jsonl"
        self._log = AppendLog(self._path, 1 << 28)
        self._slot = TwoSlots(folder + "/sending")
        self._sending = None  # the id in the slot
        self._items = []
        self._settled = []  # the last ids that are done with
        self._number = 0
        self._load()

    def __len__(self):
        return len(self._items)

    def add(self, channel, chat, text, alert=False, id=None, reply_to=None):
        """
        Keep a message until it is confirmed; return its id. An `id` seen before adds nothing. None
        means that there was no room: only alerts wait, and this is none.
        """
        if id is None:
            self._number += 1
            id = "%d" % self._number
        elif len(id) > _MAX_ID:
            raise ValueError("a message id has %d characters, at most %d fit" % (len(id), _MAX_ID))
        if id in self._settled or self._find(id) is not None:
            return id
        item = Item(id, self._unix_time(), channel, chat, bool(alert), reply_to)
        line = dumps(
            ["+", id, item.added, channel, chat, int(item.alert), reply_to, text]
        ).encode()
        item.size = len(line) + 1
        if item.size > self.max_line:
            raise ValueError("a message of %d bytes is too long: split it" % len(line))
        if not self._make_room(item):
            self.dropped += 1
            log("outbox", "no room: dropped a message to %s:%s" % (channel, chat))
            return None
        item.due = item.born = self.clock.mono_s()
        if id == self._sending:
            self._mark_sending(None)  # its namesake was; this one is not yet
        try:
            self._log.append([line])
            item.start = files.size(self._path) - item.size
        except OSError as error:
            # Better sent from RAM than lost for certain.
            log("outbox", "cannot keep a message on flash: %s" % error)
            item.text = text
        self._items.append(item)
        return id

    def waits(self, id):
        """Is this message still on its way?"""
        return self._find(id) is not None

    def next_due(self, now=None):
        """Return the item to send now, with its `text`, or None. It counts as being sent from here on."""
        now = self.clock.mono_s() if now is None else now
        for item in self._heads():
            if item.due <= now:
                if item.text is None:
                    text = self._read(item)
                    if text is None:
                        log("outbox", "a message of %d bytes cannot be read back" % item.size)
                        self._settle(item)
                        return self.next_due(now)
                else:
                    text = item.text
                self._mark_sending(item.id)
                found = Item(
                    item.id, item.added, item.channel, item.chat, item.alert, item.reply_to
                )
                found.maybe = item.maybe
                found.text = text
                return found
        return None

    def next_wake(self):
        """Seconds until something is due, 0 when it is now; None when nothing waits."""
        now = self.clock.mono_s()
        waits = [max(0, item.due - now) for item in self._heads()]
        return min(waits) if waits else None

    def confirm(self, id):
        """The message has arrived: forget it."""
        item = self._find(id)
        if item is not None:
            self._settle(item)

    def failed(self, id, retry_after_s=None, unknown=False, refused=None):
        """
        The message was not confirmed. `unknown`: it may have arrived; an alert is then sent again,
        marked, and others are not. `refused` says why it never will. Returns "retry", "maybe" or "failed".
        """
        item = self._find(id)
        if item is None:
            return "failed"
        if unknown and not item.alert:
            self._give_up(item, "maybe sent")
            self.maybe_sent += 1
            return "maybe"
        if refused is not None:
            self._give_up(item, refused)
            return "failed"
        if self._age_s(item) >= _GIVE_UP_S:
            self._give_up(item, "not delivered within 24 hours")
            return "failed"
        if unknown and not item.maybe:
            item.maybe = True
            self._write(["?", item.id])
        if retry_after_s is not None:
            delay_s = retry_after_s
        else:
            delay_s = _RETRY_S[item.tries] if item.tries < len(_RETRY_S) else _RETRY_LATER_S
            item.tries += 1
        item.held = retry_after_s is not None
        item.due = self.clock.mono_s() + delay_s
        self._mark_sending(None)
        return "retry"

    def hurry(self):
        """The network is back: try at once what waits for a retry nobody asked us to wait for."""
        now = self.clock.mono_s()
        for item in self._items:
            if not item.held and item.due > now:
                item.due = now
                item.tries = 0

    # --- what waits

    def _mark_sending(self, id):
        if id != self._sending:
            self._slot.save({"id": id} if id else {})
            self._sending = id

    def _find(self, id):
        for item in self._items:
            if item.id == id:
                return item
        return None

    def _heads(self):
        """Yield the oldest item of each chat: the others wait behind it."""
        seen = []
        for item in self._items:
            chat = (item.channel, item.chat)
            if chat not in seen:
                seen.append(chat)
                yield item

    def _age_s(self, item):
        waited_s = self.clock.mono_s() - item.born
        if item.added and self.clock.trusted:
            return max(waited_s, self.clock.now() - item.added)
        return waited_s

    def _unix_time(self):
        """Now, or 0 while the clock cannot be trusted."""
        return int(self.clock.now()) if self.clock.trusted else 0

    def _make_room(self, new):
        while True:
            used = sum(item.size for item in self._items) + new.size
            if len(self._items) < self.max_items and used <= self.max_bytes:
                return True
            victim = None
            for item in self._items:
                if not item.alert:
                    victim = item
                    break
            if victim is None:
                if not new.alert or not self._items:
                    return False
                victim = self._items[0]
            self.dropped += 1
            self._give_up(victim, "the outbox was full")

    def _give_up(self, item, reason):
        """Move the item to the file of failed messages."""
        text = item.text if item.text is not None else self._read(item)
        log("outbox", "message to %s:%s: %s" % (item.channel, item.chat, reason))
        line = [self._unix_time(), item.id, item.channel, item.chat, reason, text]
        try:
            AppendLog(self._failed_path, _FAILED_BYTES).append([line])
        except (OSError, ValueError) as error:
            log("outbox", "cannot keep the failed message: %s" % error)
        self._settle(item)

    def _settle(self, item):
        self._items.remove(item)
        self._remember(item.id)
        self._write(["-", item.id])
        live = sum(item.size for item in self._items)
        if files.size(self._path) - live > self.slack_bytes:
            self._compact()

    def _remember(self, id):
        self._settled.append(id)
        if len(self._settled) > _KNOWN_IDS:
            self._settled.pop(0)

    # --- the file

    def _write(self, record):
        try:
            self._log.append([record])
        except OSError as error:
            log("outbox", "cannot write to %s: %s" % (self._path, error))

    def _read(self, item):
        """Return the text of an item from flash; None when the line is not what it was."""
        try:
            with open(self._path, "rb") as file:
                file.seek(item.start)
                record = loads(file.read(item.size))
            if record[0] == "+" and record[1] == item.id:
                return record[7]
        except (OSError, ValueError, TypeError, IndexError, KeyError) as error:
            log("outbox", "%s is damaged at %d: %s" % (self._path, item.start, error))
        return None

    def _load(self):
        """Read the file; a line that is none of ours is passed over, and what was being sent is in doubt."""
        start = skipped = 0
        now = self.clock.mono_s()
        try:
            size = files.size(self._path)
            with open(self._path, "rb") as file:
                for line in files.lines(file):
                    end = start + len(line) + 1
                    # A last line that a power cut left without its end was never acknowledged.
                    if end <= size and not self._apply(line, start, now):
                        skipped += 1
                    start = end
        except OSError as error:
            if files.exists(self._path):
                log("outbox", "cannot read %s: %s" % (self._path, error))
        if skipped:
            log("outbox", "%s: passed over %d damaged lines" % (self._path, skipped))
        self._sending = self._slot.load().get("id")
        doubtful = self._find(self._sending)
        if doubtful is not None:
            log("outbox", "a message to %s was being sent when the power went" % doubtful.channel)
            self.failed(doubtful.id, retry_after_s=0, unknown=True)

    def _apply(self, line, start, now):
        """Take one line into account; return False when it is none of ours."""
        try:
            record = loads(line)
            kind, id = record[0], record[1]
            if kind == "n":
                self._number = max(self._number, id)
                return True
            number = int(id) if id.isdigit() else 0
            if kind == "+":
                _, _, added, channel, chat, alert, reply_to, _ = record
                item = Item(id, added, channel, chat, bool(alert), reply_to)
                item.start, item.size = start, len(line) + 1
                item.due = item.born = now
                self._items.append(item)
            else:
                item = self._find(id)
                if item is not None and kind == "?":
                    item.maybe = True
                elif kind == "-":
                    if item is not None:
                        self._items.remove(item)
                    self._remember(id)
            self._number = max(self._number, number)
            return True
        except (ValueError, TypeError, IndexError, KeyError, AttributeError):
            return False

    def _compact(self):
        """Write the file anew with only what waits and the ids that must be recognised."""
        kept = [item for item in self._items if item.text is None]
        head = [["n", self._number]] + [["-", id] for id in self._settled]
        head += [["?", item.id] for item in kept if item.maybe]
        # "?" stands behind its "+", so the marks come last.
        marks = [record for record in head if record[0] == "?"]
        first = b"".join([dumps(record).encode() + b"\n" for record in head if record[0] != "?"])
        starts = []
        try:
            files.write_atomic(self._path, self._pieces(first, kept, marks, starts))
        except OSError as error:
            log("outbox", "cannot compact %s: %s" % (self._path, error))
            return
        for item, start in zip(kept, starts):
            item.start = start

    def _pieces(self, first, kept, marks, starts):
        yield first
        at = len(first)
        with open(self._path, "rb") as file:
            for item in kept:
                file.seek(item.start)
                starts.append(at)
                at += item.size
                left = item.size
                while left:
                    block = file.read(min(left, 256))
                    if not block:
                        raise OSError(5, "%s became shorter" % self._path)
                    left -= len(block)
                    yield block
        for record in marks:
            yield dumps(record).encode() + b"\n"
