# tenner update.download: reads a release from a web server.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.net.tls import explain
from tenner.net.url import parse_url
from tenner.net.web.get import join
from tenner.port.compat import const
from tenner.update.manifest import LIMIT, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenner.net.http import Http
    from tenner.update.staging import Staging

_HEAD_S = const(60)
_CONTENT_S = const(900)
_TRIES = const(5)
_PAUSE_S = const(5)
_REDIRECTS = const(4)
_MARK = b"\nsignature "


class Download:
    """The release at `url`; `http` is a client of the caller, who closes it. `place` names the
    server to the owner, and `why(error)` explains a failure."""

    #: The server's name for this state of the release, after `manifest`.
    etag: "str | None" = None

    def __init__(
        self,
        http: "Http",
        url: str,
        place: str = "update.url",
        why: "Callable[[BaseException], str | None] | None" = None,
    ) -> None:
        self.http = http
        self._url = url
        self._place = url  # or the target of the last redirect
        self._name = place
        self._why = why or explain

    async def manifest(self, etag: "str | None" = None) -> "bytes | None":
        """Return the bytes of the manifest with its signature; None if the release still has this
        `etag`."""

        async def read(response):
            self._check(response, 200, 304 if etag else 200)
            if response.status == 304:
                return None
            self.etag = response.header("etag")
            return await read_manifest(response.readinto)

        headers = [("If-None-Match", etag)] if etag else []
        return await self._get(headers, read, _HEAD_S)

    async def content(self, staging: "Staging", data: bytes) -> None:
        """Receive the missing part of the release with this manifest, which `staging` has begun;
        continue after a cut, a few times."""
        for attempt in range(_TRIES):
            present = staging.present()
            total = staging.total()
            if present == total:
                return
            log("update", "%d of %d KB are here" % (present // 1024, total // 1024))
            headers = [("Range", "bytes=%d-" % (len(data) + present))] if present else []

            async def read(response, present=present):
                self._check(response, 200, 206)
                if response.status == 200:
                    if await read_manifest(response.readinto) != data:
                        raise Refused(
                            "the release at %s is another one now: update again" % self._name
                        )
                    await staging.receive(response.readinto, present)
                else:
                    await staging.receive(response.readinto, 0)

            try:
                await self._get(headers, read, _CONTENT_S)
            except Refused:
                raise
            except OSError as error:
                if attempt == _TRIES - 1:
                    raise
                log("update", "%s; trying again" % error)
                await asyncio.sleep(_PAUSE_S)

    async def _get(self, headers, read, timeout_s):
        """Return the result of `read` for the response, after some redirects; a failure of the
        network is an OSError with a sentence."""

        async def consume(response):
            if response.status not in (301, 302, 303, 307, 308):
                return await read(response)
            self._place = join(self._place, response.header("location") or "")
            return self

        self._place = self._url
        try:
            for _ in range(1 + _REDIRECTS):
                before = self._place
                found = await self.http.exchange("GET", before, headers, None, consume, timeout_s)
                if found is not self:
                    return found
                _check_redirect(before, self._place)
        except Refused:
            raise
        except asyncio.TimeoutError:
            what = "no answer within %d s" % timeout_s
        except (OSError, ValueError, EOFError) as error:
            what = self._why(error) or str(error) or "the answer cannot be read"
        else:
            raise Refused("%s redirects again and again" % self._name)
        raise OSError("the download from %s broke off: %s" % (self._name, what))

    def _check(self, response, *wanted):
        if response.status not in wanted:
            raise Refused("%s answers with HTTP %d" % (self._name, response.status))


async def read_manifest(readinto: "Callable[[bytearray], Awaitable[int]]") -> bytes:
    """Return the bytes up to the end of the signature's line; Refused if there is none within the
    limit."""
    data = bytearray()
    one = bytearray(1)
    # Byte by byte, from the response's buffer: the content behind it stays there.
    while len(data) < LIMIT and await readinto(one):
        data += one
        if one == b"\n" and data[data.rfind(b"\n", 0, len(data) - 1) :].startswith(_MARK):
            return bytes(data)
    raise Refused("this is no signed release of tenner: check update.url")


def _check_redirect(url, target):
    """Refuse to leave https, and by plain http to reach another host: that may be one of the
    owner's network."""
    old = parse_url(url)[0]
    new = parse_url(target)[0]
    if not new[0] and new != old:
        raise Refused("update.url leads to %s, without https" % target[:80])
