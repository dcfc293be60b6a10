# The messages about sensors to a broker and Home Assistant: topics, names, and when.
import asyncio
import json
import os
import unittest

from support import cancelled, run, temp_folder
from tenner import __version__
from tenner.agent import health
from tenner.agent.message_queue import Queue
from tenner.channels.mqtt import channel, home_assistant
from tenner.channels.question import Question
from tenner.store import files
from tenner.store.two_slot import TwoSlots

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
        self.url = ""

    def get(self, name):
        settings = {"name": "attic", "mqtt.discovery": "homeassistant", "update.url": self.url}
        settings["mqtt.every"] = 60
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
    run(home_assistant.publish_values(mqtt))
    return mqtt


class App:
    """The part of the app that the entity of an update needs; its files are in `root`."""

    def __init__(self, root, owner="telegram", kind="esp32"):
        self.port = self
        self.kind = kind
        self.root = self.state = root
        self.channel = owner
        os.mkdir(root + "/lib")
        os.mkdir(root + "/lib/tenner")

    def path(self, name):
        return self.root + "/" + name

    def owner(self):
        return self.channel, 1

    def slots(self, name):
        return TwoSlots(self.state + "/" + name)


class TestUpdateEntity(unittest.TestCase):
    def told(self, app, url="https://a.example/r", refuse=""):
        """Return (the channel, the entity's config or None, its state or None)."""
        mqtt = Mqtt({}, refuse)
        mqtt.url = url
        mqtt.app = app
        run(home_assistant.publish_values(mqtt))
        return (mqtt,) + self.of(mqtt)

    def of(self, mqtt):
        configs = [config for at, config in mqtt.configs() if "/update/" in at]
        states = [state for at, state in mqtt.published if at == "tenner/a1b2/update"]
        return (configs or [None])[-1], (states or [None])[-1]

    def test_the_version_that_runs_is_shown_and_the_button_asks_on_telegram(self):
        mqtt, config, state = self.told(App(temp_folder(self)))
        self.assertEqual(config["state_topic"], "tenner/a1b2/update")
        asks = config["command_topic"], config["payload_install"]
        self.assertEqual(asks, ("tenner/a1b2/say", "/update"))
        self.assertEqual(state["installed_version"], __version__)
        self.assertEqual(state["latest_version"], __version__)
        # Once, until Home Assistant or the daily look asks for it.
        count = len(mqtt.published)
        run(home_assistant.publish_values(mqtt))
        self.assertEqual(len(mqtt.published), count + 1)

    def test_without_telegram_there_is_no_button(self):
        _, config, _ = self.told(App(temp_folder(self), "mqtt"))
        self.assertFalse("command_topic" in config)

    def test_a_newer_version_is_shown_with_a_sentence(self):
        app = App(temp_folder(self))
        app.slots("update").save({"v": "9.0.0"})
        files.write_atomic(app.state + "/update.new", "Version 9.0.0 is there")
        _, _, state = self.told(app)
        self.assertEqual(state["latest_version"], "9.0.0")
        self.assertEqual(state["release_summary"], "Version 9.0.0 is there")

    def test_a_board_that_does_not_update_itself_has_none(self):
        for app, url in (
            (App(temp_folder(self), kind="linux"), "https://a.example/r"),
            (App(temp_folder(self)), ""),
        ):
            self.assertEqual(self.told(app, url)[1:], (None, None))

    def test_an_announcement_that_the_broker_did_not_take_comes_again(self):
        mqtt, config, _ = self.told(App(temp_folder(self)), refuse="/config")
        self.assertEqual(config, None)
        mqtt.refuse = ""
        run(home_assistant.publish_values(mqtt))
        self.assertTrue(self.of(mqtt)[0])


