# A session of the owner's computer with a board: its opening, its frames, its files.
import json
import os
import unittest
from binascii import hexlify, unhexlify
from hashlib import sha256

from support import run, temp_folder, write_bytes
from tenner import overlay
from tenner.remote import change, serve, session
from tenner.remote.look import place_of
from tenner.store import files
from tenner.store.two_slot import TwoSlots
from update_fakes import MODULUS, Board, sign

SECRET = bytes(range(32))


def opening(device="a1b2", counter=5, key=MODULUS, secret=SECRET):
    """Return the computer's first message."""
    lines = "tenner-request 1\nboard %s\ncounter %s\nnonce %s\n" % (device, counter, "0f" * 16)
    signed = sign(lines.encode(), key)
    return signed + b"mac " + hexlify(session.hmac(secret, signed)) + b"\n"


class RemoteBoard(Board):
    """The root folder of a board with the owner's public key, and its own."""

    def __enter__(self):
        root = Board.__enter__(self)
        write_bytes(root + session.KEY, hexlify(SECRET))
        return root


class TestSeal(unittest.TestCase):
    def test_the_mac_is_that_of_the_rfc(self):
        # RFC 4231, case 1, has a shorter key: zeros after it do not change an HMAC.
        key = b"\x0b" * 20 + bytes(12)
        self.assertEqual(
            hexlify(session.hmac(key, b"Hi ", b"There")).decode(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        )

    def test_every_length_comes_back(self):
        data = os.urandom(100)
        for size in range(101):
            sealed = session.crypt(SECRET, b"number 1", data[:size])
            self.assertEqual(session.crypt(SECRET, b"number 1", sealed), data[:size])
        self.assertFalse(session.crypt(SECRET, b"number 2", data) == sealed)

    def test_tags_are_compared_completely(self):
        self.assertTrue(session.is_same(b"abc", b"abc"))
        for other in (b"", b"ab", b"abcd", b"abx", b"bbc"):
            self.assertFalse(session.is_same(b"abc", other))


class TestOpening(unittest.TestCase):
    def begin(self, root, data):
        return session.begin(root, "a1b2", data)

    def test_the_owner_gets_in_once(self):
        with RemoteBoard() as root:
            answer, made = self.begin(root, opening())
            tag, word, nonce = answer.split(b" ")
            self.assertEqual(word, b"open")
            digest = sha256(opening()).digest()
            expected = session.hmac(SECRET, b"answer", digest, b"open " + nonce)
            self.assertEqual(tag, hexlify(expected))
            secret = session.hmac(SECRET, digest, unhexlify(nonce))
            self.assertEqual(made[1:], [session.hmac(secret, b"%d" % one) for one in range(4)])
            # The same once more, and an older one; each sentence has the board's mac.
            for counter in (5, 4):
                answer, made = self.begin(root, opening(counter=counter))
                self.assertTrue(made is None and b"came before" in answer)
            self.assertTrue(self.begin(root, opening(counter=6))[1])

    def test_a_lost_counter_lets_no_old_opening_in(self):
        old = opening(counter=5)
        for contents in (b"", b"x", b"\x00" * 40, bytes(range(256)), b"7 00000000 {}", None):
            for slots in ((".a", ".b"), (".a",)):
                with RemoteBoard() as root:
                    for counter in (5, 6, 7)[: len(slots) + 1]:
                        self.assertTrue(self.begin(root, opening(counter=counter))[1])
                    for slot in (".a", ".b"):
                        path = root + "/lib/remote" + slot
                        files.remove(path)
                        if slot in slots:
                            (files.make_dirs if contents is None else write_bytes)(
                                *(path,) if contents is None else (path, contents)
                            )
                    # Nor a new one, also after a restart, until there is another key.
                    for data in (old, opening(counter=8), old):
                        answer, made = self.begin(root, data)
                        self.assertTrue(
                            made is None and b"lost count" in answer, (contents, answer)
                        )
                    write_bytes(root + session.KEY, hexlify(bytes(32)))
                    self.assertEqual(self.begin(root, old), (None, None))
                    for counter, taken in ((3, True), (3, False), (4, True), (2, False)):
                        made = self.begin(root, opening(counter=counter, secret=bytes(32)))[1]
                        self.assertEqual(made is not None, taken, counter)

    def test_a_power_cut_while_it_notes_the_loss(self):
        with RemoteBoard() as root:
            self.assertTrue(self.begin(root, opening())[1])
            os.rename(root + "/lib/remote.a", root + "/lib/remote.a.bad")
            self.assertIn(b"lost count", self.begin(root, opening())[0])

    def test_one_damaged_slot_is_no_loss(self):
        with RemoteBoard() as root:
            for counter in (5, 6):
                self.assertTrue(self.begin(root, opening(counter=counter))[1])
            write_bytes(root + "/lib/remote.a", b"x")
            self.assertIn(b"came before", self.begin(root, opening(counter=6))[0])
            self.assertTrue(self.begin(root, opening(counter=7))[1])

    def test_the_counter_of_an_older_version_goes_on(self):
        with RemoteBoard() as root:
            TwoSlots(root + "/lib/remote").save({"counter": 9})
            self.assertIn(b"came before", self.begin(root, opening(counter=9))[0])
            self.assertTrue(self.begin(root, opening(counter=10))[1])

    def test_others_are_refused(self):
        for data, word in (
            (opening(device="c3d4"), b"for the board c3d4"),
            (opening(key="00" * 256), b"not signed by a key"),
            (opening(counter="x"), b"not signed"),
        ):
            with RemoteBoard() as root:
                answer, made = self.begin(root, data)
                self.assertTrue(made is None and word in answer, answer)
                # A refused one does not count.
                self.assertTrue(self.begin(root, opening(counter=1))[1])

    def test_a_change_of_any_byte_has_no_answer(self):
        data = opening()
        with RemoteBoard() as root:
            for at in range(len(data) - 1):
                if at % 7 == 0 or at < 60 or at > len(data) - 80:
                    changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                    self.assertEqual(self.begin(root, changed), (None, None))
                    self.assertEqual(self.begin(root, data[:at]), (None, None))
            self.assertEqual(self.begin(root, opening(secret=bytes(32))), (None, None))
            self.assertTrue(self.begin(root, data)[1])

    def test_a_board_without_its_key_answers_nobody(self):
        with Board() as root:
            self.assertEqual(self.begin(root, opening()), (None, None))
            for text in (b"", b"no hex", b"00" * 31):
                write_bytes(root + session.KEY, text)
                self.assertEqual(self.begin(root, opening(secret=bytes(32))), (None, None))


def frame(number, content=b"{}", keys=None):
    keys = keys or [bytes([one]) * 32 for one in range(4)]
    head = b"\x00" + number.to_bytes(4, "big")
    sealed = session.crypt(keys[0], head[1:] + bytes(4), content)
    return head + sealed + session.hmac(keys[1], head, sealed)[: session.TAG]


class TestFrames(unittest.TestCase):
    def setUp(self):
        self.session = [0] + [bytes([one]) * 32 for one in range(4)]

    def test_each_request_counts_once_and_in_order(self):
        self.assertEqual(session.request(self.session, frame(1, b"one")), b"one")
        for number in (1, 0, 3):
            self.assertEqual(session.request(self.session, frame(number)), None)
        self.assertEqual(session.request(self.session, frame(2, b"two")), b"two")

    def test_a_change_of_any_byte_is_noticed(self):
        data = frame(1, b"content")
        for at in range(len(data)):
            changed = data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1 :]
            self.assertEqual(session.request(self.session, changed), None)
            self.assertEqual(session.request(self.session, data[:at]), None)
        self.assertEqual(session.request(self.session, data), b"content")

    def test_a_reply_is_no_request(self):
        self.assertEqual(
            session.request(self.session, session.reply(self.session, 1, 0, b"{}", True)), None
        )

    def test_no_two_replies_look_alike(self):
        frames = [
            session.reply(self.session, number, part, b"same", last)
            for number in (1, 2)
            for part in (0, 1)
            for last in (False, True)
        ]
        self.assertEqual(len({one[9:] for one in frames}), 8)


