# tenner log: one readable line per event, without secrets.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const, ticks_diff, ticks_ms

_MAX_LINE = const(400)

#: Secrets of fewer letters are not blacked out, for there would be false hits, but they do not leave (tools.secrets).
SHORT = const(6)
_LEAST = const(3)

_start = ticks_ms()
_secrets = []
_short = []

# Replaced by the application once the wall clock is trusted: a function that returns "HH:MM:SS".
stamp = None

# Replaced where standard output belongs to something else.
write = print


def hide(secret):
    """Never let `secret` appear in a line. Short values are not worth the false hits."""
    if isinstance(secret, str) and len(secret) >= _LEAST and secret not in secrets():
        (_secrets if len(secret) >= SHORT else _short).append(secret)


def secrets():
    """Return all secrets, the short ones too."""
    return _secrets + _short


def redact(text):
    """Return `text` with every registered secret replaced by `***`."""
    for secret in _secrets:
        if secret in text:
            text = text.replace(secret, "***")
    return text


def uptime_s():
    """Return the seconds since the program started, as long as the tick counter does not wrap."""
    return ticks_diff(ticks_ms(), _start) / 1000


def log(area, text):
    """Print one line `time area text`; line breaks are folded and the length is bounded."""
    text = redact(str(text)).replace("\r", "").replace("\n", " | ")
    if len(text) > _MAX_LINE:
        text = text[:_MAX_LINE] + " ..."
    when = stamp() if stamp else "+%.1fs" % uptime_s()
    write("%8s %-9s %s" % (when, area, text))
