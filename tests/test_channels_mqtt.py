# The messages about sensors to a broker and Home Assistant: topics, names, and when.
import asyncio
import json
import sys
import unittest

from support import cancelled, run
from tenner.agent.message_queue import Queue
from tenner.channels.mqtt import channel, discovery, readings
from tenner.channels.question import Question

#: Of Home Assistant's source, components/mqtt/discovery.py: TOPIC_MATCHER allows these in an
#: object id.
OBJECT_ID = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#: Of mosquitto's source, lib/utf8_mosq.c: a client with one of these in a topic is disconnected.
NO_LETTERS = (
    set(range(0x20)) | set(range(0x7F, 0xA0)) | set(range(0xFDD0, 0xFDF0)) | {0xFFFE, 0xFFFF}
)


class Sensors:
    def __init__(self, values):
        self.values = values

    def names(self):
        return sorted(self.values)

    async def read(self, name):
        return self.values[name]

    def unit(self, value):
        return {"temperature": "\u00b0C", "pm2.5": "\u00b5g/m\u00b3"}.get(value, "")


class Mqtt:
    """The channel as `readings` uses it; keeps the published messages, by topic."""

    id = "a1b2"
    base = "tenner/a1b2"
    port = None

    def __init__(self, values, refuse=""):
        self.sensors = Sensors(values)
        self.announced = []
        self.published = []
        self.refuse = refuse
        self.config = self.port = self

    def get(self, name):
        settings = {"name": "attic", "mqtt.discovery": "homeassistant"}
        return self.sensors if name == "sensors" else settings[name]

    def memory(self):
        return 1000, 2000

    def mono_s(self):
        return 5

    async def publish(self, topic, payload, retain=False):
        return await self.publish_at(self.base + "/" + topic, payload, retain)

    async def publish_at(self, topic, payload, retain=False):
        refused = [one for one in topic if one in "+#" or ord(one) in NO_LETTERS]
        assert not refused, "the broker would end the connection"
        if self.refuse and self.refuse in topic:
            return False
        self.published.append((topic, json.loads(payload)))
        return True

    def configs(self):
        return [(at, config) for at, config in self.published if at.endswith("/config")]


def told(values):
    """Return the messages published for these sensors."""
    mqtt = Mqtt(values)
    run(readings.publish(mqtt))
    return mqtt


