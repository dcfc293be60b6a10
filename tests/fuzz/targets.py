"""The fuzz targets: a function of bytes for each parser, seeds for it, and the exceptions it may
raise.

A parser of a stream gets the input whole and in pieces, and must come to the same result.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from tenner.channels import split
from tenner.channels.telegram import markup, update
from tenner.log import visible
from tenner.mcp.listing import Cutter
from tenner.net.json.scanner import Scanner
from tenner.net.response import Response
from tenner.net.sse import SseReader
from tenner.net.url import parse_url
from tenner.net.web import guard, rules
from tenner.net.web.html import Html
from tenner.schedule import heartbeat_parser
from tenner.schedule.cronexpr import Cron
from tenner.schedule.posix_tz import Zone
from tenner.store import json_strict
from tenner.tools import patterns, secrets
from tenner.tools.errors import ToolError
from tenner.tools.paths import _check_text, _straight
from tenner_host.console.console import Console
from tenner_host.output import json_text
from tenner_host.output import visible as host_visible
from tests import near_rules as near


@dataclass(frozen=True)
class Target:
    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    #: The exceptions permitted on wrong input.
    refusals: tuple[type[BaseException], ...] = (ValueError,)


def _pieces(data: bytes) -> list[list[bytes]]:
    """The same input whole, and cut into small pieces."""
    return [[data], [data[at : at + 3] for at in range(0, len(data), 3)]]


def _same(outcomes: list[object]) -> None:
    assert all(one == outcomes[0] for one in outcomes), outcomes


def _outcome(act: Callable[[], object]) -> object:
    try:
        return act()
    except ValueError:
        return "refused"


def _scan(pieces: list[bytes]) -> object:
    found: list[object] = []
    scanner = Scanner(lambda path, value, more: found.append((tuple(path), value, more)))
    for piece in pieces:
        scanner.feed(piece)
    scanner.end()
    # Where a long text is cut depends on the pieces.
    joined: dict[object, object] = {}
    for path, value, _ in found:  # type: ignore[misc]
        before = joined.get(path)
        joined[path] = (
            before + value if isinstance(before, str) and isinstance(value, str) else value
        )
    return repr(joined)


def scanner(data: bytes) -> None:
    _same([_outcome(lambda pieces=pieces: _scan(pieces)) for pieces in _pieces(data)])


def _events(pieces: list[bytes]) -> object:
    found: list[bytes] = []
    reader = SseReader(found.append, lambda: found.append(b"\n--\n"))
    for piece in pieces:
        reader.feed(piece)
    reader.end()
    return b"".join(found)


def sse(data: bytes) -> None:
    _same([_outcome(lambda pieces=pieces: _events(pieces)) for pieces in _pieces(data)])


def html(data: bytes) -> None:
    for pieces in _pieces(data):
        page = Html(lambda text: None)
        for piece in pieces:
            page.feed(piece)
        page.end()


def mcp_list(data: bytes) -> None:
    found: list[list[object]] = []
    for pieces in _pieces(data):
        whole: list[object] = []
        cutter = Cutter(whole.append)
        for piece in pieces:
            cutter.feed(piece)
        found.append(whole)
    _same(list(found))


class _Stream:
    """Brings bytes, a few at a time, and then ends."""

    def __init__(self, data: bytes, step: int) -> None:
        self.data = data
        self.step = step

    async def readinto(self, view: memoryview) -> int:
        piece = self.data[: min(self.step, len(view))]
        self.data = self.data[len(piece) :]
        view[: len(piece)] = piece
        return len(piece)


def http(data: bytes) -> None:
    async def read(step: int) -> object:
        response = Response()
        response.attach(_Stream(data, step))
        await response.receive_head()
        body = await response.read_text(100000)
        return response.status, body

    found = []
    for step in (7, 512):
        try:
            found.append(asyncio.run(read(step)))
        except (ValueError, OSError, EOFError):
            found.append("refused")
    _same(found)


def telegram(data: bytes) -> None:
    kept: dict[str, object] = {}
    Scanner(
        lambda path, value, more: path and update.keep(kept, ["result", 0, *path], value)
    ).feed(data)


def url(data: bytes) -> None:
    text = data.decode(errors="replace")
    straight = rules.straight(text)
    # Put straight once it stays so, and is the same place.
    assert rules.straight(straight) == straight
    assert parse_url(straight)[0] == parse_url(text)[0]
    guard.check(straight, ())


def path(data: bytes) -> None:
    text = data.decode(errors="replace")
    _check_text(text, True)
    straight = _straight("/workspace/" + text)
    assert ".." not in straight.split("/") and "//" not in straight
    assert visible(text) == text


def rule(data: bytes) -> None:
    text, _, pattern = data.decode(errors="replace").partition("\n")
    patterns.matches(pattern[:60], text[:200])


def marks(data: bytes) -> None:
    raw = markup.clean(data.decode(errors="replace"))
    html_text = b"".join(markup.pieces(raw))
    html_text.decode()
    for tag in (b"b", b"i", b"code", b"pre", b"a", b"s"):
        opened = html_text.count(b"<" + tag + b">") + html_text.count(b"<" + tag + b" ")
        assert opened == html_text.count(b"</" + tag + b">"), html_text


def parts(data: bytes) -> None:
    for part in split.parts(data.decode(errors="replace"), 40):
        assert len(part.encode("utf-16-le")) <= 80, part


def cron(data: bytes) -> None:
    Cron(data.decode(errors="replace")).next_after(1800000000, Zone())


def zone(data: bytes) -> None:
    Zone(data.decode(errors="replace")).local(1800000000)


def heartbeat(data: bytes) -> None:
    lines = data.decode(errors="replace").split("\n")
    list(heartbeat_parser.read(iter(enumerate(lines, 1))))


def near_rules(data: bytes) -> None:
    choose = random.Random(data).randrange
    for _ in range(20):
        line, right = near.edited(choose)
        verdict = near.verdict(line, right, near.known())
        assert verdict in ("same", "off"), (verdict, line)


def strict(data: bytes) -> None:
    text = data.decode(errors="replace")
    value = json_strict.loads(text)
    # Other parsers read the same value.
    assert json.loads(text) == value or value != value


def shown(data: bytes) -> None:
    text = data.decode(errors="replace")
    for function in (visible, host_visible):
        once = function(text)
        assert function(once) == once
        assert not set(once) & {
            chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, 155, 0x202E)
        }
    assert json.loads(json_text({"a": text})) == {"a": text}


def leaks(data: bytes) -> None:
    secrets.leaks({"a": data.decode(errors="replace")})


class _Line:
    device_name = "here"

    def __init__(self, data: bytes) -> None:
        self.pieces = [*_pieces(data)[1], b""]

    def write(self, data: bytes) -> None:
        pass

    def read_available(self, limit_s: float) -> bytes:
        return self.pieces.pop(0)


def console(data: bytes) -> None:
    for said in Console(_Line(data.replace(b">>> ", b""))).said(1):  # type: ignore[arg-type]
        assert "\x1e" not in said.text or not said.kind.value


TARGETS = {
    "near_rules": Target(near_rules, (b"a", b"b")),
    "scanner": Target(scanner, (b'{"a":[1,-2.5e3,true,null,"\\ud83d\\ude00\\n"],"b":{"c":"x"}}',)),
    "sse": Target(sse, (b"event: a\r\ndata: x\r\ndata: y\r\n\r\n: c\rdata:z\n\n",)),
    "html": Target(
        html, (b"<p>a &amp; <b>b</b><script>x</script><table><tr><td>1</table>&#x41;<!-- c -->",)
    ),
    "mcp_list": Target(
        mcp_list, (b'{"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}',)
    ),
    "http": Target(
        http,
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n"
                b"T: x\r\n\r\n"
            ),
        ),
    ),
    "telegram": Target(
        telegram,
        (
            b'{"update_id":5,"message":{"message_id":1,"from":{"id":1},"chat":{"id":1,"type":"private"},"text":"x"}}',
        ),
    ),
    "url": Target(
        url, (b"https://a.example:8443/x/../y?z=%2e#f", b"http://[::1]/"), (ValueError, OSError)
    ),
    "path": Target(path, (b"notes/../a.md", b"./x//y"), (ToolError,)),
    "rule": Target(rule, (b"abc/def\na*/**", b"aaaaaaaaaaaaaaaaaaaa\n*a*a*a*b")),
    "marks": Target(
        marks,
        (b"# a\n**b** _c_ `d` [e](http://f)\n```\ng\n```\n|a|b|\n|-|-|\n|1|2|", b"> q\n- ~~s~~"),
    ),
    "parts": Target(parts, ("a b\n\n```\nx\n```\n\U0001f600é".encode() * 5,)),
    "cron": Target(cron, (b"*/5 8-17 1,15 * 1-5", b"0 0 29 2 *")),
    "zone": Target(zone, (b"CET-1CEST,M3.5.0,M10.5.0/3", b"<+03>-3", b"UTC0")),
    "heartbeat": Target(
        heartbeat, (b"- every 2h, when room.temperature > 28: tell me\n## x\n- [ ] y\n",)
    ),
    "strict": Target(strict, (b'{"a":[1,2.5,"\\u00e9"],"b":null}',)),
    "shown": Target(shown, ("a\x1b[2J\u202eb\u200b\U000e0041ü".encode(),)),
    "leaks": Target(leaks, (b"YWJjZGVm%20a\\u00e9\\x41", b"68656c6c6f")),
    "console": Target(
        console, (b"  +1.0s a b\r\n\x1chi\x1e\r\n\x1dq [y/n]\x1e\r\n\x1f\x1e\r\nx",)
    ),
}
