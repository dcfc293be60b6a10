# tenner link: writes, reads and removes many files in one call; runs on the board.
# MIT license; Copyright (c) 2026 the tenner authors
#
# A frame is a line `KIND FILES BYTES`, then a line `SIZE SHA256 PATH` for each file or part of a
# file in it. Then so many bytes of their content follow, deflated when KIND is z. PATH (base64) is
# a dash in a later part of a file, SHA256 in each part but the last. Ctrl-C never occurs in the
# bytes, so it stops this at any time: 0x10 0x43 stands for 0x03, and 0x10 0x50 for 0x10. The board
# answers each line, and each 120 bytes, with a plus sign: at most two may be under way, as much as
# a serial buffer holds. It answers the frame with k once the file system has it. Until then the
# sender waits: a chip that writes to its flash may lose incoming bytes.

try:
    from deflate import RAW, DeflateIO
except ImportError:
    DeflateIO = None


def t_put(size, staged):
    import binascii
    import hashlib
    import io
    import os
    import sys

    line = sys.stdin.readline
    take = sys.stdin.buffer.readinto
    say = sys.stdout.write
    buf = memoryview(bytearray(size))
    part = memoryview(bytearray(512))
    file = path = None
    ending = "" if staged else ".tenner.tmp"
    try:
        while True:
            kind, files, total = line().split()
            say("+")
            if kind == "Q":
                return
            entries = []
            for _ in range(int(files)):
                entries.append(line().split())
                say("+")
            total = int(total)
            at = 0
            while at < total:
                end = min(at + 120, total)
                while at < end:
                    at += take(buf[at:end])
                say("+")
            data = bytes(buf[:total]).replace(b"\x10\x43", b"\x03").replace(b"\x10\x50", b"\x10")
            source = io.BytesIO(data)
            if kind == "z":
                source = DeflateIO(source, RAW, 12)
            for left, seen, name in entries:
                left = int(left)
                if name != "-":
                    path = binascii.a2b_base64(name).decode()
                    file = t_open(path + ending)
                while left:
                    try:
                        count = source.readinto(part[: min(left, 512)])
                    except OSError:
                        count = 0
                    if not count:
                        raise ValueError("garbled on the way")
                    file.write(part[:count])
                    left -= count
                if seen != "-":
                    file.close()
                    file = None
                    digest = hashlib.sha256()
                    with open(path + ending, "rb") as written:
                        count = written.readinto(part)
                        while count:
                            digest.update(part[:count])
                            count = written.readinto(part)
                    if binascii.b2a_base64(digest.digest()).decode().strip() != seen:
                        os.remove(path + ending)
                        raise ValueError("garbled on the way")
                    if ending:
                        os.rename(path + ending, path)
            wdt = globals().get("t_wdt")
            if wdt:
                wdt.feed()
            say("k")
    finally:
        if file:
            file.close()
            os.remove(path + ending)


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
