# tenner llm.failure: classifies failed model calls, and describes each in one clear sentence.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import errno as errors

from tenner.llm import quirks
from tenner.llm.errors import LlmError
from tenner.net.http_errors import HttpError
from tenner.net.json.scanner import Scanner
from tenner.net.tls import explain, is_short
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.collect import Collector
    from tenner.llm.types import Candidate
    from tenner.net.http import Http
    from tenner.net.response import Response

_BODY = const(1024)
_REST = const(2048)  # of a refusal, whose delay may come last
_MESSAGE = const(200)
_RETRY_S = const(2)  # before a retry of the same model after a broken exchange
_LONGEST_WAIT_S = const(20)  # the longest Retry-After that a call waits for

_SLOW = (110, 116)  # ETIMEDOUT of Linux and of lwIP
_OVERLOADED = const(529)
_UNAVAILABLE = (503, _OVERLOADED)
# The words before a delay, in lower case, and the units after its numbers.
_DELAYS = ("try again in ", "retry in ", "retry after ", "retry-after: ", 'retrydelay":')
_UNITS = (("ms", 0.001), ("h", 3600), ("m", 60), ("s", 1))
_REFUSALS = (400, 404, 422, 500, 501)  # of one form of a request; proxies make 500 of 400
_OWNERS = ("auth", "billing", "not_found")  # no retry helps before the owner changes something
_ALERT = b"\x15\x03"  # a TLS server's answer to plain HTTP
_HTTPS = const("write https:// in base_url")
_GZIP = const("turn compression off in the server, or in the proxy before it")

_MODEL = const(
    "does not exist|not exist|not found|not_found|no such|unknown model|invalid model|not a "
    "valid model|decommissioned"
)
_KEY = const(
    "api key not valid|api_key_invalid|invalid api key|incorrect api key|invalid x-api-key"
    "|login fail|token has expired|token expired|token is expired"
)
# The server could not parse the model's call; a retry may succeed.
_BY_CHANCE = const("tool_use_failed")
# No bare "token": "max_tokens is too large" means a wrong setting, not a long history.
_CONTEXT = const(
    "context_length|context length|context window|context size|exceeds the context|too long"
    "|too many tokens|token limit|tokens >|input tokens|prompt tokens|number of tokens"
    "|reduce the length|maximum model length|maximum context|too large for model|context the "
    "overflows"
)
# A rate limit in tokens a minute that is below the size of the request: waiting does not help.
_TOO_LARGE = const("request too large|request_too_large|request entity too large")

# The model takes no pictures; some servers call that a fault of their own, or of the address.
_NO_PICTURES = const(
    "image input|support images|image_url is only|variant `image_url`|not a multimodal"
    "|content must be a string|sequence, expected a string"
)

# Advice for the owner by the server's words: (kinds, words, advice).
_ADVICE_BY_WORDS = (
    (
        "format",
        _NO_PICTURES,
        "for photos choose a model that sees pictures, or set telegram.photo_kb to 0",
    ),
    ("format", "http request", _HTTPS),
    (
        "format auth",
        "location is not supported|region, or territory",
        "the provider does not serve your region",
    ),
    ("format not_found", "support tools|support tool use", "choose a model that can call tools"),
    ("format", "max_tokens is too large|max_tokens: ", "lower llm.max_tokens"),
    (
        "format",
        "extra inputs|unrecognized|unknown field|unsupported parameter",
        "check api in config.json",
    ),
)
# And by kind; other failures pass without help, or the server's text explains them.
_ADVICE = {
    "auth": "check its api_key in config.json",
    "billing": "check the account's balance",
    "not_found": "check model and base_url in config.json",
    "unknown": "check base_url in config.json",
    "refused": "check that it runs, and base_url in config.json",
}


def classify(
    status: int | None = None, body: str = "", errno: int | None = None, error: str | None = None
) -> str:
    """
    Return the kind of one failure: by the reply's `status` and `body`, by the `errno` of an
    OSError, or by `error`, the text of any other exception ("deadline" after a timeout).
    """
    body = (body or "").lower()
    if _has(body, "insufficient_quota|credit balance"):
        return "billing"
    if status in (400, 404, 415, 422, 500, 501) and _has(body, _NO_PICTURES):
        return "format"
    if status in (401, 403):
        return "auth"
    if status == 402:
        return "billing"
    if status == 413 or (status in (400, 429) and _has(body, _TOO_LARGE)):
        return "context_overflow"
    if status in (429, 529) or (status == 503 and "overloaded" in body):
        return "rate_limit"
    if status in (408, 500, 502, 503, 504) or 520 <= (status or 0) <= 528:
        return "timeout"
    if status == 404:
        return "not_found"
    if status in (None, 400, 422) and _has(body, _CONTEXT):
        return "context_overflow"
    if (status in (None, 400) or 430 < status < 500) and _has(body, _KEY):
        return "auth"
    if status == 400 and _BY_CHANCE in body:
        return "timeout"
    if status in (400, 422):
        return "not_found" if "model" in body and _has(body, _MODEL) else "format"
    if status is not None:
        return "unknown"
    if _has(body, "overloaded|rate limit|rate_limit|too many requests"):
        return "rate_limit"
    if errno is not None:
        # mbedTLS numbers are far below those of the system, DNS and lwIP; -29312 is a cut
        # connection.
        return "tls" if errno < -0x2000 and errno != -29312 else "timeout"
    error = (error or "").lower()
    if _has(error, "certificate|ssl|tls"):
        return "tls"
    if _has(error, "deadline|eoferror|timeout|server_error|api_error|internal"):
        return "timeout"
    return "unknown"