class TestDiscovery(unittest.TestCase):
    def test_names_that_home_assistant_would_pass_over(self):
        for name, value in (
            ("K\u00fcche", "temperature"),
            ("My Tank 1", "level"),
            ("soil moisture", "soil moisture"),
            ("air", "pm2.5"),
            ("x+y", "temperature"),
            ("a\tb\x7f\ufdd0\ufffe", "temperature"),
            ("a#b", "temperature"),
            ("\u6c34", "\u6e29\u5ea6"),
            ("it's", 'a "b"'),
            ("back", "a'b\\c\n"),
            ("smile", "\U0001f600"),
        ):
            mqtt = told({name: {value: 21.5}})
            ((topic, config),) = mqtt.configs()
            prefix, component, object_id, last = topic.split("/")
            self.assertEqual((prefix, component, last), ("homeassistant", "sensor", "config"))
            self.assertEqual([one for one in object_id if one not in OBJECT_ID], [])
            self.assertEqual(config["name"], "%s %s" % (name, value))
            # Its values are where the config says, under the name that its template asks for.
            shown = dict(mqtt.published)[config["state_topic"]]
            template = config["value_template"]
            self.assertEqual((template[:14], template[-4:]), ("{{ value_json[", "] }}"))
            self.assertEqual(shown[eval(template[14:-4])], 21.5)

    def test_no_two_names_share_a_topic(self):
        names = ["a b", "a_b", "a+b", "a#b", "a.b", "\u00e4b", "\u00f6b"]
        mqtt = told({name: {"temperature": 1} for name in names})
        topics = [topic for topic, _ in mqtt.published]
        self.assertEqual(len(topics), 1 + 2 * len(names))
        self.assertEqual(len(set(topics)), len(topics))

    def test_plain_names_stay_as_they_are(self):
        mqtt = told({"room": {"temperature": 21.5}})
        self.assertEqual(
            [topic for topic, _ in mqtt.published],
            [
                "tenner/a1b2/state",
                "homeassistant/sensor/a1b2_room_temperature/config",
                "tenner/a1b2/sensor/room",
            ],
        )

    def test_what_is_no_number_is_announced_as_what_it_is(self):
        mqtt = told({"door": {"open": True, "text": "wide open", "angle": 90}})
        configs = {topic.split("/")[1]: config for topic, config in mqtt.configs()}
        topics = [topic for topic, _ in mqtt.configs()]
        self.assertEqual(
            [topic.split("/")[1] for topic in topics], ["sensor", "binary_sensor", "sensor"]
        )
        self.assertTrue("'ON' if" in configs["binary_sensor"]["value_template"])
        by_name = {config["name"]: config for _, config in mqtt.configs()}
        self.assertEqual(by_name["door angle"]["state_class"], "measurement")
        # Of a text Home Assistant wants neither a class nor a unit.
        self.assertFalse("state_class" in by_name["door text"])

    def test_a_sensor_with_other_values_is_announced_again(self):
        mqtt = told({"room": {"temperature": 21.5}})
        for values in ({"temperature": 22}, {"temperature": 22, "humidity": 40}):
            mqtt.published.clear()
            mqtt.sensors.values["room"] = values
            run(readings.publish(mqtt))
            self.assertEqual(len(mqtt.configs()), 2 if "humidity" in values else 0)

    def test_what_the_broker_did_not_take_is_announced_again(self):
        mqtt = Mqtt({"room": {"temperature": 21.5}}, "/config")
        run(readings.publish(mqtt))
        self.assertEqual((mqtt.announced, mqtt.configs()), ([], []))
        mqtt.refuse = ""
        for _ in range(2):
            run(readings.publish(mqtt))
        self.assertEqual(len(mqtt.configs()), 1)


class TestSlug(unittest.TestCase):
    def test_it_is_stable(self):
        # Another one would be another entity, and its history lost.
        self.assertEqual(
            discovery.slug("a1b2_K\u00fcche_temperature"), "a1b2_K_che_temperature_c61c"
        )
        self.assertEqual(discovery.topic("x+y"), "sensor/x_y_d40b")


class Client:
    """The library's client, and the broker behind it; `refused` is the topic nobody may read."""

    refused = None
    made = []

    def __init__(self, socket, **options):
        Client.made.append(self)
        self.subscribed = []
        self.published = []
        self.state = "connected"
        self.last_error = None

    def connect(self):
        self.on_connect()

    def disconnect(self):
        self.state = "closed"

    def handle(self, now):
        pass

    def io_interest(self, now):
        return 0

    def publish(self, topic, payload, **options):
        self.published.append(topic)

    def subscribe(self, topic, qos=0, on_subscribe=None):
        if topic == Client.refused:
            self.state = "failed"
            self.last_error = "SUBACK rejection (packet_id 2)"
            return
        self.subscribed.append(topic)
        if on_subscribe:
            on_subscribe(topic, qos)


class ProtocolState:
    FAILED = "failed"


class Library:
    """In the place of its two modules."""

    MQTTClient = Client
    ProtocolState = ProtocolState


class Config:
    values = {
        "mqtt.topic": "attic",
        "mqtt.host": "broker",
        "mqtt.port": 1883,
        "mqtt.discovery": "homeassistant",
    }

    def get(self, key):
        return self.values.get(key)


class Port:
    def device_id(self):
        return b"\xa1\xb2"


class Socket:
    is_closed = False

    def close(self):
        self.is_closed = True


