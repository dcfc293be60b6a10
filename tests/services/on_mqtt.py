"""mosquitto: a broker that disconnects a client at its first mistake, and keeps retained
messages."""

import json
import re
import signal

import paho.mqtt.client as paho
import pytest

from tenner_host import ROOT
from tenner_sim.services.authority import Authority
from tests.host.broker import OWNER_USER, PASSWORD, USER, Broker, Owner
from tests.ports import free_port
from tests.services.agent import INTERPRETERS, find
from tests.services.at_broker import BrokerAgent, need_mosquitto

TOPIC = "attic"
#: Mosquitto 2's words for a client that it disconnects.
THROWN_OUT = ("protocol error", "malformed", "Bad socket", "invalid")


@pytest.fixture(params=INTERPRETERS, scope="module")
def python(request):
    return find(request.param)


@pytest.fixture
def authority():
    return Authority()


@pytest.fixture
def started(tmp_path, authority):
    """Start a broker with some lines of settings more."""
    need_mosquitto()
    brokers = []

    def start(more="", certificate="right"):
        folder = tmp_path / "broker"
        folder.mkdir()
        brokers.append(Broker(folder, authority, certificate, more))
        return brokers[0].start()

    yield start
    for broker in brokers:
        broker.stop()


@pytest.fixture
def broker(started):
    return started()


@pytest.fixture
def agent(tmp_path, python, broker):
    made = BrokerAgent(tmp_path / "agent", python, broker, TOPIC)
    made.show(room={"temperature": 21.5})
    return made


@pytest.fixture
def owner(broker):
    made = Owner(broker)
    yield made
    made.close()


def is_answered(owner):
    """The connection is alive: a command has an answer."""
    heard = len(owner.heard)
    owner.publish(f"{TOPIC}/say", "/lanes")
    assert "running" in owner.wait(f"{TOPIC}/answer", lambda text: "running" in text, heard)


def statuses(owner):
    return [text for topic, text in owner.heard if topic == f"{TOPIC}/status"]


def assert_not_thrown_out(broker):
    assert [
        line for line in broker.log.splitlines() if any(one in line for one in THROWN_OUT)
    ] == []


def test_mosquitto_what_is_to_be_kept_is_kept(agent, broker, owner):
    with agent.serving():
        owner.wait(f"{TOPIC}/sensor/room")
        later = Owner(broker, [f"{TOPIC}/#"])
        state = json.loads(later.wait(f"{TOPIC}/state"))
        assert state["name"] == "tenner" and state["heap_free"] >= 0
        assert json.loads(later.wait(f"{TOPIC}/sensor/room")) == {"temperature": 21.5}
        assert later.wait(f"{TOPIC}/status") == "online"
        later.close()
        assert_not_thrown_out(broker)


def test_mosquitto_a_reading_that_changes_is_published(agent, owner):
    with agent.serving():
        owner.wait(f"{TOPIC}/sensor/room", lambda text: "21.5" in text)
        agent.show(room={"temperature": -3.25})
        owner.wait(f"{TOPIC}/sensor/room", lambda text: "-3.25" in text)


def test_mosquitto_a_command_is_answered(agent, owner):
    with agent.serving():
        owner.wait(f"{TOPIC}/status")
        is_answered(owner)
        owner.publish(f"{TOPIC}/say", "/nonsense-küche-水")
        assert "/nonsense-küche-水" in owner.wait(f"{TOPIC}/answer", lambda text: "küche" in text)


def test_mosquitto_an_alert_arrives(agent, owner):
    agent.write(
        "HEARTBEAT.md",
        (
            "# Heartbeat\n\n- (every 1s; when room.temperature > 30 reset 28; notify) Warm: "
            "{room.temperature}\n"
        ),
    )
    with agent.serving():
        owner.wait(f"{TOPIC}/sensor/room")
        agent.show(room={"temperature": 31.5})
        assert owner.wait(f"{TOPIC}/alert").startswith("Warm: 31.5")


def test_mosquitto_what_was_said_while_away_is_kept_for_it(agent, broker, owner):
    with agent.serving():
        owner.wait(f"{TOPIC}/status", lambda text: text == "online")
        is_answered(owner)
    heard = len(owner.heard)
    owner.publish(f"{TOPIC}/say", "/nonsense-while-away")
    with agent.serving():
        owner.wait(f"{TOPIC}/answer", lambda text: "/nonsense-while-away" in text, heard)


def test_mosquitto_an_old_order_that_was_retained_is_not_carried_out(agent, broker, owner):
    owner.publish(f"{TOPIC}/say", "/nonsense-of-old", retain=True)
    with agent.serving():
        owner.wait(f"{TOPIC}/status")
        is_answered(owner)
    assert not any("of-old" in text for topic, text in owner.heard if topic.endswith("/answer"))
    later = Owner(broker, [f"{TOPIC}/#"])
    later.wait(f"{TOPIC}/state")
    assert [text for topic, text in later.heard if topic.endswith("/say")] == []
    later.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_mosquitto_the_last_will_tells_of_an_agent_that_ended(agent, owner, number):
    with agent.serving() as process:
        owner.wait(f"{TOPIC}/status", lambda text: text == "online")
        heard = len(owner.heard)
        process.send_signal(number)
        owner.wait(f"{TOPIC}/status", lambda text: text == "offline", heard)


