"""Strangers in front of a page: connections by hand, odd requests, and wrong codes."""

import collections
import contextlib
import json
import socket
import threading

from tenner_sim import LIMIT_S

#: Whole heads, without the body that they promise.
HEADS = {
    "pair": b"POST /api/v1/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n",
    "chat": b"POST /api/v1/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n",
    "sealed": b"POST /sealed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1500\r\n\r\n",
    "pipelined": b"GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3,
}
#: Requests, and the statuses of their answers.
ODD = [
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500) + b"\r\n\r\n", 400),
    (b"A" * 20000, 431),
    (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000, 431),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (b"GET /\x00 HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    (b"GET / HTTP/1.1\r\n\r\n", 421),
    (b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    (b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
]


@contextlib.contextmanager
def connections(home, texts):
    with contextlib.ExitStack() as stack:
        made = []
        for text in texts:
            one = socket.create_connection(("127.0.0.1", home.port), timeout=LIMIT_S)
            stack.enter_context(one)
            with contextlib.suppress(OSError):
                one.sendall(text)
            made.append(one)
        yield made


@contextlib.contextmanager
def flood(home, head, address="127.0.0.2", a_second=200, kept=60):
    """Strangers at another address who connect without end, send a head and stay; the oldest leave
    when there are `kept`. Yields the number of those that connected, in a list."""
    over = threading.Event()
    count = [0]

    def come():
        made = collections.deque()
        while not over.wait(1 / a_second):
            with contextlib.suppress(OSError):
                made.append(socket.create_connection(("127.0.0.1", home.port), 1, (address, 0)))
                count[0] += 1
                made[-1].sendall(head)
            if len(made) > kept:
                made.popleft().close()
        for one in made:
            one.close()

    coming = threading.Thread(target=come)
    coming.start()
    try:
        yield count
    finally:
        over.set()
        coming.join()


def answer_of(connection):
    """The head and the JSON of the one answer on a connection."""
    data = b""
    while b"}" not in data:
        block = connection.recv(4096)
        assert block, data
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    return head.decode(), json.loads(body)


def check_odd_answer(head, body, *statuses):
    assert int(head.split(" ")[1]) in statuses, head
    assert set(body) == {"error"}


def check_wrong_codes(guesser, code, count):
    """So many wrong codes are slowed down by the server of a page, and let the right one in."""
    statuses = [guesser("POST", "/pair", {"code": "aaaaaaaaaa"}).status for _ in range(count)]
    assert statuses == [403] * 5 + [429] * (count - 5)
    answer = guesser("POST", "/pair", {"code": "aaaaaaaaaa"})
    assert answer.status == 429 and 1 <= int(answer.headers["retry-after"]) <= 12
    assert guesser("POST", "/pair", {"code": code}).status == 200