class TestSession(unittest.TestCase):
    def setUp(self):
        library = Library()
        kept = {name: sys.modules.get(name) for name in ("chumicro_mqtt", "chumicro_mqtt.client")}
        self.addCleanup(self.restore, kept, channel.RawSocket)
        sys.modules.update({"chumicro_mqtt": library, "chumicro_mqtt.client": library})
        self.sockets = []
        channel.RawSocket = self.connect
        Client.made.clear()
        Client.refused = None
        self.inbound = Queue(2)
        self.mqtt = channel.Mqtt(
            Config(), Port(), None, self.inbound, None, lambda: None, lambda: 5
        )

    def restore(self, kept, raw_socket):
        channel.RawSocket = raw_socket
        for name in kept:
            del sys.modules[name]
            if kept[name]:
                sys.modules[name] = kept[name]

    def connect(self, host, port, tls):
        self.sockets.append(Socket())
        return self.sockets[-1]

    def session(self, act):
        """Run `act()` once there is a connection."""

        async def scene():
            service = asyncio.create_task(self.mqtt.run())
            while not self.mqtt.is_connected():
                await asyncio.sleep(0.01)
            act()
            await cancelled(service)

        run(scene())

    def take(self, topic, payload):
        Client.made[-1].on_message(topic, payload)

    def test_what_it_listens_to(self):
        self.mqtt.announced.append("room")

        def act():
            # A new connection may be to a broker that has forgotten everything.
            self.assertEqual(self.mqtt.announced, [])
            self.mqtt.announced.append("room")
            self.take("homeassistant/status", b"offline")
            self.assertEqual(self.mqtt.announced, ["room"])
            self.take("homeassistant/status", b"online")
            self.assertEqual((self.mqtt.announced, len(self.inbound)), ([], 0))
            self.take("attic/say", b"hello")

        self.session(act)
        self.assertEqual(Client.made[0].subscribed, ["attic/say", "homeassistant/status"])
        self.assertEqual(run(self.inbound.get()).text, "hello")

    def test_it_says_goodbye_only_when_it_comes_back(self):
        """The broker publishes the last will of a client that went without a word."""

        async def scene():
            service = asyncio.create_task(self.mqtt.run())
            while not self.mqtt.is_connected():
                await asyncio.sleep(0.01)
            await self.mqtt.give_way(False)
            while len(Client.made) < 2 or not self.mqtt.is_connected():
                await asyncio.sleep(0.01)
            await cancelled(service)

        run(asyncio.wait_for(scene(), 10))
        self.assertEqual([one.state for one in Client.made], ["closed", "connected"])
        self.assertEqual([one.is_closed for one in self.sockets], [False, True])

    def test_another_topic_is_somebody_elses(self):
        """A broker remembers subscriptions made under other settings, and may send unexpected
        topics."""
        question = Question("open the door")
        self.mqtt._questions[question.id] = question

        def act():
            self.take("old/topic", b"yes " + question.id.encode())
            self.assertIsNone(question.answer)
            self.take("attic/say/\x1b[2J", b"/reset")

        self.session(act)
        for topic, text in (("old/topic", "yes " + question.id), ("attic/say/\\x1b[2J", "/reset")):
            message = run(self.inbound.get())
            self.assertEqual(message.text, "(of the topic %s)\n%s" % (topic, text))
            self.assertFalse(message.by_owner)
        self.session(lambda: self.take("attic/say", b"yes " + question.id.encode()))
        self.assertTrue(question.answer)
        self.session(lambda: self.take("attic/say", b"hello"))
        self.assertTrue(run(self.inbound.get()).by_owner)

    def test_a_broker_that_keeps_home_assistants_birth_to_itself(self):
        Client.refused = "homeassistant/status"

        async def scene():
            service = asyncio.create_task(self.mqtt.run())
            while len(Client.made) < 2 or not self.mqtt.is_connected():
                await asyncio.sleep(0.01)
            await cancelled(service)

        run(asyncio.wait_for(scene(), 10))
        self.assertEqual(Client.made[1].subscribed, ["attic/say"])
        self.assertEqual(len(Client.made), 2)


if __name__ == "__main__":
    unittest.main()
