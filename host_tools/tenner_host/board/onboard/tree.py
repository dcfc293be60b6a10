# tenner link: reports every file below some roots with size and hash in one call; runs on the
# board. MIT license; Copyright (c) 2026 the tenner authors


def t_tree(roots):
    import binascii
    import hashlib
    import os

    def tell(name, path):
        # Twelve bytes of the hash are enough to see a change, and half as much to send.
        digest = hashlib.sha256()
        size = 0
        try:
            with open(path, "rb") as file:
                count = file.readinto(buf)
                while count:
                    digest.update(buf[:count])
                    size += count
                    count = file.readinto(buf)
            seen = binascii.b2a_base64(digest.digest()[:12]).decode().strip()
        except OSError:
            seen = "unreadable"
        lines.append("%d %s %r" % (size, seen, name))
        if len(lines) > 15:
            flush()

    def flush():
        # Few long writes: each one is a packet on USB.
        if lines:
            print("\n".join(lines))
            lines.clear()

    buf = memoryview(bytearray(1024))
    folders = []
    lines = []
    for root in roots:
        try:
            if os.stat(root)[0] & 0x4000:
                folders.append(root)
            else:
                lines.append("/ %r" % "")
                tell(root, root)
        except OSError:
            pass
    while folders:
        folder = folders.pop()
        lines.append("/ %r" % folder)
        base = folder if folder[-1] == "/" else folder + "/"
        for entry in os.ilistdir(folder):
            if entry[1] & 0x4000:
                folders.append(base + entry[0])
            else:
                tell(entry[0], base + entry[0])
    flush()


def t_info():
    import gc
    import os
    import sys

    gc.collect()
    of = sys.implementation
    space = os.statvfs("/")
    try:
        from tenner import __version__ as agent
    except Exception:
        agent = None
    try:
        # The image's own record of an agent inside: build, board and version.
        with open("/rom/tenner.build") as file:
            image = file.read()
        agent = agent or image.split()[2]
    except OSError:
        image = None
    try:
        import machine

        device = machine.unique_id()
        cause = machine.reset_cause()
    except Exception:
        device = cause = None
    try:
        from deflate import DeflateIO
    except Exception:
        DeflateIO = None
    print(
        repr(
            (
                tuple(of[1]),
                getattr(of, "_mpy", 0),
                getattr(of, "_machine", sys.platform),
                getattr(of, "_build", ""),
                sys.platform,
                agent,
                space[1] or space[0],
                space[2],
                space[3],
                gc.mem_free(),
                gc.mem_alloc(),
                device,
                cause,
                DeflateIO is not None,
                image,
            )
        )
    )
