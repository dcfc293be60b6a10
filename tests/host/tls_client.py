# tenner tests: one request over TLS, on the interpreter that runs this file.
# MIT license; Copyright (c) 2026 the tenner authors
"""
CERTS URL SECRET [LINES [BUNDLE]]: sends LINES numbered lines and the secret; prints one line of
JSON, {"status": .., "body": ..} or {"error": .., "class": .., "sentence": .., "sent": ..}.
"""

import asyncio
import json
import sys

from tenner.llm.failure import failed
from tenner.net import tls
from tenner.net.http import Http
from tenner.port.linux.certs import each


class Candidate:
    model = "m"
    base_url = "https://localhost"
    api_key = ""


async def main(certs, url, secret, lines=0, bundle=None):
    async def consume(response):
        return {"status": response.status, "body": await response.read_text(100)}

    def body():
        for number in range(int(lines)):
            yield b"%09d\n" % number * 70
        yield secret.encode()

    http = Http(lambda: tls.context(certs, lambda trust: each(trust, [bundle])))
    try:
        headers = [("Authorization", secret)]
        result = await http.exchange("POST", url, headers, body, consume, 120)
    except (OSError, EOFError, ValueError) as error:
        result = {
            "error": type(error).__name__,
            "class": failed(Candidate, error, 20).kind,
            "sentence": tls.explain(error),
            "sent": http.is_sent,
        }
    await http.close()
    print(json.dumps(result))


asyncio.run(main(*sys.argv[1:]))
