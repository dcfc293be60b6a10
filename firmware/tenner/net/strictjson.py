# tenner net.strictjson: small JSON texts of models and owners, by the interpreter's own parser.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.net.jsonin import Scanner


def loads(text):
    """Return the value of a JSON text; ValueError("line 1: expected ...") if it is none."""
    try:
        # MicroPython's parser takes nearly anything for JSON, so another looks at the form first.
        scanner = Scanner(lambda path, value, more: None)
        scanner.feed(text.encode())
        scanner.end()
        if "\\ud" not in text.lower():  # a surrogate pair, which it does not join
            return json.loads(text)
    except ValueError:
        pass
    # Rare, and 5 KB: this one says what is wrong in which line.
    from tenner.store import jsontext

    return jsontext.loads(text)
