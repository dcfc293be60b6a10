# tenner fuzz: the parsers of foreign data as functions of bytes, on every interpreter.
# MIT license; Copyright (c) 2026 the tenner authors
"""`PARSERS` has (function, permitted exceptions) by name. A parser of a stream gets the input
whole and in pieces, and must come to the same result."""

import os

from llm_fakes import Candidate, Http, Request, Response, complete
from support import run, temp_folder
from tenner import log
from tenner.agent.message_queue import Queue
from tenner.channels import split
from tenner.channels.mqtt import inbox
from tenner.channels.telegram import markup, update
from tenner.llm.errors import LlmError
from tenner.mcp.listing import Cutter
from tenner.net import response
from tenner.net.json.scanner import Scanner
from tenner.net.sse import SseReader
from tenner.net.url import parse_url
from tenner.net.web import guard
from tenner.net.web.html import Html
from tenner.page import request as page_request
from tenner.remote import serve
from tenner.schedule import heartbeat_parser
from tenner.schedule.due import Cron
from tenner.store import configload, json_strict
from tenner.store.outbox import Outbox
from tenner.store.posix_tz import Zone
from tenner.tools import patterns, secrets
from tenner.tools.errors import ToolError
from tenner.tools.paths import _check_text, _straight


def text_of(data):
    """Return the text of any bytes, as every interpreter makes it."""
    try:
        return str(data, "utf-8")
    except ValueError:
        return "".join([chr(byte) for byte in data])


def _pieces(data):
    """The same input whole, and cut into small pieces."""
    return [[data], [data[at : at + 3] for at in range(0, len(data), 3)]]


def _same(outcomes):
    assert all(one == outcomes[0] for one in outcomes), outcomes


def _outcome(act, *args):
    try:
        return act(*args)
    except ValueError:
        return "refused"


def _scan(pieces):
    found = []
    scanner = Scanner(lambda path, value, more: found.append((tuple(path), value)))
    for piece in pieces:
        scanner.feed(piece)
    scanner.end()
    # Where a long text is cut depends on the pieces.
    joined = {}
    for path, value in found:
        before = joined.get(path)
        both = isinstance(before, str) and isinstance(value, str)
        joined[path] = before + value if both else value
    return sorted([repr(one) for one in joined.items()])


def scanner(data):
    _same([_outcome(_scan, pieces) for pieces in _pieces(data)])


def _events(pieces):
    found = []
    reader = SseReader(found.append, lambda: found.append(b"\n--\n"))
    for piece in pieces:
        reader.feed(piece)
    reader.end()
    return b"".join(found)


def sse(data):
    _same([_outcome(_events, pieces) for pieces in _pieces(data)])


def html(data):
    for pieces in _pieces(data):
        page = Html(lambda text: None)
        for piece in pieces:
            page.feed(piece)
        page.end()


def mcp_list(data):
    found = []
    for pieces in _pieces(data):
        whole = []
        cutter = Cutter(whole.append)
        for piece in pieces:
            cutter.feed(piece)
        found.append(whole)
    _same(found)


class Stream:
    """Brings bytes, a few at a time, and then ends."""

    def __init__(self, data, step):
        self.data = data
        self.step = step

    async def readinto(self, view):
        piece = self.data[: min(self.step, len(view))]
        self.data = self.data[len(piece) :]
        view[: len(piece)] = piece
        return len(piece)


async def _response(data, step):
    got = response.Response()
    got.attach(Stream(data, step))
    await got.receive_head()
    return got.status, await got.read_text(100000)


def http(data):
    found = []
    for step in (7, 512):
        try:
            found.append(run(_response(data, step)))
        except (ValueError, OSError, EOFError):
            found.append("refused")
    _same(found)


def telegram(data):
    kept = {}
    Scanner(
        lambda path, value, more: path and update.keep(kept, ["result", 0] + path, value)
    ).feed(data)


def _reply(api, data):
    """Let a model of this API answer with an event stream, or a body, of these bytes."""
    for pieces in _pieces(data):
        answer = Http(Response(pieces or [b""]))
        run(complete(answer, Candidate(api=api), Request(), 60))


def reply_chat(data):
    _reply("chat", data)


def reply_messages(data):
    _reply("messages", data)


