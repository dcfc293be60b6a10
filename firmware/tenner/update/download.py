# tenner update.download: reads the manifest or the missing content of a release.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.net.tls_errors import explain
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
_MARK = b"\nsignature "


async def manifest(http: "Http", url: str) -> bytes:
    """Return the bytes of the manifest with its signature."""

    async def read(response):
        _check(response, 200)
        return await read_manifest(response.readinto)

    return await _exchange(http, url, [], read, _HEAD_S)


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


async def content(http: "Http", url: str, staging: "Staging", data: bytes) -> None:
    """Download the missing part of the release with this manifest; continue after a cut, a few
    times."""
    for attempt in range(_TRIES):
        missing = staging.resume(data)
        if not missing:
            return
        total = staging.manifest.total()
        present = total - missing
        log("update", "%d of %d KB are here" % (present // 1024, total // 1024))
        headers = [("Range", "bytes=%d-" % (len(data) + present))] if present else []

        async def read(response, present=present):
            _check(response, 200, 206)
            if response.status == 200:
                if await read_manifest(response.readinto) != data:
                    raise Refused("the release at update.url is another one now: /update again")
                await staging.receive(response.readinto, present)
            else:
                await staging.receive(response.readinto, 0)

        try:
            await _exchange(http, url, headers, read, _CONTENT_S)
        except Refused:
            raise
        except OSError as error:
            if attempt == _TRIES - 1:
                raise
            log("update", "%s; trying again" % error)
            await asyncio.sleep(_PAUSE_S)


def _check(response, *wanted):
    if response.status not in wanted:
        raise Refused("update.url answers with HTTP %d" % response.status)


async def _exchange(http, url, headers, consume, timeout_s):
    """Make an exchange; a failure of the network is an OSError with a sentence."""
    try:
        return await http.exchange("GET", url, headers, None, consume, timeout_s)
    except Refused:
        raise
    except asyncio.TimeoutError:
        what = "no answer within %d s" % timeout_s
    except (OSError, ValueError, EOFError) as error:
        what = explain(error) or str(error) or "the answer cannot be read"
    raise OSError("the download from update.url broke off: %s" % what)