class TestDiscovery(unittest.TestCase):
    def setUp(self):
        # Services of another file's tests may have failed in this process.
        health.known.clear()
        health.watch()

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
            # Without it the value that the broker keeps would look fresh forever.
            self.assertEqual(config["expire_after"], 180)
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

    def test_a_service_that_fails_is_a_problem_of_the_board(self):
        mqtt = told({})
        (state,) = [text for topic, text in mqtt.published]
        self.assertEqual((state["failing"], mqtt.configs()), ([], []))
        self.addCleanup(health.known.clear)
        for number in range(6):
            health.note("part %d" % number, "x" * 500)
        mqtt.published.clear()
        for _ in range(2):
            run(home_assistant.publish_values(mqtt))
        states = [text for topic, text in mqtt.published if topic.endswith("/state")]
        failing = states[-1]["failing"]
        self.assertEqual(len(failing), 4)
        self.assertTrue(failing[0].startswith("part 0, once, last 0 s ago: xxx"), failing)
        self.assertTrue(max(len(one) for one in failing) <= 160)
        ((topic, config),) = mqtt.configs()
        self.assertEqual(topic, "homeassistant/binary_sensor/a1b2_problem/config")
        self.assertEqual(config["device_class"], "problem")
        self.assertEqual(config["state_topic"], "tenner/a1b2/state")
        health.known.clear()
        mqtt.published.clear()
        run(home_assistant.publish_values(mqtt))
        self.assertEqual(mqtt.published[0][1]["failing"], [])

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
            run(home_assistant.publish_values(mqtt))
            self.assertEqual(len(mqtt.configs()), 2 if "humidity" in values else 0)

    def test_what_the_broker_did_not_take_is_announced_again(self):
        mqtt = Mqtt({"room": {"temperature": 21.5}}, "/config")
        run(home_assistant.publish_values(mqtt))
        self.assertEqual((mqtt.announced, mqtt.configs()), ([], []))
        mqtt.refuse = ""
        for _ in range(2):
            run(home_assistant.publish_values(mqtt))
        self.assertEqual(len(mqtt.configs()), 1)


class TestSlug(unittest.TestCase):
    def test_it_is_stable(self):
        # Another one would be another entity, and its history lost.
        self.assertEqual(
            home_assistant.slug("a1b2_K\u00fcche_temperature"), "a1b2_K_che_temperature_c61c"
        )
        self.assertEqual(home_assistant.topic("x+y"), "sensor/x_y_d40b")


class Broker:
    """A broker in the same loop. It answers CONNECT with `connack`, and refuses subscriptions to
    `refused`; a `mute` one answers nothing else."""

    def __init__(self, connack=b"\x20\x02\x00\x00", refused=None, mute=False):
        self.connack = connack
        self.refused = refused
        self.mute = mute
        self.packets = []  # (first byte, body)
        self.writers = []
        #: An answer does not go out in the middle of a message in pieces.
        self._writing = asyncio.Lock()

    async def start(self):
        for _ in range(50):
            self.port = 20000 + int.from_bytes(os.urandom(2), "big") % 40000
            try:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
                return
            except OSError:
                continue

    def stop(self):
        self._server.close()

    async def _serve(self, reader, writer):
        self.writers.append(writer)
        try:
            while True:
                kind = (await reader.readexactly(1))[0]
                size = shift = 0
                last = 128
                while last & 128:
                    last = (await reader.readexactly(1))[0]
                    size |= (last & 127) << shift
                    shift += 7
                body = await reader.readexactly(size)
                self.packets.append((kind, bytes(body)))
                async with self._writing:
                    writer.write(self._answer(kind, body))
                    await writer.drain()
        except (OSError, EOFError):
            pass  # the client has left

    def _answer(self, kind, body):
        if kind == 0x10:
            return self.connack
        if self.mute:
            return b""
        if kind == 0x82:
            refused = self.refused and body[4:-1].decode() == self.refused
            return b"\x90\x03" + body[:2] + (b"\x80" if refused else body[-1:])
        if kind == 0xC0:
            return b"\xd0\x00"
        if kind & 0xF6 == 0x32:
            start = 2 + int.from_bytes(body[:2], "big")
            return b"\x40\x02" + body[start : start + 2]
        return b""

    async def send(self, data, pieces=False):
        """Send bytes to the newest client, in pieces of one byte if wanted."""
        writer = self.writers[-1]
        async with self._writing:
            for piece in [data[at : at + 1] for at in range(len(data))] if pieces else [data]:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)

    async def cut(self):
        """Close the newest connection."""
        self.writers[-1].close()
        await self.writers[-1].wait_closed()

    def of(self, kind):
        return [body for one, body in self.packets if one & 0xF0 == kind]


