# tenner channels.posting: one POST for channels that only send.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A server that takes it answers 2xx; 408, 425, 429 and 5xx are tried again, any other status is
final.
"""

from tenner.log import log
from tenner.net.http_errors import FAILURES
from tenner.net.tls import explain
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tenner.net.http import Http

_TIMEOUT_S = const(30)
_LONGEST_S = const(3600)
_AGAIN = (408, 425, 429)


async def post(
    http: "Http",
    channel: str,
    url: str,
    headers: "Sequence[tuple[str, str]]",
    data: bytes,
    began: "Callable[[], None] | None" = None,
) -> "tuple[str, Any]":
    """Send `data`, after began(); return the outcome as channels.delivery says. `channel` names
    its sender in the log."""
    passes = []

    def body():
        passes.append(0)
        # The first pass counts.
        if began and len(passes) > 1:
            began()
        yield data

    async def verdict(response):
        status = response.status
        if 200 <= status < 300:
            return "ok", None
        log(channel, "HTTP %d" % status)
        if status in _AGAIN or status >= 500:
            wait = response.header("retry-after") or ""
            return "retry", min(int(wait), _LONGEST_S) if wait.isdigit() else None
        return "refused", "its server answers %d" % status

    try:
        return await http.exchange("POST", url, headers, body, verdict, _TIMEOUT_S)
    except FAILURES as error:
        why = explain(error) or str(error) or "no answer"
        log(channel, "not sent: " + why)
        return ("unknown", why) if http.is_sent else ("retry", None)