def _has(text, words):
    for word in words.split("|"):
        if word in text:
            return True
    return False


async def refused(candidate: "Candidate", response: "Response", body_bytes: int = 0) -> LlmError:
    """Return the LlmError for a response whose status is not 200, to a request with
    `body_bytes`."""
    body = rest = ""  # the status alone suffices
    try:
        body = await response.read_text(_BODY)
        if response.status == 429 and len(body) > _BODY // 2:
            rest = await response.read_text(_REST)
    except (OSError, EOFError):
        pass
    status = response.status
    kind = classify(status, body)
    after_s = _after_s(response)
    if after_s is None and kind == "rate_limit":
        after_s = delay_s(body + rest)
    what = "answered %d" % status
    detail = _message(body)
    advice = _advice(kind, body)
    target = response.header("location")
    if target and 300 <= status < 400:
        detail = "moved to " + target
        advice = "set base_url to where it is now"
    elif not detail and kind == "format":
        advice = advice or "check api and model in config.json"
    error = _error(candidate, kind, what, detail, after_s, status, advice)
    return _sent(error, candidate, body_bytes, body)


def broken(candidate: "Candidate", reply: "Collector") -> LlmError:
    """Return the LlmError for a reply that holds an error object."""
    status = reply.error_status
    if status is not None and not 400 <= status < 600:
        status = None
    words = reply.error or ""
    kind = classify(status, words, error=words)
    if kind == "rate_limit" and status is None and "overloaded" in words.lower():
        status = _OVERLOADED
    # The server's words say more than a guess about its address.
    advice = _advice(kind, words) if kind != "unknown" or not words else ""
    after_s = delay_s(words) if kind == "rate_limit" else None
    error = _error(candidate, kind, "broke its reply off", words, after_s, status, advice)
    return _sent(error, candidate, reply.body_bytes, words)


def _sent(error, candidate, body_bytes, words):
    """Add the words of a refusal to its error, and to one about a too long request the model,
    size and limit; return it."""
    if error.status in _REFUSALS:
        error.words = words
    if error.kind == "context_overflow":
        model = "%s at %s" % (candidate.model, candidate.base_url)
        error.sent = model, body_bytes, quirks.context_tokens(words)
    return error


def unreadable(candidate: "Candidate", response: "Response", error: ValueError) -> LlmError:
    """Return the LlmError for a response with status 200 whose body is no reply."""
    coding = response.header("content-encoding")
    if coding and coding != "identity":
        what = "sent a compressed reply (%s)" % coding
        return _error(candidate, "unknown", what, advice=_GZIP)
    if "html" in (response.header("content-type") or ""):
        advice = "check base_url in config.json, and whether the network wants a login"
        return _error(candidate, "unknown", "sent a web page instead of a reply", advice=advice)
    if str(error).startswith("the JSON "):
        # A retry is as likely to help as after a cut connection.
        return _error(candidate, "timeout", "sent a damaged reply", str(error))
    return _error(candidate, "unknown", "sent no proper reply", str(error))


def empty(candidate: "Candidate") -> LlmError:
    """Return the LlmError for a reply with neither text nor calls, where another model may
    answer."""
    return _error(candidate, "empty", "gave no text")


def failed(
    candidate: "Candidate",
    error: Exception | None,
    timeout_s: float,
    http: "Http | None" = None,
    reply: "Collector | None" = None,
) -> LlmError:
    """Return the LlmError for an exception of the exchange on `http`, or for the error in the
    incomplete `reply`, which says more."""
    if reply is not None and reply.error is not None:
        return broken(candidate, reply)
    if isinstance(error, asyncio.TimeoutError):
        return _error(candidate, "timeout", "did not answer within %d s" % timeout_s)
    received = http.buffer[:2] if getattr(http, "end", 0) else b""
    if received == _ALERT and isinstance(error, (EOFError, OSError)):
        return _error(candidate, "tls", "speaks TLS there", advice=_HTTPS)
    if isinstance(error, EOFError):
        return _error(candidate, "timeout", "closed the connection too early")
    if is_short(error):
        return _error(candidate, "timeout", "cannot be reached", explain(error) or "")
    reason = explain(error)
    if reason:
        return _error(candidate, "tls", "cannot be trusted", reason)
    if isinstance(error, HttpError) or not isinstance(error, OSError):
        return _error(candidate, "unknown", "sent no proper reply", str(error))
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    # CPython tries all addresses of a host, and reports several errors in one text.
    if number == errors.ECONNREFUSED or "Errno %d]" % errors.ECONNREFUSED in str(error):
        return _error(candidate, "refused", "cannot be reached", "nothing listens at that port")
    reason = errors.errorcode.get(number) or str(error)
    if number in (-2, -3, -5, -202) or "addrinfo" in reason:
        reason = "its name could not be found"
    # An immediate failure costs no time, so the model needs no cooldown.
    rest_s = None if number in _SLOW else 0
    return _error(candidate, classify(errno=number), "cannot be reached", reason, rest_s)