def message(topic, payload, qos=0, number=7):
    """A PUBLISH, made without the code under test."""
    topic = topic.encode()
    body = len(topic).to_bytes(2, "big") + topic
    body += number.to_bytes(2, "big") + payload if qos else payload
    size = (
        bytes((len(body),)) if len(body) < 128 else bytes((len(body) & 127 | 128, len(body) >> 7))
    )
    return bytes((0x30 | qos << 1,)) + size + body


class Config:
    def __init__(self, **more):
        self.values = {
            "mqtt.topic": "attic",
            "mqtt.host": "127.0.0.1",
            "mqtt.discovery": "homeassistant",
        }
        for name in more:
            self.values["mqtt." + name] = more[name]

    def get(self, key):
        return self.values.get(key)


class Port:
    def device_id(self):
        return b"\xa1\xb2"

    def path(self, name):
        return "/nowhere/" + name


async def until(found):
    """Wait until `found()` is true; return that."""
    while not found():
        await asyncio.sleep(0.001)
    return found()


class TestSession(unittest.TestCase):
    def session(self, act, broker=None, stays=True, inbound=2, **more):
        """Run `act(mqtt, broker)` beside the channel, once it is connected if it `stays` so."""
        broker = broker or Broker()

        async def scene():
            await broker.start()
            config = Config(port=broker.port, **more)
            inbox = Queue(inbound)
            mqtt = channel.Mqtt(config, Port(), None, inbox, None, lambda: None, lambda: 5)
            service = asyncio.create_task(mqtt.run())
            try:
                if stays:
                    await until(lambda: mqtt.status == "connected")
                await act(mqtt, broker)
            finally:
                await cancelled(service)
                broker.stop()

        run(asyncio.wait_for(scene(), 30))

    def test_how_it_introduces_itself(self):
        async def act(mqtt, broker):
            (hello,) = broker.of(0x10)
            self.assertEqual(
                hello,
                b"\0\4MQTT\4\xec\0\x3c\0\5attic\0\x0cattic/status\0\7offline\0\2me\0\6secret",
            )
            await until(lambda: len(broker.of(0x80)) == 2)
            self.assertEqual(
                [body[4:] for body in broker.of(0x80)],
                [b"attic/say\1", b"homeassistant/status\0"],
            )
            # A retained order is removed before it would come.
            kinds = [kind for kind, _ in broker.packets]
            self.assertEqual(kinds[:3], [0x10, 0x31, 0x82])
            self.assertEqual(broker.of(0x30)[0], b"\0\x09attic/say")
            await until(lambda: len(broker.of(0x30)) == 2)
            self.assertEqual(broker.of(0x30)[1], b"\0\x0cattic/status\0\1online")

        self.session(act, user="me", password="secret")

    def test_what_it_listens_to(self):
        async def act(mqtt, broker):
            # A new connection may be to a broker that has forgotten everything.
            self.assertEqual(mqtt.announced, [])
            mqtt.announced.append("room")
            await broker.send(message("homeassistant/status", b"offline"))
            await broker.send(message("attic/say", b"first"))
            await mqtt.inbound.get()
            self.assertEqual(mqtt.announced, ["room"])
            await broker.send(message("homeassistant/status", b"online"))
            await broker.send(message("attic/say", b"hello"))
            self.assertEqual((await mqtt.inbound.get()).text, "hello")
            self.assertEqual((mqtt.announced, len(mqtt.inbound)), ([], 0))

        self.session(act)

    def test_a_retained_message_is_no_order(self):
        # A broker sends it again at each connection. Home Assistant retains its birth message.
        async def act(mqtt, broker):
            mqtt.announced.append("room")
            for topic, text in (
                ("attic/say", b"water the garden"),
                ("attic/remote/in", b"\0\0"),
                ("homeassistant/status", b"online"),
            ):
                retained = bytearray(message(topic, text, 1, 12))
                retained[0] |= 1
                await broker.send(retained)
            await broker.send(message("attic/say", b"hello"))
            self.assertEqual((await mqtt.inbound.get()).text, "hello")
            self.assertEqual((mqtt.announced, mqtt.requests), ([], 0))
            await until(lambda: broker.of(0x40) == [b"\0\x0c"] * 3)

        self.session(act)

    def test_a_message_that_comes_twice_is_obeyed_once(self):
        def again(text, number):
            packet = bytearray(message("attic/say", text, 1, number))
            packet[0] |= 8
            return packet

        async def act(mqtt, broker):
            for number, text in enumerate((b"a", b"b", b"c", b"d"), 1):
                await broker.send(message("attic/say", text, 1, number))
            await until(lambda: len(mqtt.inbound) == 4)
            # It is cut off before the broker has the answers; two of five had not been taken.
            await broker.cut()
            await until(lambda: len(broker.writers) == 2 and mqtt.status == "connected")
            for number, text in enumerate((b"a", b"b", b"c", b"d", b"e"), 1):
                await broker.send(again(text, number))
            # The same words with another number, or for the first time, are another order.
            await broker.send(again(b"d", 9))
            await broker.send(message("attic/say", b"d", 1, 9))
            await broker.send(message("attic/say", b"end", 1, 10))
            found = []
            while len(found) < 8:
                found.append((await mqtt.inbound.get()).text)
            self.assertEqual(found, ["a", "b", "c", "d", "e", "d", "d", "end"])
            await until(lambda: broker.of(0x40)[-1] == b"\0\x0a")
            self.assertEqual([one[1] for one in broker.of(0x40)][-8:], [1, 2, 3, 4, 5, 9, 9, 10])
            # One that found no place is not taken.
            while mqtt.inbound.put_nowait(None):
                pass
            await broker.send(message("attic/say", b"full", 1, 11))
            await until(lambda: [one for one in broker.of(0x30) if b"Too much" in one])
            while len(mqtt.inbound):
                await mqtt.inbound.get()
            await broker.send(again(b"full", 11))
            self.assertEqual((await mqtt.inbound.get()).text, "full")
            # A broker that knows nothing of the board counts from 1 again.
            broker.connack = b"\x20\x02\0\0"
            await broker.cut()
            await until(lambda: len(broker.writers) == 3 and mqtt.status == "connected")
            await broker.send(again(b"full", 11))
            self.assertEqual((await mqtt.inbound.get()).text, "full")

        # It knows the session.
        self.session(act, Broker(b"\x20\x02\1\0"), inbound=8)

    def test_messages_in_pieces_of_a_byte(self):
        async def act(mqtt, broker):
            for text in (b"hello", b"x" * 126, b"x" * 4096):
                await broker.send(message("attic/say", text, 1, 300), True)
                taken = await mqtt.inbound.get()
                # A long one stays in pieces.
                whole = taken.text + "".join(taken.pieces or ())
                self.assertEqual(whole, text.decode())
                self.assertTrue(len(taken.text) <= 512)
            await until(lambda: broker.of(0x40) == [b"\x01\x2c"] * 3)

        self.session(act)

    def test_what_it_does_not_take(self):
        async def act(mqtt, broker):
            await broker.send(message("attic/say", b"x" * 5000, 1, 8))
            (refusal,) = await until(
                lambda: [body for body in broker.of(0x30) if b"4096 bytes" in body]
            )
            self.assertEqual(refusal[:14], b"\0\x0cattic/answer")
            await broker.send(message("attic/say", b"\xff\xfe\0", 1, 9))
            await broker.send(message("attic/say", b"", 1, 10))
            # Of an old subscription: it is acknowledged in two steps.
            await broker.send(message("attic/say", b"twice", 2, 11) + b"\x62\2\0\x0b")
            await until(lambda: broker.of(0x70) == [b"\0\x0b"])
            self.assertEqual(broker.of(0x40), [b"\0\x08", b"\0\x09", b"\0\x0a"])
            self.assertEqual(broker.of(0x50), [b"\0\x0b"])
            self.assertEqual((await mqtt.inbound.get()).text, "twice")
            self.assertEqual(len(mqtt.inbound), 0)

        self.session(act)

    def test_a_full_inbox_is_said(self):
        async def act(mqtt, broker):
            for _ in range(3):
                await broker.send(message("attic/say", b"hello"))
            await until(lambda: [one for one in broker.of(0x30) if b"Too much" in one])
            self.assertEqual(len(mqtt.inbound), 2)

        self.session(act)

    def test_no_broker_takes_it_down(self):
        """Every kind of nonsense ends the connection with one sentence, and it comes back."""
        for answer, said in (
            (b"\x20\2\0\5", "the broker: not authorized"),
            (b"\x20\2\0\x63", "the broker: code 99"),
            (b"HTTP/1.1 400 Bad\r\n", "are not those of a broker"),
            (b"\x20\2", ""),
            (b"\x20\2\0\0\x30\0", "no valid MQTT"),
            (b"\x20\2\0\0\x30\4\0\x09at", "no valid MQTT"),
            (b"\x20\2\0\0\x36\4\0\0\0\1", "no valid MQTT"),
        ):
            broker = Broker(answer)

            async def act(mqtt, broker, said=said):
                if not said:
                    await until(lambda: broker.of(0x10))
                    broker.writers[-1].close()
                    await broker.writers[-1].wait_closed()
                    if hasattr(broker.writers[-1], "aclose"):
                        await broker.writers[-1].wait_closed()
                    said = "mqtt.tls may not fit mqtt.port"
                await until(lambda: "next try" in mqtt.status)
                self.assertTrue(said in mqtt.status, mqtt.status)

            self.session(act, broker, stays=False)

    def test_what_it_says(self):
        async def act(mqtt, broker):
            self.assertTrue(await mqtt.publish("state", "\u00fc" * 3000, retain=True))
            (body,) = [one for one in broker.of(0x30) if one[2:13] == b"attic/state"]
            self.assertEqual(body[15:].decode(), "\u00fc" * 3000)
            for count in range(110, 116):
                # Around 128 bytes, where the size needs a second one.
                self.assertTrue(await mqtt.publish("state", b"x" * count))
                self.assertEqual(broker.of(0x30)[-1][15:], b"x" * count)
            began = []
            sent = await mqtt.send("answer", "hello", began=lambda: began.append(1))
            self.assertEqual((sent, began), (("ok", None), [1]))
            await mqtt.close()
            self.assertEqual(await mqtt.send("answer", "x", began=began.append), ("retry", None))

        self.session(act)

    def test_a_message_that_nobody_acknowledges(self):
        async def act(mqtt, broker):
            mqtt.ack_s = 0.05
            broker.mute = True
            self.assertEqual((await mqtt.send("answer", "hello"))[0], "unknown")
            # It may be the connection, so there is a new one.
            broker.mute = False
            mqtt.ack_s = 15
            await until(lambda: len(broker.of(0x10)) == 2 and mqtt.status == "connected")

        self.session(act)

    def test_a_message_of_which_no_byte_has_left_is_in_no_doubt(self):
        """The connection ends while the message waits for another packet to leave."""

        async def act(mqtt, broker):
            for text in ("hello", "x" * 9000):
                began = []
                async with mqtt._writing:
                    sending = asyncio.create_task(
                        mqtt.send("answer", text, began=lambda began=began: began.append(1))
                    )
                    await until(lambda began=began: began)
                    await asyncio.sleep(0)
                    await mqtt.close()
                self.assertEqual(await sending, ("retry", None))
                await until(lambda: mqtt.status == "connected" and mqtt.is_connected)
            self.assertEqual([one for one in broker.of(0x30) if b"hello" in one], [])

        self.session(act)

    def test_a_picture_whose_connection_ended_is_in_no_doubt(self):
        async def act(mqtt, broker):
            path = temp_folder(self) + "/chart.png"
            files.write_atomic(path, b"png")
            mute = []

            def began():
                mute.append(1)
                mqtt.is_connected = False

            sent = await home_assistant.publish_image(mqtt, path, "room.temperature", began)
            self.assertEqual((sent, mute), (("retry", None), [1]))
            mqtt.is_connected = True
            sent = await home_assistant.publish_image(mqtt, path, "room.temperature", lambda: None)
            self.assertEqual(sent, ("ok", None))

        self.session(act)

    def test_a_broker_that_says_nothing_any_more(self):
        async def act(mqtt, broker):
            await until(lambda: len(broker.of(0xC0)) > 2)
            self.assertEqual(len(broker.writers), 1)
            mqtt.ack_s = 0.05
            broker.mute = True
            await until(lambda: "silent" in mqtt.status)

        kept = channel.Mqtt.ping_s
        channel.Mqtt.ping_s = 0.01
        try:
            self.session(act)
        finally:
            channel.Mqtt.ping_s = kept

    def test_it_says_goodbye_only_when_it_comes_back(self):
        """The broker publishes the last will of a client that went without a word."""

        async def act(mqtt, broker):
            await mqtt.give_way(True)
            self.assertTrue(mqtt.is_connected)
            await mqtt.give_way(False)
            await until(lambda: len(broker.of(0x10)) == 2 and mqtt.status == "connected")

        broker = Broker()
        self.session(act, broker)
        self.assertEqual(broker.of(0xE0), [b""])

    def test_a_broker_that_kept_its_session_needs_no_second_announcement(self):
        for kept in (0, 1):
            for late in (False, True):

                async def act(mqtt, broker, kept=kept, late=late):
                    mqtt.announced.append("shape")
                    mqtt._wanted.clear()
                    mqtt._late = late
                    broker.connack = b"\x20\x02" + bytes((kept, 0))
                    await mqtt.give_way(False)
                    await until(lambda: len(broker.of(0x10)) == 2 and mqtt.status == "connected")
                    self.assertEqual(mqtt.announced, ["shape"] if kept else [])
                    # Readings that became due meanwhile, or a new announcement.
                    self.assertEqual(mqtt._wanted.is_set(), late or not kept)
                    # A failure is more than a pause.
                    broker.writers[-1].close()
                    await broker.writers[-1].wait_closed()
                    await until(lambda: mqtt.failures == 1 and mqtt.status == "connected")
                    self.assertEqual(mqtt.announced, [])

                self.session(act)

    def test_a_message_on_its_way_comes_before_the_goodbye(self):
        async def act(mqtt, broker):
            broker.mute = True
            sending = asyncio.create_task(mqtt.send("answer", "hello"))
            (body,) = await until(lambda: [one for one in broker.of(0x30) if b"hello" in one])
            await mqtt.give_way(False)
            await asyncio.sleep(0)
            self.assertTrue(mqtt.is_connected)
            broker.mute = False
            await broker.send(b"\x40\2" + body[14:16])
            self.assertEqual(await sending, ("ok", None))
            await until(lambda: broker.of(0xE0))

        self.session(act)

    def test_another_topic_is_somebody_elses(self):
        """A broker remembers subscriptions made under other settings, and may send unexpected
        topics."""
        question = Question("open the door")

        async def act(mqtt, broker):
            mqtt.questions[question.id] = question
            yes = b"yes " + question.id.encode()
            await broker.send(message("old/topic", yes))
            await broker.send(message("attic/say/\x1b[2J", b"/reset"))
            for topic, text in (("old/topic", yes.decode()), ("attic/say/\\x1b[2J", "/reset")):
                taken = await mqtt.inbound.get()
                self.assertEqual(taken.text, "(of the topic %s)\n%s" % (topic, text))
                self.assertFalse(taken.by_owner)
            self.assertIsNone(question.answer)
            await broker.send(message("attic/say", yes))
            await until(lambda: question.answer)
            await broker.send(message("attic/say", b"hello"))
            self.assertTrue((await mqtt.inbound.get()).by_owner)

        self.session(act)

    def test_a_broker_that_keeps_home_assistants_birth_to_itself(self):
        async def act(mqtt, broker):
            await until(lambda: mqtt.birth is None)
            self.assertTrue(mqtt.is_connected)
            self.assertEqual(len(broker.writers), 1)

        self.session(act, Broker(refused="homeassistant/status"))

    def test_a_broker_that_lets_nobody_talk_to_it(self):
        async def act(mqtt, broker):
            await until(lambda: "rejects the subscription to attic/say" in mqtt.status)

        self.session(act, Broker(refused="attic/say"), stays=False)


if __name__ == "__main__":
    unittest.main()
