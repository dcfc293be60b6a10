# tenner test support: Telegram's judgment of our HTML and of our cuts.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Written against the Bot API's documentation, not against the code under test, and somewhat
stricter: empty tags, a bare `&` or `>` and code inside other marks are refused too. Runs on every
interpreter.
"""

TAGS = ("b", "i", "u", "s", "a", "code", "pre", "blockquote")
ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))


class Refused(Exception):
    """A text that the server would answer with 400, or that we do not want to send."""


def to_html(text):
    """Return Markdown as the HTML that is sent."""
    from tenner.channels.telegram import markup

    return b"".join(markup.pieces(markup.clean(text))).decode()


def utf16_units(text):
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def visible(html):
    """Return the text of a message's HTML; Refused when its entities are not valid."""
    out = []
    stack = []  # [tag, length of the text before it]
    at = 0
    while at < len(html):
        char = html[at]
        if char == "<":
            end = html.find(">", at)
            if end < 0:
                raise Refused("unclosed tag at %d in %r" % (at, html))
            _tag(html[at + 1 : end], stack, len(out), html)
            at = end + 1
        elif char == "&":
            for escape, meaning in ESCAPES:
                if html.startswith(escape, at):
                    out.append(meaning)
                    at += len(escape)
                    break
            else:
                raise Refused("bare & at %d in %r" % (at, html))
        elif char == ">":
            raise Refused("bare > at %d in %r" % (at, html))
        else:
            out.append(char)
            at += 1
    if stack:
        raise Refused("unclosed <%s> in %r" % (stack[-1][0], html))
    return "".join(out)


def _tag(tag, stack, length, html):
    if tag[:1] == "/":
        if not stack or stack[-1][0] != tag[1:]:
            raise Refused("unexpected <%s> in %r" % (tag, html))
        opened = stack.pop()
        if opened[1] == length and opened[0] not in ("pre", "code", "blockquote"):
            raise Refused("empty <%s> in %r" % (opened[0], html))
        return
    space = tag.find(" ")
    name = tag if space < 0 else tag[:space]
    rest = "" if space < 0 else tag[space + 1 :]
    if name not in TAGS:
        raise Refused("unsupported tag <%s> in %r" % (tag, html))
    if name == "a":
        if not (rest.startswith('href="') and rest.find('"', 6) == len(rest) - 1):
            raise Refused("bad link <%s> in %r" % (tag, html))
    elif name == "code" and rest:
        if not (rest.startswith('class="language-') and stack and stack[-1][0] == "pre"):
            raise Refused("bad attribute <%s> in %r" % (tag, html))
    elif rest:
        raise Refused("bad attribute <%s> in %r" % (tag, html))
    inside = [opened[0] for opened in stack]
    if name in inside:
        raise Refused("<%s> inside itself in %r" % (name, html))
    if "code" in inside or ("pre" in inside and name != "code"):
        raise Refused("<%s> inside code in %r" % (name, html))
    if name in ("code", "pre") and [t for t in inside if t not in ("pre", "blockquote")]:
        raise Refused("<%s> inside <%s> in %r" % (name, inside[-1], html))
    if name == "blockquote" and inside:
        raise Refused("blockquote inside <%s> in %r" % (inside[-1], html))
    stack.append((name, length))


def split_problem(text, limit, parts):
    """Return the mistake in `parts` as a cut of `text`, or None."""
    # No message can carry these.
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    for part in parts:
        if utf16_units(part) > limit:
            return "%d units, the limit is %d: %r" % (utf16_units(part), limit, part)
        if not part.strip(" \t\r\n\x0b\x0c"):
            return "a part without text"
        if len(parts) > 1 and part is not parts[-1] and open_fence(part):
            return "a code fence is cut open: %r" % part
    if not _joins(text, 0, parts, 0, set()):
        return "the parts joined are not the text: %r" % (parts,)
    return None


def open_fence(text):
    """Return the line that opens the code fence left open at the end of `text`, or ""."""
    opener = ""
    for line in text.split("\n"):
        bare = line.strip()
        if opener:
            mark = opener[:3]
            if bare.startswith(mark) and not bare.strip(mark[0]) and len(bare) >= _run(opener):
                opener = ""
        elif bare[:3] in ("```", "~~~") and len(bare.encode()) <= 64:
            if bare[0] == "~" or "`" not in bare[_run(bare) :]:
                opener = bare
    return opener


def _run(line):
    return len(line) - len(line.lstrip(line[0]))


def _joins(text, at, parts, number, tried):
    """Are parts[number:] the text from `at` on, but for white space and fences closed and
    reopened?"""
    if number == len(parts):
        return not text[at:].strip(" \t\r\n\x0b\x0c")
    if (at, number) in tried:  # in vain; without this, white space makes it exponential
        return False
    tried.add((at, number))
    part = parts[number]
    heads = [part]
    if number and part[:3] in ("```", "~~~"):
        newline = part.find("\n")
        heads.append(part[newline + 1 :] if newline >= 0 else "")
    for head in heads:
        bodies = [head]
        tail = head.rfind("\n")
        if tail >= 0 and head[tail + 1 :].strip("`") in ("", "~~~"):
            bodies.append(head[:tail])
        for body in bodies:
            start = at
            while True:
                if body and text.startswith(body, start):
                    if _joins(text, start + len(body), parts, number + 1, tried):
                        return True
                if start >= len(text) or text[start] not in " \t\r\n\x0b\x0c":
                    break
                start += 1
    return False
