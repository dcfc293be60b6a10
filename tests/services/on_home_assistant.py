"""Home Assistant (PyPI): its own MQTT discovery finds the agent's sensors behind mosquitto, or
passes them over with a word."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tenner_host import tenner_version
from tenner_sim.services.authority import Authority
from tests.host.broker import PASSWORD, USER, Broker, Owner
from tests.host.releases import SHORT_TRIAL, Server, code, release
from tests.host.remote_board import remote_board
from tests.services.agent import INTERPRETERS, LIMIT_S, find
from tests.services.at_broker import BrokerAgent, need_mosquitto
from tests.services.kit import home_assistant, need

PROGRAM = Path(__file__).parent / "home_assistant.py"
NAME = "Attic board"


class HomeAssistant:
    """A running one; `states` has the last of each entity, by the name that an owner sees."""

    def __init__(self, folder, broker):
        self.states = {}
        self.complaints = []
        self._changed = threading.Condition()
        self._is_set_up = None
        ca = folder / "ca.pem"
        ca.write_bytes(broker.authority.pem)
        words = [folder, broker.port, USER, PASSWORD, ca]
        with (folder / "home_assistant.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, PROGRAM, *(str(word) for word in words)],
                env={**os.environ, "PYTHONPATH": need(home_assistant), "PYTHONUTF8": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._wait(lambda: self._is_set_up, "it is not set up: " + str(folder))
        assert self._is_set_up == "loaded", self.complaints

    def _read(self):
        for line in self._process.stdout:
            told = json.loads(line)
            with self._changed:
                if "complaint" in told:
                    self.complaints.append(told["complaint"])
                elif "entity" in told:
                    self.states[told["attributes"]["friendly_name"]] = told
                else:
                    self._is_set_up = told["set_up"]
                self._changed.notify_all()

    def _wait(self, found, otherwise):
        with self._changed:
            assert self._changed.wait_for(found, LIMIT_S), f"{otherwise}; {self.complaints[-5:]}"

    def wait(self, name, holds=lambda state: state not in ("unknown", "unavailable")):
        """Wait until the entity of this name is in a state that `holds`; return the entity."""
        found = []

        def look():
            if name in self.states and holds(self.states[name]["state"]):
                # This one: the next may come before the caller looks at it.
                found.append(self.states[name])
            return found

        self._wait(look, f"{name!r} not so: {self.states.get(name, sorted(self.states))}")
        return found[0]

    def install(self, entity):
        """Press the button of an update."""
        self._process.stdin.write(entity + "\n")
        self._process.stdin.flush()

    def about(self, *words):
        """Return its complaints that contain one of these words."""
        return [one for one in self.complaints if any(word in one for word in words)]

    def close(self):
        self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(5)
        self._process.stdout.close()


#: Sensor, value, reading, and Home Assistant's state, unit and device class.
SHOWN = [
    ("room", "temperature", 21.5, "21.5", "°C", "temperature"),
    ("Küche", "temperature", -3, "-3", "°C", "temperature"),
    ("My Tank 1", "level", 40, "40", "%", None),
    ("air", "pm2.5", 8.25, "8.25", None, None),
    ("garden", "soil moisture", 33, "33", None, None),
    ("x+y", "humidity", 55.5, "55.5", "%", "humidity"),
    ("a#b", "pressure", 1013.25, "1013.25", "hPa", "pressure"),
    ("a/b", "light", 54612, "54612", "lx", "illuminance"),
    ("水", "温度", 18, "18", None, None),
    ("the cat", "voltage", 3.3, "3.3", "V", "voltage"),
    ("its", 'a "b"', 1, "1", None, None),
    ("percent", "{{ 1 }} %}", 2, "2", None, None),
    ("back", "a\\b", 3, "3", None, None),
    ("smile", "😀", 4, "4", None, None),
    ("bus", "current", 12.5, "12.5", "mA", "current"),
    ("tof", "distance", 250, "250", "mm", "distance"),
    ("greenhouse", "co2", 650, "650", "ppm", "carbon_dioxide"),
    ("radio", "rssi", -61, "-61", "dBm", "signal_strength"),
    ("chip", "internal", 48.5, "48.5", "°C", "temperature"),
    ("clock", "uptime", 86400, "86400", "s", "duration"),
    ("heap", "heap_free", 120000, "120000", "B", None),
    ("tiny", "temperature", 1e-5, "1e-05", "°C", "temperature"),
    ("large", "count", 4294967296, "4294967296", None, None),
    ("valve", "state", "wide open", "wide open", None, None),
    ("door", "open", True, "on", None, None),
    ("window", "open", False, "off", None, None),
    (NAME, "level", 5, "5", "%", None),
    ("n" * 120, "level", 6, "6", "%", None),
]


@pytest.fixture(params=INTERPRETERS, scope="module")
def python(request):
    return find(request.param)


@contextlib.contextmanager
def house(folder, python, topic="attic"):
    """A broker, Home Assistant there, and the agent, which is not started yet."""
    need_mosquitto()
    need(home_assistant)
    for name in ("broker", "home_assistant"):
        (folder / name).mkdir(parents=True)
    with Broker(folder / "broker", Authority()) as broker:
        agent = BrokerAgent(folder / "agent", python, broker, topic)
        agent.set(name=NAME)
        home = HomeAssistant(folder / "home_assistant", broker)
        try:
            yield broker, home, agent
        finally:
            home.close()


@pytest.fixture(scope="module")
def all_sensors(tmp_path_factory, python):
    """Home Assistant while an agent shows all of SHOWN."""
    with house(tmp_path_factory.mktemp("house"), python) as (_, home, agent):
        agent.show(**{sensor: {value: reads} for sensor, value, reads, *_ in SHOWN})
        with agent.serving():
            yield home


@pytest.mark.parametrize(
    ("sensor", "value", "state", "unit", "device_class"),
    [(row[0], row[1], *row[3:]) for row in SHOWN],
    ids=[ascii(f"{n}-{row[0]}-{row[1]}")[1:-1][:30] for n, row in enumerate(SHOWN)],
)
def test_homeassistant_shows_a_sensor(all_sensors, sensor, value, state, unit, device_class):
    shown = all_sensors.wait(f"{NAME} {sensor} {value}")
    attributes = shown["attributes"]
    assert shown["state"] == state
    assert attributes.get("unit_of_measurement") == unit
    assert attributes.get("device_class") == device_class
    is_number = state not in ("on", "off", "wide open")
    assert attributes.get("state_class") == ("measurement" if is_number else None)
    assert shown["device"] == {"name": NAME, "maker": "tenner", "version": tenner_version()}


def test_homeassistant_has_no_complaint(all_sensors):
    for sensor, value, *_ in SHOWN:
        all_sensors.wait(f"{NAME} {sensor} {value}")
    assert all_sensors.complaints == []


# --- comings and goings

ROOM = f"{NAME} room temperature"


@pytest.fixture
def at_home(tmp_path, python):
    """The broker, Home Assistant and an agent that measures a room's temperature, when it is
    started."""
    with house(tmp_path, python) as made:
        made[2].show(room={"temperature": 21.5})
        yield made


def test_homeassistant_shows_each_new_reading(at_home):
    _, home, agent = at_home
    with agent.serving():
        assert home.wait(ROOM)["state"] == "21.5"
        for reads in (-7.25, 0, 100):
            agent.show(room={"temperature": reads})
            home.wait(ROOM, str(reads).__eq__)
    assert home.complaints == []


def test_homeassistant_says_that_an_agent_is_away(at_home):
    _, home, agent = at_home
    for end in ("terminate", "kill"):
        with agent.serving() as process:
            home.wait(ROOM, "21.5".__eq__)
            getattr(process, end)()
            home.wait(ROOM, "unavailable".__eq__)
    assert home.complaints == []


def test_homeassistant_finds_what_a_sensor_measures_since_today(at_home):
    _, home, agent = at_home
    with agent.serving():
        home.wait(ROOM)
        agent.show(room={"temperature": 21.5, "humidity": 48}, door={"open": True})
        assert home.wait(f"{NAME} room humidity")["state"] == "48"
        assert home.wait(f"{NAME} door open")["entity"].startswith("binary_sensor.")
    assert home.complaints == []


def test_homeassistant_shows_that_a_value_is_not_known(at_home):
    _, home, agent = at_home
    with agent.serving():
        home.wait(ROOM)
        agent.show(room={"temperature": None})
        home.wait(ROOM, "unknown".__eq__)
        agent.show(room={"temperature": 3})
        home.wait(ROOM, "3".__eq__)
    assert home.complaints == []


def test_homeassistant_that_is_started_again_finds_the_sensors_at_a_forgetful_broker(
    at_home, tmp_path
):
    broker, home, agent = at_home
    with agent.serving():
        home.wait(ROOM)
        home.close()
        # Nothing is retained any more, so it depends on the agent's birth messages.
        owner = Owner(broker)
        for topic in {topic for topic, text in owner.heard if text}:
            owner.publish(topic, "", retain=True)
        owner.close()
        folder = tmp_path / "another_home_assistant"
        folder.mkdir()
        another = HomeAssistant(folder, broker)
        try:
            assert another.wait(ROOM)["attributes"]["device_class"] == "temperature"
            assert another.complaints == []
        finally:
            another.close()


@pytest.mark.parametrize("forgets", [True, False], ids=["forgets", "remembers"])
def test_homeassistant_and_the_agent_meet_again_at_a_broker_that_was_away(at_home, forgets):
    broker, home, agent = at_home
    with agent.serving():
        home.wait(ROOM)
        broker.stop()
        home.wait(ROOM, "unavailable".__eq__)
        if forgets:
            broker.forget()
        agent.show(room={"temperature": 19})
        broker.start()
        home.wait(ROOM, "19".__eq__)
    assert [one for one in home.complaints if "MQTT server" not in one] == []


def test_homeassistant_passes_over_what_is_told_to_it_elsewhere(at_home):
    """It does complain of wrong messages, such as those of others."""
    broker, home, agent = at_home
    owner = Owner(broker)
    for place, config in (
        ("Küche", {"state_topic": "a"}),
        ("a", {"state_topic": "a\x01b"}),
        ("b", {"state_topic": "b", "device_class": "level"}),
    ):
        owner.publish(f"homeassistant/sensor/{place}/config", json.dumps(config), retain=True)
    with agent.serving():
        home.wait(ROOM)
    owner.close()
    assert len(home.about("illegal discovery topic")) == 1
    assert len(home.about("control characters")) == 1
    assert len(home.about("SensorDeviceClass")) == 1


# --- a newer version

UPDATE = "tenner update"
OFFERED = r"Version 0.9.0 is there, \d+ KB, in place of .*: Tested."


def test_homeassistant_offers_an_update_which_the_owner_allows_on_telegram(tmp_path):
    need_mosquitto()
    need(home_assistant)
    for name in ("broker", "home_assistant"):
        (tmp_path / name).mkdir()
    with (
        Server(release(code("0.9.0", SHORT_TRIAL))) as server,
        Broker(tmp_path / "broker", Authority(), more="log_type all\n") as broker,
        contextlib.ExitStack() as stack,
    ):
        home = HomeAssistant(tmp_path / "home_assistant", broker)
        stack.callback(home.close)
        changes = {"update.url": server.url, "update.check": True}
        bench = stack.enter_context(remote_board(broker, changes=changes))
        shown = home.wait(UPDATE, "on".__eq__)
        assert shown["entity"].startswith("update.")
        attributes = shown["attributes"]
        assert attributes["installed_version"] == tenner_version()
        assert attributes["latest_version"] == "0.9.0"
        assert attributes["title"] == "tenner"
        assert re.fullmatch(OFFERED, attributes["release_summary"])
        # The question of the daily look, and that of the button.
        answer(bench, 1, "Deny")
        home.install(shown["entity"])
        answer(bench, 2, "Allow")
        shown = home.wait(UPDATE, "off".__eq__)
        assert shown["attributes"]["installed_version"] == "0.9.0"
        bench.wait_told("I run version 0.9.0 now", timeout_s=60)
        assert home.complaints == []


def answer(bench, count, button):
    """Press a button below the question of that number about the offered version."""
    bench.wait_told(OFFERED, count=count)
    question = [one for one in bench.telegram.sent if re.match(OFFERED, one.text)][count - 1]
    data = {one["text"]: one["callback_data"] for one in question.buttons}
    bench.telegram.press(question, data[button])


def test_homeassistant_has_no_button_where_no_telegram_can_ask(tmp_path):
    need_mosquitto()
    need(home_assistant)
    for name in ("broker", "home_assistant"):
        (tmp_path / name).mkdir()
    with (
        Server(release(code("0.9.0", SHORT_TRIAL))) as server,
        Broker(tmp_path / "broker", Authority(), more="log_type all\n") as broker,
        contextlib.ExitStack() as stack,
    ):
        home = HomeAssistant(tmp_path / "home_assistant", broker)
        stack.callback(home.close)
        changes = {"update.url": server.url, "telegram.token": None}
        stack.enter_context(remote_board(broker, changes=changes))
        # Without a look at update.url there is no newer version.
        shown = home.wait(UPDATE, "off".__eq__)
        assert shown["attributes"]["supported_features"] & 1 == 0
        # The same message of somebody at the broker does nothing either.
        owner = Owner(broker)
        owner.publish("attic/say", "/update 0.9.0")
        owner.wait("attic/answer", lambda text: "Everybody at the broker could send this" in text)
        owner.close()
        assert server.requests == []
        assert home.complaints == []