def _advice(kind, body):
    """Return the advice for the owner, or ""."""
    body = body.lower()
    for kinds, words, advice in _ADVICE_BY_WORDS:
        if kind in kinds and _has(body, words):
            return advice
    return _ADVICE.get(kind, "")


def _error(candidate, kind, what, detail="", retry_after_s=None, status=None, advice=None):
    if advice is None:
        advice = _ADVICE.get(kind)
    detail = _redact(" ".join(detail.split()), candidate.api_key)
    if len(detail) > _MESSAGE:
        detail = detail[:_MESSAGE] + "..."
    sentence = "the model %s at %s %s%s%s%s" % (
        candidate.model or "(none is set: llm.model)",
        candidate.base_url.split("://")[-1].split("/")[0].split("@")[-1],
        what,
        " (%s)" % detail if detail else "",
        "; " if advice else "",
        advice or "",
    )
    return LlmError(kind, sentence, retry_after_s, status)


def _redact(text, key):
    """Remove the API key, and the beginning of it at the end of a cut body."""
    if not key:
        return text
    text = text.replace(key, "***")
    for size in range(len(key) - 1, 7, -1):
        if text.endswith(key[:size]):
            return text[:-size] + "***"
    return text


def _after_s(response):
    """Return the delay of a header in seconds, or None. The date form is not supported: it needs a
    calendar."""
    for name, part in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            value = float(response.header(name) or "") / part
            if 0 <= value < 1e6:
                return int(value) if value == int(value) else value
        except (ValueError, OverflowError):
            continue
    return None


def delay_s(text: str) -> float | None:
    """Return the seconds in "Please try again in 1m2.5s", or in Gemini's `"retryDelay": "3s"`;
    None without such words."""
    text = text.lower()
    for words in _DELAYS:
        place = text.find(words)
        if place >= 0:
            found = _seconds(text[place + len(words) :].lstrip(' "')[:24])
            if found is not None:
                return found
    return None


def _seconds(text):
    total = None
    while True:
        size = 0
        while size < len(text) and text[size] in "0123456789.":
            size += 1
        try:
            number = float(text[:size])
        except ValueError:
            return total
        text = text[size:].lstrip()
        for unit, factor in _UNITS:
            if text.startswith(unit):
                total = (total or 0) + number * factor
                break
        else:
            return number if total is None else total
        while text and "a" <= text[0] <= "z":
            text = text[1:]
        text = text.lstrip()


def _message(body):
    """Return `error.message` of an error body, or the next best text; the cause, if a provider's
    own error is inside."""
    found = []
    raw = []

    def sink(path, value, more):
        # {"error":{"message":..}}, {"error":".."}, {"message":..}, {"detail":..}, also within [..]
        if isinstance(value, str) and path:
            if path[-1] in ("message", "error", "detail", "msg"):
                found.append(value)
            elif path[-1] == "raw":
                raw.append(value)

    try:
        scanner = Scanner(sink)
        scanner.feed(body.encode())
        scanner.end()
    except ValueError:
        # Not JSON, or cut at the limit: the texts before that count all the same.
        if not found and body.lstrip()[:1] not in ("<", "{"):
            found.append(body)
    words = "".join(found[:2])
    inside = "".join(raw) or words
    if inside.lstrip()[:1] == "{" and inside != body:
        return _message(inside) or words
    return words + (": " + inside if raw else "")


def pause_s(error: LlmError) -> float | None:
    """Return the seconds to wait before a retry of the same model, or None for no retry."""
    if error.kind in ("timeout", "refused"):
        return _RETRY_S
    if error.kind == "rate_limit" and (error.retry_after_s or 0) <= _LONGEST_WAIT_S:
        if error.retry_after_s is None and error.status in _UNAVAILABLE:
            return _RETRY_S
        return error.retry_after_s
    return None


def all_failed(failures: list[LlmError]) -> LlmError:
    """Return the LlmError for a person when no model answered."""
    if not failures:
        return LlmError("timeout", "I stopped: no model answered in the time there was.")
    first = failures[0]
    others = len(failures) - 1
    more = "; %d other model%s failed too" % (others, "" if others == 1 else "s") if others else ""
    text = "I could not get an answer: %s%s" % (first, more)
    is_final = all(error.kind in _OWNERS for error in failures)
    text += "." if is_final else "; I'll retry with your next message."
    return LlmError(first.kind, text, first.retry_after_s, first.status)
