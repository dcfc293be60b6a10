"""The agent of this repository with a broker: sensors with the values of a test, and a record of
its messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.host.broker import Broker, find_mosquitto
from tests.services.agent import Agent
from tests.services.kit import need, program

DRIVER = "async def read(port, cfg):\n    return cfg['values']\n"


def need_mosquitto() -> None:
    """The test is skipped, or fails, where there is no mosquitto or no client for it."""
    need(program, "mosquitto")
    find_mosquitto()


class BrokerAgent(Agent):
    """The agent with its settings for a broker."""

    def __init__(self, root: Path, python: tuple[str, ...], broker: Broker, topic: str) -> None:
        root.mkdir(parents=True, exist_ok=True)
        super().__init__(root, python)
        self.trust("broker", broker.authority.der)
        self.write("drivers/told.py", DRIVER)
        self.write("HEARTBEAT.md", "# Heartbeat\n")
        of_broker = {key.partition(".")[2]: value for key, value in broker.settings().items()}
        self.set(mqtt={**of_broker, "topic": topic}, console={"enabled": False})

    def show(self, **sensors: dict[str, Any]) -> None:
        """From now on the sensors show these values; `show(room={"temperature": 21.5})`."""
        table = {name: {"driver": "told", "values": values} for name, values in sensors.items()}
        self.write("SENSORS.json", json.dumps(table, ensure_ascii=False))
