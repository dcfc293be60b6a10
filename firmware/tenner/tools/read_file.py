# tenner tools.read_file: a part of a text file, whatever the size of the whole.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import ToolError, as_data
from tenner.tools.paths import readable_file, relative

_DEFAULT_LIMIT = const(1000)

RESULT_CAP = 4200


def check(args, ctx):
    args["path"] = relative(ctx.workspace, readable_file(ctx, args["path"]))


async def run(args, ctx):
    path = readable_file(ctx, args["path"])
    size = files.size(path)
    start = args.get("offset", 0)
    start = max(size + start, 0) if start < 0 else start
    if start > size or (start == size and size):
        raise ToolError("%s has %d bytes: offset %d is past its end" % (args["path"], size, start))
    with open(path, "rb") as file:
        file.seek(start)
        data = file.read(args.get("limit", _DEFAULT_LIMIT))
    head = _border(data) if start else 0
    end = _whole(data)
    try:
        text = data[head:end].decode()
    except UnicodeError:
        raise ToolError("%s is not text (%d bytes)" % (args["path"], size))
    part = _part(args["path"], start + head, start + end, size)
    # A skill is there to be followed; anything else in a file is only information.
    if args["path"].startswith("skills/"):
        return "[%s]\n%s" % (part, text)
    return as_data(part, text)


def _border(data):
    """Offset of the first byte that starts a character."""
    offset = 0
    while offset < min(len(data), 3) and data[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


def _whole(data):
    """Length of `data` without a character that is cut off at its end."""
    end = len(data)
    back = end - 1
    while back >= 0 and end - back < 4 and data[back] & 0xC0 == 0x80:
        back -= 1
    if back < 0 or data[back] < 0xC0:
        return end
    width = 2 if data[back] < 0xE0 else 3 if data[back] < 0xF0 else 4
    return back if end - back < width else end


def _part(path, start, end, size):
    text = path
    if start or end < size:
        text += ", bytes %d to %d of %d" % (start, end, size)
        if end < size:
            text += "; read on with offset %d" % end
    return text
