# tenner log: prints one readable line per event, without secrets.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import io

from tenner.port.compat import const, print_exception, ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_LINE = const(400)

#: Shorter secrets are not redacted, since they would match other text, but they must not leave
#: (tools.secrets).
SHORT = const(6)
_LEAST = const(3)

_LONGEST = const(48)
_PLAIN = const(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
# Signs of an order or of code, which no name needs.
_ODD = const(b"\"'`{}")

_start = ticks_ms()
_secrets = []
_short = []

# A function that returns "HH:MM:SS"; the app sets it once the wall clock is trusted.
stamp = None

# Replaced where standard output has another use.
write: "Callable[[str], None]" = print


def hide(secret: str | list) -> None:
    """Register `secret`, so that no line shows it. Values of one or two letters are ignored."""
    if isinstance(secret, str) and len(secret) >= _LEAST and secret not in secrets():
        (_secrets if len(secret) >= SHORT else _short).append(secret)


def secrets() -> list[str]:
    """Return all secrets, also the short ones."""
    return _secrets + _short


def redact(text: str) -> str:
    """Return `text` with every registered secret replaced by `***`."""
    for secret in _secrets:
        if secret in text:
            text = text.replace(secret, "***")
    return text


def visible(text: str, keep: str = "") -> str:
    """
    Return `text` with escapes such as `\\x1b` for control characters, invisible ones, and those
    that reverse the direction of text, except for those in `keep`. For all texts that strangers
    may have written.
    """
    data = text.encode()
    if not data or (min(data) >= 0x20 and max(data) < 0x7F):
        return text
    return _shown(text, keep)


def is_plain(name: str) -> bool:
    """Is a name one short word of ASCII letters, digits, `.`, `_` and `-`?"""
    return 0 < len(name) <= _LONGEST and not name.encode().strip(_PLAIN)


def is_odd(name: str) -> bool:
    """Has a name quotes, braces, or characters that are not visible? No name may be made so."""
    return visible(name) != name or any(byte in _ODD for byte in name.encode())


def _shown(text, keep):
    # A loop over the characters would keep each of them in RAM for good.
    data = text.encode()
    kept = keep.encode()
    shown = []
    start = at = 0
    while at < len(data):
        code = data[at]
        end = at + (1 if code < 0x80 else 2 if code < 0xE0 else 3 if code < 0xF0 else 4)
        if code >= 0x80:
            code &= 0x7F >> end - at
            for byte in data[at + 1 : end]:
                code = code << 6 | byte & 0x3F
        if (code < 0x20 or code >= 0x7F) and _is_hidden(code) and data[at:end] not in kept:
            shown.append(data[start:at])
            shown.append((b"\\x%02x" if code < 256 else b"\\u%04x") % code)
            start = end
        at = end
    if not shown:
        return text
    shown.append(data[start:])
    return b"".join(shown).decode()


def _is_hidden(code):
    if code < 0x300:
        return code < 0xA0 or code == 0xAD
    if code < 0x2000:
        return code in (
            0x34F,
            0x61C,
            0x115F,
            0x1160,
            0x17B4,
            0x17B5,
            0x180B,
            0x180C,
            0x180D,
            0x180E,
        )
    if code < 0x2070:
        return 0x200B <= code <= 0x200F or 0x2028 <= code <= 0x202E or code >= 0x2060
    return (
        code in (0x3164, 0xFEFF, 0xFFA0)
        or 0xD800 <= code < 0xE000
        or 0xFFF0 <= code < 0xFFFC
        or code >= 0xE0000
    )


def uptime_s() -> float:
    """Return the seconds since the start of the program; valid until the tick counter wraps."""
    return ticks_diff(ticks_ms(), _start) / 1000


def log(area: str, text: str | Exception) -> None:
    """Print one line `time area text`, with folded line breaks, a bounded length, and invisible
    characters escaped."""
    text = visible(redact(str(text)).replace("\r", "").replace("\n", " | "))
    if len(text) > _MAX_LINE:
        text = text[:_MAX_LINE] + " ..."
    when = stamp() if stamp else "+%.1fs" % uptime_s()
    write("%8s %-9s %s" % (when, area, text))


def log_exception(what: str, error: BaseException) -> str:
    """
    Log a failure and its traceback, or the place where memory was short; return it as a clause,
    without secrets. Never raise: if memory does not suffice even for that, print one line.
    """
    gc.collect()
    try:
        clause = redact(("%s: %s" % (type(error).__name__, error)).rstrip(": "))
        log("app", "%s: %s" % (what, clause))
        out = io.StringIO()
        print_exception(error, out)
        lines = [line for line in out.getvalue().split("\n") if line.strip()]
        if isinstance(error, MemoryError):
            # A full heap is no bug, and the other calls do not explain it.
            lines = [line for line in lines if line.startswith("  File")][-1:]
        for line in lines:
            log("app", line)
        return clause
    except MemoryError:
        print("app: out of memory")
        return "MemoryError"
