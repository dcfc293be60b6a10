# tenner tests: an HTTP server in the same loop, which answers exactly the bytes a test says.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import os


class Peer:
    """
    `answers` is a list of answers, one for each request in turn: bytes, a list of bytes sent one
    by one, or a function that returns one of these. CLOSE among the pieces closes the connection,
    STALL keeps it open and silent.
    """

    CLOSE = None
    STALL = 0

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []  # (head, body)
        self.connections = 0
        self.writers = []
        self.open = 0  # connections the client has not closed
        self.closed = asyncio.Event()

    async def start(self):
        for _ in range(50):
            self.port = 20000 + int.from_bytes(os.urandom(2), "big") % 40000
            try:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
                break
            except OSError:
                continue
        self.url = "http://127.0.0.1:%d" % self.port
        return self

    async def stop(self):
        """Wait until the client has closed every connection."""
        self._server.close()
        while self.open:
            self.closed.clear()
            await asyncio.wait_for(self.closed.wait(), 10)

    async def _serve(self, reader, writer):
        self.connections += 1
        self.writers.append(writer)
        self.open += 1
        if hasattr(writer, "s"):
            # TCP_NODELAY, as CPython's streams set it: an answer in pieces would take 40 ms for
            # each.
            writer.s.setsockopt(6, 1, 1)
        try:
            while await self._request(reader, writer):
                pass
        except (OSError, EOFError):
            pass  # the client left in the middle, as some tests want
        finally:
            self.open -= 1
            writer.close()
            if hasattr(writer, "aclose"):  # MicroPython, where close() does nothing
                await writer.wait_closed()
            self.closed.set()

    async def _request(self, reader, writer):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = await reader.readline()
            if not line:
                return False
            head += line
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = b""
        while length:
            piece = await reader.read(min(length, 4096))
            if not piece:
                return False
            length -= len(piece)
            if len(body) < 65536:
                body += piece
        self.requests.append((head, body))
        answer = self.answers.pop(0) if self.answers else Peer.CLOSE
        if callable(answer):
            answer = answer()
        for piece in answer if isinstance(answer, list) else [answer]:
            if piece is Peer.CLOSE:
                return False
            if piece == Peer.STALL:
                await reader.read(1)
                return False
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        return True


def reply(body, status=b"200 OK", headers=b""):
    """An answer with a Content-Length."""
    return b"".join(
        (b"HTTP/1.1 ", status, b"\r\nContent-Length: %d\r\n" % len(body), headers, b"\r\n", body)
    )
