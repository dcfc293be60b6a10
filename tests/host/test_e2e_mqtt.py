"""MQTT as a channel, over a real broker with TLS and a password."""

import ast
import contextlib
import json

import pytest

from tenner_sim.services.authority import Authority
from tenner_sim.services.telegram_files import png_size
from tests.bench.agent import readings
from tests.host.broker import Broker, Owner
from tests.host.e2e import ASK, ONE_SESSION, PSRAM, READS, SENSORS, agent_board

ALERT = (
    "# Heartbeat\n\n- (every 1s; when room.temperature > 30 reset 28; notify) Warm: "
    "{room.temperature}\n"
)
NO_TELEGRAM = {"telegram.token": None, "telegram.owner": None}


@pytest.fixture
def broker(tmp_path):
    with Broker(tmp_path, Authority()) as running:
        yield running


@contextlib.contextmanager
def board(broker, heartbeat="# Heartbeat\n", heap=PSRAM, changes=None, **options):
    """An agent whose owner is at the broker."""
    settings = {**broker.settings(), **NO_TELEGRAM, **(changes or {})}

    def roots(services):
        return {"stand-in": services.ca_der, "broker": broker.authority.der}

    with agent_board(heartbeat, changes=settings, roots=roots, heap=heap, **options) as bench:
        owner = Owner(broker)
        try:
            yield bench, owner
        finally:
            owner.close()


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_readings_alerts_and_a_conversation(broker, runtime):
    with board(broker, ALERT, runtime=runtime) as (bench, owner):
        assert owner.wait("/status") == "online"
        base = next(topic for topic, _ in owner.heard if topic.endswith("/status"))[
            : -len("/status")
        ]
        bench.board.set("room.temperature", 31.5)
        assert json.loads(owner.wait("/sensor/room", lambda text: "31.5" in text)) == {
            "temperature": 31.5
        }
        assert owner.wait("/alert").startswith("Warm: 31.5")
        state = json.loads(owner.wait("/state"))
        assert state["name"] == "tenner"
        assert state["heap_free"] > 0
        owner.publish(base + "/say", ASK)
        assert owner.wait("/answer") == READS.format(31.5)
        running = ""
        # The turn ends a moment after its answer.
        while "running: nothing" not in running:
            heard = len(owner.heard)
            owner.publish(base + "/say", "/lanes")
            running = owner.wait("/answer", lambda text: "running: " in text, after=heard)
        assert bench.told() == []


def test_home_assistant_finds_the_sensors(broker):
    with board(broker) as (_, owner):
        config = json.loads(owner.wait("_room_temperature/config"))
        assert config["unit_of_measurement"] == "°C"
        assert config["device_class"] == "temperature"
        values = json.loads(owner.wait(config["state_topic"]))
        name = config["value_template"].removeprefix("{{ value_json[").removesuffix("] }}")
        assert isinstance(values[ast.literal_eval(name)], float)
        assert owner.wait(config["availability_topic"]) == "online"


def test_a_chart_is_an_image_of_home_assistant(broker):
    files = {"/state/readings.1": readings()}
    with board(broker, files=files, changes={"sensors.every": "1d"}) as (bench, owner):
        assert owner.wait("/status") == "online"
        status = next(topic for topic, _ in owner.heard if topic.endswith("/status"))
        owner.publish(status.replace("/status", "/say"), "/chart room.temperature")
        answer = owner.wait("/answer")
        assert answer.startswith("The chart is at the broker: room.temperature, last 24 h: 15 to")
        config = json.loads(owner.wait("_chart_room_temperature" + "/config"))
        assert config["content_type"] == "image/png"
        assert config["availability_topic"] == status
        owner.wait(config["image_topic"])
        assert png_size(owner.payloads[config["image_topic"]]) == (640, 320)
        assert "Traceback" not in bench.log


def found_again(owner, heard):
    """The sensor's config is published once more; return its topic's end."""
    return json.loads(owner.wait("_room_temperature/config", after=heard))


def test_home_assistant_that_was_started_again_is_told_of_the_sensors(broker):
    with board(broker) as (_, owner):
        owner.wait("_room_temperature/config")
        owner.wait("/sensor/room")
        heard = len(owner.heard)
        owner.publish("homeassistant/status", "online")
        assert found_again(owner, heard)["device_class"] == "temperature"


def test_a_broker_that_forgot_what_was_retained_is_told_again(broker):
    with board(broker) as (_, owner):
        owner.wait("_room_temperature/config")
        owner.close()
        broker.stop()
        broker.forget()
        broker.start()
        again = Owner(broker)
        try:
            assert found_again(again, 0)["unit_of_measurement"] == "°C"
            assert again.wait("/status") == "online"
        finally:
            again.close()


def test_a_sensor_with_a_wildcard_in_its_name_does_not_end_the_connection(broker):
    named = SENSORS.replace("room", "x+y")
    files = {"/workspace/SENSORS.json": named}
    with board(broker, changes={"mqtt.topic": "attic"}, files=files) as (_, owner):
        config = json.loads(owner.wait("/config", lambda text: "x+y" in text))
        assert "temperature" in json.loads(owner.wait(config["state_topic"]))
        assert "offline" not in [text for topic, text in owner.heard if topic == "attic/status"]


