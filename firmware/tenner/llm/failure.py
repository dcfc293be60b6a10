# tenner llm.failure: make one clear sentence of a model call that failed. Imported when one did.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.llm.classify import classify
from tenner.llm.errors import LlmError
from tenner.net.jsonin import Scanner
from tenner.port.compat import const

_BODY = const(1024)
_MESSAGE = const(200)

_ADVICE = {
    "auth": "check its api_key in config.json",
    "billing": "check the account's balance",
    "rate_limit": "it will work again in a while",
    "timeout": "it may work again in a while",
    "tls": "nothing was sent",
    "not_found": "check model and base_url in config.json",
    "context_overflow": "the conversation must get shorter",
    "format": "another model or api in config.json may work",
    "unknown": "check base_url in config.json",
}

_REASONS = (
    ("ECONNREFUSED", "the connection was refused"),
    ("ECONNRESET", "the connection was reset"),
    ("EHOSTUNREACH", "there is no way to its address"),
    ("ENETUNREACH", "there is no network"),
    ("ETIMEDOUT", "nothing answered"),
    ("EPIPE", "the connection was closed"),
    ("ENOMEM", "there is no memory left"),
)


async def refused(candidate, response):
    """Return the LlmError for a response whose status is not 200."""
    try:
        body = await response.read_text(_BODY)
    except (OSError, EOFError):
        body = ""  # the status alone says enough
    status = response.status
    cls = classify(status=status, body=body)
    return _error(
        candidate, cls, "answered %d" % status, _message(body), _seconds(response), status
    )


def broken(candidate, reply):
    """Return the LlmError for a reply with an error object in it."""
    status = reply.error_status
    if status is not None and status < 400:
        status = None
    words = reply.error
    cls = classify(status=status, body=words, error=words)
    return _error(candidate, cls, "broke its reply off", words, None, status)


def failed(candidate, error, timeout_s):
    """Return the LlmError for an exception of the exchange."""
    if isinstance(error, asyncio.TimeoutError):
        return _error(candidate, "timeout", "did not answer within %d s" % timeout_s, "")
    if isinstance(error, EOFError):
        return _error(
            candidate, "timeout", "closed the connection before its reply was complete", ""
        )
    from tenner.net import tls

    reason = tls.explain(error)
    if reason:
        return _error(candidate, "tls", "cannot be trusted", reason)
    if isinstance(error, OSError):
        from tenner.net.http import HttpError

        if isinstance(error, HttpError):
            return _error(candidate, "unknown", "sent no proper reply", str(error))
        number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        return _error(
            candidate, classify(errno=number), "cannot be reached", _os_reason(error, number)
        )
    return _error(candidate, "unknown", "sent no proper reply", str(error))


def _error(candidate, cls, what, detail, retry_after_s=None, status=None):
    detail = _redact(" ".join(detail.split()), candidate.api_key)
    if len(detail) > _MESSAGE:
        detail = detail[:_MESSAGE] + "..."
    sentence = "the model %s at %s %s%s; %s" % (
        candidate.model,
        candidate.base_url.split("://")[-1].split("/")[0].split("@")[-1],
        what,
        " (%s)" % detail if detail else "",
        _ADVICE[cls],
    )
    return LlmError(cls, sentence, retry_after_s, status)


def _redact(text, key):
    """Take the API key out, also a beginning of it where the body was cut."""
    if not key:
        return text
    text = text.replace(key, "***")
    for size in range(len(key) - 1, 7, -1):
        if text.endswith(key[:size]):
            return text[:-size] + "***"
    return text


def _message(body):
    """Return `error.message` of an error body, or what else says most."""
    found = []

    def sink(path, value, more):
        # {"error":{"message":..}}, {"error":".."}, {"message":..}, {"detail":..}, also within [..]
        if isinstance(value, str) and path and path[-1] in ("message", "error", "detail", "msg"):
            found.append(value)

    try:
        scanner = Scanner(sink)
        scanner.feed(body.encode())
        scanner.end()
    except ValueError:
        # Not JSON, or cut at the limit: what was found before that counts all the same.
        found = found or ["" if body.lstrip()[:1] in ("<", "{") else body]
    return "".join(found[:2]) if found else ""


def _seconds(response):
    """Return the seconds of Retry-After, or None; a date is not worth a calendar here."""
    value = response.header("retry-after")
    try:
        return max(0, int(float(value))) if value else None
    except (ValueError, OverflowError):
        return None


def _os_reason(error, number):
    text = str(error)
    if number in (-2, -3, -5, -202) or "addrinfo" in text:
        return "its name could not be found"
    if number == -29312:
        return "the connection was cut"
    import errno

    for name, meaning in _REASONS:
        if number and number == getattr(errno, name, None):
            return meaning
    return text
