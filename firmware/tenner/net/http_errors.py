# tenner net.http_errors: the errors of an HTTP exchange.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

#: An exchange without an answer raises one of these.
FAILURES = (OSError, EOFError, ValueError, asyncio.TimeoutError)


class HttpError(OSError):
    """The server violates HTTP, or exceeds a limit. args[0] is a sentence."""


class Yielded(Exception):
    """The exchange gave its connection up because another one waited for the semaphore."""
