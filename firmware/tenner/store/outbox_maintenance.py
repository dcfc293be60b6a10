# tenner store.outbox_maintenance: rare work of the outbox: gives up, makes room, tidies its file.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import AppendLog, dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.store.outbox_item import Item
    from tenner.store.two_slot import TwoSlots
    from tenner.store.types import Box

_FAILED_BYTES = const(16384)


def last_sending(box: "Box", slot: "TwoSlots") -> dict:
    """Return the state of the slot. All that waits may have left if flash did not take the records
    of that, or takes none now."""
    state = slot.load()
    try:
        if box.items:
            slot.save(state)
    except OSError:
        state["late"] = 1
    if state.get("late"):
        for item in box.items:
            item.possibly_sent = True
    return state


def give_up(box: "Box", item: "Item", reason: str) -> None:
    """Move the unsent parts of the item to the file of failed messages."""
    keep_failed(box, item, reason, len(item.sizes))
    box.finish(item)


def keep_failed(box: "Box", item: "Item", reason: str, end: int) -> None:
    """Write the parts of the item from the next one up to `end` to the file of failed messages."""
    log("outbox", "message to %s:%s: %s" % (item.channel, item.chat, reason))
    now = int(box.clock.now()) if box.clock.trusted else 0
    for part in range(item.part, end):
        line: list = [now, item.id, item.channel, item.chat, reason, box.text_of(item, part)]
        try:
            AppendLog(box.folder + "/failed.jsonl", _FAILED_BYTES).append([line])
        except (OSError, ValueError) as error:
            log("outbox", "cannot store a failed message: %s" % error)


def make_room(box: "Box", new: "Item") -> bool:
    """Give up messages until `new` fits, alerts last and only for an alert; False when it does not
    fit."""
    if new.size > box.max_bytes and len(box.items) < box.max_items:
        # Even an empty outbox would not have the room; no board has such a message.
        return True
    while len(box.items) >= box.max_items or box.used() + new.size > box.max_bytes:
        victims = [item for item in box.items if not item.alert]
        if not victims and new.alert:
            victims = box.items
        box.dropped += 1
        if not victims:
            log("outbox", "full: dropped a message to %s:%s" % (new.channel, new.chat))
            return False
        give_up(box, victims[0], "the outbox was full")
    return True


def remove(box: "Box") -> None:
    """Remove a file in which nothing waits, and whose records of that flash did not take."""
    try:
        files.remove(box.path)
    except OSError as error:
        log("outbox", "cannot remove %s: %s" % (box.path, error))
        return
    box.log.late[:] = []


def compact(box: "Box") -> None:
    """Rewrite the file with only the waiting messages and the ids that must be recognized."""
    kept = [item for item in box.items if item.start >= 0]
    head = b"".join([dumps(["-", id]).encode() + b"\n" for id in box.finished])

    def pieces():
        yield head
        for item in kept:
            yield from files.blocks(box.path, item.start, item.start + item.size)
        for item in kept:
            for _ in range(item.part):
                yield dumps([">", item.id]) + "\n"
            if item.possibly_sent:
                yield dumps(["?", item.id]) + "\n"

    try:
        files.write_atomic(box.path, pieces())
    except OSError as error:
        log("outbox", "cannot tidy %s: %s" % (box.path, error))
        return
    box.log.late[:] = []
    start = len(head)
    for item in kept:
        item.start = start
        start += item.size
