"""The fuzz targets: a function of bytes for each parser, seeds for it, and the exceptions it may
raise. Those of tests/fuzz/parsers.py run on MicroPython, too."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from tenner.log import visible
from tenner.store import json_strict
from tenner_host.console.console import Console
from tenner_host.output import json_text
from tenner_host.output import visible as host_visible
from tests import near_rules as near
from tests.fuzz.parsers import PARSERS


@dataclass(frozen=True)
class Target:
    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    #: The exceptions permitted on wrong input.
    refusals: tuple[type[BaseException], ...] = (ValueError,)


def near_rules(data: bytes) -> None:
    choose = random.Random(data).randrange
    for _ in range(20):
        line, right = near.edited(choose)
        verdict = near.verdict(line, right, near.known())
        assert verdict in ("same", "off"), (verdict, line)


def same_json(data: bytes) -> None:
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


class _Line:
    device_name = "here"

    def __init__(self, data: bytes) -> None:
        self.pieces = [*(data[at : at + 3] for at in range(0, len(data), 3)), b""]

    def write(self, data: bytes) -> None:
        pass

    def read_available(self, limit_s: float) -> bytes:
        return self.pieces.pop(0)


def console(data: bytes) -> None:
    for said in Console(_Line(data.replace(b">>> ", b""))).said(1):  # type: ignore[arg-type]
        assert "\x1e" not in said.text or not said.kind.value


_CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n"
)
_UPDATE = (
    b'{"update_id":5,"message":{"message_id":1,"from":{"id":1},"chat":{"id":1,'
    b'"type":"private"},"text":"x"}}'
)
_CHAT = (
    b'data: {"choices":[{"index":0,"delta":{"content":"hi","tool_calls":[{"index":0,"id":"a",'
    b'"function":{"name":"sensor","arguments":"{}"}}]},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
)
_MESSAGES = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":'
    b'{"input_tokens":5}}}\n\n'
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use",'
    b'"id":"a","name":"sensor","input":{}}}\n\n'
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta",'
    b'"partial_json":"{}"}}\n\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}\n\n'
    b'data: {"type":"message_stop"}\n\n'
)
#: Of parsers that run on every interpreter.
_SEEDS: dict[str, tuple[bytes, ...]] = {
    "scanner": (b'{"a":[1,-2.5e3,true,null,"\\ud83d\\ude00\\n"],"b":{"c":"x"}}',),
    "sse": (b"event: a\r\ndata: x\r\ndata: y\r\n\r\n: c\rdata:z\n\n",),
    "html": (b"<p>a &amp; <b>b</b><script>x</script><table><tr><td>1</table>&#x41;<!-- c -->",),
    "mcp_list": (b'{"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}',),
    "http": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        _CHUNKED,
    ),
    "telegram": (_UPDATE,),
    "reply_chat": (_CHAT, b'data: {"error":{"message":"no","code":429}}\n\n'),
    "reply_messages": (_MESSAGES,),
    "sealed": (
        b'{"do": "say", "text": "/why"}\n',
        b'{"do": "write", "path": "HEARTBEAT.md", "at": 0, "size": 3}\nabc',
        b'{"do": "commit", "path": "HEARTBEAT.md", "sha256": "00", "old": ""}\n',
        b'{"do": "read", "path": "notes", "at": 0}\n',
        b'{"do": "list", "roots": ["notes"]}\n',
        b'{"do": "remove", "path": "notes/a", "old": ""}\n',
    ),
    "mqtt": (
        b"\x30\x00\x0ftenner/a1b2/say hello",
        b"\x32\x00\x0ftenner/a1b2/say\x00\x05hello",
        b"\x30\x00\x15tenner/a1b2/remote/in\x00\x00",
        b"\x90\x00\x01\x00",
        b"\x62\x00\x05",
    ),
    "outbox": (
        b'["+","ab",0,"telegram",5,false,null,"text",[40,20]]\n["&","ab","more"]\n["-","ab"]\n',
    ),
    "head": (b"POST /api/v1/say?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 5",),
    "config": (
        b'{"name": "attic", "telegram": {"token": "1:a", "allow": [5]}, "time": {"zone": "UTC0"}}',
        b'{"models": [{"name": "main", "url": "https://a.example/v1", "model": "m"}]}',
    ),
    "url": (b"https://a.example:8443/x/../y?z=%2e#f", b"http://[::1]/"),
    "path": (b"notes/../a.md", b"./x//y"),
    "rule": (b"abc/def\na*/**", b"aaaaaaaaaaaaaaaaaaaa\n*a*a*a*b"),
    "marks": (
        b"# a\n**b** _c_ `d` [e](http://f)\n```\ng\n```\n|a|b|\n|-|-|\n|1|2|",
        b"> q\n- ~~s~~",
    ),
    "parts": ("a b\n\n```\nx\n```\n\U0001f600\u00e9".encode() * 5,),
    "cron": (b"*/5 8-17 1,15 * 1-5", b"0 0 29 2 *"),
    "zone": (b"CET-1CEST,M3.5.0,M10.5.0/3", b"<+03>-3", b"UTC0"),
    "heartbeat": (b"- every 2h, when room.temperature > 28: tell me\n## x\n- [ ] y\n",),
    "strict": (b'{"a":[1,2.5,"\\u00e9"],"b":null}',),
    "leaks": (b"YWJjZGVm%20a\\u00e9\\x41", b"68656c6c6f"),
}

TARGETS = {
    **{name: Target(run, _SEEDS[name], refusals) for name, (run, refusals) in PARSERS.items()},
    "near_rules": Target(near_rules, (b"a", b"b")),
    "same_json": Target(same_json, _SEEDS["strict"]),
    "shown": Target(shown, ("a\x1b[2J\u202eb\u200b\U000e0041\u00fc".encode(),)),
    "console": Target(
        console, (b"  +1.0s a b\r\n\x1chi\x1e\r\n\x1dq [y/n]\x1e\r\n\x1f\x1e\r\nx",)
    ),
}