@pytest.mark.parametrize("forgets", [True, False], ids=["forgets", "remembers"])
def test_mosquitto_a_broker_that_is_started_again_is_told_again(agent, broker, owner, forgets):
    with agent.serving():
        owner.wait("_room_temperature/config")
        owner.wait(f"{TOPIC}/sensor/room")
        owner.close()
        broker.stop()
        if forgets:
            broker.forget()
        agent.show(room={"temperature": 7.75})
        broker.start()
        again = Owner(broker)
        assert json.loads(again.wait("_room_temperature/config"))["device_class"] == "temperature"
        again.wait(f"{TOPIC}/sensor/room", lambda text: "7.75" in text)
        again.wait(f"{TOPIC}/status", lambda text: text == "online")
        is_answered(again)
        again.close()


def test_mosquitto_another_client_with_its_name_takes_its_place_for_a_moment_only(
    agent, broker, owner
):
    with agent.serving():
        owner.wait(f"{TOPIC}/status", lambda text: text == "online")
        intruder = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=TOPIC)
        intruder.username_pw_set(USER, PASSWORD)
        intruder.tls_set_context(broker.authority.client_context())
        heard = len(owner.heard)
        intruder.connect("localhost", broker.port)
        # Without a loop it does not come back, unlike two agents with one name.
        owner.wait(f"{TOPIC}/status", lambda text: text == "offline", heard)
        owner.wait(f"{TOPIC}/status", lambda text: text == "online", heard)
        is_answered(owner)


@pytest.mark.parametrize(
    "name",
    [
        "x+y",
        "a#b",
        "#",
        "Küche",
        "水温",
        "😀",
        "a/b",
        "/",
        "$SYS",
        "\ufffe",
        "\ufdd0",
        "My Tank 1",
        "n" * 200,
    ],
    ids=ascii,
)
def test_mosquitto_no_name_of_a_sensor_ends_the_connection(agent, broker, owner, name):
    agent.show(**{name: {"temperature": 12.5}})
    with agent.serving():
        config = json.loads(owner.wait("/config", lambda text: '"value_template"' in text))
        shown = json.loads(owner.wait(config["state_topic"]))
        assert shown == {"temperature": 12.5}
        is_answered(owner)
        assert statuses(owner) == ["online"]
        assert_not_thrown_out(broker)


@pytest.mark.parametrize(
    "name", ["tab\tand\nline", "\x7f", "\x01", "\x85", 'a "b"', "it's", "{{ 1 }}"], ids=ascii
)
def test_mosquitto_a_name_like_an_order_keeps_no_other_sensor_back(agent, broker, owner, name):
    agent.show(**{name: {"level": 1}, "room": {"level": 4}})
    with agent.serving():
        assert json.loads(owner.wait(f"{TOPIC}/sensor/room")) == {"level": 4}
        is_answered(owner)
        assert_not_thrown_out(broker)
    assert not [topic for topic, _ in owner.heard if "/sensor/" in topic and "room" not in topic]


def test_mosquitto_a_sensor_that_fails_does_not_keep_the_others_back(agent, owner):
    agent.write(
        "SENSORS.json",
        json.dumps(
            {
                "a": {"driver": "tmp102", "bus": "i2c77", "address": "0x48"},
                "b": {"driver": "told", "values": {"level": 4}},
            }
        ),
    )
    with agent.serving():
        assert json.loads(owner.wait(f"{TOPIC}/sensor/b")) == {"level": 4}
        agent.wait_log("i2c77")


def test_mosquitto_a_message_that_is_too_long_is_said_to_be(agent, owner):
    with agent.serving():
        owner.wait(f"{TOPIC}/status")
        owner.publish(f"{TOPIC}/say", "x" * 5000)
        assert "4096 bytes" in owner.wait(f"{TOPIC}/answer")
        is_answered(owner)


def test_mosquitto_a_message_that_is_no_text_is_dropped(agent, broker):
    owner = Owner(broker, [f"{TOPIC}/answer", f"{TOPIC}/status"])
    with agent.serving():
        owner.wait(f"{TOPIC}/status")
        owner.publish(f"{TOPIC}/say", b"\xff\xfe\x00")
        owner.publish(f"{TOPIC}/say", b"")
        is_answered(owner)
        agent.wait_log("not text")
    owner.close()


def test_mosquitto_many_messages_at_once_are_answered_or_refused(agent, owner):
    with agent.serving():
        owner.wait(f"{TOPIC}/status")
        for number in range(12):
            owner.publish(f"{TOPIC}/say", f"/nonsense{number}")

        def answers(_):
            return sum(topic == f"{TOPIC}/answer" for topic, _ in owner.heard) == 12

        owner.wait(f"{TOPIC}/answer", answers)
        texts = [text for topic, text in owner.heard if topic == f"{TOPIC}/answer"]
        refused = [text for text in texts if text.startswith("Too much is waiting")]
        answered = {text for text in texts if "/nonsense" in text}
        assert len(answered) + len(refused) == 12
        assert len(answered) >= 4
        is_answered(owner)


