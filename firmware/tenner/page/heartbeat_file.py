# tenner page.heartbeat_file: reads, checks and writes HEARTBEAT.md.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The parser is large, so a board without PSRAM has no memory for a request's body or a long file
beside it: each is a step, and the file goes from flash to the browser in blocks.
"""

import json
from binascii import hexlify
from hashlib import sha256

from tenner import overlay
from tenner.page.connection import NO_STORE
from tenner.page.request import Refused, text_of
from tenner.port.compat import const
from tenner.schedule import heartbeat_parser, known_values, line_reading, rules
from tenner.schedule.clauses import UNREAD
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.schedule.known_values import Known

    Lines = Callable[[], Iterable[tuple[int, str]]]

_MAX_TEXT = const(16384)
_SLICE = const(256)
_PROBLEMS = const(30)  # at a time
_READINGS = const(60)


async def get(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the file and its mistakes."""
    await _send(page, connection, await overlay.step("VIEW", version_of, page))


async def put(page: "Page", connection: "Connection", request: "Request") -> None:
    """Replace the file, unless it is no longer the version that the browser has seen."""
    await _send(page, connection, await overlay.step("VIEW", replace, page, request))


async def check(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the mistakes of a text."""
    text = await overlay.step("VIEW", take_text, request)
    await connection.start(200, "application/json", (NO_STORE,))
    await connection.put("{")
    await _send_problems(page, connection, lambda: _lines_of(text))
    await connection.put("}")
    await connection.flush()


async def _send(page, connection, version):
    path = _path(page)
    await connection.start(200, "application/json", (NO_STORE,))
    await connection.put('{"version": %s, "text": "' % json.dumps(version))
    if version:
        await overlay.step("VIEW", send_text, connection, path)
    await connection.put('", ')
    await _send_problems(page, connection, lambda: _file_lines(path) if version else ())
    await connection.put("}")
    await connection.flush()


async def _send_problems(page, connection, lines):
    """Send the mistakes of the lines that `lines()` yields, and how each is understood, unless
    memory is too short for that."""
    found: dict = {}
    known = await overlay.step("READ", known_values.load, page.app.workspace)
    try:
        while await overlay.step("READ", ask, lines, known, found):
            await overlay.step("RULES", rules.answer, known, found)
        found = rules.settled(found)
    except overlay.OutOfMemory:
        found = {UNREAD: ()}
    problems = await overlay.step("READ", problems_of, lines, known, found)
    await overlay.step("VIEW", send_rows, connection, '"problems": ', problems)
    rows = []
    try:
        if UNREAD not in found:
            rows = await overlay.step("READ", readings_of, page, lines, known, found)
    except overlay.OutOfMemory:
        pass  # the page shows the mistakes alone
    await overlay.step("VIEW", send_rows, connection, ', "readings": ', rows)


def _path(page):
    return page.app.workspace + "/HEARTBEAT.md"


def _file_lines(path):
    # Code of another overlay, which is loaded when the first line is asked for.
    yield from heartbeat_parser.file_lines(path)


def _lines_of(text):
    """Yield the numbered lines of a text; a list of all would take as much memory again."""
    number = 1
    start = 0
    end = 0
    while end >= 0:
        end = text.find("\n", start)
        yield number, text[start : end if end >= 0 else len(text)]
        number += 1
        start = end + 1


# --- the steps


async def version_of(page: "Page") -> str:
    """Return a name for the content of the file, "" without it; Refused for one that is no
    text."""
    return _version(_path(page))


async def replace(page: "Page", request: "Request") -> str:
    """Write the text of a request into the file, and return its version."""
    found = request.object()
    text = text_of(found, "text", _MAX_TEXT)
    path = _path(page)
    if text_of(found, "version", 64) != _version(path):
        raise Refused(409, "the agent has changed HEARTBEAT.md meanwhile: read it again")
    version = _name_of(_slices(text))
    files.write_atomic(path, _slices(text), files.WORKSPACE_TEMP)
    page.app.get("heartbeat").poke()
    request.body = b""
    return version


async def take_text(request: "Request") -> str:
    """Return the text of a request, which keeps no other copy of it."""
    text = request.text("text", _MAX_TEXT)
    request.body = b""
    return text


async def send_text(connection: "Connection", path: str) -> None:
    """Send the text of the file within a JSON text."""
    with connection:
        for text in _texts(path):
            await connection.put(json.dumps(text)[1:-1])


async def ask(lines: "Lines", known: "Known | None", found: dict) -> bool:
    """`rules.ask` of numbered lines."""
    return rules.ask(lines(), known, found)


async def problems_of(lines: "Lines", known: "Known | None", found: dict) -> list[dict]:
    """Return the first mistakes of numbered lines, whose rules were `found`."""
    problems = []
    for kind, line, what, _ in heartbeat_parser.read(lines(), known, found):
        if kind == heartbeat_parser.PROBLEM:
            problems.append({"line": line, "text": what})
            if len(problems) >= _PROBLEMS:
                break
    return problems


async def readings_of(
    page: "Page", lines: "Lines", known: "Known | None", found: dict
) -> list[dict]:
    """Return how the first lines are understood."""
    rows = []
    every_s = page.app.config.get("heartbeat.every")
    for row in line_reading.readings(lines, known, every_s, found):
        rows.append(line_reading.brief(row))
        if len(rows) >= _READINGS:
            break
    return rows


async def send_rows(connection: "Connection", head: str, rows: list[dict]) -> None:
    """Send mistakes or readings."""
    await connection.put(head)
    with connection:
        await connection.put_value(iter(rows))


def _version(path):
    if not files.is_file(path):
        return ""
    if files.size(path) > 4 * _MAX_TEXT:
        raise Refused(422, "HEARTBEAT.md is over 64 KB: make it shorter")
    try:
        return _name_of(_texts(path))
    except UnicodeError:
        raise Refused(422, "HEARTBEAT.md is not UTF-8 text: save it as UTF-8")


def _name_of(texts):
    found = sha256()
    for text in texts:
        found.update(text.encode())
    return hexlify(found.digest()).decode()[:32]


def _slices(text):
    for at in range(0, len(text), _SLICE):
        yield text[at : at + _SLICE]


def _texts(path: str) -> "Iterator[str]":
    """Yield the text of a file in pieces, without a cut inside a character of UTF-8."""
    rest = b""
    for block in files.blocks(path):
        block = rest + block
        end = len(block) - 1
        while end > 0 and block[end] & 0xC0 == 0x80 and len(block) - end < 4:
            end -= 1
        yield block[:end].decode()
        rest = block[end:]
    yield rest.decode()
