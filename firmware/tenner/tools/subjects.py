# tenner tools.subjects: the texts for the owner's rules of a tool.
# MIT license; Copyright (c) 2026 the tenner authors


def with_places(action: str, *places: str) -> list[str]:
    """Return an action, each place, and each place after the action: "read", "i2c0:0x48", "read
    i2c0:0x48"."""
    found = [action]
    for place in places:
        found += [place, "%s %s" % (action, place)]
    return found