# --- other settings of an owner


def test_mosquitto_the_access_list_of_the_documentation_is_enough(started, tmp_path, python):
    page = (ROOT / "docs" / "home-assistant.md").read_text()
    (rules,) = re.findall(r"```\n(user attic\n.*?)```", page, re.DOTALL)
    rules = rules.replace("user attic", f"user {USER}")
    acl = tmp_path / "acl"
    acl.write_text(f"user {OWNER_USER}\ntopic readwrite #\n\n{rules}")
    broker = started(f"acl_file {acl}\n")
    agent = BrokerAgent(tmp_path / "agent", python, broker, "tenner/attic")
    agent.show(room={"temperature": 21.5})
    owner = Owner(broker, user=OWNER_USER)
    with agent.serving():
        owner.wait("_room_temperature/config")
        owner.wait("tenner/attic/sensor/room")
        owner.publish("tenner/attic/say", "/lanes")
        assert "running" in owner.wait("tenner/attic/answer")
        heard = len(owner.heard)
        owner.publish("homeassistant/status", "online")
        owner.wait("_room_temperature/config", after=heard)
        assert "Denied" not in broker.log
    owner.close()


def test_mosquitto_an_access_list_without_home_assistant_costs_nothing_else(
    started, tmp_path, python
):
    acl = tmp_path / "acl"
    acl.write_text(
        f"user {OWNER_USER}\ntopic readwrite #\n\nuser {USER}\ntopic readwrite {TOPIC}/#\n"
    )
    broker = started(f"acl_file {acl}\n")
    agent = BrokerAgent(tmp_path / "agent", python, broker, TOPIC)
    agent.show(room={"temperature": 21.5})
    owner = Owner(broker, user=OWNER_USER)
    with agent.serving():
        owner.wait(f"{TOPIC}/sensor/room")
        is_answered(owner)
        assert not any(topic.startswith("homeassistant/") for topic, _ in owner.heard)
    owner.close()


def test_mosquitto_without_tls_and_without_a_password(started, tmp_path, python):
    broker = started(f"allow_anonymous true\nlistener {(plain := free_port())} 127.0.0.1\n")
    agent = BrokerAgent(tmp_path / "agent", python, broker, TOPIC)
    agent.show(room={"temperature": 21.5})
    agent.set(mqtt={"host": "127.0.0.1", "port": plain, "tls": False, "user": "", "password": ""})
    owner = Owner(broker)
    with agent.serving():
        owner.wait(f"{TOPIC}/sensor/room")
        is_answered(owner)
    owner.close()


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"password": "wrong"}, "not authorized"),
        ({"user": "", "password": ""}, "not authorized"),
        ({"user": "nobody"}, "not authorized"),
        ({"tls": False}, "mqtt.tls may not fit mqtt.port"),
    ],
    ids=["password", "nobody-named", "unknown-name", "no-tls"],
)
def test_mosquitto_a_client_that_it_refuses_is_told_why(agent, section, said):
    agent.set(mqtt=section)
    with agent.serving():
        line = agent.wait_log("mqtt", said)
    assert "next try in" in line
    assert "Traceback" not in agent.log
    assert PASSWORD not in agent.log


@pytest.mark.parametrize("kind", ["wrong-name", "expired", "other-ca"])
def test_mosquitto_one_that_is_somebody_else_is_told_nothing(started, tmp_path, python, kind):
    broker = started(certificate=kind)
    agent = BrokerAgent(tmp_path / "agent", python, broker, TOPIC)
    with agent.serving():
        agent.wait_log("mqtt", "certificate")
    assert " as attic" not in broker.log
    assert PASSWORD not in agent.log


@pytest.mark.parametrize("topic", ["attic/", "/attic", "a b/Küche", "水/😀"])
def test_mosquitto_a_topic_of_the_owner_works(agent, broker, owner, topic):
    agent.set(mqtt={"topic": topic})
    with agent.serving():
        owner.wait(f"{topic}/sensor/room")
        owner.publish(f"{topic}/say", "/lanes")
        assert "running" in owner.wait(f"{topic}/answer")
        assert_not_thrown_out(broker)


@pytest.mark.parametrize("topic", ["attic/#", "a+b", "$SYS/attic", "a\tb"], ids=ascii)
def test_mosquitto_a_topic_that_it_would_hang_up_on_is_said_to_be_wrong(agent, broker, topic):
    agent.set(mqtt={"topic": topic})
    with agent.serving() as process:
        line = agent.wait_log("mqtt.topic must be ")
        # It goes on with the topic that it has by default.
        agent.wait_log("mqtt      connected")
        assert process.poll() is None
    assert "Traceback" not in agent.log
    assert json.dumps(topic) in line
