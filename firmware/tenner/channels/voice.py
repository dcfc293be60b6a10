# tenner channels.voice: has a sound file transcribed by a service in OpenAI's form.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from binascii import hexlify
from os import urandom

from tenner.net import multipart
from tenner.net.json.scanner import Scanner
from tenner.net.tls import explain
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.http import Http
    from tenner.store.config import Config

_PIECE = const(256)
_TIMEOUT_S = const(120)
_LONGEST = const(4096)  # characters of a transcript, as of a typed text
_LONGEST_ERROR = const(200)
_MOST_BYTES = const(65536)  # of a reply
_ADVICE = {
    401: "check voice.key",
    403: "check voice.key",
    404: "check voice.url and voice.model",
    413: "send a shorter one",
}


async def transcribe(config: "Config", http: "Http", path: str, ending: str) -> str:
    """Return the words in the sound file at `path`, "" if there are none; raise OSError with a
    clause about a failure. `ending` is that of the file's type, such as ogg."""
    get = config.get
    fields = {"model": get("voice.model"), "response_format": "json"}
    if get("voice.language"):
        fields["language"] = get("voice.language")
    url = get("voice.url").rstrip("/")
    key = get("voice.key")
    if not key and url == get("llm.base_url").rstrip("/"):
        key = get("llm.api_key")

    def pieces():
        return files.blocks(path)

    name = "voice." + ending
    kind = "audio/ogg" if ending == "ogg" else "application/octet-stream"
    boundary = "tenner" + hexlify(urandom(8)).decode()
    body = multipart.Multipart(fields, "file", name, kind, pieces, boundary)
    headers = list(body.headers)
    if key:
        headers.append(("Authorization", "Bearer " + key))
    reply = _Reply()
    url += "/audio/transcriptions"
    try:
        await http.exchange("POST", url, headers, body, reply.consume, _TIMEOUT_S)
    except asyncio.TimeoutError:
        raise OSError("voice.url did not answer within %d s" % _TIMEOUT_S)
    except (OSError, EOFError, ValueError) as error:
        raise OSError("voice.url: %s" % (explain(error) or str(error) or "no answer"))
    return reply.result()


class _Reply:
    """The reply of the service, received in pieces."""

    def __init__(self):
        self.status = 0
        self.text = None
        self.error = ""

    async def consume(self, response):
        self.status = response.status
        scanner = Scanner(self._take)
        buf = bytearray(_PIECE)
        left = _MOST_BYTES
        try:
            while left > 0:
                count = await response.readinto(buf)
                if not count:
                    break
                left -= count
                scanner.feed(memoryview(buf)[:count])
            scanner.end()
        except ValueError:
            # Proxies answer with pages; the status suffices.
            if self.status == 200:
                self.status = 0

    def _take(self, path, value, more):
        if not isinstance(value, str):
            return
        if path == ["text"]:
            self.text = ((self.text or "") + value)[:_LONGEST]
        elif path and path[-1] in ("message", "error", "detail"):
            self.error = (self.error + value)[:_LONGEST_ERROR]

    def result(self):
        if self.status == 200 and self.text is not None:
            return self.text.strip()
        if self.status in (0, 200):
            raise OSError("voice.url sent no transcription: check it")
        text = "voice.url answered %d" % self.status
        if self.error:
            text += " (%s)" % " ".join(self.error.split())
        if self.status in _ADVICE:
            text += ": " + _ADVICE[self.status]
        raise OSError(text)
