# tenner store.outbox: messages to people that are not yet known to have arrived.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One file of JSON lines: `["+", id, added, channel, chat, alert, reply_to, text]` when a message is
added; a long one has a ninth entry, the bytes of each further line, and its other parts follow in
the same write as `["&", id, text]`. `[">", id]` ends a part that another follows, `["-", id]` ends
the message, `["?", id]` says that the part to send may have arrived. Texts stay on flash until
they are sent; RAM holds a few numbers for each. `alert` is false, true, or a mark by which its
sender recognizes the message. Two slots of inline size name the part that is being sent, so that
after a power cut that one, and no other, is in doubt.

`outbox_maintenance` does the rare work: to give up, to make room and to tidy the file.
"""

import json
from binascii import hexlify
from os import urandom

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, outbox_maintenance
from tenner.store.appendlog import AppendLog, dumps
from tenner.store.outbox_item import Item, go_on, is_last
from tenner.store.two_slot import TwoSlots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.store.types import Clock

_RETRY_S = (5, 25, 120, 600, 3600)
_GIVE_UP_S = const(86400)
_KNOWN_IDS = const(16)
_LONG = const(512)
_PIECE = const(256)  # characters


class Outbox:
    """Messages in the order they were added; the order is kept within a chat."""

    #: Most messages that wait; each takes about 200 bytes of RAM.
    max_items = 40

    #: Most bytes of messages that wait. When full, the oldest that is no alert goes first.
    max_bytes = 48 * 1024

    #: Longest line of the file, so that one part can be read into a small heap.
    max_line = 16384

    #: Most bytes of finished messages in the file before it is rewritten.
    slack_bytes = 8192

    def __init__(self, folder: str, clock: "Clock", kept: tuple | None = None) -> None:
        self.clock = clock
        self.folder = folder
        self.path = folder + "/outbox.jsonl"
        self.items = []
        self.finished = []  # the ids that were finished last
        #: Messages dropped for want of room and not yet reported.
        self.dropped = 0
        self.log = AppendLog(self.path, 1 << 28)
        self._slot = TwoSlots(folder + "/sending")
        if kept:
            self.items, self.finished, self.dropped, self.sending, self.log.late = kept
        else:
            self._load()

    def kept(self) -> tuple | None:
        """
        Return the state beside the file with which another Outbox of this folder goes on. It keeps
        no code in memory. None: the file holds all.
        """
        late = self.log.late
        if self.items or self.dropped or late:
            return self.items, self.finished, self.dropped, self.sending, late
        return None

    def __len__(self) -> int:
        return len(self.items)

    def add(
        self,
        channel: str,
        chat: int | str,
        text: "str | Sequence[str]",
        alert: bool | str = False,
        id: str | None = None,
        reply_to: int | None = None,
    ) -> str | None:
        """
        Keep a message, a text or a list of its parts, until it is confirmed; return its id. An
        `id` seen before adds nothing. None means that there was no room: only alerts wait, and
        this is none.
        """
        if id is None:
            id = hexlify(urandom(4)).decode()
        if id in self.finished or self.waits(id):
            return id
        added = int(self.clock.now()) if self.clock.trusted else 0
        texts = [text] if isinstance(text, str) else text
        record: list = ["+", id, added, channel, chat, alert, reply_to, texts[0]]
        lines = [_line(["&", id, part]) for part in texts[1:]]
        sizes = [sum([len(piece) for piece in line]) for line in lines]
        lines.insert(0, _line(record, sizes))
        sizes.insert(0, sum([len(piece) for piece in lines[0]]))
        if max(sizes) > self.max_line:
            raise ValueError("a message of %d bytes is too long: split it" % max(sizes))
        item = _item(record, -1, sizes, self.clock.mono_s())
        # Its age follows from `born`; a clock that is set makes it no older.
        item.added = 0
        if len(self.items) >= self.max_items or self.used() + item.size > self.max_bytes:
            if not outbox_maintenance.make_room(self, item):
                return None
        if self.sending and id == self.sending[0]:
            self._save_sending(None)  # an older message of this id was
        if self.log.late:
            self.log.note()
        # First of all: a message on flash must not be missing here for want of memory.
        self.items.append(item)
        try:
            item.start = self.log.append([piece for line in lines for piece in line], True)
        except OSError as error:
            # Better sent from RAM than lost for certain. First of all: the log may have no memory.
            item.texts = texts
            log("outbox", "cannot store a message: %s" % error)
        except BaseException:
            self.items.remove(item)
            raise
        return id

    def waits(self, id: str) -> Item | None:
        """Return the message of this id if it is still on its way, or None."""
        for item in self.items:
            if item.id == id:
                return item
        return None

    def used(self) -> int:
        """Return the bytes of the messages that wait."""
        return sum([item.size for item in self.items])

    def next_due(self) -> Item | None:
        """Return the item to send now, with the text of its next part, or None."""
        while True:
            item = self._head_due()
            if item is None or item.arrived:
                return item
            item.text = self.text_of(item, item.part)
            if item.text is not None:
                return item
            log("outbox", "cannot read a message to %s" % item.chat)
            self.resolve(item)

    def mark_sending(self, id: str) -> None:
        """Note that the first byte of its next part is about to leave: after a power cut it is in
        doubt."""
        item = self.waits(id)
        self._save_sending((id, item.part) if item else None)

    def next_wake(self) -> int | None:
        """Return the seconds until something is due, 0 when it is now; None when nothing waits."""
        now = self.clock.mono_s()
        waits = [max(0, item.due - now) for item in self._heads()]
        return min(waits) if waits else None

    def confirm(self, id: str) -> None:
        """Note that the part has arrived: go on to the next one, or finish the message."""
        item = self.waits(id)
        if item is not None:
            self.resolve(item)

    def has_arrived(self, item: Item) -> None:
        """Mark its part as delivered; only `confirm` is tried again, a little later."""
        item.arrived = True
        item.due = self.clock.mono_s() + _RETRY_S[0]

    def failed(
        self,
        id: str,
        retry_after_s: float | None = None,
        unknown: bool = False,
        refused: str | None = None,
    ) -> str:
        """
        Note that the part was not confirmed; return "retry", "maybe" or "failed". `unknown`: it
        may have arrived; only an alert is then sent again, marked. `refused` says why no part of
        it will ever arrive.
        """
        item = self.waits(id)
        if item is None:
            return "failed"
        now = self.clock.mono_s()
        age_s = now - item.born
        if item.added and self.clock.trusted:
            age_s = max(age_s, self.clock.now() - item.added)
        if refused is None and unknown and not item.alert:
            outbox_maintenance.keep_failed(self, item, "maybe sent", item.part + 1)
            self.resolve(item)
            return "maybe"
        if refused is None and age_s >= _GIVE_UP_S:
            refused = "not delivered within 24 hours"
        if refused is not None:
            outbox_maintenance.give_up(self, item, refused)
            return "failed"
        if unknown and not item.possibly_sent:
            item.possibly_sent = True
            self.log.note(["?", id])
        item.rate_limited = retry_after_s is not None
        if item.rate_limited:
            item.due = now + retry_after_s
        else:
            item.due = now + _RETRY_S[min(item.tries, len(_RETRY_S) - 1)]
            item.tries += 1
        item.text = None
        self._save_sending(None)
        return "retry"

    def retry_now(self) -> None:
        """The network is back: retry at once, except where the other side has set the time."""
        now = self.clock.mono_s()
        for item in self.items:
            if not item.rate_limited and item.due > now:
                item.due = now
                item.tries = 0

    # --- waiting messages

    def _heads(self):
        """
        Yield the oldest item of each chat: the others wait behind it, unless it has arrived, or
        may have and waits for another try.
        """
        seen = []
        now = self.clock.mono_s()
        for item in self.items:
            chat = (item.channel, item.chat)
            if chat not in seen:
                in_doubt = item.possibly_sent and item.due > now and not item.rate_limited
                if not in_doubt and (not item.arrived or not is_last(item)):
                    seen.append(chat)
                yield item

    def _head_due(self):
        now = self.clock.mono_s()
        for item in self._heads():
            if item.due <= now:
                return item
        return None

    def _save_sending(self, sending):
        """Write down which (id, part) is being sent."""
        if sending != self.sending:
            id, part = sending or (None, 0)
            try:
                self._slot.save({"id": id, "part": part, "late": len(self.log.late)})
            except OSError as error:
                log("outbox", "cannot note a sending: %s" % error)
            self.sending = sending

    def resolve(self, item: Item) -> None:
        """Finish the next part of an item, and the item with its last part."""
        # First of all: where memory is short this is called again, and nothing is sent again.
        if is_last(item):
            self.finish(item)
        else:
            self.log.note([">", item.id])
            go_on(item, self.clock.mono_s())

    def finish(self, item: Item) -> None:
        """Remove an item with all its parts, and remember its id."""
        self.log.note(["-", item.id])
        self.items.remove(item)
        self._remember(item.id)
        if self.log.late and all(one.start < 0 for one in self.items):
            # Nothing in the file waits, or may come back after a restart.
            outbox_maintenance.remove(self)
        if files.size(self.path) - self.used() > self.slack_bytes:
            outbox_maintenance.compact(self)

    def _remember(self, id):
        self.finished.append(id)
        if len(self.finished) > _KNOWN_IDS:
            self.finished.pop(0)

    # --- the file

    def text_of(self, item: Item, part: int) -> str | None:
        """Return the text of a part; None when its line in the file is damaged."""
        if item.start < 0:
            return item.texts[part]
        start = item.start + sum(item.sizes[:part])
        try:
            with open(self.path, "rb") as file:
                file.seek(start)
                record = _parse(file.read(item.sizes[part]))
            if record[1] == item.id:
                return record[2 if record[0] == "&" else 7]
        except (OSError, ValueError, IndexError) as error:
            log("outbox", "%s is corrupt at byte %d: %s" % (self.path, start, error))
        return None

    def _load(self):
        """Read the file without its damaged lines; the part that was being sent is in doubt."""
        start = skipped = 0
        now = self.clock.mono_s()
        missing = 0  # parts of the last item that did not come yet
        try:
            size = files.size(self.path)
            with open(self.path, "rb") as file:
                # MicroPython's readline(n) takes a block of n bytes, which a used heap may not
                # have.
                for line in files.lines(file):
                    line += b"\n"[: size - start - len(line)]
                    if missing and line[:4] == b'["&"' and self._continues(line, missing):
                        missing -= 1
                    else:
                        if missing:
                            # The power failed during its write, and `add` did not return.
                            self.items.pop()
                        missing = 0
                        try:
                            missing = self._take(_parse(line), start, len(line), now)
                        except (ValueError, TypeError):
                            skipped += 1
                    start += len(line)
            if missing:
                self.items.pop()
        except OSError as error:
            if files.exists(self.path):
                log("outbox", "cannot read %s: %s" % (self.path, error))
        if skipped:
            log("outbox", "%s: skipped %d corrupt lines" % (self.path, skipped))
        state = outbox_maintenance.last_sending(self, self._slot)
        self.sending = (state["id"], state.get("part", 0)) if state.get("id") else None
        item = self.sending and self.waits(self.sending[0])
        if item and item.part == self.sending[1]:
            log("outbox", "power was lost while sending to %s; delivery unknown" % item.chat)
            self.failed(item.id, retry_after_s=0, unknown=True)

    def _take(self, record, start, size, now):
        """Take a line of the file; return how many parts of its message must follow."""
        kind, id = record[:2]
        item = self.waits(id)
        if kind == "+":
            sizes = record[8] if len(record) > 8 else []
            new = _item(record, start, [size] + sizes, now)
            if not item:
                self.items.append(new)
                return len(sizes)
        elif kind == "-":
            self._remember(id)
            if item:
                self.items.remove(item)
        elif kind == ">" and item and not is_last(item):
            go_on(item, now)
        elif kind == "?" and item:
            item.possibly_sent = True
        return 0

    def _continues(self, line, missing):
        """Return whether a line is the next part of the last item."""
        return len(line) == self.items[-1].sizes[-missing] and line[-1:] == b"\n"


def _item(record, start, sizes, now):
    """Return the Item of a record whose lines begin at `start` and have these sizes."""
    item = Item()
    _, item.id, item.added, item.channel, item.chat, item.alert, item.reply_to = record[:7]
    item.born = item.due = now
    item.start = start
    item.sizes = sizes
    item.size = sum(sizes)
    return item


def _line(record, sizes=()):
    """Return a line in pieces: a record, which ends with its text, and the sizes of its other
    lines."""
    if len(record[-1]) < _LONG:
        return [dumps(record + [sizes] if sizes else record).encode() + b"\n"]
    return _long_line(record, sizes)


def _long_line(record, sizes):
    # In pieces: a used heap has few long stretches.
    text = record[-1]
    pieces = [dumps(record[:-1])[:-1] + ',"']
    pieces += [dumps(text[at : at + _PIECE])[1:-1] for at in range(0, len(text), _PIECE)]
    pieces.append('",%s]\n' % dumps(sizes) if sizes else '"]\n')
    return [piece.encode() for piece in pieces]


def _parse(line):
    """Return the list in a line; ValueError when it is damaged or torn."""
    # MicroPython's reader accepts some cut-off texts, hence the look at both ends.
    if line[:1] + line[-2:] != b"[]\n":
        raise ValueError("no whole line")
    return json.loads(line.decode())
