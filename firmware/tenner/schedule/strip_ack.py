# tenner schedule.strip_ack: takes HEARTBEAT_OK, which means silence, from a heartbeat's reply.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`HEARTBEAT_OK` as the entire reply is silence, with any markup. Beside other text only a leading
or trailing one is taken off: a real alert is never swallowed.
"""

from tenner.llm import dialects
from tenner.port.compat import const

#: A job whose message names it may have nothing to report.
SILENCE = const("HEARTBEAT_OK")
# Dressing that may be glued to the token; a minus sign or a bracket belongs to the alert.
_GLUED = "*_`~\"'.!,;:…“”‘’«»"
_TAGS = " b i u p s em strong code pre div span br "
_REASONING = ("think", "thinking", "thought", "reasoning", "analysis", "scratchpad")


def unusable(reply: str, value: str | None = None) -> str | None:
    """
    Return why a reply does not tell the owner of an alarm or a job, None if it does. `value`: that
    of the alarm, which makes a text beside HEARTBEAT_OK one about it.
    """
    text = reply.strip()
    low = text.lower()
    if low[:1] == "<":
        name = low[1:].split(">")[0].split()[:1]
        if name and name[0] in _REASONING:
            closing = low.rfind("</" + name[0])
            if closing < 0 or not _says_something(text[closing:].partition(">")[2]):
                return "it sent no text but its reasoning"
    if not _says_something(text):
        return "it sent no text"
    words = low.replace("_", "").replace("-", "").replace(" ", "").replace("\\", "")
    if "heartbeatok" in words and not (value and value in text):
        return "it answered that there was nothing to report"
    if (text[-1] in ")}]`" or "<" in text or "[" in text) and dialects.is_call(text):
        return "it wrote a tool call as text"
    return None


def in_capitals(reply: str) -> str:
    """Return a reply with the token in capitals, for models that write it in small letters."""
    low = reply.lower()
    at = low.find(SILENCE.lower()) if len(low) == len(reply) else -1
    while at >= 0:
        reply = reply[:at] + SILENCE + reply[at + len(SILENCE) :]
        at = low.find(SILENCE.lower(), at + 1)
    return reply


def strip_ack(reply: str, ack_max_chars: int = 0) -> str | None:
    """Return the text to send to the owner, or None for silence."""
    text = reply.strip()
    found = False
    pieces = _pieces(text)
    while len(pieces) > 1:
        if not _says_something(pieces[0]):
            pieces[:2] = [_after(pieces[1])]
        elif not _says_something(pieces[-1]):
            pieces[-2:] = [_before(pieces[-2])]
        else:
            break
        found = True
    text = SILENCE.join(pieces)
    if not text or (found and (not _says_something(text) or len(text) <= ack_max_chars)):
        return None
    return text


def _pieces(text):
    """Return the text around the tokens that are separate words, as a list."""
    first, *rest = text.split(SILENCE)
    pieces = [first]
    for piece in rest:
        # Underscores around it are Markdown, unless they join it to a longer word.
        before, after = pieces[-1].rstrip("_")[-1:], piece.lstrip("_")[:1]
        if (before and _is_word(before)) or (after and _is_word(after)):
            pieces[-1] += SILENCE + piece
        else:
            pieces.append(piece)
    return pieces


def _is_word(char):
    """Return whether the character is a letter or digit of any script (MicroPython has no
    unicodedata)."""
    code = ord(char)
    if code < 128:
        return "0" <= char <= "9" or "a" <= char.lower() <= "z"
    # Not punctuation, arrows, symbols and dingbats, halves of an emoji that nobody joined,
    # variation selectors and full-width stops, emoji.
    return (
        0xC0 <= code < 0x2000
        or 0x2C00 <= code < 0x3000
        or 0x3040 <= code < 0xD800
        or 0xE000 <= code < 0xFE00
        or 0xFF10 <= code < 0x1F000
    )


def _says_something(text):
    """Return whether the text has more than white space, markup, punctuation and emoji."""
    line, newline, rest = text.partition("\n")
    if newline and line[:3] == "```" and " " not in line:
        # The language named behind a fence says nothing.
        text = rest
    for part in text.replace("&nbsp;", "").split("<"):
        name, closing, after = part.partition(">")
        if closing and " %s " % name.strip("/ ").lower() in _TAGS:
            part = after
        if any(_is_word(char) for char in part):
            return True
    return False


def _after(text):
    """Return the text after a leading token, without the token's markup."""
    while text:
        end = text.find(">") + 1
        if text[:2] != "</" or not end:
            if text[0] not in _GLUED:
                break
            end = 1
        text = text[end:]
    text = text.lstrip(" ")
    # A dash on the token's own line joins the two; one on the next line begins a list.
    return (text[2:] if text[:2] in ("- ", "– ", "— ") else text).strip()


def _before(text):
    """Return the text before a trailing token, without the marks that opened the token."""
    while True:
        text = text.rstrip()
        start = max(text.rfind(" "), text.rfind("\n"), text.rfind("<") - 1) + 1
        tail = text[start:]
        # Only marks that stand alone; `97%*` closes something earlier.
        if not tail or (tail[0] == "<" and tail[1:2] == "/") or _says_something(tail):
            return text
        if tail[0] != "<" and tail.strip("*_`~\"'“‘«-–—>+"):
            return text
        text = text[:start]
