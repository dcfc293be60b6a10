# tenner channels.pairing_code: makes codes that a person types.
# MIT license; Copyright (c) 2026 the tenner authors

from os import urandom

# No characters that look alike; 31 of them, so that each byte below 248 selects one without bias.
_LETTERS = "abcdefghijkmnpqrstuvwxyz2345679"


def new(length: int) -> str:
    """Return a random code of so many letters."""
    code = ""
    while len(code) < length:
        for byte in urandom(length):
            if byte < 248 and len(code) < length:
                code += _LETTERS[byte % 31]
    return code
