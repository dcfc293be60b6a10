"""Debian's mosquitto on a loopback port, over TLS with a password; and a client for the owner's
side."""

import contextlib
import shutil
import socket
import subprocess
import threading
import time

import paho.mqtt.client as paho
import pytest

from tenner_sim import LIMIT_S
from tests.ports import free_port

USER, PASSWORD = "board", "broker-secret"
#: Another name, with the same password, for access lists.
OWNER_USER = "owner"


def find_mosquitto():
    """The program, or a skipped test that says how to get it."""
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("there is no mosquitto here: apt install mosquitto")
    return program


class Broker:
    """A running mosquitto; `authority` signs its certificate, of one of its kinds. `more` are
    lines of its settings."""

    def __init__(self, folder, authority, certificate="right", more=""):
        self.port = free_port()
        self.authority = authority
        self._folder = folder
        self._program = find_mosquitto()
        self._process = None
        chain = folder / "chain.pem"
        leaf = authority.issue(certificate)
        chain.write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
        leaf.private_key_pem.write_to_path(str(folder / "key.pem"))
        passwords = folder / "passwords"
        passwords.write_text(f"{USER}:{PASSWORD}\n{OWNER_USER}:{PASSWORD}\n")
        subprocess.run(["mosquitto_passwd", "-U", passwords], check=True, capture_output=True)
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\n"
            f"certfile {chain}\nkeyfile {folder / 'key.pem'}\n"
            f"allow_anonymous false\npassword_file {passwords}\n"
            f"persistence true\npersistence_location {folder}/\n"
            f"user root\n{more}"
        )

    def start(self):
        """Start it and wait until it listens."""
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, "-c", self._folder / "mosquitto.conf"], stderr=log
            )
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and self._process.poll() is None:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 1),
            ):
                return self
        pytest.fail(self.log, pytrace=False)

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait(LIMIT_S)
            self._process = None

    @property
    def log_file(self):
        return self._folder / "mosquitto.log"

    @property
    def log(self):
        """Return its log so far."""
        return self.log_file.read_text()

    def forget(self):
        """Lose the retained messages, as a broker without persistence does when it is stopped."""
        for kept in self._folder.glob("mosquitto.db*"):
            kept.unlink()

    def settings(self):
        """Return a board's settings for it, by dotted key."""
        return {
            "mqtt.host": "localhost",
            "mqtt.port": self.port,
            "mqtt.user": USER,
            "mqtt.password": PASSWORD,
            "mqtt.every": "1s",
        }

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Owner:
    """An owner's MQTT client: `heard` is every message as (topic, text), in order; `binary`: as
    (topic, bytes)."""

    def __init__(self, broker, topics=("#",), user=USER, binary=False):
        self.heard = []
        self._binary = binary
        #: The bytes of the last message of each topic.
        self.payloads = {}
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        self._client.username_pw_set(user, PASSWORD)
        self._client.tls_set_context(broker.authority.client_context())
        self._client.on_connect = lambda *_: self._client.subscribe([(one, 1) for one in topics])
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._take
        self._client.connect("localhost", broker.port)
        self._client.loop_start()
        assert self._ready.wait(LIMIT_S), "the broker does not answer"

    def _take(self, _client, _data, message):
        with self._changed:
            if self._binary:
                text = message.payload
            else:
                text = _text(message.payload)
            self.heard.append((message.topic, text))
            self.payloads[message.topic] = message.payload
            self._changed.notify_all()

    def publish(self, topic, text, retain=False):
        self._client.publish(topic, text, qos=1, retain=retain).wait_for_publish(LIMIT_S)

    def wait(self, topic, holds=bool, after=0):
        """Wait for a text below a topic (its end) that `holds`, after so many messages; return
        it."""
        end = time.monotonic() + LIMIT_S

        def found():
            for name, text in self.heard[after:]:
                if name.endswith(topic) and holds(text):
                    return text
            return None

        with self._changed:
            self._changed.wait_for(lambda: found() is not None, end - time.monotonic())
        text = found()
        assert text is not None, f"nothing fits on {topic}; heard: {self.heard[-20:]}"
        return text

    def close(self):
        self._client.disconnect()
        self._client.loop_stop()


def _text(payload):
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return f"({len(payload)} bytes)"