class Board:
    """An agent for its channels, which takes all and keeps nothing."""

    name = "web"
    base = "tenner/a1b2"
    birth = "homeassistant/status"
    max_text = 1000
    requests = 0
    away = False
    status = ""
    owner_chat = None
    taken = ()

    def __init__(self):
        self.app = self.port = self
        self.root = self.workspace = self.state = temp_folder()
        os.mkdir(self.root + "/notes")
        self.questions = {}
        self.inbound = Queue(8)
        self.sent = []

    def path(self, name):
        return self.root + "/" + name

    def owner(self):
        return "console", "owner"

    def take_request(self, data):
        pass

    def announce_again(self):
        pass

    up = back = announce_again

    async def command_text(self, message):
        return "answer to " + message.text

    async def publish(self, topic, frame):
        self.sent.append(frame)
        return True


_board = None


def board():
    """The one board of this process."""
    global _board
    if _board is None:
        _board = Board()
        log.write = lambda line: None
    return _board


def sealed(data):
    """A request of the owner's computer has an answer, in any shape."""
    channel = board()
    channel.sent.clear()
    channel.session = [0] + [bytes([one]) * 32 for one in range(4)]
    run(serve._answer(channel, serve.Reply(channel), data))
    assert channel.sent


def mqtt(data):
    inbox.handle(board(), data[0] if data else 0x30, bytearray(data[1:]), len(data) - 1)
    while len(board().inbound):
        run(board().inbound.get())


class Clock:
    trusted = True

    def now(self):
        return 1800000000

    def mono_s(self):
        return 5


def outbox(data):
    """Damaged lines of the outbox get lost alone, and a new message stays."""
    place = board().root
    with open(place + "/outbox.jsonl", "wb") as file:
        file.write(data)
    box = Outbox(place, Clock())
    before = len(box)
    assert box.add("telegram", 5, "still here", True)
    again = Outbox(place, Clock())
    assert len(again) <= before + 1
    for item in again.items:
        for part in range(len(item.sizes)):
            again.text_of(item, part)


def head(data):
    page_request.body_size(page_request.parse_head(data))


def config(data):
    """Any file of settings ends in settings, or in one sentence."""
    path = board().root + "/config.json"
    with open(path, "wb") as file:
        file.write(data)
    wrong = []
    configload.load(path, None, wrong)
    assert all(isinstance(one, str) and len(one) < 500 for one in wrong), wrong


def url(data):
    text = text_of(data)
    straight = guard.straight(text)
    # Put straight once it stays so, and is the same place.
    assert guard.straight(straight) == straight
    assert parse_url(straight)[0] == parse_url(text)[0]
    guard.check(straight, ())


def path(data):
    text = text_of(data)
    _check_text(text, True)
    straight = _straight("/workspace/" + text)
    assert ".." not in straight.split("/") and "//" not in straight
    assert log.visible(text) == text


def rule(data):
    text, _, pattern = text_of(data).partition("\n")
    patterns.matches(pattern[:60], text[:200])


def marks(data):
    raw = markup.clean(text_of(data))
    html_text = b"".join(markup.pieces(raw))
    html_text.decode()
    for tag in (b"b", b"i", b"code", b"pre", b"a", b"s"):
        opened = html_text.count(b"<" + tag + b">") + html_text.count(b"<" + tag + b" ")
        assert opened == html_text.count(b"</" + tag + b">"), html_text


def parts(data):
    for part in split.parts(text_of(data), 40):
        assert sum([2 if ord(letter) > 0xFFFF else 1 for letter in part]) <= 40, part


def cron(data):
    Cron(text_of(data)).next_after(1800000000, Zone())


def zone(data):
    Zone(text_of(data)).local(1800000000)


def heartbeat(data):
    lines = text_of(data).split("\n")
    list(heartbeat_parser.read(iter(list(enumerate(lines, 1)))))


def strict(data):
    json_strict.loads(text_of(data))


def leaks(data):
    secrets.leaks({"a": text_of(data)})


PARSERS = {
    "scanner": (scanner, (ValueError,)),
    "sse": (sse, (ValueError,)),
    "html": (html, (ValueError,)),
    "mcp_list": (mcp_list, (ValueError,)),
    "http": (http, (ValueError,)),
    "telegram": (telegram, (ValueError,)),
    "reply_chat": (reply_chat, (LlmError,)),
    "reply_messages": (reply_messages, (LlmError,)),
    "sealed": (sealed, ()),
    "mqtt": (mqtt, (OSError,)),
    "outbox": (outbox, ()),
    "head": (head, (page_request.Refused,)),
    "config": (config, (ValueError,)),
    "url": (url, (ValueError, OSError)),
    "path": (path, (ToolError,)),
    "rule": (rule, (ValueError,)),
    "marks": (marks, ()),
    "parts": (parts, ()),
    "cron": (cron, (ValueError,)),
    "zone": (zone, (ValueError,)),
    "heartbeat": (heartbeat, ()),
    "strict": (strict, (ValueError,)),
    "leaks": (leaks, ()),
}