class Channel:
    """A way to the computer, with an open session, and the app behind it."""

    name = "web"
    requests = 0

    def __init__(self):
        self.app = self
        self.session = [0] + [bytes([one]) * 32 for one in range(4)]
        self.sent = []
        self.failures = []

    def owner(self):
        return "console", "owner"

    async def command_text(self, message):
        if self.failures:
            raise self.failures.pop(0)
        return "answer to " + message.text

    async def publish(self, topic, frame):
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(session.crypt(self.session[3], frame[1:9], frame[9 : -session.TAG]))
        return True


class TestMemory(unittest.TestCase):
    def take(self, channel, number, do=b'{"do": "say", "text": "/why"}'):
        run(serve.take(channel, frame(number, do + b"\n")))

    def test_a_command_that_does_not_fit_is_answered(self):
        channel = Channel()
        channel.failures = [overlay.OutOfMemory("x")]
        self.take(channel, 1)
        self.assertIn("too little memory for that now", json.loads(channel.sent.pop())["error"])
        self.take(channel, 2)
        self.assertEqual(channel.sent, [b"answer to /why", b"{}"])

    def test_a_request_of_another_shape_is_answered(self):
        channel = Channel()
        odd = (
            b"[]", b"5", b"null", b"", b"[" * 3000, b'{"do": 5}', b'{"do": []}',
            b'{"do": "nothing"}', b'{"do": "say"}', b'{"do": "say", "text": 5}',
            b'{"do": "say", "text": null}',
            b'{"do": "read", "path": 5}', b'{"do": "read", "path": null}', b'{"do": "hash"}',
            b'{"do": "write", "path": {}, "at": "x"}', b'{"do": "commit", "files": 7}',
        )  # fmt: skip
        for number, request in enumerate(odd):
            self.take(channel, number + 1, request)
            self.assertEqual(list(json.loads(channel.sent.pop())), ["error"], request[:40])

    def test_a_request_without_an_answer_may_come_again(self):
        channel = Channel()

        def fails(app):
            raise MemoryError("x")

        self.addCleanup(setattr, serve, "info", serve.info)
        serve.info = fails
        self.assertRaises(MemoryError, self.take, channel, 1, b'{"do": "info"}')
        serve.info = lambda app: {"agent": "0.2.0"}
        self.take(channel, 1, b'{"do": "info"}')
        self.assertEqual(json.loads(channel.sent.pop()), {"agent": "0.2.0"})
        # After a part of the answer it does not.
        channel.failures = [MemoryError("x")]
        self.assertRaises(MemoryError, self.take, channel, 2, b'{"do": "info"}')
        self.take(channel, 2, b'{"do": "info"}')
        self.assertEqual(channel.sent, [])


