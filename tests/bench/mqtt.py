"""The heap of a turn while MQTT is connected, to a real mosquitto on this machine."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench import heap
from tests.bench.agent import IN_ANSWER, PATIENCE_S, QUESTION, Died, agent
from tests.bench.rows import NotMeasured
from tests.ports import free_port

_PATH = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
#: Short enough that some readings are published during the turn.
_EVERY = "1s"
_TURNS = 2


@contextlib.contextmanager
def broker() -> Iterator[tuple[int, Path]]:
    """A mosquitto on a loopback port, without TLS, which on a chip takes no part of Python's heap;
    yields its port and log."""
    program = shutil.which("mosquitto", path=_PATH)
    if program is None:
        raise NotMeasured("there is no mosquitto here: apt install mosquitto")
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        conf, log = Path(folder, "mosquitto.conf"), Path(folder, "mosquitto.log")
        conf.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_type all\n")
        with log.open("wb") as output:
            process = subprocess.Popen([program, "-c", conf], stderr=output)
        try:
            wait_text(log, "running", process)
            yield port, log
        finally:
            process.terminate()
            process.wait(10)


def wait_text(log: Path, text: str, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until the broker has logged a text."""
    end = time.monotonic() + PATIENCE_S
    while text not in log.read_text(errors="replace"):
        if time.monotonic() > end or (process and process.poll() is not None):
            raise Died(f"mosquitto did not say {text!r}: {log.read_text()[-200:]}")
        time.sleep(0.05)  # another program writes it


def settings(port: int) -> dict[str, object]:
    """An agent's settings for the broker at a port."""
    return {"mqtt": {"host": "127.0.0.1", "port": port, "tls": False, "every": _EVERY}}


def turn(heap_kb: int) -> None:
    """Turns of a person on Telegram while the agent is connected to a broker; Died when one does
    not fit."""
    with broker() as (port, log):
        with agent(heap_kb, settings=settings(port)) as running:
            running.idle()
            for _ in range(_TURNS):
                try:
                    wait_text(log, "Received PUBLISH")
                except Died as exc:
                    raise Died(f"{exc}; {running.last()}") from exc
                running.ask(QUESTION, IN_ANSWER)
            if "disconnect" in log.read_text(errors="replace"):
                raise Died(f"the broker lost the agent; {running.last()}")


def turn_min_kb() -> float:
    return heap.smallest_kb(turn)
