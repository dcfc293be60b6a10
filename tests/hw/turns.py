"""The questions to the board: every kind of tool, and words in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Ask(NamedTuple):
    """A message of the owner, and words of the answer (the stand-in for a model repeats a tool's
    result)."""

    kind: str
    text: str
    answer: str


_NOTE = "notes/hw.md"

_TOOLS = (
    ("write_file", f'call write_file {{"path":"{_NOTE}","content":"blue door"}}', ""),
    ("read_file", f'call read_file {{"path":"{_NOTE}"}}', "door"),
    ("append_file", f'call append_file {{"path":"{_NOTE}","text":"green door"}}', ""),
    ("edit_file", f'call edit_file {{"path":"{_NOTE}","old":"blue","new":"red"}}', ""),
    ("list_dir", 'call list_dir {"path":"notes"}', "hw.md"),
    ("search_memory", 'call search_memory {"query":"door"}', ""),
    ("sensor", 'call sensor {"action":"list"}', "chip"),
    ("sensor", 'call sensor {"action":"read","name":"chip"}', "uptime"),
    ("gpio", 'call gpio {"action":"read","pin":"LED"}', ""),
    ("adc", 'call adc {"action":"read","pin":"A0"}', ""),
    ("i2c", 'call i2c {"action":"scan","bus":"i2c0"}', ""),
    ("cron", 'call cron {"action":"add","id":"hw","message":"tea","cron":"0 5 1 1 *","kind":"message"}', ""),  # noqa: E501
    ("cron", 'call cron {"action":"list"}', "hw"),
    ("cron", 'call cron {"action":"remove","id":"hw"}', ""),
)  # fmt: skip

#: The number of turns with a tool until the first one comes again.
TOOLS = len(_TOOLS)


def asks(count: int) -> Iterator[Ask]:
    """So many messages: words and tools by turns, each tool in its order."""
    for number in range(count):
        if number % 2:
            yield Ask(*_TOOLS[number // 2 % len(_TOOLS)])
        else:
            yield Ask("plain", f"say: hello {number}", f"hello {number}")
