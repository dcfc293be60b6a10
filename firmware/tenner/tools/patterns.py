# tenner tools.patterns: the texts for the owner's rules of a tool, and their patterns.
# MIT license; Copyright (c) 2026 the tenner authors


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern with `*` (inside a name) and `**` (anything) matches the entire
    `text`."""
    head, star, rest = pattern.partition("*")
    if not star:
        return pattern == text
    if not text.startswith(head):
        return False
    deep = rest[:1] == "*"
    for end in range(len(head), len(text) + 1):
        if matches(rest[1:] if deep else rest, text[end:]):
            return True
        if not deep and text[end : end + 1] == "/":
            return False
    return False


def with_places(action: str, *places: str) -> list[str]:
    """Return an action, each place, and each place after the action: "read", "i2c0:0x48", "read
    i2c0:0x48"."""
    found = [action]
    for place in places:
        found += [place, "%s %s" % (action, place)]
    return found
