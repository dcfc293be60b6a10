# tenner tests: signs releases with a key for tests, on every interpreter.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The same format as tenner_host/release/release.py, written by hand: test_release.py has the host's
own.
"""

import os
from binascii import hexlify
from hashlib import sha256

from support import remove_tree, temp_folder
from tenner.update import manifest

# A product of Mersenne primes, which everybody can factor: no private key is in these files.
EXPONENTS = (1279, 607, 107, 31, 19, 5)
E = 65537


def make_key():
    """Return the modulus and the private exponent of the key for tests."""
    modulus = totient = 1
    for exponent in EXPONENTS:
        modulus *= 2**exponent - 1
        totient *= 2**exponent - 2
    # The factor that makes 1 + factor * totient divisible by E, which is prime.
    factor = -pow(totient % E, E - 2, E) % E
    return modulus, (1 + factor * totient) // E


NUMBER, PRIVATE = make_key()
MODULUS = "%x" % NUMBER
KEY = "rsa " + MODULUS + "\n"
PREFIX = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
FILES = (("app.mpy", b"M\x06" + b"new" * 9000), ("port/x.mpy", b"M\x06x"), ("z.tsv", b"z\n"))


def block(digest, prefix=PREFIX, size=256):
    """The block that PKCS#1 v1.5 has signed: 00 01 FF ... FF 00 prefix digest."""
    padding = b"\xff" * (size - 3 - len(prefix) - len(digest))
    return b"\x00\x01" + padding + b"\x00" + prefix + digest


def raw_sign(data):
    """Apply the private key to a block."""
    number = pow(int.from_bytes(data, "big"), PRIVATE, NUMBER)
    return number.to_bytes(256, "big")


def sign(lines, key=MODULUS):
    """Return signed lines with their signature."""
    signed = raw_sign(block(sha256(lines).digest()))
    return (
        lines + ("signature %s %s\n" % (manifest.key_id(key), hexlify(signed).decode())).encode()
    )


def line_of(path, data):
    return "file %d %s %s" % (len(data), hexlify(sha256(data).digest()).decode(), path)


def lines(files=FILES, extra=(), **fields):
    """Return the lines of a manifest; `from_` stands for `from`."""
    values = {
        "version": "0.9.0",
        "family": "esp32",
        "mpy": "6",
        "start": "1",
        "from_": "0.1.0",
        "migrates": "nothing",
        "notes": "Tested.",
    }
    values.update(fields)
    found = ["tenner-release 1"]
    for name in ("version", "family", "mpy", "start", "from_", "migrates", "notes"):
        found.append("%s %s" % (name.rstrip("_"), values[name]))
    found += [line_of(path, data) for path, data in files]
    return "".join(["%s\n" % line for line in found + list(extra)]).encode()


def content(files=FILES):
    return b"".join([data for _, data in files])


class Board:
    """The root folder of a board with these keys; `with Board() as root`."""

    def __init__(self, keys=KEY):
        self.keys = keys

    def __enter__(self):
        self.root = temp_folder()
        os.mkdir(self.root + "/lib")
        if self.keys is not None:
            with open(self.root + "/lib/release.keys", "w") as file:
                file.write(self.keys)
        return self.root

    def __exit__(self, *error):
        remove_tree(self.root)
