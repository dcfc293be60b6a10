"""The Wi-Fi switch really cuts the board off, under MicroPython and CPython alike."""

import contextlib
import socket
import threading
import time

import pytest

from tenner.port import sntp
from tenner_sim.vboard import VirtualBoard
from tenner_sim.vboard.endpoints import Endpoint, TcpEndpoint
from tenner_sim.vboard.time_server import FAULTS
from tests.bench.agent import time_server

MAIN = """
import asyncio
import machine
import network
import time

wlan = network.WLAN(network.WLAN.IF_STA)
wlan.active(True)
wlan.connect("virtual", "tenner-virtual")

async def wait_link():
    while not wlan.isconnected():
        await asyncio.sleep(0.01)

async def talk():
    try:
        reader, writer = await asyncio.open_connection(HOST, PORT)
    except OSError as exc:
        print("open failed", exc.errno)
        return
    try:
        while True:
            writer.write(b"ping\\n")
            await writer.drain()
            line = await reader.readline()
            if not line:
                print("closed")
                return
            print("got", line.decode().strip())
            await asyncio.sleep(0.02)
    except OSError as exc:
        print("cut off")
    finally:
        writer.close()

async def main():
    await wait_link()
    print("link up")
    await talk()
    await talk()
    await wait_link()
    print("link up again")
    await talk()

asyncio.run(main())
"""


class EchoServer:
    """Answers every line, on a port of its own."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rwb") as file:
            for line in file:
                file.write(line.replace(b"ping", b"pong"))
                file.flush()

    def close(self):
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def server():
    server = EchoServer()
    yield server
    server.close()


def main_py(host, port):
    return f"HOST, PORT = {host!r}, {port}\n{MAIN}".encode()


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_wifi_off_cuts_open_connections_and_names(server, runtime):
    tree = {"/main.py": main_py("localhost", server.port)}
    with VirtualBoard(tree, runtime=runtime) as board:
        board.wait_for("link up")
        board.wait_for("got pong")
        board.wait_for("got pong")
        board.wifi(False)
        board.wait_for("cut off")
        board.wait_for("open failed -202")
        board.wifi(True)
        board.wait_for("link up again")
        board.wait_for("got pong")


def test_a_number_has_no_route_without_wifi(server):
    tree = {"/main.py": main_py("127.0.0.1", server.port)}
    with VirtualBoard(tree) as board:
        board.wait_for("got pong")
        board.wifi(False)
        board.wait_for("open failed 113")


def test_nothing_is_reached_before_joining(server):
    script = (
        "import socket\n"
        "try:\n"
        f"    socket.getaddrinfo('localhost', {server.port})\n"
        "except OSError as exc:\n"
        "    print('failed', exc.errno)\n"
    )
    with VirtualBoard({"/main.py": script.encode()}) as board:
        board.wait_for("failed -202")


def test_an_unknown_name_is_not_resolved():
    with VirtualBoard({"/main.py": main_py("no-such-host.invalid", 80)}) as board:
        board.wait_for("open failed -202")


def test_a_refused_connection_ends_at_the_first_exchange():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with VirtualBoard({"/main.py": main_py("localhost", port)}) as board:
        board.wait_for("cut off")


def test_much_data_passes_whole(server):
    script = (
        "import network, socket, time\n"
        "wlan = network.WLAN()\n"
        "wlan.active(True)\n"
        "wlan.connect('virtual', 'tenner-virtual')\n"
        "while not wlan.isconnected():\n"
        "    time.sleep_ms(5)\n"
        f"address = socket.getaddrinfo('localhost', {server.port})[0][-1]\n"
        "link = socket.socket()\n"
        "link.connect(address)\n"
        "line = b'x' * 4000 + b'ping\\n'\n"
        "total = 0\n"
        "for _ in range(100):\n"
        "    link.write(line)\n"
        "    total += len(link.readline())\n"
        "print('total', total)\n"
    )
    with VirtualBoard({"/main.py": script.encode()}) as board:
        board.wait_for("total 400500")


# A slow reader of the serial line.


@pytest.fixture
def slow():
    """The board's end of a serial line, and the socket of a reader that is slow."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as reader,
    ):
        line = TcpEndpoint(server.accept()[0])
        yield line, reader
        line.close()


def read_all(reader):
    reader.setblocking(False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while True:
            data += reader.recv(65536)
    return data


def test_a_slow_reader_of_the_serial_line_loses_nothing(slow):
    line, reader = slow
    sent = bytes(range(256)) * 80000
    line.write(sent)
    assert line.full
    taken = b""
    while len(taken) < len(sent):
        line.pump()
        taken += read_all(reader)
    assert taken == sent


class Line(Endpoint):
    """A serial line whose reader takes `room` more bytes."""

    room = 0

    def attached(self):
        return True

    def _send(self, data):
        if not self.room:
            raise BlockingIOError
        sent = min(self.room, len(data))
        self.room -= sent
        return sent


def test_an_absent_reader_of_the_serial_line_is_waited_for_once():
    line = Line()
    line.PATIENCE_S = -1
    line.write(b"x")
    assert not line.waiting
    line.PATIENCE_S = 1000
    line.write(b"x")
    assert not line.waiting
    # It is back.
    line.room = 1
    line.write(b"x")
    line.write(b"x")
    assert line.waiting


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_the_agents_question_to_a_time_server(fault):
    with time_server(fault) as host:
        if fault is None:
            assert abs(sntp.ask(host) - time.time()) < 60
            return
        with pytest.raises(OSError, match="timed out" if fault == "silent" else "it "):
            sntp.ask(host)
