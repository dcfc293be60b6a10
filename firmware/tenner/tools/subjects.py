# tenner tools.subjects: what the owner's rules for a tool are compared with.
# MIT license; Copyright (c) 2026 the tenner authors


def with_places(action, *places):
    """Return an action, each place, and each place behind the action: "read", "i2c0:0x48", "read i2c0:0x48"."""
    found = [action]
    for place in places:
        found += [place, "%s %s" % (action, place)]
    return found
