# tenner store.outbox_item: one message on its way, as plain data that outlives the outbox's code.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Item:
    """
    A message of one part or more, which are sent one after the other. `alert` is false, true or a
    mark, `reply_to` that of the part to send next, and `text` its text while it is sent.
    """

    id: str
    added: int
    channel: str
    chat: int | str
    alert: bool | str
    reply_to: int | None
    born: int  # these two in seconds of the monotonic clock
    due: float
    start: int  # offset of its first line in the file, -1 while flash refuses to take it
    size: int  # bytes of all its lines
    sizes: "Sequence[int]" = ()  # bytes of each line
    part = 0  # the one to send next
    text: str | None = None
    texts: "Sequence[str] | None" = None  # all parts of a message that flash refuses to take
    #: The part to send next may have arrived already.
    possibly_sent = False
    #: The other side has set the time of the next try.
    rate_limited = False
    #: This part has arrived, but that could not be written down yet.
    arrived = False
    tries = 0


def apart(mark: str) -> list[str]:
    """Return the marks of the alarms that a mark such as `al:12+13` tells together."""
    if mark[:3] != "al:":
        return [mark]
    return ["al:" + number for number in mark[3:].split("+")]


def covers(mark: bool | str, other: str) -> bool:
    """Return whether a message's mark is `other`, or tells of that alarm among others."""
    return mark == other or isinstance(mark, str) and other in apart(mark)


def is_last(item: Item) -> bool:
    """Return whether no part follows the one to send next."""
    return item.part >= len(item.sizes) - 1


def go_on(item: Item, now: int) -> None:
    """Go on to the next part."""
    item.part += 1
    item.due = now
    item.tries = 0
    item.reply_to = item.text = None
    item.possibly_sent = item.rate_limited = item.arrived = False
