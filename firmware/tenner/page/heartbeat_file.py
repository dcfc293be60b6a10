# tenner page.heartbeat_file: reads, checks and writes HEARTBEAT.md.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import hexlify
from hashlib import sha256

from tenner.page.request import Refused
from tenner.port.compat import const
from tenner.schedule import heartbeat_parser
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_MAX_TEXT = const(16384)


async def get(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the file and its mistakes."""
    await connection.answer(200, _as_json(_read(page)))


async def put(page: "Page", connection: "Connection", request: "Request") -> None:
    """Replace the file, unless it is no longer the version that the browser has seen."""
    text = request.text("text", _MAX_TEXT)
    data = text.encode()
    if request.text("version", 64) != _version(_read(page)):
        raise Refused(409, "the agent has changed HEARTBEAT.md meanwhile: read it again")
    files.write_atomic(_path(page), data, files.WORKSPACE_TEMP)
    page.app.get("heartbeat").poke()
    await connection.answer(200, _as_json(data))


async def check(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the mistakes of a text."""
    await connection.answer(200, {"problems": _problems(request.text("text", _MAX_TEXT))})


def _path(page):
    return page.app.workspace + "/HEARTBEAT.md"


def _read(page):
    """Return the bytes of the file, None without it."""
    path = _path(page)
    if not files.is_file(path):
        return None
    if files.size(path) > 4 * _MAX_TEXT:
        raise Refused(422, "HEARTBEAT.md is over 64 KB: make it shorter")
    with open(path, "rb") as file:
        return file.read()


def _as_json(data):
    try:
        text = (data or b"").decode()
    except UnicodeError:
        raise Refused(422, "HEARTBEAT.md is not UTF-8 text: save it as UTF-8")
    return {"text": text, "version": _version(data), "problems": _problems(text)}


def _version(data):
    """Return a name for the content of the file, "" without it."""
    return "" if data is None else hexlify(sha256(data).digest()).decode()[:32]


def _problems(text):
    lines = enumerate(text.split("\n"), 1)
    return [
        {"line": line, "text": what}
        for kind, line, what, _ in heartbeat_parser.read(lines)
        if kind == heartbeat_parser.PROBLEM
    ]