def test_an_alert_goes_to_telegram_and_to_the_broker(broker):
    changes = broker.settings()

    def roots(services):
        return {"stand-in": services.ca_der, "broker": broker.authority.der}

    with agent_board(ALERT, changes=changes, roots=roots, heap=PSRAM) as bench:
        owner = Owner(broker)
        owner.wait("/status")
        bench.board.set("room.temperature", 31.5)
        assert owner.wait("/alert").startswith("Warm: 31.5")
        bench.telegram.wait_sent(1)
        assert bench.telegram.sent[0].text.startswith("Warm: 31.5")
        owner.close()


def test_telegram_and_the_broker_take_turns_with_the_only_tls_session(broker):
    """An ESP32 has memory for one: neither waits long for the other, and no task for both."""
    changes = {**broker.settings(), "mqtt.topic": "attic"}

    def roots(services):
        return {"stand-in": services.ca_der, "broker": broker.authority.der}

    with (
        agent_board(ALERT, changes=changes, roots=roots) as bench,
        contextlib.closing(Owner(broker)) as owner,
    ):
        bench.board.set("chip.idf_free", ONE_SESSION)
        bench.board.power_cycle()
        begin, heard = len(bench.log), len(owner.heard)
        assert bench.ask("say: by Telegram").startswith("by Telegram")
        assert owner.wait("attic/status", after=heard) == "online"
        owner.publish("attic/say", "say: by the broker")
        assert owner.wait("attic/answer", after=heard).startswith("by the broker")
        assert bench.ask("say: by both").startswith("by both")
        heard = len(owner.heard)
        bench.board.set("room.temperature", 31.5)
        assert owner.wait("attic/alert", after=heard).startswith("Warm: 31.5")
        bench.wait_told("Warm: 31.5")
        assert "31.5" in owner.wait("attic/sensor/room", lambda text: "31.5" in text)
        # It leaves with a word, and comes back without one: the broker has kept its place.
        assert "offline" not in [text for topic, text in owner.heard[heard:] if "status" in topic]
        log = bench.log[begin:]
        assert log.count("connected as attic") == 1, log
        assert "next try" not in log


def test_the_last_will_tells_of_a_board_that_lost_its_power(broker):
    with board(broker, changes={"mqtt.topic": "attic"}) as (bench, owner):
        assert owner.wait("attic/status") == "online"
        heard = len(owner.heard)
        bench.board.wifi(False)
        assert owner.wait("attic/status", after=heard) == "offline"
        bench.board.wifi(True)
        assert owner.wait("attic/status", lambda text: text == "online", heard) == "online"


def test_an_alert_waits_for_a_broker_that_is_away(broker):
    with board(broker, ALERT) as (bench, owner):
        owner.wait("/status")
        owner.close()
        broker.stop()
        bench.wait_for("mqtt")
        bench.board.set("room.temperature", 33.25)
        bench.wait_for(": message queued")
        broker.start()
        again = Owner(broker)
        try:
            assert again.wait("/alert").startswith("Warm: 33.25 °C")
        finally:
            again.close()


def test_what_was_retained_is_not_said_again(broker):
    owner = Owner(broker)
    owner.publish("attic/say", "say: old orders", retain=True)
    with board(broker, changes={"mqtt.topic": "attic"}) as (bench, heard):
        heard.wait("attic/status")
        owner.publish("attic/say", "say: new orders")
        assert heard.wait("attic/answer").startswith("new orders")
        assert len(bench.model.requests) == 1
    owner.close()


def test_a_write_is_approved_over_the_broker(broker):
    write = {"action": "write", "bus": "i2c0", "address": "0x48", "register": 1, "data": [96, 176]}
    with board(broker, changes={"mqtt.topic": "attic"}) as (bench, owner):
        owner.wait("attic/status")

        def decide(word):
            heard = len(owner.heard)
            owner.publish("attic/say", f"call i2c {json.dumps(write)}")
            id = owner.wait("attic/ask", after=heard).split()[-1].rstrip("?")
            owner.publish("attic/say", f"{word} {id}")
            owner.wait("attic/answer", after=heard)
            return sum(line.endswith("0160b0 P") for line in bench.board.bus_log())

        assert decide("no") == 0
        assert decide("yes") == 1


def test_a_wrong_password_is_said(broker):
    with board(broker, changes={"mqtt.password": "wrong"}) as (bench, _owner):
        bench.wait_for("not authorized")


def test_a_broker_with_the_wrong_name_is_refused(tmp_path):
    authority = Authority()

    def roots(_services):
        return {"broker": authority.der}

    with Broker(tmp_path, authority, "wrong-name") as broker:
        changes = {**broker.settings(), **NO_TELEGRAM}
        with agent_board(changes=changes, roots=roots) as bench:
            bench.wait_for("mqtt")
            bench.wait_for("certificate")


def test_nothing_is_said_to_a_broker_with_another_authority(broker):
    with agent_board(changes={**broker.settings(), **NO_TELEGRAM}) as bench:
        bench.wait_for("certificate")
        owner = Owner(broker)
        assert owner.heard == []
        owner.close()