class App:
    """The part of the app that the commands on files need."""

    def __init__(self, root):
        self.port = self
        self.root = root
        self.workspace = root + "/workspace"
        self.state = root + "/state"

    def path(self, name):
        return self.root + "/" + name


class TestFiles(unittest.TestCase):
    def setUp(self):
        self.root = temp_folder(self)
        self.app = App(self.root)
        os.mkdir(self.root + "/workspace")

    def refused(self, word, function, *args):
        try:
            function(self.app, *args)
        except ValueError as error:
            self.assertTrue(word in str(error), str(error))
            return
        self.fail("not refused: " + word)

    def put(self, path, data, old="*", channel="mqtt"):
        change.write(self.app, path, 0, len(data), data[:3])
        if data[3:]:
            change.write(self.app, path, 3, len(data), data[3:])
        return change.commit(self.app, path, hexlify(sha256(data).digest()).decode(), old, channel)

    def put_settings(self, app, data, channel="mqtt"):
        return self.put("/config.json", data, channel=channel)

    def content(self, path):
        return b"".join(files.blocks(self.root + path))

    def test_a_file_is_written_in_parts(self):
        self.assertEqual(self.put("/workspace/a/b.md", b"0123456", "-"), {})
        self.assertEqual(self.content("/workspace/a/b.md"), b"0123456")
        self.assertEqual(os.listdir(self.root + "/workspace/a"), ["b.md"])

    def test_the_agents_own_change_stays(self):
        self.put("/workspace/a.md", b"agent")
        self.assertEqual(self.put("/workspace/a.md", b"owner", "-"), {"changed": True})
        self.assertEqual(change.remove(self.app, "/workspace/a.md", "-"), {"changed": True})
        self.assertEqual(self.content("/workspace/a.md"), b"agent")
        change.remove(self.app, "/workspace/a.md", "*")
        self.assertFalse(files.exists(self.root + "/workspace/a.md"))

    def test_parts_that_do_not_fit_are_refused(self):
        path = "/workspace/a.md"
        change.write(self.app, path, 0, 6, b"abc")
        self.refused("a part of /workspace/a.md is missing", change.write, path, 4, 6, b"f")
        self.refused("longer than announced", change.write, path, 3, 6, b"defg")
        self.refused("did not arrive complete", change.commit, path, "00" * 32, "*", "mqtt")
        self.assertEqual(os.listdir(self.root + "/workspace"), [])
        self.refused("the flash is too full", change.write, path, 0, 1 << 50, b"a")

    def test_settings_that_the_service_may_only_read(self):
        for number, sentence in (
            (30, "/config.json cannot be written: the agent's service may only read it. Use ssh"),
            (13, "/config.json cannot be written: the agent's service may only read it. Use ssh"),
            (28, "/config.json cannot be written: "),
        ):

            def fails(*args, number=number):
                raise OSError(number, "no")

            # The disks of this computer can be written.
            change.open = fails
            try:
                change.write(self.app, "/config.json", 0, 2, b"{}")
                self.fail("it was written")
            except OSError as error:
                self.assertEqual(str(error)[: len(sentence)], sentence)
                self.assertEqual("ssh" in str(error), number != 28)
            finally:
                del change.open

    def test_other_places_are_out_of_reach(self):
        for path in ("/lib/tenner/app.mpy", "/lib/remote.key", "/boot.py", "/configs.json", "/"):
            self.refused("", place_of, path)
        for path in ("/lib/remote.key", "/main.py", "/config.jsonc"):
            self.refused("out of reach over the air", place_of, path)
        for path in (
            "/workspace/../config.json",
            "/workspace/./a",
            "/workspace//a",
            "workspace/a",
            "/workspace/a\nb",
            "",
        ):
            self.refused("is no path of a file", place_of, path)
        self.refused("is too long", place_of, "/workspace/" + "a" * 200)
        self.refused("only the cable writes it", change.write, "/state/cron.a", 0, 1, b"x")
        self.refused("could not be reached", change.remove, "/config.json", "*")

    def test_settings_are_checked_before_they_count(self):
        def settings(**sections):
            return json.dumps(sections).encode()

        now = {"wifi": {"ssid": "home"}, "mqtt": {"host": "broker"}}
        write_bytes(self.root + "/config.json", settings(**now))
        for more, word in (
            ({"wifi": {"ssid": "other"}}, "wifi.* cannot be changed"),
            ({"mqtt": {}}, "mqtt.* cannot be changed"),
            ({"power": {"mode": "sleep"}}, "power.* cannot be changed"),
            ({"nonsense": 1}, "unknown key"),
        ):
            changed = dict(now)
            changed.update(more)
            self.refused(word, self.put_settings, settings(**changed))
            self.assertEqual(json.loads(self.content("/config.json")), now)
        # Each channel has settings of its own that would cut it off.
        moved = dict(now)
        moved["web"] = {"port": 80}
        self.refused("web.* cannot be changed", self.put_settings, settings(**moved), "web")
        moved = dict(now)
        moved["mqtt"] = {"host": "other"}
        self.put("/config.json", settings(**moved), channel="web")
        self.assertEqual(json.loads(self.content("/config.json")), moved)
        moved["name"] = "attic"
        self.put("/config.json", settings(**moved))
        self.assertEqual(json.loads(self.content("/config.json")), moved)


if __name__ == "__main__":
    unittest.main()
