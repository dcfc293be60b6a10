# tenner tests: signs releases with a fixed key, on every interpreter.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The same format as tenner_host/release/release.py, written by hand: test_release.py has the host's
own. The key is for tests only.
"""

import os
from binascii import hexlify
from hashlib import sha256

from support import remove_tree, temp_folder
from tenner.update import signature

MODULUS = (
    "c5f9a801cad090047894d5cacd83ac38297d4a14d6330bb747581060761d7e7b9c80c57d69d70a79a7109975"
    "dca7d4f27cce103b0e1d58324dc1e4fbfd32c6351ca3cbaf703dfeae4b0d4ff8108333587792a528b4d49818"
    "5e88843c5e70d6efbc2599bdd0c497f25a863bbbea9a04b16cd294737e78ac15ebb7615e63b0ec9ef9200d9b"
    "b9126f173266de7d27ea4bd728081c46686adf6f17ea55962752a4602902da34ca847c076721cf3a3116de50"
    "6cedf42786c6ab20ad3889cae69d364d49d07b500d0cdd5eefe529c6a43d2b30131514b869fb88f9f5d6cae8"
    "7d716cf36f8c4cef67bb3c00b95b9ca81423072fb64b30a7d84b99e26d04e08209858f23"
)
PRIVATE = (
    "1df64341862edb64f9d4d8a8594320c8dd2a9b901cbcdbfc907d18f96856dd621ad4f84e9b3a92d8c77a8127"
    "2fce6cb18846ed78ea91715c279d7d28cff0a3c3bd02631cb999805663806fc664c55e7b7899468aab1773af"
    "587b43bc1934edaa99a87d24979871409a07afb9a86f47df8c4f306d6c4a1a0d353feb2a0c5f65e8031cb4d6"
    "2f495d7f9be9e485272bb24986d87b6e020c5afe2d0070781a84e9d925623e05505619bafe67906040f6377e"
    "4091ecde1b3f44970a070ec2160ff9eb9302dc239dab5c9aab951dd1dc1966fa93c7b08c2bb88f8997993f0c"
    "d1e542553a6f73e0839eef7e7ab0da4ff3c747a68034f415a0370b3857e8475ae349d6f5"
)
KEY = "rsa " + MODULUS + "\n"
PREFIX = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
FILES = (("app.mpy", b"M\x06" + b"new" * 9000), ("port/x.mpy", b"M\x06x"), ("z.tsv", b"z\n"))


def block(digest, prefix=PREFIX, size=256):
    """The block that PKCS#1 v1.5 has signed: 00 01 FF ... FF 00 prefix digest."""
    padding = b"\xff" * (size - 3 - len(prefix) - len(digest))
    return b"\x00\x01" + padding + b"\x00" + prefix + digest


def raw_sign(data):
    """Apply the private key to a block."""
    number = pow(int.from_bytes(data, "big"), int(PRIVATE, 16), int(MODULUS, 16))
    return number.to_bytes(256, "big")


def sign(lines, key=MODULUS):
    """Return signed lines with their signature."""
    signed = raw_sign(block(sha256(lines).digest()))
    return (
        lines + ("signature %s %s\n" % (signature.key_id(key), hexlify(signed).decode())).encode()
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
