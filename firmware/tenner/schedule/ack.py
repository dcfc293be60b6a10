# tenner schedule.ack: what of a heartbeat's reply is for the owner, and what means silence.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`HEARTBEAT_OK` as the whole reply is silence, whatever wraps it. Beside other text only a
leading or trailing one is taken off: a real alert is never swallowed.
"""

TOKEN = "HEARTBEAT_OK"

# Dressing that may be glued to the token; a minus sign or a bracket belongs to the alert.
_GLUED = "*_`~\"'.!,;:…“”‘’«»"
_TAGS = (
    " a b i u s p em strong code pre tt br div span small blockquote html body li ul ol "
    "h1 h2 h3 h4 h5 h6 "
)


def deliver(reply, ack_max_chars=0):
    """The text to send to the owner, or None for silence."""
    text = reply.strip()
    found = False
    while True:
        span = _next_token(text, 0)
        if span is None:
            break
        if not _says_something(text[: span[0]]):
            text = _after(text, span)
        else:
            later = span
            while later is not None:
                span = later
                later = _next_token(text, span[1])
            if _says_something(text[span[1] :]):
                break
            text = _before(text, span)
        found = True
    if not text or (found and (not _says_something(text) or len(text) <= ack_max_chars)):
        return None
    return text


def _next_token(text, at):
    """(start, end) of the next token that stands alone, repetitions included, or None."""
    while True:
        start = text.find(TOKEN, at)
        if start < 0:
            return None
        end = start + len(TOKEN)
        while text[end : end + len(TOKEN)] == TOKEN:
            end += len(TOKEN)
        # Underscores round it are Markdown, unless they join it to a longer word.
        left, right = start, end
        while left and text[left - 1] == "_":
            left -= 1
        while text[right : right + 1] == "_":
            right += 1
        if not (left and _is_word(text[left - 1])) and not _is_word(text[right : right + 1]):
            return start, end
        at = end


def _is_word(char):
    """Whether the character is a letter or digit of any script (there is no unicodedata)."""
    if not char:
        return False
    code = ord(char)
    if code < 128:
        return "0" <= char <= "9" or "a" <= char.lower() <= "z"
    return not (
        code < 0xC0
        or 0x2000 <= code < 0x2C00  # punctuation, arrows, symbols, dingbats
        or 0x3000 <= code < 0x3040
        or 0xD800 <= code < 0xE000  # halves of an emoji that nobody joined
        or 0xFE00 <= code < 0xFE10  # variation selectors
        or code in (0xFF01, 0xFF0C, 0xFF0E, 0xFF1A)
        or 0x1F000 <= code < 0x1FC00  # emoji
        or code >= 0xE0000
    )


def _tag_end(text, at):
    """Index after the HTML tag or entity that begins at `at`, or 0."""
    if text[at] == "&":
        end = text.find(";", at, at + 8)
        return end + 1 if end > 0 else 0
    end = text.find(">", at, at + 80)
    if text[at] != "<" or end < 0:
        return 0
    name = text[at + 1 : end].strip("/ ").split(" ")[0].lower()
    return end + 1 if name and " " + name + " " in _TAGS else 0


def _says_something(text):
    """Whether anything is left beside white space, markup, punctuation and emoji."""
    at = 0
    while at < len(text):
        if text[at] in "<&":
            end = _tag_end(text, at)
            if end:
                at = end
                continue
        elif text[at : at + 3] == "```":
            # The language named behind a fence says nothing.
            at += 3
            while text[at : at + 1].isalpha():
                at += 1
            continue
        if _is_word(text[at]):
            return True
        at += 1
    return False


def _after(text, span):
    """What follows a leading token."""
    fenced = text[: span[0]].lstrip().startswith("```")
    at = span[1]
    while at < len(text):
        end = _tag_end(text, at) if text[at : at + 2] == "</" else 0
        if not end and text[at] not in _GLUED:
            break
        at = end or at + 1
    text = text[at:].lstrip(" ")
    # A dash on the token's own line joins the two; one on the next line begins a list.
    if text[:2] in ("- ", "– ", "— "):
        text = text[2:]
    text = text.strip()
    if fenced and text.endswith("```") and text.count("```") == 1:
        text = text[:-3].rstrip()
    return text


def _before(text, span):
    """What stands before a trailing token."""
    fenced = "```" in text[span[1] :]
    text = text[: span[0]].rstrip()
    while True:
        open_tag = text.rfind("<")
        if open_tag >= 0 and text[open_tag + 1 : open_tag + 2] != "/":
            if _tag_end(text, open_tag) == len(text):
                text = text[:open_tag].rstrip()
                continue
        last = text.rfind("\n") + 1
        # Only marks that stand alone opened the token; `97%*` closes something earlier.
        tail = text[max(last, text.rfind(" ") + 1) :]
        if tail and not tail.strip("*_`~\"'“‘«-–—>+"):
            text = text[: len(text) - len(tail)].rstrip()
            if tail == "```":
                fenced = False
            continue
        break
    if fenced and text.count("```") % 2:
        text += "\n```"
    return text
