# tenner link: writes, reads and removes many files in one call; runs on the board.
# MIT license; Copyright (c) 2026 the tenner authors
#
# What comes is text, so that Ctrl-C stops it at any time: a line `KIND LINES SHA256 PATH` (the path as
# base64) and that many lines of base64, each answered by a plus sign, as no more than the two lines a
# serial buffer holds may be on their way. The end of a frame is answered by k when it is in the file
# system, and until then nothing else is sent: a chip that writes to its flash may lose what comes meanwhile.


def t_put(size):
    import binascii
    import hashlib
    import os
    import sys

    line = sys.stdin.readline
    say = sys.stdout.write
    buf = memoryview(bytearray(size))
    part = memoryview(bytearray(512))
    file = digest = path = None
    try:
        while True:
            kind, lines, seen, name = line().split(" ")
            say("+")
            if kind == "Q":
                return
            count = 0
            for _ in range(int(lines)):
                data = binascii.a2b_base64(line())
                buf[count : count + len(data)] = data
                count += len(data)
                say("+")
            if name != "-\n":
                path = binascii.a2b_base64(name).decode()
                file = t_open(path + ".tmp")
                digest = hashlib.sha256()
            if kind == "z":
                import io

                import deflate

                source = deflate.DeflateIO(io.BytesIO(buf[:count]), deflate.RAW, 12)
                count = source.readinto(part)
                while count:
                    file.write(part[:count])
                    count = source.readinto(part)
            elif count:
                file.write(buf[:count])
            if seen != "-":
                file.close()
                file = None
                with open(path + ".tmp", "rb") as written:
                    count = written.readinto(part)
                    while count:
                        digest.update(part[:count])
                        count = written.readinto(part)
                if binascii.hexlify(digest.digest()).decode() != seen:
                    os.remove(path + ".tmp")
                    raise ValueError("garbled on the way")
                os.rename(path + ".tmp", path)
            wdt = globals().get("t_wdt")
            if wdt:
                wdt.feed()
            say("k")
    finally:
        if file:
            file.close()
            os.remove(path + ".tmp")


def t_open(path):
    try:
        return open(path, "wb")
    except OSError:
        t_folder(path[: path.rfind("/")])
        return open(path, "wb")


def t_folder(path):
    import os

    at = 0
    while at >= 0:
        at = path.find("/", at + 1)
        try:
            os.mkdir(path if at < 0 else path[:at])
        except OSError:
            pass


def t_get(paths):
    import binascii
    import hashlib

    buf = memoryview(bytearray(768))
    for path in paths:
        digest = hashlib.sha256()
        try:
            with open(path, "rb") as file:
                count = file.readinto(buf)
                while count:
                    digest.update(buf[:count])
                    print(binascii.b2a_base64(buf[:count]).decode(), end="")
                    count = file.readinto(buf)
            print("=", binascii.hexlify(digest.digest()).decode())
        except OSError as error:
            print("!", error)


def t_remove(paths):
    import os

    for path in paths:
        try:
            os.remove(path)
        except OSError:
            try:
                os.rmdir(path)
            except OSError as error:
                print(repr((path, str(error))))
