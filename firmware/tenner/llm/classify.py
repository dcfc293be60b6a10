# tenner llm.classify: which class of the fallback chain a failed model call belongs to.
# MIT license; Copyright (c) 2026 the tenner authors

_BILLING = ("insufficient_quota", "credit balance")
_MODEL = ("does not exist", "not found", "not_found", "no such", "unknown model")
# "max_tokens is too large" is a wrong setting, not a long history: hence no bare "token".
_CONTEXT = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "too long",
    "too many tokens",
    "exceeds the context",
    "token limit",
    "tokens >",
    "input tokens",
    "prompt tokens",
    "exceeds the maximum number of tokens",
    "reduce the length",
)


def classify(status=None, body="", errno=None, error=None):
    """
    Return the class of one failure: by the reply's `status` and `body`, by the `errno` of an OSError,
    or by `error`, the text of any other exception ("deadline" when the time was up).
    """
    body = (body or "").lower()
    if _has(body, _BILLING):
        return "billing"
    if status is not None:
        return _by_status(status, body)
    if _has(body, _CONTEXT):
        return "context_overflow"
    if "overloaded" in body or "rate limit" in body or "rate_limit" in body:
        return "rate_limit"
    if errno is not None:
        # mbedTLS numbers are far below those of the system, DNS and lwIP; one of them is a cut connection.
        return "tls" if errno < -0x2000 and errno != -29312 else "timeout"
    error = (error or "").lower()
    if "certificate" in error or "ssl" in error or "tls" in error:
        return "tls"
    for word in ("deadline", "eoferror", "timeout", "server_error", "api_error", "internal"):
        if word in error:
            return "timeout"
    return "unknown"


def _by_status(status, body):
    if status in (401, 403):
        return "auth"
    if status == 402:
        return "billing"
    if status in (429, 529) or (status == 503 and "overloaded" in body):
        return "rate_limit"
    if status in (408, 500, 502, 503, 504) or 520 <= status <= 529:
        return "timeout"
    if status == 404:
        return "not_found"
    if status in (400, 413, 422):
        if status != 422 and _has(body, _CONTEXT):
            return "context_overflow"
        if "model" in body and _has(body, _MODEL):
            return "not_found"
        return "format"
    return "unknown"


def _has(text, words):
    for word in words:
        if word in text:
            return True
    return False
