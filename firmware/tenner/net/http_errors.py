# tenner net.http_errors: how an HTTP exchange fails.
# MIT license; Copyright (c) 2026 the tenner authors


class HttpError(OSError):
    """The server does not speak HTTP as it should, or a limit was passed. args[0] is a sentence."""


class Yielded(Exception):
    """The exchange gave its connection up because somebody else was waiting for the gate."""
